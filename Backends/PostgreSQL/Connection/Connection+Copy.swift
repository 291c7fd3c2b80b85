import CPostgreSQL
import PolyStoreBackend

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
    /// What precedes the rows: a signature, flags, and the length of an extension.
    private static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0] + [UInt8](repeating: 0, count: 8)

    /// Executes one `COPY … FROM STDIN` outside of pipelines.
    private func copy(_ sql: String, _ rows: CopiedRows) throws -> Rows {
        try check()
        try detachStream()
        try readUnread()
        guard PQexitPipelineMode(handle) == 1 else { throw lost("was out of step") }
        try queued(PQsendQuery(handle, sql))
        countRoundTrip()
        try flush()
        let deadline = newDeadline
        guard let first = try nextResult(deadline) else { throw lost("was out of step") }
        guard PQresultStatus(first) == PGRES_COPY_IN else { return try finishCopy(first) }
        PQclear(first)
        countRoundTrip()
        do { try send(rows) } catch {
            guard failure == nil else { throw error }
            // The server then ends the statement with an error.
            if PQputCopyEnd(handle, "a value cannot be encoded") == 1 { try flush() }
            if let result = try nextResult(newDeadline) { _ = try? finishCopy(result) }
            throw failure ?? error
        }
        guard let result = try nextResult(newDeadline) else { throw lost("was out of step") }
        return try finishCopy(result)
    }

    /// Sends rows in chunks, each of which is sent completely before the next one is encoded. Stops when the server refuses them.
    private func send(_ rows: CopiedRows) throws {
        let buffer = ByteBuffer(capacity: Self.longestChunk + 1024)
        Self.header.withUnsafeBytes { buffer.append($0) }
        for row in 0..<rows.count {
            buffer.append(rows.columnCount)
            try rows.append(row, buffer)
            if buffer.count >= Self.longestChunk, try !put(buffer) { return }
        }
        buffer.append(-1 as Int16)
        guard try put(buffer), PQputCopyEnd(handle, nil) == 1 else { return }
        try flush()
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
