import PolyStoreAttributes
import PolyStoreBackend

/// The stored names of a model's properties, by key path.
public final class ModelProperties: @unchecked Sendable {  // immutable; key paths of stored properties hold no state
    enum Property {
        case field(FieldReference)
        case relationship(String)
    }

    private let byKeyPath: [AnyKeyPath: Property]
    /// The names of to-many relationships, by the key paths of their count and of their being empty.
    private let members: [AnyKeyPath: (name: String, isCount: Bool)]
    private let entityName: String
    let fieldsByName: [String: FieldReference]
    /// The types of attributes that are stored as raw values, by name.
    let rawTypes: [String: any RawRepresentable.Type]

    /// The names of computed and transient properties, for messages.
    private let unstored: () -> [(path: AnyKeyPath, name: String)]

    /// - Parameters:
    ///   - type: The class that the key paths start from.
    ///   - names: The stored name of every property, including inherited ones, with a key path whose root is this class.
    ///   - unstored: The names of computed and transient properties, which messages name.
    public init<T: Model>(
        _ type: T.Type, _ names: [(PartialKeyPath<T>, String)], unstored: @escaping () -> [(PartialKeyPath<T>, String)] = { [] }
    ) {
        entityName = T._$entityName
        self.unstored = { unstored().map { ($0 as AnyKeyPath, $1) } }
        var fields: [String: FieldReference] = [:]
        var relationships: Set<String> = []
        for property in T.storedEntity.properties {
            switch property {
            case .attribute(let attribute):
                fields[attribute.name] = FieldReference(index: fields.count, name: attribute.name, type: attribute.type)
            case .relationship(let relationship):
                if !relationship.isToMany {
                    fields[relationship.name] = FieldReference(index: fields.count, name: relationship.name, type: .int64)
                }
                relationships.insert(relationship.name)
            }
        }
        fieldsByName = fields
        rawTypes = Dictionary(
            names.compactMap { path, name in
                let type = Swift.type(of: path).valueType
                let value = (type as? any OptionalType.Type)?.wrapped ?? type
                // The same preference as in ModelCoding.
                if value is any AttributeValue.Type { return nil }
                return (value as? any RawRepresentable.Type).map { (name, $0) }
            }, uniquingKeysWith: { first, _ in first })
        byKeyPath = Dictionary(
            names.compactMap { path, name in
                if let field = fields[name] { return (path as AnyKeyPath, .field(field)) }
                return relationships.contains(name) ? (path as AnyKeyPath, .relationship(name)) : nil
            }, uniquingKeysWith: { first, _ in first })
        members = Dictionary(
            names.flatMap { path, name in
                let type = Swift.type(of: path).valueType as? any MembersType.Type
                return [(type?.countPath, true), (type?.isEmptyPath, false)].compactMap { member, isCount in
                    member.flatMap { (path as AnyKeyPath).appending(path: $0) }.map { ($0, (name: name, isCount: isCount)) }
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the field of a key path with one component; `nil` for any other.
    package func knownField(_ path: AnyKeyPath) -> FieldReference? { if case .field(let field)? = byKeyPath[path] { field } else { nil } }

    /// All properties with their key paths.
    package var names: some Sequence<(path: AnyKeyPath, name: String)> {
        byKeyPath.lazy.map { path, property in
            switch property {
            case .field(let field): (path, field.name)
            case .relationship(let name): (path, name)
            }
        }
    }

    /// Returns the stored name of a key path with one component; `nil` for any other.
    package func knownName(_ path: AnyKeyPath) -> String? {
        switch byKeyPath[path] {
        case .field(let field)?: field.name
        case .relationship(let name)?: name
        case nil: nil
        }
    }

    /// Returns the stored names in a key path with one component, or of the count of a to-many relationship; `nil` for any other.
    func knownKeys(_ path: AnyKeyPath) -> [String]? {
        if let name = knownName(path) { return [name] }
        return members[path].flatMap { $0.isCount ? [$0.name, "@count"] : nil }
    }

    /// Returns the name of the to-many relationship whose `isEmpty` a key path is.
    func emptiness(_ path: AnyKeyPath) -> String? { members[path].flatMap { $0.isCount ? nil : $0.name } }

    func field(_ path: AnyKeyPath) throws -> FieldReference {
        if let field = knownField(path) { return field }
        throw StoreError(
            .invalidPredicate, "\(description(of: path)) is not a stored attribute or to-one relationship of \(entityName).",
            entity: entityName)
    }

    /// Returns the name of a computed or transient property; nil for others, and for a property of an extension or of a superclass.
    func unstoredName(_ path: AnyKeyPath) -> String? { unstored().first { $0.path == path }?.name }

    /// Returns the class and the name of a property for a message, or the class and the type if the name is not known.
    package func description(of path: AnyKeyPath) -> String {
        if let name = knownName(path) ?? unstoredName(path) { return "\(entityName).\(name)" }
        return "A property of \(entityName) of the type \(Swift.type(of: path).valueType)"
    }
}
