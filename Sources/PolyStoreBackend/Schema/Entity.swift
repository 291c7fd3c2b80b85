/// An entity of a ``ResolvedSchema``: names turned into ordinals, relationships into where they are stored.
public final class Entity: Sendable {
    /// The position in ``ResolvedSchema/entities``.
    public let index: Int
    public let name: String
    public let description: EntityDescription
    /// What a record holds: attributes and to-one relationships, in order of declaration. At most ``FieldMask/capacity``.
    public let fields: [Field]
    /// All relationships, in order of declaration.
    public let relationships: [Relationship]
    /// Every index that a store keeps: of unique and indexed attributes, of to-one relationships, and the compound ones.
    public let indexes: [Index]
    public let layout: RecordLayout
    private let fieldsByName: [String: Int]
    private let relationshipsByName: [String: Int]

    init(index: Int, description: EntityDescription, fields: [Field], relationships: [Relationship], indexes: [Index]) {
        self.index = index
        self.name = description.name
        self.description = description
        self.fields = fields
        self.relationships = relationships
        self.indexes = indexes
        self.layout = RecordLayout(entityName: description.name, fields: fields)
        self.fieldsByName = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.ordinal) })
        self.relationshipsByName = Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0.ordinal) })
    }

    public func field(named name: String) -> Field? { fieldsByName[name].map { fields[$0] } }
    public func relationship(named name: String) -> Relationship? { relationshipsByName[name].map { relationships[$0] } }
}

extension Entity: Hashable {
    public static func == (left: Entity, right: Entity) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One value of a record: an attribute, or the id that a to-one relationship points to.
public struct Field: Sendable, Hashable {
    public let ordinal: Int
    public let name: String
    public let type: AttributeType
    public let isOptional: Bool
    /// The relationship's ordinal, where the field is the id of a to-one relationship.
    public let relationship: Int?
    public let defaultValue: Value?
}

/// An index that a store keeps.
public struct Index: Sendable, Hashable {
    /// For people: the names of entity and fields. The same at every start, but two indexes can share it where names contain underscores.
    public let name: String
    /// Ordinals of fields, in order.
    public let fields: [Int]
    public let isUnique: Bool
}

/// A relationship of a ``ResolvedSchema``.
public struct Relationship: Sendable, Hashable {
    /// Where the ends of a relationship are kept.
    public enum Storage: Sendable, Hashable {
        /// The target's id is a field of the source's record (to-one).
        case foreignKey(field: Int)
        /// The targets are the records whose field holds the source's id (to-many, inverse of a to-one).
        case inverse(field: Int)
        /// Pairs of ids in a table of their own. `isReversed`: the sources of this relationship are the table's targets.
        case link(table: Int, isReversed: Bool)
    }

    public let ordinal: Int
    public let name: String
    /// ``Entity/index`` of the entity that declares it.
    public let source: Int
    /// ``Entity/index`` of the entity at the other end.
    public let destination: Int
    public let isToMany: Bool
    public let deleteRule: DeleteRule
    public let isRequired: Bool
    public let minCount: Int
    public let maxCount: Int?
    /// Its ordinal in the destination; nil where there is no way back.
    public let inverse: Int?
    public let storage: Storage
}

extension Relationship {
    /// The way back over a link table, for ``ReadTransaction/related(_:of:)``, also where the schema declares none; nil for foreign keys.
    public var reversed: Relationship? {
        guard case .link(let table, let isReversed) = storage else { return nil }
        return Relationship(
            ordinal: ordinal, name: name, source: destination, destination: source, isToMany: true, deleteRule: .noAction,
            isRequired: false,
            minCount: 0, maxCount: nil, inverse: ordinal, storage: .link(table: table, isReversed: !isReversed))
    }
}

/// A table of pairs (source, target) for one to-many relationship without a to-one inverse.
public struct LinkTable: Sendable, Hashable {
    /// The position in ``ResolvedSchema/links``.
    public let index: Int
    /// `Entity_relationship`, unlike every other.
    public let name: String
    public let source: Int
    public let target: Int
    /// A relationship that is its own inverse: both directions are kept as pairs.
    public let isSymmetric: Bool
}
