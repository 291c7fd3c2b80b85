import PolyStoreBackend

/// A backend that builds indexes again from the records of its store. `PersistentStore.rebuildIndexes(_:)` calls it.
public protocol RebuildsIndexes: StorageBackend {
    /// Builds indexes again from the records while the store is in use, after `StorageBackend.verify(reporting:)` has reported that they disagree. The version of the store stays the same.
    ///
    /// A full-text index is built in several transactions, and searches read the texts meanwhile. If the process ends before it is complete, the next opening for writing continues.
    /// - Parameter names: The `Index.name` of each index, and the `SearchIndex.plainName` of each full-text index; nil for all.
    /// - Throws: `notFound` for a name that no index has, before an index is changed; `readOnly`, `closed`; `constraint` if two objects have the same value of a unique index; `corrupt` if
    ///   the records cannot be read.
    func rebuildIndexes(_ names: Set<String>?) throws
}

extension StorageBackend {
    /// Builds indexes again; see ``RebuildsIndexes/rebuildIndexes(_:)``.
    /// - Throws: `unsupported` for a backend that does not conform to ``RebuildsIndexes``.
    package func rebuildingIndexes(_ names: Set<String>?) throws {
        guard let backend = self as? any RebuildsIndexes else {
            throw StoreError(
                .unsupported, "This backend cannot build its indexes again. Copy the objects to a new store, which has new indexes.")
        }
        try backend.rebuildIndexes(names)
    }
}

extension ResolvedSchema {
    /// Checks that each name is one of an index or a full-text index that a store has.
    /// - Parameter present: The names of the indexes of the store.
    /// - Throws: `notFound` with the names that exist.
    package func checkIndexNames(_ names: Set<String>?, present: Set<String>, location: String) throws {
        guard let missing = names?.subtracting(present).min() else { return }
        let isDeclared = entities.contains { entity in
            entity.indexes.contains { $0.name == missing } || entity.searchIndexes.contains { $0.plainName == missing }
        }
        let reason = isDeclared ? ", which the model declares. The backend does not use it, or another process has removed it" : ""
        let list = present.isEmpty ? "It has none." : "It has \(present.sorted().joined(separator: ", "))."
        throw StoreError(.notFound, "The store \(location) has no index \"\(missing)\"\(reason). \(list)", location: location)
    }
}
