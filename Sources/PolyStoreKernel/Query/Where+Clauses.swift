import PolyStoreBackend

// The conditions of `Where` in the form of clauses. Clauses are existentials, whose static members come from extensions of the protocol.

/// The conditions on relationships and texts in the form of clauses: `view.fetchAll(From<Person>(), .any(\.friends, \.age > 30))`.
extension QueryClause {
    /// Selects objects for which at least one related object satisfies a condition: `.any(\.friends, \.age > 30)`.
    public static func any<T: Model, C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.any(path, condition) }
    /// Selects objects for which at least one related object satisfies a condition, at the end of a path of to-one relationships.
    public static func any<T: Model, C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.any(path, condition) }

    /// Selects objects for which every related object satisfies a condition. Includes objects without related objects.
    public static func all<T: Model, C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.all(path, condition) }
    public static func all<T: Model, C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.all(path, condition) }

    /// Selects objects for which no related object satisfies a condition: `.none(\.friends, \.age > 30)`.
    public static func none<T: Model, C: Collection>(_ path: KeyPath<T, C>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.none(path, condition) }
    public static func none<T: Model, C: Collection>(_ path: KeyPath<T, C?>, _ condition: Where<C.Element>) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.none(path, condition) }

    /// Selects objects by the number of related objects that satisfy a condition: `.count(\.friends, \.age > 30, .greater, 2)`.
    public static func count<T: Model, C: Collection>(
        _ path: KeyPath<T, C>, _ condition: Where<C.Element>, _ comparison: ComparisonOperator, _ count: Int
    ) -> Where<T> where Self == Where<T>, C.Element: Model { Where<T>.count(path, condition, comparison, count) }
    /// Selects objects by the number of related objects: `.count(\.friends, .greaterOrEqual, 2)`.
    public static func count<T: Model, C: Collection>(_ path: KeyPath<T, C>, _ comparison: ComparisonOperator, _ count: Int) -> Where<T>
    where Self == Where<T>, C.Element: Model { Where<T>.count(path, comparison, count) }

    /// Selects objects for which the destination of a to-one relationship satisfies a condition: `.one(\.department, \.title == "Research")`.
    public static func one<T: Model, D: Model>(_ path: KeyPath<T, D?>, _ condition: Where<D>) -> Where<T>
    where Self == Where<T> { Where<T>.one(path, condition) }
}

extension QueryClause {
    /// Selects objects whose text contains another: `.contains(\.name, "ann", options: .caseInsensitive)`.
    public static func contains<T: Model>(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.contains(path, text, options: options) }
    public static func contains<T: Model>(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.contains(path, text, options: options) }

    /// Selects objects whose text begins with another. Without options, an index of the attribute is used.
    public static func beginsWith<T: Model>(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.beginsWith(path, text, options: options) }
    public static func beginsWith<T: Model>(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.beginsWith(path, text, options: options) }

    /// Selects objects whose text ends with another.
    public static func endsWith<T: Model>(_ path: KeyPath<T, String>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.endsWith(path, text, options: options) }
    public static func endsWith<T: Model>(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.endsWith(path, text, options: options) }

    /// Selects objects whose text matches a pattern: `?` matches one character, `*` any number of them, a backslash escapes the next character.
    public static func like<T: Model>(_ path: KeyPath<T, String>, _ pattern: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.like(path, pattern, options: options) }
    public static func like<T: Model>(_ path: KeyPath<T, String?>, _ pattern: String, options: TextOptions = []) -> Where<T>
    where Self == Where<T> { Where<T>.like(path, pattern, options: options) }

    /// Selects objects whose whole text matches an ICU regular expression.
    public static func matches<T: Model>(_ path: KeyPath<T, String>, _ expression: String) -> Where<T>
    where Self == Where<T> { Where<T>.matches(path, expression) }
    public static func matches<T: Model>(_ path: KeyPath<T, String?>, _ expression: String) -> Where<T>
    where Self == Where<T> { Where<T>.matches(path, expression) }

    /// Selects objects whose text equals another under the given options.
    public static func equals<T: Model>(_ path: KeyPath<T, String>, _ text: String, options: TextOptions) -> Where<T>
    where Self == Where<T> { Where<T>.equals(path, text, options: options) }
    public static func equals<T: Model>(_ path: KeyPath<T, String?>, _ text: String, options: TextOptions) -> Where<T>
    where Self == Where<T> { Where<T>.equals(path, text, options: options) }
}
