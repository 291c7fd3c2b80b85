import Foundation
import PolyStoreBackend

/// The division of a list into sections: by the value of a property, of a path over to-one relationships, or a text derived from it.
///
///     SectionBy(\.age)
///     SectionBy(\.age) { "\($0) years old" }
///     SectionBy(\.department?.title) { $0 ?? "No department" }
///     SectionBy("department.title")
///
/// The value is the first sort key of the list. If ``OrderBy`` does not begin with it, the list is first sorted by it, ascending. Consecutive objects with
/// equal section names form one section. If a transform returns equal names for values that are not consecutive, the section has the position of its first
/// object, and the list is refetched after each change that affects it.
public struct SectionBy<T: Model>: Sendable {
    let expression: @Sendable (Context, StoreEntity) throws -> QueryExpression
    /// Returns the name of the section of a value; `nil` is null.
    let name: @Sendable (QueryValue?) -> String

    private init(
        path: PartialKeyPath<T>, _ name: @escaping @Sendable (QueryValue?) -> String
    ) {
        nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
        expression = { context, entry in try context.expression(path, entry) }
        self.name = name
    }

    private init(name path: String, _ name: @escaping @Sendable (QueryValue?) -> String) {
        let path = PropertyPath(dotted: path)
        expression = { _, entry in try path.expression(for: entry.entity, in: entry.store.schema) }
        self.name = name
    }

    /// Creates a section for each value. The section of objects without a value has an empty name.
    public init<V>(_ path: KeyPath<T, V>) { self.init(path: path, Self.plainName) }

    /// Creates a section for each name that a closure returns.
    /// - Parameters:
    ///   - path: The attribute that divides the list into sections.
    ///   - name: Returns the section's name for a value. If a damaged store contains a value of the wrong type, the name is empty.
    public init<V: QueryResult & SendableMetatype>(_ path: KeyPath<T, V>, name: @escaping @Sendable (V) -> String) {
        self.init(path: path) { $0.flatMap { $0.as(V.self) }.map(name) ?? "" }
    }

    /// Creates a section for each name that a closure returns for an optional value.
    public init<V: QueryResult & SendableMetatype>(_ path: KeyPath<T, V?>, name: @escaping @Sendable (V?) -> String) {
        self.init(path: path) { name($0.flatMap { $0.as(V.self) }) }
    }

    /// Creates a section for each value of a property, or of a path over to-one relationships: `"age"`, `"department.title"`.
    public init(_ path: String) { self.init(name: path, Self.plainName) }

    /// Creates a section for each name that a closure returns.
    /// - Parameters:
    ///   - path: The name of the attribute that divides the list into sections.
    ///   - name: Returns the section's name for a value; `nil` is null.
    public init(_ path: String, name: @escaping @Sendable (QueryValue?) -> String) { self.init(name: path, name) }

    private static func plainName(_ value: QueryValue?) -> String {
        switch value {
        case nil: ""
        case .text(let text): text
        case .date(let date): date.ISO8601Format()
        case .data(let data): data.base64EncodedString()
        case .some(let value): "\(value)"
        }
    }
}
