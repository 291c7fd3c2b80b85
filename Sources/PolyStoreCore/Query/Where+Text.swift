import PolyStoreBackend

// Conditions on text by key path: `.where(.contains(\.name, "ville"))`. Without options texts compare byte by byte; none has a value where
// there is no text.

extension Where {
    private static func text<V>(_ path: KeyPath<T, V>, _ operation: TextOperator, _ text: String, _ options: TextOptions) -> Where<T> {
        Where(path) { .text(.folded($0, options), operation, .folded(.constant(.text(text), .string), options)) }
    }

    /// Objects whose text contains another.
    public static func contains(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .contains, text, options)
    }
    public static func contains(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .contains, text, options)
    }

    /// Objects whose text begins with another. Uses an index of the attribute, where there are no options.
    public static func beginsWith(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .beginsWith, text, options)
    }
    public static func beginsWith(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .beginsWith, text, options)
    }

    /// Objects whose text ends with another.
    public static func endsWith(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .endsWith, text, options)
    }
    public static func endsWith(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T> {
        self.text(path, .endsWith, text, options)
    }

    /// Objects whose text looks like a pattern: `?` is one character, `*` any number of them, a backslash takes the next one as it is.
    public static func like(_ path: KeyPath<T, String>, _ pattern: String, options: TextOptions = []) -> Where<T> {
        text(path, .like, pattern, options)
    }
    public static func like(_ path: KeyPath<T, String?>, _ pattern: String, options: TextOptions = []) -> Where<T> {
        text(path, .like, pattern, options)
    }

    /// Objects whose whole text satisfies a regular expression, as ICU has them.
    public static func matches(_ path: KeyPath<T, String>, _ expression: String) -> Where<T> { text(path, .matches, expression, []) }
    public static func matches(_ path: KeyPath<T, String?>, _ expression: String) -> Where<T> { text(path, .matches, expression, []) }

    /// Objects whose text equals another, as far as the options let it count.
    public static func equals(_ path: KeyPath<T, String>, _ text: String, options: TextOptions) -> Where<T> {
        Where(path) { .compare(.folded($0, options), .equal, .folded(.constant(.text(text), .string), options)) }
    }
    public static func equals(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions) -> Where<T> {
        Where(path) { .compare(.folded($0, options), .equal, .folded(.constant(.text(text), .string), options)) }
    }
}

// MARK: To-many relationships

extension Where {
    private static func related<V, D: Model>(
        _ path: KeyPath<T, V>, _ condition: Where<D>, _ make: @escaping @Sendable (RelationshipReference, QueryPredicate) -> QueryPredicate
    ) -> Where<T> {
        guard let name = T._$properties.knownRelationship(path) ?? T._$properties.knownField(path)?.name else {
            return Where(
                .none,
                error: StoreError(.invalidPredicate, "\(path) is not a relationship of \(T._$entityName).", entity: T._$entityName))
        }
        return condition.nested(in: T.self) { context, entry in
            guard let relationship = entry.entity.relationship(named: name) else {
                throw StoreError(.invalidPredicate, "\(name) is not a relationship of \(entry.entity.name).", entity: entry.entity.name)
            }
            let destination = context.entry(entry.destinations[relationship.ordinal])
            return make(RelationshipReference(relationship, in: entry.store.schema), try condition.predicate(context, destination))
        }
    }

    /// Objects of which at least one of those that a relationship leads to satisfies a condition: `.any(\.friends, \.age > 30)`.
    public static func any<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        related(path, condition) { .related($0, .any, $1) }
    }

    /// Objects of which each of those that a relationship leads to satisfies a condition; those that lead nowhere are among them.
    public static func all<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        related(path, condition) { .related($0, .all, $1) }
    }

    /// Objects of which none of those that a relationship leads to satisfies a condition.
    public static func none<C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T> where C.Element: Model {
        related(path, condition) { .not(.related($0, .any, $1)) }
    }

    /// Objects that lead to so many that satisfy a condition: `.count(\.friends, \.age > 30, .greater, 2)`.
    public static func count<C: Collection>(
        _ path: KeyPath<T, C>, _ condition: Where<C.Element>, _ comparison: ComparisonOperator, _ count: Int
    ) -> Where<T> where C.Element: Model {
        related(path, condition) { .compare(.count($0, where: $1), comparison, .constant(.integer(Int64(count)), .int64)) }
    }

    /// Objects that lead to so many: `.count(\.friends, .greaterOrEqual, 2)`.
    public static func count<C: Collection>(_ path: KeyPath<T, C>, _ comparison: ComparisonOperator, _ count: Int) -> Where<T>
    where C.Element: Model {
        self.count(path, Where<C.Element>(true), comparison, count)
    }

    /// Objects whose to-one relationship leads to one that satisfies a condition; never those where it leads nowhere.
    public static func one<D: Model>(_ path: KeyPath<T, D?>, _ condition: Where<D>) -> Where<T> {
        related(path, condition) { .related($0, .one, $1) }
    }
}
