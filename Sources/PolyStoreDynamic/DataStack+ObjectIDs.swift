import PolyStoreBackend
import PolyStoreKernel

extension DataStack {
    /// Returns the id of an object by the name of its entity and its row id. The object need not exist.
    /// - Throws: `storeNotFound` if no open store has the entity.
    public func objectID(_ entity: String, rowID: Int64) throws -> AnyObjectID {
        let table = core.table.withLock { $0 }
        guard let entry = table.openStores.lazy.compactMap({ table.entry(named: entity, in: $0) }).first else {
            throw StoreError(.storeNotFound, "No open store has an entity \"\(entity)\".", entity: entity)
        }
        return AnyObjectID(entry: entry, rowID: rowID)
    }

    /// Returns the id with a URI, or nil if the URI does not belong to a store of this stack; see ``AnyObjectID/uri``.
    public func objectID(_ uri: String) -> AnyObjectID? {
        let table = core.table.withLock { $0 }
        for store in table.openStores {
            for entity in store.schema.entities {
                guard let entry = table.entry(named: entity.name, in: store) else { continue }
                let prefix = AnyObjectID(entry: entry, rowID: 0).uri.dropLast()
                guard uri.hasPrefix(prefix), let rowID = Int64(uri.dropFirst(prefix.count)), rowID > 0 else { continue }
                return AnyObjectID(entry: entry, rowID: rowID)
            }
        }
        return nil
    }
}
