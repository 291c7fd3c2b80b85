import PolyStoreBackend
import PolyStoreQuery

extension PostgreSQLReadTransaction {
    /// The number of records whose texts are compared with the indexes at a time.
    private static let comparedRows = 1_000

    /// Compares the full-text indexes with the texts, and returns a sentence for each difference.
    func searchFindings(_ report: MaintenanceReport) throws -> [String] {
        guard let searches = try searches() else { return [] }
        var findings: [String] = []
        for index in searches.indexes {
            let name = session.tables.name(of: index)
            let progress = MaintenanceProgress(activity: name)
            try report(progress)
            do {
                findings += try searches.set.findings(
                    index, named: name, check: { try report(progress) }, records: { try self.forEachRecord(of: index, $0) })
            } catch let error as StoreError where error.code == .corrupt && error.engineCode == 0 { findings.append(error.message) }
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

    /// Continues the merges of the full-text indexes until none is due. Each transaction has the lock of the writers for a short time.
    func mergeSearchIndexes() throws {
        for index in pool.search.newest?.indexes ?? [] {
            var isUnfinished = true
            while isUnfinished {
                let transaction = try PostgreSQLWriteTransaction(pool)
                do {
                    guard let searches = try transaction.searches(), searches.indexes.contains(index) else {
                        transaction.rollback()
                        break
                    }
                    isUnfinished = try searches.set.merge(index, budget: Self.mergedBytes)
                    try transaction.commitIndexes(try searches.flush())
                } catch {
                    transaction.rollback()
                    throw error
                }
            }
        }
    }
}

extension StoreTables {
    /// Returns the name of a full-text index, for people.
    func name(of index: StoredSearchIndex) -> String {
        let entity = entities[index.entity].entity
        return "\(entity.name)_\(index.fields.map { entity.fields[$0].name }.joined(separator: "_"))_text"
    }
}
