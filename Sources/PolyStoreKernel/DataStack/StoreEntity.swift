import PolyStoreBackend
import PolyStoreQuery

/// One entity in one store, with its class.
@usableFromInline
package final class StoreEntity: Sendable {
    /// The entity index, unique in the stack.
    @usableFromInline package let entityIndex: Int32
    @usableFromInline package let store: PersistentStore
    package let entity: Entity
    @usableFromInline package let type: any Model.Type
    private let required: [Int]
    /// The to-many relationships with a minimum or maximum count.
    let counted: [Relationship]
    /// A Boolean value that indicates whether the entity has a required to-one relationship.
    let requiresTargets: Bool
    /// A Boolean value that indicates whether the entity has attributes with validation rules.
    let hasRules: Bool
    /// The entity indexes of the relationships' destinations, in the same store.
    package let destinations: [Int32]
    /// The to-one relationships, with their fields and the entity indexes of their destinations.
    let toOnes: [(relationship: Relationship, field: Int, entityIndex: Int32)]
    /// The relationships of other entities to this one that have no inverse.
    let incoming: [Relationship]
    /// The hierarchy whose root is `type`; nil for a single class.
    package let hierarchy: ModelHierarchy?
    /// The relationships of each class of the hierarchy.
    private let relationshipsOfClasses: [[Relationship]]
    @usableFromInline let isPolymorphic: Bool
    /// A Boolean value that indicates whether the objects are of several classes of a hierarchy, which one Swift class can represent.
    let holdsHierarchy: Bool
    /// A Boolean value for each relationship that indicates whether it is ordered.
    let isOrdered: [Bool]
    /// The hidden fields with positions, and the to-one relationships and foreign keys they belong to.
    let positions: [(field: Int, relationship: Int, foreignKey: Int)]

    init(store: PersistentStore, entity: Entity, type: any Model.Type, incoming: [Relationship]) {
        entityIndex = store.firstEntityIndex + Int32(entity.index)
        self.store = store
        self.entity = entity
        self.type = type
        required = entity.fields.filter { $0.relationship == nil && !$0.isOptional && $0.defaultValue == nil }.map(\.index)
        counted = entity.relationships.filter { $0.isToMany && ($0.minCount > 0 || $0.maxCount != nil) }
        requiresTargets = entity.relationships.contains { $0.isRequired && !$0.isToMany }
        hasRules = RuleEvaluator.isNeeded(entity)
        destinations = entity.relationships.map { store.firstEntityIndex + Int32($0.destination) }
        isOrdered = entity.relationships.map(\.isOrdered)
        positions = entity.fields.compactMap { field in
            guard let relationship = field.positionAlong, case .foreignKey(let key) = entity.relationships[relationship].storage else {
                return nil
            }
            return (field.index, relationship, key)
        }
        toOnes = entity.relationships.compactMap {
            if case .foreignKey(let field) = $0.storage { ($0, field, store.firstEntityIndex + Int32($0.destination)) } else { nil }
        }
        self.incoming = incoming
        hierarchy = type._$hierarchy
        relationshipsOfClasses = entity.classes.map { $0.relationships.map { entity.relationships[$0] } }
        isPolymorphic = hierarchy != nil
        holdsHierarchy = entity.classifierField != nil
        var declared = FieldMask()
        for field in entity.fields where !field.isHidden && field.index != entity.classifierField { declared.insert(field.index) }
        declaredFields = declared
        destinationNames = type.storedEntity.properties.compactMap {
            if case .relationship(let relationship) = $0 { relationship.destination } else { nil }
        }
    }

    /// The fields that are properties of a class.
    package let declaredFields: FieldMask

    /// The entity names of the relationships' destinations. In a class hierarchy they may be below the root.
    let destinationNames: [String]

    /// The classes of the entity's objects.
    var types: [any Model.Type] { hierarchy?.types ?? [type] }

    /// Returns the attributes that must be assigned before a new object is committed: neither optional nor with a default value.
    func required(of object: some Model) -> [Int] { entityClass(of: object)?.required ?? required }

    /// Returns the class of an object in a hierarchy; nil for an entity that holds none.
    func entityClass(of object: some Model) -> EntityClass? {
        guard holdsHierarchy else { return nil }
        return hierarchy?.entityClass(of: object) ?? (object as? any HierarchyObject)?.entityClass
    }

    /// Returns the name of the entity of a record's class.
    /// - Throws: `corrupt` if the record names an abstract entity, or one outside of the hierarchy.
    func className(_ record: RecordView) throws -> String {
        if let hierarchy { return try hierarchy.entityClass(record).name }
        guard let field = entity.classifierField, case .text(let name) = record.value(entity.fields[field]) else { return entity.name }
        return name
    }

    /// Returns the fields of objects of a class.
    package func fields(of type: any Model.Type) -> FieldMask { hierarchy?.entityClass(type)?.fields ?? declaredFields }

    /// Returns the relationships of an object: those of its own class in a class hierarchy.
    func relationships(of object: some Model) -> [Relationship] {
        entityClass(of: object).map { relationshipsOfClasses[$0.index] } ?? entity.relationships
    }

    /// Returns the relationships of objects of a class.
    package func relationships(of type: any Model.Type) -> [Relationship] {
        hierarchy?.entityClass(type).map { relationshipsOfClasses[$0.index] } ?? entity.relationships
    }

    /// Encodes all fields of an object, including those that its class does not declare.
    /// - Parameter positions: the position fields and their values; the others are null or not written.
    func encode(
        _ object: some Model, into builder: inout RecordBuilder, positions: [(field: Int, position: Int64)] = []
    ) throws {
        try object._$encode(into: &builder)
        if let hierarchy { builder.setText(hierarchy.classifier, hierarchy.entityClass(of: object).name) }
        for (field, position) in positions { builder.setInteger(field, position) }
    }
}
