import PolyStoreBackend

extension PersistentStore {
    /// Counts the objects of the store at its newest version and determines the size of its files.
    ///
    /// Takes time proportional to the number of objects if the backend does not maintain their count.
    /// - Throws: `closed`, `corrupt`, `io`.
    public func statistics() throws -> StoreStatistics {
        let reader = try backend.beginRead()
        defer { reader.end() }
        var counts: [String: Int] = [:]
        for entity in schema.entities {
            guard let classifier = entity.classifierField else {
                counts[entity.name] = try reader.count(FetchRequest(entity))
                continue
            }
            let request = AggregateRequest(
                entity, predicate: .all,
                groupBy: [FieldReference(ordinal: classifier, name: entity.fields[classifier].name, type: entity.fields[classifier].type)],
                aggregates: [.count])
            for row in try reader.aggregate(request) {
                if case .text(let name)? = row.group.first, case .integer(let count)? = row.values.first { counts[name] = Int(count) }
            }
        }
        let size = try configuration.files.reduce(0) { try $0 + FilePlace(path: $1).size() }
        return StoreStatistics(version: reader.version, objectCounts: counts, fileSize: size)
    }

    /// Writes a copy of the store at its newest version to another path, while the store is in use. The copy can be opened like any other store.
    /// - Parameter path: a path without a file or folder, in an existing folder.
    /// - Throws: `unsupported` for a backend without the feature `copying`, `io` if the path already exists, `full`.
    public func backUp(to path: String) throws { try backend.copy(to: FilePlace.resolve(path)) }

    /// Returns the disk space of deleted objects to the file system while the store is in use, if the backend supports it.
    ///
    /// Writers are blocked until it finishes. LMDB does not support it: its file keeps its size and reuses free pages. ``backUp(to:)`` writes a copy
    /// without free pages.
    /// - Throws: `unsupported` for a backend without the feature `compaction`, `busy` if another process reads or writes for too long, `full`.
    public func compact() throws { try backend.compact() }
}

extension DataStack {
    /// Writes a copy of every store while the stack is in use, without blocking the caller's thread; see ``PersistentStore/backUp(to:)``.
    /// - Parameter path: the path of the copy of a single store. With several stores, the name of each store's configuration is appended.
    /// - Returns: the paths of the copies, in the order of ``stores``.
    @discardableResult
    public func backUp(to path: String) async throws -> [String] {
        let stores = stores
        let paths = stores.map { store in stores.count == 1 ? path : "\(path)-\(store.configurationName ?? "default")" }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            core.onBatchThread {
                continuation.resume(with: Result { for (store, path) in zip(stores, paths) { try store.backUp(to: path) } })
            }
        }
        return paths
    }
}
