import PolyStoreBackend
import PolyStoreQuery

extension SQLiteBackend {
    /// Compares the full-text indexes with the texts, in the open transaction of a connection, and returns a sentence for each difference.
    func searchFindings(_ connection: Connection, report: () throws -> Void) throws -> [String] {
        let session = Session(connection, version: 0)
        defer { session.end() }
        guard let search = session.search else { return [] }
        return try connection.searchIndexes.flatMap { index in
            let entity = pool.tables.entities[index.entity].entity
            var count = 0
            return try search.findings(
                index,
                check: {
                    count += 1
                    if count % 1024 == 0 { try report() }
                },
                records: { body in
                    let request = FetchRequest(entity, sortKeys: [SortKey(.objectID, ascending: true)], fields: index.mask)
                    let cursor = try session.scan(request).cursor
                    defer { cursor.close() }
                    while try cursor.next() { try body(cursor.rowID, cursor.record) }
                })
        }
    }

    /// Returns a sentence for each full-text index that the store lacks, and for each table of pages.
    func missingSearchTables(_ connection: Connection, _ existing: Set<String>, isIndexing: Bool) throws -> [String] {
        var findings: [String] = []
        for entity in pool.tables.schema.entities {
            for index in entity.searchIndexes
            where !isIndexing && !connection.searchIndexes.contains(where: { $0.serves(index, of: entity) }) {
                findings.append("The index \(index.plainName) is missing.")
            }
        }
        for index in connection.searchIndexes where !existing.contains(SearchTables.pages(index.number)) {
            findings.append("The table \(SearchTables.pages(index.number)) of the index \(index.name(in: pool.tables.schema)) is missing.")
        }
        return findings
    }

    /// Merges all pages of each full-text index, so that searches and the store need fewer. A damaged index stays as it is, and a warning names it.
    func mergeSearchIndexes(_ connection: Connection) throws {
        guard try SearchTables(connection: connection).exist() else { return }
        try connection.searchIndexes.compact(pool.logger) { try merge($0, connection) }
    }

    private func merge(_ index: StoredSearchIndex, _ connection: Connection) throws {
        _ = try connection.begin(writing: true)
        do {
            let session = Session(connection, version: 0, isWritten: true)
            defer { session.end() }
            try session.search?.optimize(index)
            try connection.commit()
        } catch {
            connection.rollback()
            throw error
        }
    }
}
