import CPostgreSQL
import PolyStoreBackend
import PolyStorePlatform

/// `COPY … FROM STDIN` in binary format, which libpq does not support in pipelines.
extension Connection {
    /// Executes statements, those between two copies in one pipeline. Each copy takes two round trips: the server accepts the rows before they are sent.
    /// - Throws: The first error of a statement. The statements after it were not executed.
    func runCopying(_ statements: [Statement]) throws -> [Rows] {
        var results: [Rows] = []
        var pipeline: [Statement] = []
        for statement in statements {
            guard let rows = statement.copied else {
                pipeline.append(statement)
                continue
            }
            if !pipeline.isEmpty { results += try run(pipeline) }
            pipeline = []
            results.append(try copy(statement.sql, rows))
        }
        return pipeline.isEmpty ? results : results + (try run(pipeline))
    }

    /// The number of bytes that are encoded before they are sent.
    private static let longestChunk = 1 << 16
    /// The bytes before the rows: a signature, flags, and the length of an extension.
    private static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0] + [UInt8](repeating: 0, count: 8)

    /// Executes one `COPY … FROM STDIN` with rows that are encoded in chunks.
    private func copy(_ sql: String, _ rows: CopiedRows) throws -> Rows {
        try copyIn(sql) { put in
            let buffer = ByteBuffer(capacity: Self.longestChunk + 1024)
            Self.header.withUnsafeBytes { buffer.append($0) }
            for row in 0..<rows.count {
                buffer.append(rows.columnCount)
                try rows.append(row, buffer)
                if buffer.count >= Self.longestChunk, try !put(buffer) { return }
            }
            buffer.append(-1 as Int16)
            _ = try put(buffer)
        }
    }

    /// Executes one `COPY … FROM STDIN` outside of pipelines.
    /// - Parameter feed: Passes chunks to its argument, which sends each completely and empties it, and returns `false` if the server has refused the rows. An error ends the statement.
    @discardableResult
    func copyIn(_ sql: String, _ feed: ((ByteBuffer) throws -> Bool) throws -> Void) throws -> Rows {
        if let refused = try beginCopy(sql, PGRES_COPY_IN) { return try finishCopy(refused) }
        do {
            try feed(put)
            if PQputCopyEnd(handle, nil) == 1 { try flush() }
        } catch {
            guard failure == nil else { throw error }
            // The server then ends the statement with an error.
            if PQputCopyEnd(handle, "the client has stopped") == 1 { try flush() }
            if let result = try nextResult(newDeadline) { _ = try? finishCopy(result) }
            throw failure ?? error
        }
        guard let result = try nextResult(newDeadline) else { throw lost("was out of step") }
        return try finishCopy(result)
    }

    /// Executes one `COPY … TO STDOUT` outside of pipelines.
    /// - Parameter receive: Called with each message, which is one row after a header. Returns `false` to end the statement.
    func copyOut(_ sql: String, _ receive: (UnsafeRawBufferPointer) throws -> Bool) throws {
        if let refused = try beginCopy(sql, PGRES_COPY_OUT) {
            _ = try finishCopy(refused)
            return
        }
        var stopping: (any Error)?
        var isStopped = false
        while let message = try nextMessage() {
            defer { PQfreemem(message.start) }
            guard !isStopped else { continue }
            do { isStopped = try !receive(UnsafeRawBufferPointer(start: message.start, count: message.count)) } catch {
                (stopping, isStopped) = (error, true)
            }
            if isStopped { cancel() }
        }
        guard let result = try nextResult(newDeadline) else { throw lost("was out of step") }
        do { _ = try finishCopy(result) } catch {
            // The error of the cancelled statement is not one of the caller.
            if !isStopped || failure != nil { throw error }
        }
        if let stopping { throw stopping }
    }

    /// Waits for the next message of a copy.
    /// - Returns: nil at the end.
    private func nextMessage() throws -> (start: UnsafeMutablePointer<CChar>, count: Int)? {
        let deadline = newDeadline
        while true {
            var start: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &start, 1)
            if count > 0, let start { return (start, Int(count)) }
            guard count == 0 else { return nil }
            guard wait(Int16(POLLIN), until: deadline) else { throw timedOut() }
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    /// Leaves pipelines and begins a copy.
    /// - Returns: The result of a statement that did not begin one; nil if it did.
    private func beginCopy(_ sql: String, _ expected: ExecStatusType) throws -> OpaquePointer? {
        try check()
        try detachStream()
        try endCancellation()
        try readUnread()
        guard PQexitPipelineMode(handle) == 1 else { throw lost("was out of step") }
        try queued(PQsendQuery(handle, sql))
        countRoundTrip()
        try flush()
        guard let result = try nextResult(newDeadline) else { throw lost("was out of step") }
        guard PQresultStatus(result) == expected else { return result }
        PQclear(result)
        if expected == PGRES_COPY_IN { countRoundTrip() }
        return nil
    }

    /// Sends a chunk.
    /// - Returns: `false` if the server has refused the rows; its error is the next result.
    private func put(_ buffer: ByteBuffer) throws -> Bool {
        queuedBytes += buffer.count
        let chunk = UnsafePointer(buffer.start.assumingMemoryBound(to: CChar.self))
        guard PQputCopyData(handle, chunk, Int32(clamping: buffer.count)) == 1 else {
            if PQstatus(handle) == CONNECTION_BAD { throw lost() }
            return false
        }
        buffer.removeAll()
        try flush()
        return true
    }

    /// Reads the end of a copy and returns to pipelines.
    /// - Throws: The error of the statement.
    private func finishCopy(_ result: OpaquePointer) throws -> Rows {
        let rows = Rows(result)
        let status = PQresultStatus(result)
        let error = status == PGRES_COMMAND_OK ? nil : StoreError(postgreSQL: result, location: location)
        if PQstatus(handle) == CONNECTION_BAD { throw fail(error?.recovery == .connectionLost ? error ?? lost() : lost()) }
        let deadline = newDeadline
        while let more = try nextResult(deadline) { PQclear(more) }
        guard PQenterPipelineMode(handle) == 1 else { throw lost("was out of step") }
        if let error { throw error }
        return rows
    }
}
