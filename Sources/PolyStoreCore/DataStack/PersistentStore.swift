import PolyStoreBackend

/// A store of a stack: an open backend with the entities of one configuration.
public final class PersistentStore: Sendable {
    /// The position in the stack, from 0, in the order in which stores were added.
    let index: Int
    /// nil is the default configuration.
    public let configurationName: String?
    public let configuration: StoreConfiguration
    let backend: any StorageBackend
    let schema: ResolvedSchema
    /// The slot of the first entity; the others follow in the order of the schema.
    let firstSlot: Int32
    var slots: Range<Int32> { firstSlot..<firstSlot + Int32(schema.entities.count) }
    /// Ids that were reserved and not yet given out, by entity.
    let sequences: Protected<[ClosedRange<Int64>?]>
    /// Shared with the stores of other stacks at the same place.
    let writers: StoreWriters
    /// What this stack records of its commits; nil: nothing.
    public let history: HistoryOptions?
    /// What the last commit of this stack knew of the store's history.
    let historyState = Protected<HistoryRecorder.State?>(nil)

    init(
        index: Int, firstSlot: Int32, configurationName: String?, configuration: StoreConfiguration, backend: any StorageBackend,
        schema: ResolvedSchema, history: HistoryOptions? = nil
    ) {
        self.history = history
        self.index = index
        self.firstSlot = firstSlot
        self.configurationName = configurationName
        self.configuration = configuration
        self.backend = backend
        self.schema = schema
        writers = StoreWriters.of(configuration)
        sequences = Protected(Array(repeating: nil, count: schema.entities.count))
    }

    /// Drawn when the store was made; part of every object's URI.
    public var storeID: String { backend.metadata.storeID }
    public var capabilities: Capabilities { backend.capabilities }
    /// `engine:location`.
    public var url: String { configuration.url }

    /// What a transaction ends with that had to begin anew, and found another version.
    var interrupted: StoreError {
        StoreError(.conflict, "Another process wrote to \(url) meanwhile. Run the transaction again.", url: url)
    }

    /// Looks for damage: a sentence for each finding.
    public func verify() throws -> [String] { try backend.verify() }
}

/// One entity in one store, with its class.
@usableFromInline
final class StoreEntity: Sendable {
    /// Unlike any other of the stack.
    @usableFromInline let slot: Int32
    let store: PersistentStore
    let entity: Entity
    @usableFromInline let type: any Model.Type
    private let required: [Int]
    /// To-many relationships that have a least or a greatest count.
    let counted: [Relationship]
    /// Whether there is a to-one relationship that must lead somewhere.
    let requiresTargets: Bool
    /// Whether there are attributes with rules.
    let hasRules: Bool
    /// Slots of the relationships' destinations, in the same store.
    let destinations: [Int32]
    /// To-one relationships, with their fields and the slots that they lead to.
    let toOnes: [(relationship: Relationship, field: Int, slot: Int32)]
    /// Relationships that lead here and have no way back.
    let incoming: [Relationship]
    /// The classes, where there are several; `type` is their root.
    let family: EntityFamily?
    @usableFromInline let isPolymorphic: Bool
    /// By relationship: whether it is ordered.
    let isOrdered: [Bool]
    /// Hidden fields that hold positions, with the fields of the to-one relationships that they are for.
    let positions: [(field: Int, relationship: Int, foreignKey: Int)]

    init(store: PersistentStore, entity: Entity, type: any Model.Type) {
        slot = store.firstSlot + Int32(entity.index)
        self.store = store
        self.entity = entity
        self.type = type
        required = entity.fields.filter { $0.relationship == nil && !$0.isOptional && $0.defaultValue == nil }.map(\.ordinal)
        counted = entity.relationships.filter { $0.isToMany && ($0.minCount > 0 || $0.maxCount != nil) }
        requiresTargets = entity.relationships.contains { $0.isRequired && !$0.isToMany }
        hasRules = RuleEvaluator.isNeeded(entity)
        destinations = entity.relationships.map { store.firstSlot + Int32($0.destination) }
        isOrdered = entity.relationships.map(\.isOrdered)
        positions = entity.fields.compactMap { field in
            guard let relationship = field.positionAlong, case .foreignKey(let key) = entity.relationships[relationship].storage else {
                return nil
            }
            return (field.ordinal, relationship, key)
        }
        toOnes = entity.relationships.compactMap {
            if case .foreignKey(let field) = $0.storage { ($0, field, store.firstSlot + Int32($0.destination)) } else { nil }
        }
        incoming = store.schema.entities.flatMap(\.relationships).filter { $0.destination == entity.index && $0.inverse == nil }
        family = EntityFamily(entity, type)
        isPolymorphic = family != nil
        var declared = FieldMask()
        for field in entity.fields where !field.isHidden && field.ordinal != family?.classifier { declared.insert(field.ordinal) }
        declaredFields = declared
        let told = type._$hierarchy?.members.flatMap(\.properties) ?? type._$entity.properties
        destinationNames = told.compactMap { if case .relationship(let relationship) = $0 { relationship.destination } else { nil } }
    }

    /// The fields that are properties of a class.
    let declaredFields: FieldMask

    /// The class that a relationship leads to, by its entity's name: of a hierarchy perhaps one below the root.
    let destinationNames: [String]

    /// The classes whose objects it holds.
    var types: [any Model.Type] { family?.kinds.map { $0.type } ?? [type] }

    /// Attributes that must be assigned before a new object is committed: neither optional nor with a default.
    func required(of object: some Model) -> [Int] { family?.kind(of: object).required ?? required }

    /// The fields that objects of a class have.
    func fields(of type: any Model.Type) -> FieldMask { family?.kind(type)?.fields ?? declaredFields }

    /// The relationships that an object has: of a hierarchy those of its own class.
    func relationships(of object: some Model) -> [Relationship] { family?.kind(of: object).relationships ?? entity.relationships }

    /// Writes every field of an object, those that its class does not know of included.
    /// - Parameter positions: fields of positions; the others are null, or not written.
    func encode(
        _ object: some Model, into builder: inout RecordBuilder, positions: [(field: Int, position: Int64)] = []
    ) throws {
        try object._$encode(into: &builder)
        if let family { builder.setText(family.classifier, family.kind(of: object).name) }
        for (field, position) in positions { builder.setInteger(field, position) }
    }
}

/// The stores of a stack and who holds what, at one time. A value that only grows.
@usableFromInline
struct StoreTable: Sendable {
    var stores: [PersistentStore] = []
    @usableFromInline var entries: [StoreEntity] = []
    var byType: [ObjectIdentifier: [StoreEntity]] = [:]
}
