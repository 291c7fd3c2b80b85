import PolyStoreBackend
import PolyStoreQuery

/// The maintenance of the full-text indexes.
extension PostgreSQLWriteTransaction {
    /// The changes of the texts by change sets.
    struct ReadTexts {
        /// The savepoint that precedes the change sets, unless it was sent, and the statements that read the texts before them.
        var beginning = [PostgreSQLWriteTransaction.savepoint]
        /// The texts, if they are read by the request that writes, and the position of the first of their statements.
        var texts: SearchTexts?
        var first = 0
        var changes: [SearchTextChange] = []
    }

    /// Reads the texts that change sets change with one request, and sends the savepoint with it. Sends nothing if the change sets affect no full-text index.
    /// - Parameter isCommitting: Whether ``flush(_:)`` follows. Then the pages that it needs are read too.
    func readTexts(_ sets: [ChangeSet], isCommitting: Bool = false) throws -> ReadTexts {
        guard let searches = try searches(), !searches.indexes.isEmpty else { return ReadTexts() }
        // Before the savepoint: a refused change set leaves what the ones before it changed.
        let written = isCommitting ? try flush() : searches.storage.takeWritten()
        guard searches.areAffected(by: sets) else { return ReadTexts(beginning: written + [Self.savepoint]) }
        let texts = SearchTexts(sets, searches, session.tables)
        var result = ReadTexts()
        guard isCommitting else {
            result.beginning = written + result.beginning + texts.statements
            result.first = written.count + 1
            result.texts = texts
            return result
        }
        let keys = searches.storage.reading(texts.keys)
        let statements = written + result.beginning + texts.statements + (keys.map { [$0] } ?? [])
        if texts.statements.isEmpty, keys == nil {
            result.beginning = statements
            result.changes = try texts.changes([])
            return result
        }
        let rows = try session.ending { try run(statements) }
        if keys != nil, let last = rows.last { searches.storage.didReadPages(last) }
        result.changes = try texts.changes(rows.dropFirst(written.count + 1))
        result.beginning = []
        return result
    }

    /// Adds the changes of change sets that were applied.
    /// - Parameter results: The results of the request that began with ``ReadTexts/beginning``.
    func add(_ read: ReadTexts, _ results: [Rows]) throws {
        try session.searches?.add(read.texts?.changes(results.dropFirst(read.first)) ?? read.changes)
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
            if let reading = searches.reading(), let rows = try session.ending({ try run(searches.storage.takeWritten() + [reading]) }).last
            {
                searches.storage.didReadPages(rows)
            }
        }
        return try searches.flush()
    }
}
