import PolyStoreBackend
import PolyStoreQuery

/// Builds a part of a full-text index from the rows, in one write transaction of a connection.
struct SearchIndexBatch {
    let connection: Connection
    /// The maximum number of rows of a batch, and the number of bytes of texts after which it ends.
    private static let rows = 2000, bytes = 8 << 20

    /// Returns an index that is not complete, reading in a transaction of its own; nil if there is none.
    func unfinished() throws -> StoredSearchIndex? {
        _ = try connection.begin(writing: false)
        defer { connection.rollback() }
        return try next()
    }

    /// Returns an index that is not complete, in the open transaction; nil if there is none.
    func next() throws -> StoredSearchIndex? {
        try connection.searchIndexes.first { try SearchTables(connection: connection).state($0.number) != .complete }
    }

    /// Indexes the rows that follow, and sets the state of the index.
    /// - Returns: The number of rows, and whether the index is now complete.
    func add(to index: StoredSearchIndex) throws -> (count: Int, isComplete: Bool) {
        let tables = SearchTables(connection: connection)
        guard case .building(let last) = try tables.state(index.number) else { return (0, true) }
        // Pages of the index before a rebuild, or of an interrupted one.
        if last == nil, try !SQLiteSearchPages(index.number, connection).removeAll(limit: Self.rows) { return (0, false) }
        let session = Session(connection, version: 0, isWritten: true)
        defer { session.end() }
        guard let search = session.search else { return (0, true) }
        let entity = connection.tables.entities[index.entity].entity
        var (count, bytes, through) = (0, 0, last)
        for rowID in try rowIDs(of: index, after: last) {
            guard bytes < Self.bytes else { break }
            if let record = try session.record(entity, rowID: rowID) { bytes += try search.build(index, rowID, record) }
            through = rowID
            count += 1
        }
        try search.flush()
        let isComplete = count < Self.rows && bytes < Self.bytes
        try tables.setState(index.number, isComplete ? .complete : .building(through: through))
        return (count, isComplete)
    }

    private func rowIDs(of index: StoredSearchIndex, after last: Int64?) throws -> [Int64] {
        let table = connection.tables.entities[index.entity]
        let condition = last.map { " WHERE \(SQLNames.objectID) > \($0)" } ?? ""
        let rows = "SELECT \(SQLNames.objectID) FROM \(table.name)\(condition) ORDER BY \(SQLNames.objectID) LIMIT \(Self.rows)"
        return try connection.texts(rows).compactMap { Int64($0) }
    }
}
