import PolyStoreBackend
import PolyStoreKernel

extension StoreTable {
    /// Returns the entity of a store with a name, which can be that of a subentity.
    func entry(named name: String, in store: PersistentStore) -> StoreEntity? {
        let first = Int(store.firstEntityIndex)
        return entries[first..<first + store.schema.entities.count].first {
            $0.entity.name == name || $0.entity.classes.contains { $0.name == name }
        }
    }

    /// Returns the entity of an open store with a name, which can be that of a subentity.
    /// - Throws: `storeNotFound` if no open store has it, `misuse` if its objects have a class.
    func entry(named name: String) throws -> StoreEntity {
        let stores = openStores
        guard let entry = stores.lazy.compactMap({ self.entry(named: name, in: $0) }).first else {
            let known = stores.flatMap { $0.schema.entities.flatMap { $0.classes.isEmpty ? [$0.name] : $0.classes.map(\.name) } }
            throw StoreError(
                .storeNotFound, "No open store has an entity \"\(name)\"; there are \(known.sorted().joined(separator: ", ")).",
                entity: name)
        }
        guard entry.type is any DynamicModel.Type else {
            throw StoreError(
                .misuse,
                "\(name) is the class \(entry.type) in this stack: use From<\(entry.type)>(). Only a stack that is opened without classes reads entities by name.",
                entity: name)
        }
        return entry
    }
}

extension DataStack {
    /// Returns the entity of an open store with a name.
    /// - Throws: As ``StoreTable/entry(named:)``.
    func entry(named name: String) throws -> StoreEntity { try core.table.withLock { $0 }.entry(named: name) }
}

extension Entity {
    /// Returns the class of the hierarchy with a name; `nil` for an entity without a hierarchy.
    func entityClass(named name: String) -> EntityClass? { classifierField == nil ? nil : classes.first { $0.name == name } }
}
