import PolyStoreBackend

// Conditions on text by key path: `.where(.contains(\.name, "ville"))`. Without options, texts are compared byte by byte. The result is unknown if
// the text is null.

extension Where {
    private static func text<V>(_ path: KeyPath<T, V>, _ operation: TextOperator, _ text: String, _ options: TextOptions) -> Where<T> {
        Where(path) { .text(.folded($0, options), operation, .folded(.constant(.text(text), .string), options)) }
    }

    /// Selects objects whose text contains another.
    public static func contains(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .contains, text, options)
    }
    public static func contains(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .contains, text, options)
    }

    /// Selects objects whose text begins with another. Without options, an index of the attribute is used.
    public static func beginsWith(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .beginsWith, text, options)
    }
    public static func beginsWith(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .beginsWith, text, options)
    }

    /// Selects objects whose text ends with another.
    public static func endsWith(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .endsWith, text, options)
    }
    public static func endsWith(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .endsWith, text, options)
    }

    /// Selects objects whose text matches a pattern: `?` matches one character, `*` any number of them, a backslash escapes the next character.
    public static func like(_ path: KeyPath<T, String>, _ pattern: String, options: TextOptions = []) -> Where<T> {
        text(path, .like, pattern, options)
    }
    public static func like(_ path: KeyPath<T, String?>, _ pattern: String, options: TextOptions = []) -> Where<T> {
        text(path, .like, pattern, options)
    }

    /// Selects objects whose whole text matches an ICU regular expression.
    public static func matches(_ path: KeyPath<T, String>, _ expression: String) -> Where<T> { text(path, .matches, expression, []) }
    public static func matches(_ path: KeyPath<T, String?>, _ expression: String) -> Where<T> { text(path, .matches, expression, []) }

    /// Selects objects whose text equals another under the given options.
    public static func equals(_ path: KeyPath<T, String>, _ text: String, options: TextOptions) -> Where<T> {
        Where(path) { .compare(.folded($0, options), .equal, .folded(.constant(.text(text), .string), options)) }
    }
    public static func equals(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions) -> Where<T> {
        Where(path) { .compare(.folded($0, options), .equal, .folded(.constant(.text(text), .string), options)) }
    }
}

// MARK: To-many relationships

extension Where {
    /// Returns a quantified condition on the objects at the end of a path of relationships. The quantifier applies to every step.
    private static func quantified<V, D: Model>(
        _ quantifier: Quantifier, _ path: KeyPath<T, V>, _ condition: Where<D>, isNegated: Bool = false
    ) -> Where<T> {
        related(path, condition, [quantifier, isNegated], quantifier) { relationship, predicate in
            .related(relationship, quantifier, predicate)
        }
        .negated(isNegated)
    }

    /// - Parameters:
    ///   - way: identifies the condition on the objects when conditions are compared.
    ///   - quantifier: the quantifier for the relationships before the last one.
    private static func related<V, D: Model>(
        _ path: KeyPath<T, V>, _ condition: Where<D>, _ way: [AnyHashable], _ quantifier: Quantifier,
        _ make: @escaping @Sendable (RelationshipReference, QueryPredicate) -> QueryPredicate
    ) -> Where<T> {
        nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
        return condition.nested(in: T.self, of: [path, condition] + way) { context, entry in
            let keys = try KeyPathProbe.path(of: path, context, entry).keys
            return try related(keys[...], entry, context, quantifier) { relationship, destination in
                make(relationship, try condition.predicate(context, destination))
            }
        }
    }

    /// Follows the relationships of a path and makes a condition on the last one.
    private static func related(
        _ keys: ArraySlice<String>, _ entry: StoreEntity, _ context: Context, _ quantifier: Quantifier,
        _ make: (RelationshipReference, StoreEntity) throws -> QueryPredicate
    ) throws -> QueryPredicate {
        guard let name = keys.first, let relationship = entry.entity.relationship(named: name) else {
            throw StoreError(
                .invalidPredicate, "\(keys.first ?? "The object") is not a relationship of \(entry.entity.name).", entity: entry.entity.name
            )
        }
        let reference = RelationshipReference(relationship, in: entry.store.schema)
        let destination = context.entry(entry.destinations[relationship.index])
        if keys.count == 1 { return try make(reference, destination) }
        return .related(reference, quantifier, try related(keys.dropFirst(), destination, context, quantifier, make))
    }

    private func negated(_ isNegated: Bool) -> Where<T> { isNegated ? !self : self }

    /// Selects objects for which at least one related object satisfies a condition: `.any(\.friends, \.age > 30)`.
    ///
    /// The path may begin with to-one relationships: `.any(\.department?.people, \.age > 30)`.
    public static func any<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.any, path, condition)
    }
    public static func any<C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.any, path, condition)
    }

    /// Selects objects for which every related object satisfies a condition. Includes objects without related objects.
    public static func all<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.all, path, condition)
    }
    public static func all<C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.all, path, condition)
    }

    /// Selects objects for which no related object satisfies a condition.
    public static func none<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.any, path, condition, isNegated: true)
    }
    public static func none<C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        quantified(.any, path, condition, isNegated: true)
    }

    /// Selects objects by the number of related objects that satisfy a condition: `.count(\.friends, \.age > 30, .greater, 2)`.
    public static func count<C: Collection>(
        _ path: KeyPath<T, C>, _ condition: Where<C.Element>, _ comparison: ComparisonOperator, _ count: Int
    ) -> Where<T> where C.Element: Model {
        related(path, condition, ["count", comparison, count], .one) {
            .compare(.count($0, where: $1), comparison, .constant(.integer(Int64(count)), .int64))
        }
    }

    /// Selects objects by the number of related objects: `.count(\.friends, .greaterOrEqual, 2)`.
    ///
    /// The form for a comparison that is chosen at run time; the same as `\.friends.count >= 2`.
    public static func count<C: Collection>(_ path: KeyPath<T, C>, _ comparison: ComparisonOperator, _ count: Int) -> Where<T>
    where C.Element: Model {
        self.count(path, Where<C.Element>(true), comparison, count)
    }

    /// Selects objects for which the destination of a to-one relationship satisfies a condition. Excludes objects whose relationship is null.
    public static func one<D: Model>(_ path: KeyPath<T, D?>, _ condition: Where<D>) -> Where<T> {
        quantified(.one, path, condition)
    }
}
