import PolyStoreBackend

/// The stores of a stack and their entities at one point in time. Removed stores keep their indexes.
@usableFromInline
package struct StoreTable: Sendable {
    /// All stores that were ever added.
    package var stores: [PersistentStore] = []
    private var removed: Set<Int> = []
    /// A Boolean value that indicates whether a store was removed.
    @usableFromInline private(set) var hasRemoved = false
    /// The number of additions and removals of stores.
    package private(set) var generation = 0
    /// The open stores.
    package var openStores: [PersistentStore] { removed.isEmpty ? stores : stores.filter { !removed.contains($0.index) } }
    @usableFromInline package var entries: [StoreEntity] = []
    /// A Boolean value that indicates whether an entity limits the number of members of a relationship.
    private(set) var limitsCounts = false
    package var byType: [ObjectIdentifier: [StoreEntity]] = [:]

    mutating func add(_ store: PersistentStore, models: [any Model.Type]) {
        stores.append(store)
        let oneWay = Dictionary(grouping: store.schema.entities.flatMap(\.relationships).filter { $0.inverse == nil }, by: \.destination)
        for (entity, model) in zip(store.schema.entities, models) {
            let entry = StoreEntity(store: store, entity: entity, type: model, incoming: oneWay[entity.index] ?? [])
            entries.append(entry)
            limitsCounts = limitsCounts || !entry.counted.isEmpty
            for type in entry.types { byType[ObjectIdentifier(type), default: []].append(entry) }
        }
        generation += 1
    }

    /// Returns the entities of a store by the names of entities and of the classes of hierarchies.
    package func entriesByName(of store: PersistentStore) -> [String: StoreEntity] {
        var found: [String: StoreEntity] = [:]
        for entry in entries[Int(store.firstEntityIndex)..<Int(store.firstEntityIndex) + store.schema.entities.count] {
            found[entry.entity.name] = entry
            for kind in entry.entity.classes { found[kind.name] = entry }
        }
        return found
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
