import CPostgreSQL
import PolyStoreBackend
import PolyStorePlatform

extension Connection {
    /// Sends statements in one pipeline and waits for their results.
    /// - Throws: The first error of a statement. The statements after it were not executed.
    @discardableResult
    func run(_ statements: [Statement]) throws -> [Rows] {
        if statements.contains(where: { $0.copied != nil }) { return try runCopying(statements) }
        let (results, failure) = try attempt(statements)
        if let failure { throw failure }
        return results
    }

    /// Sends statements in one pipeline and waits for their results.
    /// - Returns: The results up to the first error of a statement, and that error.
    /// - Throws: The error that ended the connection.
    func attempt(_ statements: [Statement]) throws -> (results: [Rows], failure: StoreError?) {
        let before = unread.count
        let expected = try send(statements)
        let first = uninterruptedParts
        var results: [Rows] = []
        var failure: StoreError?
        for (index, part) in expected.enumerated() {
            switch try receive(part) {
            case .success(let rows): if let rows, index >= first { results.append(rows) }
            case .failure(let error): if index >= before, failure == nil { failure = error }
            }
        }
        return (results, failure)
    }

    /// Returns whether the server has closed the connection, as far as that has arrived. Does not wait.
    func hasEnded() -> Bool {
        guard failure == nil, process.isCurrent else { return failure != nil }
        var reads = 0
        // The end follows what was sent before it.
        while reads < 100, isReady(Int16(POLLIN), milliseconds: 0) {
            guard PQconsumeInput(handle) == 1 else {
                _ = lost()
                return true
            }
            reads += 1
        }
        return false
    }

    /// Reads the responses that were not waited for.
    func readUnread() throws {
        let expected = unread
        unread = []
        for part in expected { _ = try receive(part) }
    }

    /// Counts a round trip that is not that of a pipeline.
    func countRoundTrip() { pipelineCount += 1 }

    /// Returns the answer of the server to a statement within a time; nil if there is none. A connection that was not used for long can have ended unnoticed.
    func answer(to statement: Statement, within time: Duration) -> Rows? {
        limit = Deadline(after: time)
        defer { limit = nil }
        return try? run([statement]).last
    }

    /// Executes one statement and returns its rows.
    func rows(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows { try rows(Statement(sql, parameters)) }

    /// Executes one statement and returns its rows.
    func rows(_ statement: Statement) throws -> Rows {
        guard let rows = try run([statement]).last else {
            throw StoreError(.io, "\(location) did not answer a statement.", location: location)
        }
        return rows
    }

    /// Sends statements without waiting for their results, which are read before those of the next statements. Their errors are ignored.
    func post(_ statements: [Statement]) {
        guard failure == nil, process.isCurrent else { return }
        // An error has marked the connection.
        if let expected = try? send(statements, isAwaited: false) { unread = expected }
    }

    /// Sends statements without waiting for their results, which are kept when they are read: before those of the next statements, or by ``readPosted()``.
    func post(_ statements: [Statement], to response: PostedResponse) {
        guard failure == nil, process.isCurrent else { return }
        let before = unread.count
        if let expected = try? send(statements, isAwaited: false) {
            unread = expected[..<before] + expected[before...].map { .posted(response, $0) }
        }
    }

    /// Waits for the results of the statements that were not waited for.
    /// - Parameter deadline: Until when to wait for all of them; nil for the limit of every response.
    func readPosted(until deadline: Deadline? = nil) throws {
        try check()
        otherLimit = deadline
        defer { otherLimit = nil }
        guard !unread.isEmpty else { return }
        pipelineCount += 1
        let parts = unread
        unread = []
        for part in parts { _ = try receive(part) }
    }
}
