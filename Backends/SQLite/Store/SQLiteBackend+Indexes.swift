import PolyStoreBackend
import PolyStoreQuery

extension SQLiteBackend: RebuildsIndexes {
    /// Runs REINDEX on each plain index, or creates it if it is missing, in a transaction of its own. Builds full-text indexes in batches, between which others write.
    func rebuildIndexes(_ names: Set<String>?) throws {
        let found = try changingIndexes { $0.searchIndexes }
        let plain = pool.tables.entities.flatMap { Array(zip($0.indexes, $0.indexSQL)) }
        let present = Set(plain.map(\.0.modelName) + found.map { $0.name(in: pool.tables.schema) })
        try pool.tables.schema.checkIndexNames(names, present: present, location: pool.path)
        for (index, sql) in plain where names?.contains(index.modelName) ?? true {
            try changingIndexes { connection in
                let name = SQLNames.literal(index.plainName)
                if try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'index' AND name = \(name)").isEmpty {
                    return try connection.execute("REINDEX \(index.name)")
                }
                // The model of another process has removed it.
                guard try MetadataTable(connection: connection).read().schemaHash == pool.tables.schema.versionHash else { return }
                try connection.execute(sql)
            }
        }
        for index in found where names?.contains(index.name(in: pool.tables.schema)) ?? true { try rebuild(index) }
    }

    /// Makes a full-text index incomplete, and builds it in batches. Waits for other writers between them without a time limit.
    ///
    /// After another error the index is completed in the background, or by the next opening.
    private func rebuild(_ index: StoredSearchIndex) throws {
        guard try changingIndexes({ try SearchTables(connection: $0).restart(index.number) }) else { return }
        do { try build(index) } catch {
            if (error as? StoreError)?.code != .closed { try? pool.startIndexing([]) }
            throw error
        }
    }

    private func build(_ index: StoredSearchIndex) throws {
        var isComplete = false
        while !isComplete {
            let began = ContinuousClock.now
            do {
                isComplete = try changingIndexes { connection in
                    // Another process may have dropped it.
                    guard connection.searchIndexes.contains(index) else { return true }
                    return try SearchIndexBatch(connection: connection).add(to: index).isComplete
                }
            } catch let error as StoreError where error.code == .busy {}
            // Other threads and processes wait for the writer without an order.
            if !isComplete { Deadline.pause(milliseconds: min((ContinuousClock.now - began).inMilliseconds, Self.longestPause)) }
        }
    }

    /// The longest time between two batches, in milliseconds.
    private static let longestPause = 50

    /// Runs a closure in a write transaction that changes no object, so that the version stays the same.
    private func changingIndexes<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection = try pool.borrowWriter()
        defer { pool.giveBackWriter() }
        do {
            _ = try pool.beginWriting(connection)
            try pool.didBeginWriting()
            let result = try body(connection)
            try pool.checkFiles()
            try connection.commit()
            return result
        } catch {
            pool.recordFailure(error)
            connection.rollback()
            throw error
        }
    }
}
