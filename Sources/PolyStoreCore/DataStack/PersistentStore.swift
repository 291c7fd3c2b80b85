import PolyStoreBackend
import PolyStoreQuery

/// A store of a stack: an open backend with the entities of one configuration.
public final class PersistentStore: Sendable {
    /// The index of the store in its stack, from 0, in the order in which stores were added.
    let index: Int
    /// The name of the configuration; nil for the default configuration.
    public let configurationName: String?
    /// The configuration that the store was opened with.
    public let configuration: StoreConfiguration
    let backend: any StorageBackend
    let schema: ResolvedSchema
    /// The entity index of the first entity in the stack. Those of the others follow in the order of the schema.
    let firstSlot: Int32
    var slots: Range<Int32> { firstSlot..<firstSlot + Int32(schema.entities.count) }
    /// The reserved row ids that have not been assigned, by entity.
    let sequences: Protected<[ClosedRange<Int64>?]>
    /// The write transactions at this location, shared with stores of other stacks.
    let writers: StoreWriters
    /// The options of the history that commits of this stack record; `nil` if they record none. The history itself is read with
    /// ``DataStack/history(since:matching:limit:file:line:)``.
    public let historyOptions: HistoryOptions?
    /// The state of the history after the last commit of this stack.
    let historyState = Protected<HistoryRecorder.State?>(nil)

    init(
        index: Int, firstSlot: Int32, configurationName: String?, configuration: StoreConfiguration, backend: any StorageBackend,
        schema: ResolvedSchema, history: HistoryOptions? = nil
    ) {
        historyOptions = history
        self.index = index
        self.firstSlot = firstSlot
        self.configurationName = configurationName
        self.configuration = configuration
        self.backend = backend
        self.schema = schema
        writers = StoreWriters.of(configuration)
        sequences = Protected(Array(repeating: nil, count: schema.entities.count))
    }

    /// The unique id of the store, generated when it was created. It is part of the URI of every object.
    public var storeID: String { backend.metadata.storeID }
    /// The optional features that the backend supports.
    public var capabilities: Capabilities { backend.capabilities }
    /// The URL of the store, `engine:location`.
    public var url: String { configuration.url }

    /// The error of a transaction that had to begin again and found another version.
    var interrupted: StoreError {
        StoreError(.conflict, "Another process wrote to \(url) meanwhile. Run the transaction again.", url: url)
    }

    /// The open backend, for tests below the level of objects.
    package var backendForTests: any StorageBackend { backend }
}

/// Two stores are equal if they are the same instance. A store that is removed and added again is another instance.
extension PersistentStore: Hashable, Identifiable {
    public static func == (left: PersistentStore, right: PersistentStore) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One entity in one store, with its class.
@usableFromInline
final class StoreEntity: Sendable {
    /// The entity index, unique in the stack.
    @usableFromInline let slot: Int32
    @usableFromInline let store: PersistentStore
    let entity: Entity
    @usableFromInline let type: any Model.Type
    private let required: [Int]
    /// The to-many relationships with a minimum or maximum count.
    let counted: [Relationship]
    /// A Boolean value that indicates whether the entity has a required to-one relationship.
    let requiresTargets: Bool
    /// A Boolean value that indicates whether the entity has attributes with validation rules.
    let hasRules: Bool
    /// The entity indexes of the relationships' destinations, in the same store.
    let destinations: [Int32]
    /// The to-one relationships, with their fields and the entity indexes of their destinations.
    let toOnes: [(relationship: Relationship, field: Int, slot: Int32)]
    /// The relationships of other entities to this one that have no inverse.
    let incoming: [Relationship]
    /// The classes of a hierarchy, whose root is `type`; nil for a single class.
    let family: EntityFamily?
    @usableFromInline let isPolymorphic: Bool
    /// A Boolean value for each relationship that indicates whether it is ordered.
    let isOrdered: [Bool]
    /// The hidden fields with positions, and the to-one relationships and foreign keys they belong to.
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
        let properties = type._$hierarchy?.members.flatMap(\.properties) ?? type._$entity.properties
        destinationNames = properties.compactMap { if case .relationship(let relationship) = $0 { relationship.destination } else { nil } }
    }

    /// The fields that are properties of a class.
    let declaredFields: FieldMask

    /// The entity names of the relationships' destinations. In a class hierarchy they may be below the root.
    let destinationNames: [String]

    /// The classes of the entity's objects.
    var types: [any Model.Type] { family?.kinds.map { $0.type } ?? [type] }

    /// Returns the attributes that must be assigned before a new object is committed: neither optional nor with a default value.
    func required(of object: some Model) -> [Int] { family?.kind(of: object).required ?? required }

    /// Returns the fields of objects of a class.
    func fields(of type: any Model.Type) -> FieldMask { family?.kind(type)?.fields ?? declaredFields }

    /// Returns the relationships of an object: those of its own class in a class hierarchy.
    func relationships(of object: some Model) -> [Relationship] { family?.kind(of: object).relationships ?? entity.relationships }

    /// Encodes all fields of an object, including those that its class does not declare.
    /// - Parameter positions: the position fields and their values; the others are null or not written.
    func encode(
        _ object: some Model, into builder: inout RecordBuilder, positions: [(field: Int, position: Int64)] = []
    ) throws {
        try object._$encode(into: &builder)
        if let family { builder.setText(family.classifier, family.kind(of: object).name) }
        for (field, position) in positions { builder.setInteger(field, position) }
    }
}

/// The stores of a stack and their entities at one point in time. Removed stores keep their indexes.
@usableFromInline
struct StoreTable: Sendable {
    /// All stores that were ever added.
    var stores: [PersistentStore] = []
    private var removed: Set<Int> = []
    /// A Boolean value that indicates whether a store was removed.
    @usableFromInline private(set) var hasRemoved = false
    /// The number of additions and removals of stores.
    private(set) var generation = 0
    /// The open stores.
    var openStores: [PersistentStore] { removed.isEmpty ? stores : stores.filter { !removed.contains($0.index) } }
    @usableFromInline var entries: [StoreEntity] = []
    var byType: [ObjectIdentifier: [StoreEntity]] = [:]

    mutating func add(_ store: PersistentStore, models: [any Model.Type]) {
        stores.append(store)
        for (entity, model) in zip(store.schema.entities, models) {
            let entry = StoreEntity(store: store, entity: entity, type: model)
            entries.append(entry)
            for type in entry.types { byType[ObjectIdentifier(type), default: []].append(entry) }
        }
        generation += 1
    }

    /// Removes a store.
    /// - Returns: whether the store was open.
    mutating func remove(_ store: PersistentStore) -> Bool {
        guard isOpen(store) else { return false }
        removed.insert(store.index)
        hasRemoved = true
        for type in byType.keys { byType[type]?.removeAll { $0.store === store } }
        byType = byType.filter { !$0.value.isEmpty }
        generation += 1
        return true
    }

    @usableFromInline
    func isOpen(_ store: PersistentStore) -> Bool {
        store.index < stores.count && stores[store.index] === store && !removed.contains(store.index)
    }
}

extension PersistentStore {
    /// The error of accessing a store that was removed from its stack.
    var removedError: StoreError {
        StoreError(.closed, "The store \(url) was removed from its stack. Add it again with addStore to use its objects.", url: url)
    }
}
