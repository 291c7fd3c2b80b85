import PolyStoreBackend

/// The rows of a statement, which are read one by one while nothing else uses the connection, and kept in memory from then on.
final class RowStream {
    // The connection refers to the stream that it reads.
    private weak var connection: Connection?
    /// Results that were read before they were requested, in reverse order.
    @exclusivity(unchecked) private var kept: [Rows] = []
    /// The result of the current row, which has one or several rows or is the whole result.
    @exclusivity(unchecked) private var current: Rows?
    /// The index of the current row in its result.
    @exclusivity(unchecked) private(set) var row = 0
    /// The number of rows of the result that follow the current row.
    @exclusivity(unchecked) private var remaining = 0
    /// The error that follows the kept rows.
    private var failure: StoreError?
    private var hasEnded = false
    private var isDiscarded = false
    /// A Boolean value that indicates whether the transaction can return to a savepoint before the statement.
    var hasSavepoint = false

    init(_ connection: Connection) { self.connection = connection }

    /// Creates a stream of the rows of a result.
    init(_ rows: Rows) {
        (current, row, remaining) = (rows, -1, rows.count)
        hasEnded = true
    }

    /// A Boolean value that indicates whether the next row has been read with the current one.
    var hasNext: Bool { remaining > 0 }

    /// Returns the result with the next row, which is ``row`` there; nil at the end.
    func next() throws -> Rows? {
        if remaining > 0 {
            remaining -= 1
            row += 1
            return current
        }
        row = 0
        if let rows = kept.popLast() { return begin(rows) }
        if let failure { throw failure }
        if hasEnded || isDiscarded { return nil }
        do {
            if let result = try nextRows() {
                // Without another reference, the object of the rows before can be used again.
                guard isKnownUniquelyReferenced(&current), let current else { return begin(Rows(result)) }
                current.replace(with: result)
                return begin(current)
            }
            hasEnded = true
            return nil
        } catch {
            hasEnded = true
            failure = error as? StoreError
            throw error
        }
    }

    /// Takes the first row of a result.
    private func begin(_ rows: Rows) -> Rows {
        (current, remaining) = (rows, rows.count - 1)
        return rows
    }

    private func nextRows() throws -> OpaquePointer? {
        guard let connection else { throw StoreError(.closed, "The connection of these rows was closed.") }
        return try connection.nextRows()
    }

    /// Reads the remaining rows into memory.
    func readAhead() throws {
        var rows: [Rows] = []
        do {
            while !hasEnded {
                guard let found = try nextRows() else {
                    hasEnded = true
                    break
                }
                let result = Rows(found)
                if !isDiscarded { rows.append(result) }
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

    /// Discards the remaining rows.
    func discard() {
        isDiscarded = true
        (kept, current, remaining) = ([], nil, 0)
        failure = nil
    }
}
