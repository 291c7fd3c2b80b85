import PolyStoreBackend

extension Session {
    /// Executes a request that the interruption of the transaction ends. The server then cancels its statement, and the transaction returns to the savepoint before it.
    /// - Throws: `cancelled`, `timedOut`, and the errors of the request.
    func interruptible<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        guard let interruption else { return try body() }
        try interruption.check()
        needsSavepoint = true
        return try cancelling(interruption, body)
    }

    /// Reads the next row of a stream, which the interruption ends in the same way.
    /// - Parameter isChecked: Whether the interruption is checked although the row has arrived.
    func next(_ stream: RowStream, isChecked: Bool) throws -> Rows? {
        guard let interruption else { return stream.hasNext ? try stream.next() : try ending { try stream.next() } }
        if isChecked, let error = interruption.error {
            stream.discard()
            throw error
        }
        if stream.hasNext { return try stream.next() }
        // Without a savepoint the transaction would end on the server.
        guard stream.hasSavepoint else { return try ending { try stream.next() } }
        connection.interruption = interruption
        return try cancelling(interruption) { try ending { try stream.next() } }
    }

    private func cancelling<Result>(_ interruption: Interruption, _ body: () throws -> Result) throws -> Result {
        let outer = interruptedBy
        interruptedBy = interruption
        let outcome = Swift.Result(catching: body)
        interruptedBy = outer
        let connection = connection
        if connection.interruption !== outer { connection.interruption = outer }
        guard connection.isCancelled else { return try outcome.get() }
        returnToSavepoint()
        throw interruption.error ?? Interruption.cancelled
    }

    /// Waits for the end of a cancelled statement, and makes the transaction usable. A failure is thrown by the next request.
    private func returnToSavepoint() {
        connection.interruption = nil
        connection.abandonStream()
        connection.isCancelled = false
        _ = try? ending { try connection.run([.once("ROLLBACK TO SAVEPOINT polystore_request")]) }
    }
}
