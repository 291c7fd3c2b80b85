/// An entity of a ``ResolvedSchema``: names turned into ordinals, relationships into where they are stored.
public final class Entity: Sendable {
    /// The position in ``ResolvedSchema/entities``.
    public let index: Int
    public let name: String
    public let description: EntityDescription
    /// What a record holds: attributes and to-one relationships, in order of declaration, then the hidden fields. At most
    /// ``FieldMask/capacity``.
    public let fields: [Field]
    /// All relationships, in order of declaration.
    public let relationships: [Relationship]
    /// Every index that a store keeps: of unique and indexed attributes, of to-one relationships, and the compound ones. That of a to-one
    /// relationship whose way back is ordered has the position as its second field.
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
        self.fieldsByName = Dictionary(uniqueKeysWithValues: fields.lazy.filter { !$0.isHidden }.map { ($0.name, $0.ordinal) })
        self.relationshipsByName = Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0.ordinal) })
    }

    /// A field that the model declares; hidden ones cannot be asked for.
    public func field(named name: String) -> Field? { fieldsByName[name].map { fields[$0] } }
    public func relationship(named name: String) -> Relationship? { relationshipsByName[name].map { relationships[$0] } }
}

extension Entity: Hashable {
    public static func == (left: Entity, right: Entity) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One value of a record: an attribute, the id that a to-one relationship points to, or a position that no model declares.
public struct Field: Sendable, Hashable {
    public let ordinal: Int
    public let name: String
    public let type: AttributeType
    public let isOptional: Bool
    /// The relationship's ordinal, where the field is the id of a to-one relationship.
    public let relationship: Int?
    public let defaultValue: Value?
    /// The ordinal of a to-one relationship whose inverse is ordered, where the field is the object's position there; null where that relationship
    /// leads nowhere. Written by the object layer, like any other field.
    public let positionAlong: Int?

    /// Whether no property of the model has the value: such fields come after all others.
    public var isHidden: Bool { positionAlong != nil }

    init(
        ordinal: Int, name: String, type: AttributeType, isOptional: Bool, relationship: Int?, defaultValue: Value?,
        positionAlong: Int? = nil
    ) {
        self.ordinal = ordinal
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.relationship = relationship
        self.defaultValue = defaultValue
        self.positionAlong = positionAlong
    }
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
    /// Whether the targets have an order of their own: that of their positions.
    public let isOrdered: Bool
    public let deleteRule: DeleteRule
    public let isRequired: Bool
    public let minCount: Int
    public let maxCount: Int?
    /// Its ordinal in the destination; nil where there is no way back.
    public let inverse: Int?
    public let storage: Storage
    /// The field of the destination that holds a target's position: of an ordered relationship that is the inverse of a to-one.
    public let positionField: Int?
}

extension Relationship {
    /// Ordinals of the destination's fields by which an index finds the targets in their order; empty where they are not found by fields.
    public var indexedFields: [Int] {
        guard case .inverse(let field) = storage else { return [] }
        return [field] + (positionField.map { [$0] } ?? [])
    }

    /// The way back over a link table, for ``ReadTransaction/related(_:of:)``, also where the schema declares none; nil for foreign keys.
    /// Never ordered: where the inverse is, ask for that.
    public var reversed: Relationship? {
        guard case .link(let table, let isReversed) = storage else { return nil }
        return Relationship(
            ordinal: ordinal, name: name, source: destination, destination: source, isToMany: true, isOrdered: false,
            deleteRule: .noAction, isRequired: false, minCount: 0, maxCount: nil, inverse: ordinal,
            storage: .link(table: table, isReversed: !isReversed), positionField: nil)
    }
}

/// A table of pairs (source, target) for one to-many relationship without a to-one inverse.
public struct LinkTable: Sendable, Hashable {
    /// The position in ``ResolvedSchema/links``.
    public let index: Int
    /// `Entity_relationship`, unlike every other: where two would share that, the length of the entity's name in bytes follows.
    public internal(set) var name: String
    /// `Entity_relationship` where that is not the name. Earlier versions gave it to both of those that share it, and a store that was made by one of
    /// them has the pairs of both in one table, where nothing tells them apart: it cannot be opened.
    public internal(set) var sharedName: String?
    public let source: Int
    public let target: Int
    /// A relationship that is its own inverse: both directions are kept as pairs.
    public let isSymmetric: Bool
    /// Whether the targets of one source have an order: each pair then has a ``ChangeSet/LinkChange/targetPosition``.
    public let ordersTargets: Bool
    /// Whether the sources of one target have an order: each pair then has a ``ChangeSet/LinkChange/sourcePosition``.
    public let ordersSources: Bool
}
