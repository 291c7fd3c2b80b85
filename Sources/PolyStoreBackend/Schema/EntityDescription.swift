/// An entity as its model declares it: a value, free of Swift's classes, that can be compared, hashed and stored.
///
/// The order of `properties` gives the ordinals: attributes and to-one relationships together are the *fields* of a record,
/// all relationships together the *relationships* of the entity, both counted from 0. Positions in ordered relationships of other entities are fields
/// too, behind all declared ones; see ``Field/isHidden``.
public struct EntityDescription: Sendable, Hashable, Codable {
    /// The name in the store; independent of the Swift class.
    public var name: String
    /// The name it had in an earlier version, if it was renamed.
    public var originalName: String?
    public var properties: [PropertyDescription]
    /// Indexes over several fields. Those of single attributes are asked for at the attribute.
    public var indexes: [IndexDescription]
    /// What it is made up of, where it stands for a hierarchy of entities; nil for one that stands alone.
    public var hierarchy: EntityHierarchy?

    public init(
        name: String, originalName: String? = nil, properties: [PropertyDescription], indexes: [IndexDescription] = [],
        hierarchy: EntityHierarchy? = nil
    ) {
        self.name = name
        self.originalName = originalName
        self.properties = properties
        self.indexes = indexes
        self.hierarchy = hierarchy
    }
}

extension EntityDescription {
    /// What decides how objects are stored.
    var withoutDefaults: EntityDescription {
        var copy = self
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property else { return property }
            attribute.defaultValue = nil
            attribute.rules = []
            return .attribute(attribute)
        }
        return copy
    }
}

/// A property of an entity.
public enum PropertyDescription: Sendable, Hashable, Codable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)

    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}

/// A stored value of an entity.
public struct AttributeDescription: Sendable, Hashable, Codable {
    public var name: String
    public var originalName: String?
    public var type: AttributeType
    public var isOptional: Bool
    public var isUnique: Bool
    public var isIndexed: Bool
    /// What a new object starts with, and what a record written before the attribute existed reads as. nil: none.
    public var defaultValue: Value?
    /// What a value must be when it is committed. Like the default, they decide nothing about what a store looks like.
    public var rules: [AttributeRule]

    public init(
        name: String, type: AttributeType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false,
        originalName: String? = nil, defaultValue: Value? = nil, rules: [AttributeRule] = []
    ) {
        self.name = name
        self.originalName = originalName
        self.type = type
        self.isOptional = isOptional
        self.isUnique = isUnique
        self.isIndexed = isIndexed
        self.defaultValue = defaultValue
        self.rules = rules
    }

    // By hand, as stores keep descriptions that were written before there were rules.

    private enum CodingKeys: String, CodingKey {
        case name, originalName, type, isOptional, isUnique, isIndexed, defaultValue, rules
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name), type: try values.decode(AttributeType.self, forKey: .type),
            isOptional: try values.decode(Bool.self, forKey: .isOptional), isUnique: try values.decode(Bool.self, forKey: .isUnique),
            isIndexed: try values.decode(Bool.self, forKey: .isIndexed),
            originalName: try values.decodeIfPresent(String.self, forKey: .originalName),
            defaultValue: try values.decodeIfPresent(Value.self, forKey: .defaultValue),
            rules: try values.decodeIfPresent([AttributeRule].self, forKey: .rules) ?? [])
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encodeIfPresent(originalName, forKey: .originalName)
        try values.encode(type, forKey: .type)
        try values.encode(isOptional, forKey: .isOptional)
        try values.encode(isUnique, forKey: .isUnique)
        try values.encode(isIndexed, forKey: .isIndexed)
        try values.encodeIfPresent(defaultValue, forKey: .defaultValue)
        if !rules.isEmpty { try values.encode(rules, forKey: .rules) }
    }
}

/// A reference from an entity to objects of another or of the same.
public struct RelationshipDescription: Sendable, Hashable, Codable {
    public var name: String
    public var originalName: String?
    /// The entity at the other end, by its name in the store.
    public var destination: String
    public var isToMany: Bool
    /// Whether the objects have an order of their own (a list instead of a set). Only of a to-many relationship.
    public var isOrdered: Bool
    /// The relationship of the destination that leads back; naming it at one end is enough.
    public var inverse: String?
    public var deleteRule: DeleteRule
    /// Whether an object may be committed without it (to-one).
    public var isRequired: Bool
    public var minCount: Int
    public var maxCount: Int?

    public init(
        name: String, originalName: String? = nil, destination: String, isToMany: Bool, isOrdered: Bool = false,
        inverse: String? = nil, deleteRule: DeleteRule = .nullify, isRequired: Bool = false, minCount: Int = 0, maxCount: Int? = nil
    ) {
        self.name = name
        self.originalName = originalName
        self.destination = destination
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.isRequired = isRequired
        self.minCount = minCount
        self.maxCount = maxCount
    }
}

/// An index over one or more fields, in order.
public struct IndexDescription: Sendable, Hashable, Codable {
    /// Names of attributes or to-one relationships.
    public var fields: [String]
    public var isUnique: Bool

    public init(fields: [String], isUnique: Bool = false) {
        self.fields = fields
        self.isUnique = isUnique
    }
}
