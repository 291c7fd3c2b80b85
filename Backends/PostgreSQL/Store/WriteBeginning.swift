import PolyStoreBackend

/// The beginning of a transaction, whose response is read with that of its first request.
protocol Beginning: AnyObject {
    var connection: Connection { get }
    /// The state that the transaction reads, or the error of its beginning; nil until the response has been read.
    var outcome: Result<StoreState, StoreError>? { get }
    /// Reads the response, and returns the state.
    func complete() throws -> StoreState
    /// Sends the first request before the response to the beginning is read.
    /// - Parameter body: Sends the request and reads the responses. It is called again if the server had closed the connection.
    func first<Value>(_ body: (Connection) throws -> Value) throws -> Value
    /// Called at the end of the transaction. Gives the connection to a closure: now, or when the thread that reads the response has done so.
    func end(_ completion: @escaping (Connection) -> Void)
}

/// The beginning of a write transaction, which is sent in the pipeline of its first request. The server executes nothing of the request if the transaction cannot begin.
final class WriteBeginning: Beginning {
    private let pool: ConnectionPool
    private let statements: [Statement]
    private(set) var connection: Connection
    private(set) var outcome: Result<StoreState, StoreError>?
    /// The generation whose full-text indexes the transaction maintains.
    private let generation: Int64
    /// A Boolean value that indicates whether the server may have closed the connection before the transaction began. The body can have taken long.
    private var isReused = true
    /// A Boolean value that indicates whether anything was sent.
    private(set) var wasSent = false
    /// A Boolean value that indicates whether the first request may be sent again over another connection. It is unknown whether the server has executed it.
    var repeats = true
    /// The response to the beginning.
    private var response = PostedResponse()

    /// Borrows a connection.
    /// - Parameter statements: The statements that begin the transaction. The last but one reads the version.
    init(_ pool: ConnectionPool, _ statements: [Statement], generation: Int64) throws {
        (self.pool, self.statements, self.generation) = (pool, statements, generation)
        connection = try pool.borrow().0
        do { try connection.process.check(pool.location) } catch {
            pool.giveBack(connection)
            throw error
        }
    }

    /// A Boolean value that indicates whether the connection was an idle one that ended before the server has answered anything.
    private var wasClosed: Bool {
        isReused && connection.failure?.recovery == .connectionLost && response.rows.isEmpty
            && (response.error?.recovery ?? .connectionLost) == .connectionLost
    }

    private func replace() throws {
        connection = try pool.replacement()
        (isReused, outcome) = (false, nil)
    }

    func complete() throws -> StoreState {
        if outcome == nil { _ = try first { try $0.run([]) } }
        guard let outcome else { throw StoreError(.closed, "The transaction has ended.", location: pool.location) }
        return try outcome.get()
    }

    func first<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        // The end of an idle connection can have arrived meanwhile.
        if isReused, outcome == nil, connection.hasEnded() { try replace() }
        do { return try firstOnce(body) } catch {
            guard wasClosed, repeats, (error as? StoreError)?.recovery == .connectionLost else { throw error }
            try replace()
            return try firstOnce(body)
        }
    }

    /// Sends the first request over the current connection.
    private func firstOnce<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        if let outcome {
            _ = try outcome.get()
            return try body(connection)
        }
        response = PostedResponse()
        connection.forgetParsed()
        connection.beginning = (statements, response)
        let answer = Result { try body(connection) }
        let isSent = connection.beginning == nil
        connection.beginning = nil
        if isSent { (wasSent, outcome) = (true, received()) }
        // The server has then skipped the request.
        if connection.failure == nil, case .failure(let error)? = outcome { throw error }
        return try answer.get()
    }

    private func received() -> Result<StoreState, StoreError> {
        // The response that has the version states why the transaction must not begin.
        if response.rows.count >= statements.count - 1 {
            do {
                let state = try pool.state(response.rows[statements.count - 2], for: pool.tables)
                if response.error == nil, response.rows.count == statements.count { return .success(state) }
                if state.generation != generation {
                    throw StoreError(
                        .io, "The full-text indexes of \(pool.location) were changed by another process. Begin the transaction again.",
                        location: pool.location, recovery: .connectionLost)
                }
            } catch { return .failure(pool.explained(error)) }
        }
        return .failure(pool.explained(response.error ?? connection.failure ?? connection.lost("was out of step")))
    }

    func end(_ completion: @escaping (Connection) -> Void) { completion(connection) }
}
