import PolyStoreBackend
import PolyStoreQuery

extension SQLiteBackend: RebuildsIndexes {
    /// Runs REINDEX on each plain index, or creates it if it is missing, in a transaction of its own. Builds full-text indexes in batches, between which others write.
    func rebuildIndexes(_ names: Set<String>?) throws {
        let found = try changingIndexes { $0.searchIndexes }
        try pool.tables.schema.checkIndexNames(names, location: pool.path)
        for table in pool.tables.entities {
            for (index, sql) in zip(table.indexes, table.indexSQL) where names?.contains(index.modelName) ?? true {
                try changingIndexes { connection in
                    let name = SQLNames.literal(index.plainName)
                    let isPresent = try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'index' AND name = \(name)").isEmpty
                    try connection.execute(isPresent ? "REINDEX \(index.name)" : sql)
                }
            }
        }
        for index in found where names?.contains(index.name(in: pool.tables.schema)) ?? true { try rebuild(index) }
    }

    /// Makes a full-text index incomplete, and builds it in batches.
    private func rebuild(_ index: StoredSearchIndex) throws {
        var isComplete = try changingIndexes { try !SearchTables(connection: $0).restart(index.number) }
        while !isComplete {
            let began = ContinuousClock.now
            isComplete = try changingIndexes { connection in
                // Another process may have dropped it.
                guard connection.searchIndexes.contains(index) else { return true }
                return try SearchIndexBatch(connection: connection).add(to: index).isComplete
            }
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
