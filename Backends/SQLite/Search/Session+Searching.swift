import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

extension Session {
    /// Executes a search by the index; returns nil while it is being built.
    func search(_ request: SearchRequest) throws -> SearchHits? {
        try check()
        try interruption?.check()
        _ = try tables.table(request.condition.entity)
        return try search?.search(request) { try interruption?.check() }
    }

    /// Returns the statistics of a search; nil while the index is being built.
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try check()
        try interruption?.check()
        _ = try tables.table(condition.entity)
        return try search?.statistics(condition) { try interruption?.check() }
    }

    /// Returns the changed texts of a change set that is not written yet.
    func searchChanges(_ changes: ChangeSet) throws -> [SearchTextChange] {
        guard let search else { return [] }
        var found: [SearchTextChange] = []
        for change in changes.changes where search.hasIndexes(change.entity) {
            let affected = search.affected(change.entity, by: change.kind == .update ? change.mask : nil)
            if affected.isEmpty { continue }
            if change.kind == .insert {
                search.collect(change.rowID, of: affected, old: nil, new: changes.record(change), into: &found)
                continue
            }
            // The change of an object that does not exist is refused when it is written.
            guard let old = try record(tables.entities[change.entity].entity, rowID: change.rowID) else { continue }
            if change.kind == .update {
                let changed = changes.record(change)
                search.collect(change.rowID, of: affected, old: old, updatedBy: changed, change.mask, into: &found)
            } else {
                search.collect(change.rowID, of: affected, old: old, new: nil, into: &found)
            }
        }
        return found
    }
}

extension SQLiteReadTransaction {
    func search(_ request: SearchRequest) throws -> SearchHits? { try session.search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try session.searchStatistics(condition) }
}

extension SQLiteWriteTransaction {
    func search(_ request: SearchRequest) throws -> SearchHits? {
        try flushSearch()
        return try session.search(request)
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try flushSearch()
        return try session.searchStatistics(condition)
    }

    /// Writes the changes of the full-text indexes. Rolls the transaction back if that fails.
    func flushSearch() throws { try indexing { try $0.flush() } }

    /// Writes to the full-text indexes. Rolls the transaction back if that fails.
    func indexing(_ body: (SearchIndexSet) throws -> Void) throws {
        try check()
        guard let search = session.search else { return }
        do { try connection.uninterrupted { try body(search) } } catch {
            recordFailure(error)
            rollback()
            throw error
        }
    }
}
