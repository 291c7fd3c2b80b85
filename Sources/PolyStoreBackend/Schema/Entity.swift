/// An entity of a ``ResolvedSchema``: names are resolved to indexes, and relationships to their storage.
public final class Entity: Sendable {
    /// The index in ``ResolvedSchema/entities``.
    public let index: Int
    /// The stored name of the entity.
    public let name: String
    /// The declaration of the entity.
    public let description: EntityDescription
    /// The fields of a record: attributes and to-one relationships, in order of declaration, then the hidden fields. At most
    /// ``FieldMask/capacity``.
    public let fields: [Field]
    /// All relationships, in order of declaration.
    public let relationships: [Relationship]
    /// Every index that a store keeps: of unique and indexed attributes, of to-one relationships, and the declared indexes. The index of a to-one
    /// relationship with an ordered inverse has the position as its second field.
    public let indexes: [Index]
    /// The full-text indexes that a store keeps, in order of declaration.
    public let searchIndexes: [SearchIndex]
    /// The classes of the objects, depth first, the root first. An entity that holds no hierarchy has one class.
    public let classes: [EntityClass]
    /// The field that holds the name of an object's own entity; `nil` for an entity that holds no hierarchy.
    public let classifierField: Int?
    /// The fields of JSON attributes that are components of indexes.
    package let indexedJSON: [IndexedJSONField]
    /// The byte layout of the records.
    public let layout: RecordLayout
    private let fieldsByName: [String: Int]
    private let relationshipsByName: [String: Int]

    init(
        index: Int, description: EntityDescription, fields: [Field], relationships: [Relationship], indexes: [Index],
        searchIndexes: [SearchIndex]
    ) {
        self.index = index
        self.name = description.name
        self.description = description
        self.fields = fields
        self.relationships = relationships
        self.indexes = indexes
        self.searchIndexes = searchIndexes
        self.indexedJSON = IndexedJSONField.all(of: indexes, fields)
        self.classes = description.classes
        self.classifierField = description.classifierField
        self.layout = RecordLayout(entityName: description.name, fields: fields)
        self.fieldsByName = Dictionary(uniqueKeysWithValues: fields.lazy.filter { !$0.isHidden }.map { ($0.name, $0.index) })
        self.relationshipsByName = Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0.index) })
    }

    /// Returns a declared field by name; hidden fields are not found.
    public func field(named name: String) -> Field? { fieldsByName[name].map { fields[$0] } }
    /// Returns a relationship by name.
    public func relationship(named name: String) -> Relationship? { relationshipsByName[name].map { relationships[$0] } }
}

extension Entity: Hashable {
    public static func == (left: Entity, right: Entity) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A value of a record: an attribute, the row id of the target of a to-one relationship, or a hidden position.
public struct Field: Sendable, Hashable {
    /// The field index.
    public let index: Int
    /// The stored name of the field.
    public let name: String
    /// The logical type of the values.
    public let type: AttributeType
    /// A Boolean value that indicates whether the field may be null.
    public let isOptional: Bool
    /// The relationship index, if the field holds the row id of a to-one relationship.
    public let relationship: Int?
    /// The value of the field in new objects, and in records that were written before the field existed; `nil` for none.
    public let defaultValue: Value?
    /// The kind of the expression that gives each object a value of its own; `nil` if the default is a constant, or if there is none.
    public let defaultExpression: DefaultExpression?
    /// The evaluation of the expression.
    package let defaultEvaluation: DefaultEvaluation
    /// The index of a to-one relationship with an ordered inverse, if the field holds the object's position in that inverse. The position is null if the
    /// relationship is null. The object layer writes it like any other field.
    public let positionAlong: Int?

    /// A Boolean value that indicates whether no property of the model has the value. Hidden fields follow all others.
    public var isHidden: Bool { positionAlong != nil }

    init(
        index: Int, name: String, type: AttributeType, isOptional: Bool, relationship: Int?, defaultValue: Value?,
        defaultExpression: DefaultExpression? = nil, defaultEvaluation: DefaultEvaluation = DefaultEvaluation(), positionAlong: Int? = nil
    ) {
        self.index = index
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.relationship = relationship
        self.defaultValue = defaultValue
        self.defaultExpression = defaultExpression
        self.defaultEvaluation = defaultEvaluation
        self.positionAlong = positionAlong
    }
}

/// An index that a store maintains.
public struct Index: Sendable, Hashable {
    /// A component of the entries of an index: the value of a field, or of a field of a JSON attribute.
    public struct Part: Sendable, Hashable {
        /// The field index; for a field of a JSON attribute that of the attribute.
        public let field: Int
        /// The field of the JSON attribute, whose result is a ``JSONField/Result/value(_:)``; `nil` for the value of the field itself.
        public let json: JSONField?

        /// Returns the same component of another field.
        package func of(_ field: Int) -> Part { Part(field: field, json: json) }
    }

    /// A readable name made of the names of the entity and its fields. It is stable, but two indexes can share it if names contain underscores.
    public let name: String
    /// The components of the entries, in order.
    ///
    /// A backend that does not use them may index ``fields`` instead: the texts of the JSON attributes. Results are the same.
    public let parts: [Part]
    /// A Boolean value that indicates whether the index enforces uniqueness. An index with a field of a JSON attribute does not.
    public let isUnique: Bool

    /// The field indexes, in order. A field of a JSON attribute is represented by the attribute.
    public let fields: [Int]
    /// A Boolean value that indicates whether a component is a field of a JSON attribute.
    public var readsJSON: Bool { parts.contains { $0.json != nil } }

    init(name: String, parts: [Part], isUnique: Bool) {
        self.name = name
        self.parts = parts
        self.isUnique = isUnique
        fields = parts.map(\.field)
    }
}

/// A relationship of a ``ResolvedSchema``.
public struct Relationship: Sendable, Hashable {
    /// The storage of a relationship.
    public enum Storage: Sendable, Hashable {
        /// A field of the source's record holds the target's row id (to-one).
        case foreignKey(field: Int)
        /// A field of the target's records holds the source's row id (to-many, the inverse of a to-one).
        case inverse(field: Int)
        /// A link table holds pairs of row ids. `isReversed`: the sources of this relationship are the targets of the table.
        case link(table: Int, isReversed: Bool)
    }

    /// The relationship index in the entity.
    public let index: Int
    /// The stored name of the relationship.
    public let name: String
    /// The ``Entity/index`` of the entity that declares it.
    public let source: Int
    /// The ``Entity/index`` of the destination.
    public let destination: Int
    /// A Boolean value that indicates whether the relationship is to-many.
    public let isToMany: Bool
    /// A Boolean value that indicates whether the targets are ordered by position.
    public let isOrdered: Bool
    /// The rule that applies to the targets when the source is deleted.
    public let deleteRule: DeleteRule
    /// A Boolean value that indicates whether a to-one relationship must have a value.
    public let isRequired: Bool
    /// The minimum number of targets.
    public let minCount: Int
    /// The maximum number of targets; `nil` for no maximum.
    public let maxCount: Int?
    /// The index of the inverse relationship in the destination; `nil` if there is none.
    public let inverse: Int?
    /// The storage of the relationship.
    public let storage: Storage
    /// The field of the destination that holds a target's position, for an ordered inverse of a to-one relationship.
    public let positionField: Int?
}

extension Relationship {
    /// The fields of the destination whose index yields the targets in order, by field index; empty for relationships that are not stored in fields.
    public var indexedFields: [Int] {
        guard case .inverse(let field) = storage else { return [] }
        return [field] + (positionField.map { [$0] } ?? [])
    }

    /// The opposite direction over a link table, for ``ReadTransaction/related(_:of:)``, even if the schema does not declare it; `nil` for foreign keys.
    /// Never ordered; use the inverse if that is ordered.
    public var reversed: Relationship? {
        guard case .link(let table, let isReversed) = storage else { return nil }
        return Relationship(
            index: index, name: name, source: destination, destination: source, isToMany: true, isOrdered: false,
            deleteRule: .noAction, isRequired: false, minCount: 0, maxCount: nil, inverse: index,
            storage: .link(table: table, isReversed: !isReversed), positionField: nil)
    }
}

/// A table of pairs (source, target) for one to-many relationship without a to-one inverse.
public struct LinkTable: Sendable, Hashable {
    /// The index in ``ResolvedSchema/links``.
    public let index: Int
    /// A unique name, `Entity_relationship`. If two tables would have the same name, the length of the entity's name in bytes is appended.
    public internal(set) var name: String
    /// `Entity_relationship` if the name differs from it. Earlier versions gave this name to both tables. A store written by such a version contains the pairs
    /// of both relationships in one table and cannot be opened, because the pairs cannot be separated.
    public internal(set) var sharedName: String?
    /// The ``Entity/index`` of the source entity.
    public let source: Int
    /// The ``Entity/index`` of the target entity.
    public let target: Int
    /// A Boolean value that indicates whether the relationship is its own inverse. Both directions are stored as pairs.
    public let isSymmetric: Bool
    /// A Boolean value that indicates whether the targets of a source are ordered. Each pair then has a ``ChangeSet/LinkChange/targetPosition``.
    public let ordersTargets: Bool
    /// A Boolean value that indicates whether the sources of a target are ordered. Each pair then has a ``ChangeSet/LinkChange/sourcePosition``.
    public let ordersSources: Bool
}

extension LinkTable {
    /// Returns the error for a store that has a table ``sharedName`` instead of ``name``.
    /// - Parameter path: The path or URL of the store.
    package func mixedTablesError(path: String) -> StoreError {
        StoreError(
            .incompatibleSchema,
            "The store \(path) was made by an earlier version, which kept two relationships in the one table \(sharedName ?? name), so their objects cannot be distinguished. "
                + "Read it with that version, and write it to a new store in which one of the two has another name.",
            location: path)
    }
}
