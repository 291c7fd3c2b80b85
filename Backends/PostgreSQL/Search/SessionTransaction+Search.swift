import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

extension SessionTransaction {
    func search(_ request: SearchRequest) throws -> SearchHits? {
        try searching { searches, check in try searches.set.search(request, check: check) }
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try searching { searches, check in try searches.set.statistics(condition, check: check) }
    }

    private func searching<Result>(_ body: (SessionSearches, () throws -> Void) throws -> Result?) throws -> Result? {
        guard let searches = try searches(), !searches.indexes.isEmpty else { return nil }
        // What was changed is written before: an interrupted request returns to its savepoint.
        // After an error the indexes lack changes of objects, so the transaction must not be committed.
        let written = try session.ending { searches.hasChanges ? try searches.flush() : searches.storage.takeWritten() }
        if !written.isEmpty { _ = try session.request { try $0.run(written) } }
        let interruption = session.interruption
        return try session.interruptible { try body(searches) { try interruption?.check() } }
    }

    /// Returns the full-text indexes of the transaction; nil during a migration.
    func searches() throws -> SessionSearches? {
        if let known = session.searches { return known }
        _ = try session.version
        guard let state = session.state else { return nil }
        let indexes = try pool.search.indexes(of: state) ?? session.searchIndexes(of: state, pool.search)
        let searches = SessionSearches(session, indexes)
        session.searches = searches
        return searches
    }
}

extension Session {
    private func rows(_ statement: Statement) throws -> Rows { try rows(statement.sql, statement.parameters) }

    /// Reads the full-text indexes of the store; none in a snapshot whose user may not read them, who searches the texts then.
    /// - Throws: `readOnly` in a write transaction whose user may not maintain them.
    func searchIndexes(of state: StoreState, _ catalog: SearchCatalog) throws -> [StoredSearchIndex] {
        if !isWriting, catalog.isUnreadable(state.generation) { return [] }
        guard try rows(SearchDefinition.right(tables, isWriting: isWriting)).bool(0, 0) else {
            if isWriting {
                throw StoreError(
                    .readOnly,
                    "The user may not write to the full-text indexes of \(connection.location), which each writer maintains. "
                        + "Grant SELECT, INSERT, UPDATE and DELETE on polystore_search and polystore_search_pages.",
                    location: connection.location)
            }
            catalog.didFindUnreadable(state.generation)
            return []
        }
        let rows = try rows(SearchDefinition.reading(tables))
        let location = connection.location
        let indexes = try SearchDefinition.read(rows, location: location).map { try $0.resolved(tables.schema, location: location) }
        catalog.keep(indexes, of: state.generation)
        return indexes
    }
}
