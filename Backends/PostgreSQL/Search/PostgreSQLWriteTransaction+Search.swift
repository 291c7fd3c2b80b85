import PolyStoreBackend
import PolyStoreQuery

/// The maintenance of the full-text indexes.
extension PostgreSQLWriteTransaction {
    /// The changes of the texts by change sets.
    struct ReadTexts {
        /// The savepoint that precedes the change sets, unless it was sent.
        var savepoint = [PostgreSQLWriteTransaction.savepoint]
        var changes: [SearchTextChange] = []
    }

    /// Reads the texts that change sets change with one request, and sends the savepoint with it. Sends nothing if the change sets affect no full-text index.
    /// - Parameter isCommitting: Whether ``flush(_:)`` follows. Then the pages that it needs are read too.
    func readTexts(_ sets: [ChangeSet], isCommitting: Bool = false) throws -> ReadTexts {
        guard let searches = try searches(), searches.areAffected(by: sets) else { return ReadTexts() }
        // A refused change set leaves what the ones before it changed.
        let written = isCommitting ? try flush() : []
        let storage = searches.storage
        let texts = SearchTexts(sets, searches, session.tables)
        let reading = texts.statements
        var result = ReadTexts()
        let states = storage.states == nil ? [storage.statesStatement] : []
        let keys = isCommitting ? storage.reading(texts.keys) : nil
        let statements = states + reading + (keys.map { [$0] } ?? [])
        if statements.isEmpty {
            result.savepoint = written + result.savepoint
            result.changes = try texts.changes([])
            return result
        }
        let rows = try session.ending { try run(written + result.savepoint + statements) }.suffix(statements.count)
        result.savepoint = []
        if !states.isEmpty, let first = rows.first { try storage.didRead(first) }
        if keys != nil, let last = rows.last { storage.didReadPages(last) }
        result.changes = try texts.changes(rows.dropFirst(states.count).prefix(reading.count))
        return result
    }

    /// Adds changes to the indexes, and returns the statements that write them.
    func flush(_ texts: ReadTexts) throws -> [Statement] {
        guard let searches = session.searches else { return [] }
        try searches.add(texts.changes)
        return try searches.flush()
    }

    /// Returns the statements that write the changes of the indexes that have been added.
    func flush() throws -> [Statement] {
        guard let searches = session.searches else { return [] }
        if searches.hasChanges {
            if let reading = searches.reading(), let rows = try session.ending({ try run([reading]) }).last {
                searches.storage.didReadPages(rows)
            }
        }
        return try searches.flush()
    }
}
