import Foundation
import PolyStoreBackend

/// What a list is divided into sections by: the value of a property, of a path over to-one relationships, or a text made from it.
///
///     SectionBy(\.age)
///     SectionBy(\.age) { "\($0) years old" }
///     SectionBy(\.department?.title) { $0 ?? "No department" }
///     SectionBy("department.title")
///
/// The value is the first key of the list's order: where ``OrderBy`` does not begin with it, the list is ordered by it first, ascending. Objects with equal
/// section names that follow each other are one section. Where a transform gives one name to values that do not follow each other, the section stands where its
/// first object does, and the list is fetched again after each change that concerns it.
public struct SectionBy<T: Model>: Sendable {
    let expression: @Sendable (Context, StoreEntity) throws -> QueryExpression
    /// The name of the section of a value; nil is null.
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

    /// A section for each value; the section of objects without a value has an empty name.
    public init<V>(_ path: KeyPath<T, V>) { self.init(path: path, Self.plainName) }

    /// A section for each name that a closure gives.
    /// - Parameter name: makes the section's name from the value. A value that cannot be of the property's type, which only a damaged store has, gives an empty name.
    public init<V: QueryResult & SendableMetatype>(_ path: KeyPath<T, V>, name: @escaping @Sendable (V) -> String) {
        self.init(path: path) { $0.flatMap { $0.as(V.self) }.map(name) ?? "" }
    }

    /// A section for each name that a closure gives for a value that may be missing.
    public init<V: QueryResult & SendableMetatype>(_ path: KeyPath<T, V?>, name: @escaping @Sendable (V?) -> String) {
        self.init(path: path) { name($0.flatMap { $0.as(V.self) }) }
    }

    /// By the name of a property, or a path over to-one relationships: `"age"`, `"department.title"`.
    public init(_ path: String) { self.init(name: path, Self.plainName) }

    /// - Parameter name: makes the section's name from the value; nil is a missing one.
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
