import PolyStoreBackend

/// The beginning of a snapshot: its statements are sent immediately, and their response is read with that of the first request.
///
/// The response is also read before a commit of the same store object, so that a snapshot shows no commit that began after it.
// Sendable: the state is accessed under the lock, and the connection is used by the thread that has claimed the response, later by the reader.
final class Opening: Beginning, @unchecked Sendable {
    /// The state of the store in the snapshot, or the error of the server; nil before the response has been read.
    private var found: Result<StoreState, StoreError>?
    /// A Boolean value that indicates whether a thread reads the response and therefore uses the connection.
    private var isClaimed = false
    /// The work that the end of the snapshot has left to the thread that reads the response.
    private var ending: ((Connection) -> Void)?
    private let lock = Lock()
    private let pool: ConnectionPool
    private let statements: [Statement]
    /// A Boolean value that indicates whether the server may have closed the connection before the snapshot began.
    private let isReused: Bool
    /// The tables of the store when the snapshot began.
    let tables: StoreTables
    private let response = PostedResponse()
    private var current: Connection

    init(_ pool: ConnectionPool, _ connection: Connection, isReused: Bool, _ statements: [Statement]) {
        (self.pool, current, self.isReused, self.statements) = (pool, connection, isReused, statements)
        tables = pool.tables
        // The response can be read after the end of the snapshot.
        response.onEnd = { [weak self] in self?.didRespond() }
        connection.post(statements, to: response)
    }

    /// The connection of the snapshot. Another one replaces it if the server had closed it.
    var connection: Connection { lock.withLock { current } }

    /// A Boolean value that indicates whether a thread reads the response.
    var isBeingRead: Bool { lock.withLock { isClaimed } }

    /// Waits while another thread reads the response.
    /// - Parameter deadline: Until when to wait for the other thread, for a caller that needs the outcome only; nil for one that uses the connection.
    /// - Returns: The outcome; nil if the caller must read the response, and then call ``leave()``.
    private func claim(until deadline: Deadline? = nil) -> Result<StoreState, StoreError>? {
        lock.withLock {
            while isClaimed {
                if deadline != nil, let found { return found }
                guard let deadline else {
                    lock.wait()
                    continue
                }
                guard lock.wait(until: deadline) else {
                    return .failure(StoreError(.busy, "A snapshot of \(pool.location) has not begun.", location: pool.location))
                }
            }
            if found == nil { isClaimed = true }
            return found
        }
    }

    /// Called when the thread that has claimed the response does not use the connection any more.
    private func leave() {
        let ending = lock.withLock {
            defer { self.ending = nil }
            isClaimed = false
            lock.broadcast()
            return self.ending
        }
        ending?(connection)
    }

    private func didRespond() { settle(state(response.rows.last, response.error)) }

    private func settle(_ outcome: Result<StoreState, StoreError>) {
        lock.withLock {
            if found == nil { found = outcome }
            // A commit waits for the outcome only. The reader meanwhile continues with its request.
            lock.broadcast()
        }
        pool.didOpen(self)
    }

    var outcome: Result<StoreState, StoreError>? { lock.withLock { found } }

    private func state(_ rows: Rows?, _ error: StoreError?) -> Result<StoreState, StoreError> {
        if let error { return .failure(pool.explained(error)) }
        do { return .success(try pool.state(rows, for: tables)) } catch { return .failure(pool.explained(error)) }
    }

    func complete() throws -> StoreState { try complete(until: nil) }

    /// Reads the response if no thread has read it, and returns the state.
    /// - Parameter deadline: Until when to wait for the server, after which the snapshot ends with an error; nil for the limit of every response.
    func complete(until deadline: Deadline?) throws -> StoreState {
        if let outcome = claim(until: deadline) { return try outcome.get() }
        defer { leave() }
        do { try connection.readPosted(until: deadline) } catch {
            // The connection has failed, or belongs to another process.
        }
        return try finish().get()
    }

    /// Sends the first request before the response is read.
    /// - Parameter body: Sends the request and reads the responses. It is called again if the server had closed the connection.
    func first<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        if let outcome = claim() {
            _ = try outcome.get()
            return try body(connection)
        }
        defer { leave() }
        let used = connection
        let answer = Swift.Result { try body(used) }
        if outcome == nil, used.failure == nil { try? used.readPosted() }
        _ = try finish().get()
        return try connection === used ? answer.get() : body(connection)
    }

    /// Returns the outcome after the response was read, or after the connection was lost. An idle connection that the server had closed is replaced.
    private func finish() -> Result<StoreState, StoreError> {
        if let outcome { return outcome }
        var found: Result<StoreState, StoreError>
        do {
            try connection.check()
            found = .failure(connection.lost("was out of step"))
        } catch { found = .failure(pool.explained(error)) }
        if isReused, case .failure(let error) = found, error.recovery == .connectionLost {
            do {
                let connection = try pool.replacement()
                lock.withLock { current = connection }
                found = state(try connection.run(statements).last, nil)
            } catch { found = .failure(pool.explained(error)) }
        }
        settle(found)
        return found
    }

    /// Ends the snapshot, and gives its connection to a closure: now, or when the thread that reads the response has done so.
    func end(_ completion: @escaping (Connection) -> Void) {
        let isLeft = lock.withLock {
            if found == nil { found = .failure(pool.closed) }
            lock.broadcast()
            if isClaimed { ending = completion }
            return isClaimed
        }
        pool.didOpen(self)
        if !isLeft { completion(connection) }
    }
}
