/// The declaration of an entity, as a value independent of Swift classes that can be compared, hashed and stored.
///
/// The order of `properties` determines the indexes: attributes and to-one relationships together are the *fields* of a record, and
/// all relationships together are the *relationships* of the entity, both counted from 0. Positions in ordered relationships of other entities are hidden
/// fields after all declared ones; see ``Field/isHidden``.
public struct EntityDescription: Sendable, Hashable, Codable {
    /// The name in the store, which may differ from the name of the Swift class.
    public var name: String
    /// The name in an earlier schema version, if the entity was renamed.
    public var originalName: String?
    /// The attributes and relationships, in order of declaration.
    public var properties: [PropertyDescription]
    /// The indexes over several fields. Indexes of single attributes are declared at the attribute.
    public var indexes: [IndexDescription]
    /// The full-text indexes.
    public var searchIndexes: [SearchIndexDescription]
    /// The classes that the entity combines, if it is the root of a hierarchy; otherwise `nil`.
    public var hierarchy: EntityHierarchy?

    /// Creates the declaration of an entity.
    public init(
        name: String, originalName: String? = nil, properties: [PropertyDescription], indexes: [IndexDescription] = [],
        searchIndexes: [SearchIndexDescription] = [], hierarchy: EntityHierarchy? = nil
    ) {
        self.name = name
        self.originalName = originalName
        self.properties = properties
        self.indexes = indexes
        self.searchIndexes = searchIndexes
        self.hierarchy = hierarchy
    }

    // Written by hand, because earlier releases know no indexes with fields of JSON attributes: they read the entity without these, and remove them when they
    // open the store for writing.

    private enum CodingKeys: String, CodingKey {
        case name, originalName, properties, indexes, jsonIndexes, searchIndexes, hierarchy
    }

    /// An index with a field of a JSON attribute, and its position among all indexes.
    private struct StoredJSONIndex: Codable {
        let position: Int
        let index: IndexDescription
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name),
            originalName: try values.decodeIfPresent(String.self, forKey: .originalName),
            properties: try values.decode([PropertyDescription].self, forKey: .properties),
            indexes: try values.decode([IndexDescription].self, forKey: .indexes),
            searchIndexes: try values.decodeIfPresent([SearchIndexDescription].self, forKey: .searchIndexes) ?? [],
            hierarchy: try values.decodeIfPresent(EntityHierarchy.self, forKey: .hierarchy))
        for stored in try values.decodeIfPresent([StoredJSONIndex].self, forKey: .jsonIndexes) ?? [] {
            indexes.insert(stored.index, at: min(max(0, stored.position), indexes.count))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encodeIfPresent(originalName, forKey: .originalName)
        try values.encode(properties, forKey: .properties)
        try values.encode(indexes.filter { !$0.readsJSON }, forKey: .indexes)
        let others = indexes.enumerated().filter { $0.element.readsJSON }.map { StoredJSONIndex(position: $0.offset, index: $0.element) }
        if !others.isEmpty { try values.encode(others, forKey: .jsonIndexes) }
        // Absent without full-text indexes, so that the stored form is that of earlier releases.
        if !searchIndexes.isEmpty { try values.encode(searchIndexes, forKey: .searchIndexes) }
        try values.encodeIfPresent(hierarchy, forKey: .hierarchy)
    }
}

extension EntityDescription {
    /// The parts of the declaration that determine the stored form.
    var withoutDefaults: EntityDescription {
        var copy = self
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property else { return property }
            attribute.defaultValue = nil
            attribute.defaultExpression = nil
            attribute.rules = []
            return .attribute(attribute)
        }
        return copy
    }
}

/// A property of an entity.
public enum PropertyDescription: Sendable, Hashable, Codable {
    /// A property with a value.
    case attribute(AttributeDescription)
    /// A reference to one or several objects.
    case relationship(RelationshipDescription)

    /// The name of the attribute or relationship.
    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}

/// An attribute of an entity.
public struct AttributeDescription: Sendable, Hashable, Codable {
    /// The name in the store.
    public var name: String
    /// The name in an earlier schema version, if the attribute was renamed.
    public var originalName: String?
    /// The logical type of the values.
    public var type: AttributeType
    /// A Boolean value that indicates whether the value may be null.
    public var isOptional: Bool
    /// A Boolean value that indicates whether values must be unique within the entity.
    public var isUnique: Bool
    /// A Boolean value that indicates whether the store maintains an index over the attribute.
    public var isIndexed: Bool
    /// The value of a new object, and of a record that was written before the attribute existed; `nil` for none.
    ///
    /// With a ``defaultExpression`` it is one value of the expression.
    public var defaultValue: Value?
    /// The kind of the expression that gives each object a value of its own; `nil` if the default is a constant, or if there is none.
    public var defaultExpression: DefaultExpression?
    /// The evaluation of the expression.
    package var defaultEvaluation = DefaultEvaluation()
    /// The rules that values must satisfy at commit. Like the default value, they do not affect the stored form.
    public var rules: [AttributeRule]

    /// Creates the declaration of an attribute.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false,
        originalName: String? = nil, defaultValue: Value? = nil, defaultExpression: DefaultExpression? = nil, rules: [AttributeRule] = []
    ) {
        self.name = name
        self.originalName = originalName
        self.type = type
        self.isOptional = isOptional
        self.isUnique = isUnique
        self.isIndexed = isIndexed
        self.defaultValue = defaultValue
        self.defaultExpression = defaultExpression
        self.rules = rules
    }

    // Written by hand, because stores contain descriptions from before rules existed.

    private enum CodingKeys: String, CodingKey {
        case name, originalName, type, isOptional, isUnique, isIndexed, defaultValue, defaultExpression, rules
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name), type: try values.decode(AttributeType.self, forKey: .type),
            isOptional: try values.decode(Bool.self, forKey: .isOptional), isUnique: try values.decode(Bool.self, forKey: .isUnique),
            isIndexed: try values.decode(Bool.self, forKey: .isIndexed),
            originalName: try values.decodeIfPresent(String.self, forKey: .originalName),
            defaultValue: try values.decodeIfPresent(Value.self, forKey: .defaultValue),
            // A kind of a later release is one that only the class can evaluate.
            defaultExpression: try values.decodeIfPresent(String.self, forKey: .defaultExpression).map {
                DefaultExpression(rawValue: $0) ?? .computed
            },
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
        try values.encodeIfPresent(defaultExpression?.rawValue, forKey: .defaultExpression)
        if !rules.isEmpty { try values.encode(rules, forKey: .rules) }
    }
}

/// A relationship from an entity to objects of another entity or of the same one.
public struct RelationshipDescription: Sendable, Hashable, Codable {
    /// The name in the store.
    public var name: String
    /// The name in an earlier schema version, if the relationship was renamed.
    public var originalName: String?
    /// The stored name of the destination entity.
    public var destination: String
    /// A Boolean value that indicates whether the relationship is to-many.
    public var isToMany: Bool
    /// A Boolean value that indicates whether the objects are ordered (a list instead of a set); to-many only.
    public var isOrdered: Bool
    /// The name of the inverse relationship of the destination. Naming it at one end is enough.
    public var inverse: String?
    /// The rule that applies to the destination objects when the source is deleted.
    public var deleteRule: DeleteRule
    /// A Boolean value that indicates whether a to-one relationship must have a value at commit.
    public var isRequired: Bool
    /// The minimum number of objects (to-many).
    public var minCount: Int
    /// The maximum number of objects (to-many); `nil` for no maximum.
    public var maxCount: Int?

    /// Creates the declaration of a relationship.
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
