import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearchIndex

extension PostgreSQLReadTransaction {
    /// The number of records whose texts are compared with the indexes at a time.
    private static let comparedRows = 1_000

    /// Compares the full-text indexes with the texts, and returns a sentence for each difference.
    func searchFindings(_ report: MaintenanceReport) throws -> [String] {
        guard let searches = try searches() else { return [] }
        var findings: [String] = []
        for index in searches.indexes {
            let progress = MaintenanceProgress(activity: index.name(in: session.tables.schema))
            try report(progress)
            do {
                findings += try searches.set.findings(
                    index, check: { try report(progress) }, records: { try self.forEachRecord(of: index, $0) })
            } catch let error as StoreError where error.isDamagedIndex { findings.append(error.message) }
        }
        return findings
    }

    /// Calls a closure with the texts of each object, in ascending order of the row ids. Other requests can be made meanwhile.
    private func forEachRecord(of index: StoredSearchIndex, _ body: (Int64, RecordView) throws -> Void) throws {
        let table = session.tables.entities[index.entity]
        let fields = Set(index.fields).sorted()
        let columns = ([SQLNames.objectID] + fields.map { table.columns[$0] }).joined(separator: ", ")
        let reader = RowReader()
        var last = Int64.min
        while true {
            let rows = try session.rows(
                "SELECT \(columns) FROM \(table.name) WHERE \(SQLNames.objectID) >= $1 ORDER BY \(SQLNames.objectID) LIMIT $2",
                [.integer(last), .integer(Int64(Self.comparedRows))])
            for row in 0..<rows.count {
                guard let id = rows.integer(row, 0) else { continue }
                try body(id, try reader.read(rows, row, table, fields: fields))
                last = id
            }
            guard rows.count == Self.comparedRows, last < .max else { return }
            last += 1
        }
    }
}

extension PostgreSQLBackend {
    /// The number of bytes of pages that a transaction of a compaction writes.
    private static let mergedBytes = 4 << 20

    /// Merges all segments of each full-text index, so that searches and the store need fewer pages. Each transaction has the lock of the writers for a short time. A damaged index stays as
    /// it is, and a warning names it.
    func mergeSearchIndexes() throws {
        let indexes = try pool.search.newest?.indexes ?? changingIndexes { $1?.indexes ?? [] }
        try indexes.compact(logger) { try merge($0) }
    }

    private func merge(_ index: StoredSearchIndex) throws {
        var merge = SearchIndexMerge()
        var remains = true
        while remains {
            remains = try changingIndexes { _, searches in
                guard let searches, searches.indexes.contains(index) else { return false }
                return try searches.set.optimize(index, &merge, budget: Self.mergedBytes)
            }
        }
    }

    /// Runs a closure in a write transaction with the full-text indexes of the store, nil if it has none, and commits what it changes.
    func changingIndexes<Result>(_ body: (Session, SessionSearches?) throws -> Result) throws -> Result {
        let transaction = try PostgreSQLWriteTransaction(pool)
        do {
            let searches = try transaction.searches()
            let result = try body(transaction.session, searches)
            try transaction.commitIndexes(try searches?.flush() ?? [])
            return result
        } catch let error as StoreError where error.sqlState == "55P03" {
            let named = pool.database.namingHolders(in: error, transaction.session.connection)
            transaction.rollback()
            throw named
        } catch {
            transaction.rollback()
            throw error
        }
    }
}
