import Foundation
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// The division of a list into sections: by the value of a property, of a path over to-one relationships, or a text derived from it.
///
///     SectionBy(\.age)
///     SectionBy(\.age) { "\($0) years old" }
///     SectionBy(\.department?.title) { $0 ?? "No department" }
///     SectionBy("department.title")
///
/// The value is the first sort key of the list. If ``OrderBy`` does not begin with it, the list is first sorted by it, ascending. Consecutive objects with
/// equal section names form one section. A relationship, a `Codable` value that is stored as JSON, or a computed property divides no list: the list throws
/// `invalidPredicate`. Use an attribute of the related object, `SectionBy("friends.@count")`, or a closure that returns the name. If a transform returns equal names for values that are not consecutive, the section has the position of its first
/// object, and the list is refetched after each change that affects it.
public struct SectionBy<T: Model>: Sendable {
    let expression: @Sendable (Context, StoreEntity) throws -> QueryExpression
    /// Returns the name of the section of a value; `nil` is null.
    let name: @Sendable (QueryValue?) -> String

    private init(
        path: PartialKeyPath<T>, _ name: @escaping @Sendable (QueryValue?) -> String
    ) {
        nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
        expression = { context, entry in
            let found: PropertyPath
            do {
                found = try KeyPathProbe.path(of: path, context, entry)
            } catch let error as StoreError where error.code == .invalidPredicate {
                throw Self.refused(path, error)
            }
            return try Self.expression(found, entry)
        }
        self.name = name
    }

    private init(name path: String, _ name: @escaping @Sendable (QueryValue?) -> String) {
        let path = PropertyPath(dotted: path)
        expression = { _, entry in try Self.expression(path, entry) }
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

    /// Returns the value at the end of a path.
    /// - Throws: `invalidPredicate` if the path leads to objects or to a value that is stored as JSON.
    private static func expression(_ path: PropertyPath, _ entry: StoreEntity) throws -> QueryExpression {
        let (entity, schema) = (entry.entity, entry.store.schema)
        let resolver = ConditionResolver(schema)
        let name = "\(T._$entityName).\(path.keys.joined(separator: "."))"
        if resolver.isToMany(path.keys[...], entity) {
            // The path to the first relationship with many objects.
            var (keys, current): ([String], Entity?) = ([], entity)
            for key in path.keys {
                keys.append(key)
                guard let relationship = current?.relationship(named: key), !relationship.isToMany else { break }
                current = schema.entities[relationship.destination]
            }
            throw StoreError(
                .invalidPredicate,
                "\(name) leads to many objects, and an object is in one section. Use a value of all of them: SectionBy(\"\(keys.joined(separator: ".")).@count\").",
                entity: T._$entityName, attribute: path.keys.last)
        }
        let value = try resolver.value(path, ConditionResolver.Scope(entity))
        if let target = value.target {
            let attribute = target.fields.first { $0.relationship == nil && !$0.isHidden && $0.type != .json }
            let prefix = path.keys.filter { $0 != "objectID" && $0.uppercased() != "SELF" }
            let example = attribute.map { " SectionBy(\"\((prefix + [$0.name]).joined(separator: "."))\")." } ?? ""
            throw StoreError(
                .invalidPredicate,
                "\(name) leads to an object of \(target.name), and a list is divided by a value. Use an attribute of the object:\(example)",
                entity: T._$entityName, attribute: path.keys.last)
        }
        if value.expression.type == .json {
            throw StoreError(
                .invalidPredicate,
                "\(name) is a Codable value, whose stored form is JSON text that has no order. Store what divides the list in an attribute of its own.",
                entity: T._$entityName, attribute: path.keys.last)
        }
        return value.expression
    }

    /// Returns the error for a key path that is not stored.
    private static func refused(_ path: PartialKeyPath<T>, _ error: StoreError) -> StoreError {
        StoreError(
            .invalidPredicate,
            "A list of \(T._$entityName) cannot be divided by a key path to \(type(of: path).valueType) that is not a stored attribute. Divide it by one, and return "
                + "the name of the section in the closure: SectionBy(\\.\(exampleName)) { … }.",
            entity: T._$entityName, attribute: error.attribute)
    }

    /// The name of an attribute of the class.
    private static var exampleName: String {
        for case .attribute(let attribute) in T.storedEntity.properties where attribute.type != .json { return attribute.name }
        return "name"
    }

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

/// A fetch divided into sections: `From<Person>().sectionBy(\.age).orderBy(.ascending(\.name))`.
public struct SectionedChain<T: Model>: ClauseChain {
    /// The fetch.
    public private(set) var chain: FetchChain<T>
    /// The division into sections.
    public let section: SectionBy<T>

    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> SectionedChain<T> {
        SectionedChain(chain: chain.chaining(change), section: section)
    }
}

extension FetchSource {
    /// Divides the result into sections; see ``SectionBy``.
    public func sectionBy(_ section: SectionBy<Entity>) -> SectionedChain<Entity> { SectionedChain(chain: chain, section: section) }
    /// Creates a section for each value of a property: `.sectionBy(\.age)`.
    public func sectionBy<V>(_ path: KeyPath<Entity, V>) -> SectionedChain<Entity> { sectionBy(SectionBy(path)) }
    /// Creates a section for each name that a closure derives from a property: `.sectionBy(\.age) { "\($0) years old" }`.
    public func sectionBy<V: QueryResult & SendableMetatype>(
        _ path: KeyPath<Entity, V>, name: @escaping @Sendable (V) -> String
    ) -> SectionedChain<Entity> {
        sectionBy(SectionBy(path, name: name))
    }
    /// Creates a section for each name that a closure derives from an optional property.
    public func sectionBy<V: QueryResult & SendableMetatype>(
        _ path: KeyPath<Entity, V?>, name: @escaping @Sendable (V?) -> String
    ) -> SectionedChain<Entity> {
        sectionBy(SectionBy(path, name: name))
    }
    /// Creates a section for each value of a property, specified by name or by a path of to-one relationships.
    public func sectionBy(_ path: String) -> SectionedChain<Entity> { sectionBy(SectionBy(path)) }
}
