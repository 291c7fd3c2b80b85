import PolyStoreBackend

/// The rows of a statement, which are read one by one while nothing else uses the connection, and kept in memory from then on.
final class RowStream {
    // The connection refers to the stream that it reads.
    private weak var connection: Connection?
    /// Rows that were read before they were asked for, in reverse order.
    private var kept: [Rows] = []
    /// The error that follows the kept rows.
    private var failure: StoreError?
    private var hasEnded = false
    private var isDiscarded = false
    /// A Boolean value that indicates whether the transaction can return to a savepoint before the statement.
    var hasSavepoint = false

    init(_ connection: Connection) { self.connection = connection }

    /// Returns the next row, which is the only one of its result; nil at the end.
    func next() throws -> Rows? {
        if let row = kept.popLast() { return row }
        if let failure { throw failure }
        if hasEnded || isDiscarded { return nil }
        do {
            if let row = try nextRow() { return row }
            hasEnded = true
            return nil
        } catch {
            hasEnded = true
            failure = error as? StoreError
            throw error
        }
    }

    private func nextRow() throws -> Rows? {
        guard let connection else { throw StoreError(.closed, "The connection of these rows was closed.") }
        return try connection.nextRow()
    }

    /// Reads the remaining rows into memory.
    func readAhead() throws {
        var rows: [Rows] = []
        do {
            while !hasEnded {
                guard let row = try nextRow() else {
                    hasEnded = true
                    break
                }
                if !isDiscarded { rows.append(row) }
            }
        } catch let error as StoreError {
            hasEnded = true
            failure = error
            if connection?.failure != nil { throw error }
        }
        kept = rows.reversed() + kept
    }

    /// Marks the stream as read to its end.
    func end() { hasEnded = true }

    /// Ends the stream with the error that ended its connection.
    func fail(_ error: StoreError) {
        guard !hasEnded else { return }
        hasEnded = true
        if !isDiscarded { failure = error }
    }

    /// Gives up the remaining rows.
    func discard() {
        isDiscarded = true
        kept = []
        failure = nil
    }
}
