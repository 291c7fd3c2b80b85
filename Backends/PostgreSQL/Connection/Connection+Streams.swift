import CPostgreSQL
import PolyStoreBackend
import PolyStorePlatform

extension Connection {
    /// Sends one statement and returns its rows one by one.
    /// - Parameters:
    ///   - isWhole: Whether all rows are read before the first one is returned, which takes less time and keeps them in memory together.
    ///   - rowsAtOnce: The maximum number of rows that are in memory together otherwise.
    func stream(_ statement: Statement, isWhole: Bool = false, rowsAtOnce: Int32 = 1) throws -> RowStream {
        if isWhole { return RowStream(try rows(statement)) }
        let before = unread.count
        let expected = try send([statement], rowsAtOnce: rowsAtOnce)
        let stream = RowStream(self)
        var rest = expected[...]
        let last = expected.count - 2
        // The responses before the rows.
        while rest.startIndex < last, let part = rest.popFirst() {
            if case .failure(let error) = try receive(part), rest.startIndex > before {
                for part in rest { _ = try receive(part) }
                throw error
            }
        }
        if last > 0 { _ = polystore_pg_set_rows_mode(handle, rowsAtOnce) }
        self.stream = stream
        return stream
    }

    /// Reads the next rows of the current stream.
    /// - Returns: A result with at least one row, which the caller frees; nil at the end, which ends the stream.
    func nextRows() throws -> OpaquePointer? {
        let deadline = newDeadline
        guard let result = try nextResult(deadline) else { throw lost("was out of step") }
        let status = PQresultStatus(result)
        if status == PGRES_SINGLE_TUPLE || status.rawValue == polystore_pg_tuples_chunk { return result }
        defer { PQclear(result) }
        switch status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            try endStream(deadline)
            return nil
        default:
            let error = StoreError(postgreSQL: result, location: location)
            if PQstatus(handle) == CONNECTION_BAD { throw fail(error.recovery == .connectionLost ? error : lost()) }
            try endStream(deadline)
            throw error
        }
    }

    private func endStream(_ deadline: Deadline?) throws {
        stream = nil
        while let more = try nextResult(deadline) { PQclear(more) }
        _ = try receive(.sync)
    }

    /// Reads the rest of the current stream into its memory, so that another statement can be sent.
    func detachStream() throws {
        guard let stream else { return }
        // The interruption concerns the next request.
        let current = interruption
        interruption = nil
        defer { interruption = current }
        try stream.readAhead()
        self.stream = nil
    }

    /// Returns the texts of the notifications that arrive within a time.
    /// - Parameter milliseconds: The time to wait for the first one.
    func notifications(within milliseconds: Int32) throws -> [String] {
        try check()
        guard wait(Int16(POLLIN), until: Deadline(milliseconds: Int(milliseconds))) else { return [] }
        guard PQconsumeInput(handle) == 1 else { throw lost() }
        var texts: [String] = []
        while let notification = PQnotifies(handle) {
            texts.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return texts
    }
}
