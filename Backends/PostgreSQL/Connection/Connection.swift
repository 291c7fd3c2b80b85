import CPostgreSQL
import PolyStoreBackend
import PolyStorePlatform

/// A connection to a server, used by one thread at a time. Statements are sent in pipelines, without blocking.
final class Connection {
    /// The connection of libpq; nil after a failure, which closes it. The functions of libpq accept nil.
    private(set) var handle: OpaquePointer?
    /// The location of the store, for errors.
    let location: String
    let process = OwningProcess()
    /// The time to wait for the response of the server; nil waits without a limit.
    let responseTimeout: Duration?
    /// The error that ended the connection. Every later call throws it.
    private(set) var failure: StoreError?
    /// What distinguishes parsed statements.
    struct ParsedKey: Hashable {
        let sql: String
        /// The types of the parameters.
        let types: [UInt32]
    }

    /// The names of the parsed statements. A name is added when the server has answered that it parsed the statement.
    private var parsed: [ParsedKey: String] = [:]
    /// The number of names given so far. A name is not given again, because it is unknown whether the server has parsed a statement of a pipeline that failed.
    private var lastName = 0
    /// The rows that are being read, if the response to a statement has not been read completely.
    var stream: RowStream?
    /// The parts of responses that nobody waited for.
    private(set) var unread: [Expected] = []
    /// The number of pipelines that were sent, each of which is one round trip if its response is awaited.
    private(set) var pipelineCount = 0
    /// The bytes of parameters and copied rows that were encoded since everything was sent.
    var queuedBytes = 0 {
        didSet { mostQueuedBytes = max(mostQueuedBytes, queuedBytes) }
    }
    /// The largest value of ``queuedBytes`` so far.
    private(set) var mostQueuedBytes = 0

    /// The number of queued bytes after which a pipeline waits until they are sent.
    static let longestQueue = 1 << 18

    /// The number of parsed statements after which all are forgotten.
    private static let mostParsed = 400

    /// A part of the response to a pipeline.
    enum Expected {
        case parse(ParsedKey, name: String)
        case rows
        case sync
    }

    /// Opens a connection.
    /// - Throws: `io` if the server refuses it or cannot be reached, `busy` at the end of the time limit.
    init(_ address: ServerAddress, location: String, connectTimeout: Duration, responseTimeout: Duration?) throws {
        self.location = location
        self.responseTimeout = responseTimeout
        // If this throws, `deinit` closes the connection.
        try connect(address.alternatives, connectTimeout)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw StoreError(.io, "The connection to \(location) cannot send pipelines.", location: location)
        }
    }

    deinit {
        // A forked child leaves the connection to its parent.
        if process.isCurrent { PQfinish(handle) }
    }

    /// Closes the connection, so that the server ends its transaction and releases its locks.
    private func close() {
        guard process.isCurrent else { return }
        PQfinish(handle)
        handle = nil
    }

    /// Connects to the first address that accepts the connection. Each gets an equal part of the time that is left.
    private func connect(_ addresses: [ServerAddress], _ timeout: Duration) throws {
        let end = ContinuousClock.now + timeout
        var first: StoreError?
        for (index, address) in addresses.enumerated() {
            let part = max(.zero, end - .now) / (addresses.count - index)
            handle = address.withKeywords(connectTimeout: timeout) { PQconnectStartParams($0, $1, 0) }
            guard handle != nil else {
                throw StoreError(.full, "There is not enough memory for a connection to \(location).", location: location)
            }
            do { return try finishConnecting(Deadline(after: part), timeout) } catch let error as StoreError {
                if first == nil { first = error }
                close()
            }
        }
        if let first { throw first }
    }

    private func finishConnecting(_ deadline: Deadline, _ timeout: Duration) throws {
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            if status == PGRES_POLLING_FAILED {
                throw StoreError(connecting: handle, location: location)
            }
            guard wait(status == PGRES_POLLING_READING ? Int16(POLLIN) : Int16(POLLOUT), until: deadline) else {
                throw StoreError(
                    .busy, "The server of \(location) did not answer within \(timeout). Check that it runs and can be reached.",
                    location: location)
            }
            status = PQconnectPoll(handle)
        }
    }

    /// Waits until the socket can be read or written.
    /// - Returns: `false` at the deadline.
    func wait(_ events: Int16, until deadline: Deadline?) -> Bool {
        let socket = PQsocket(handle)
        // Reading then reports the error.
        guard socket >= 0 else { return true }
        var descriptor = pollfd(fd: socket, events: events, revents: 0)
        while true {
            let limit: Int32 = deadline == nil ? -1 : 100
            let found = poll(&descriptor, 1, limit)
            if found > 0 || found < 0 && errno != EINTR { return true }
            if let deadline, deadline.isPast { return false }
        }
    }

    var newDeadline: Deadline? { responseTimeout.map { Deadline(after: $0) } }

    // MARK: State

    /// - Throws: The error that ended the connection; `misuse` in a forked child.
    func check() throws {
        if let failure { throw failure }
        try process.check(location)
    }

    /// Marks the connection as unusable, ends its stream and closes it.
    @discardableResult
    func fail(_ error: StoreError) -> StoreError {
        if let failure { return failure }
        failure = error
        stream?.fail(error)
        stream = nil
        close()
        return error
    }

    func lost(_ what: String = "ended") -> StoreError {
        fail(
            StoreError(
                .io, "The connection to \(location) \(what). Check the server and the network.", location: location,
                underlying: StoreError.firstLine(PQerrorMessage(handle)), recovery: .connectionLost))
    }

    /// Frees the parsed statements, if there are many. Call it before a transaction.
    func forgetParsed() {
        guard parsed.count > Self.mostParsed else { return }
        parsed = [:]
        // In a pipeline of its own: a transaction cannot begin after another statement of the same pipeline.
        post([.once("DEALLOCATE ALL")])
    }

    // MARK: Sending

    /// Sends statements and the end of their pipeline, and returns what the response consists of.
    func send(_ statements: [Statement], singleRows: Bool = false) throws -> [Expected] {
        try check()
        try detachStream()
        pipelineCount += 1
        var expected = unread
        unread = []
        var names: [ParsedKey: String] = [:]
        for statement in statements {
            guard statement.isPrepared else {
                try queued(PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1))
                expected.append(.rows)
                continue
            }
            let parameters: [Parameter]
            do { parameters = try statement.deferred?.encode() ?? statement.parameters } catch {
                try abandon(expected)
                throw error
            }
            let key = ParsedKey(sql: statement.sql, types: statement.types)
            var name = parsed[key] ?? names[key]
            if name == nil {
                lastName += 1
                let new = "p\(lastName)"
                try queued(PQsendPrepare(handle, new, key.sql, Int32(key.types.count), key.types))
                expected.append(.parse(key, name: new))
                names[key] = new
                name = new
            }
            try execute(name ?? "", parameters)
            expected.append(.rows)
            if queuedBytes > Self.longestQueue { try flush() }
        }
        if singleRows, expected.count == 1 { PQsetSingleRowMode(handle) }
        try queued(PQpipelineSync(handle))
        expected.append(.sync)
        try flush()
        return expected
    }

    /// Ends a pipeline whose next statement cannot be encoded, and reads its response.
    private func abandon(_ expected: [Expected]) throws {
        try queued(PQpipelineSync(handle))
        try flush()
        for part in expected + [.sync] { _ = try receive(part) }
    }

    private func execute(_ name: String, _ parameters: [Parameter]) throws {
        var values = parameters.map { UnsafePointer($0.buffer?.start.assumingMemoryBound(to: CChar.self)) }
        var lengths = parameters.map { Int32(clamping: $0.buffer?.count ?? 0) }
        var formats = [Int32](repeating: 1, count: parameters.count)
        try withExtendedLifetime(parameters) {
            try queued(PQsendQueryPrepared(handle, name, Int32(parameters.count), &values, &lengths, &formats, 1))
        }
        queuedBytes += lengths.reduce(0) { $0 + Int($1) }
    }

    func queued(_ success: Int32) throws {
        guard success == 1 else {
            if PQstatus(handle) == CONNECTION_BAD { throw lost() }
            throw fail(
                StoreError(
                    .io, "A statement could not be sent to \(location).", location: location,
                    underlying: StoreError.firstLine(PQerrorMessage(handle)), recovery: .connectionLost))
        }
    }

    /// Sends what is queued. Reads meanwhile, because a server that cannot send its responses reads no further statements.
    func flush() throws {
        let deadline = newDeadline
        while true {
            switch PQflush(handle) {
            case 0:
                queuedBytes = 0
                return
            case 1:
                guard wait(Int16(POLLIN | POLLOUT), until: deadline) else { throw timedOut() }
                guard PQconsumeInput(handle) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    func timedOut() -> StoreError {
        fail(
            StoreError(
                .busy, "The server of \(location) did not respond within \(responseTimeout ?? .zero). Try again later.",
                location: location))
    }

    // MARK: Receiving

    /// Returns the next result of libpq; nil at the end of a statement.
    func nextResult(_ deadline: Deadline?) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 {
            guard wait(Int16(POLLIN), until: deadline) else { throw timedOut() }
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        return PQgetResult(handle)
    }

    /// Reads one part of a response.
    /// - Returns: The rows of a statement; nil for other parts and for a statement that was skipped after an error.
    func receive(_ part: Expected) throws -> Result<Rows?, StoreError> {
        let deadline = newDeadline
        guard let result = try nextResult(deadline) else { throw lost("was out of step") }
        let rows = Rows(result)
        let status = PQresultStatus(result)
        if case .sync = part {
            guard status == PGRES_PIPELINE_SYNC else {
                if PQstatus(handle) == CONNECTION_BAD { throw lost() }
                throw fail(StoreError(.io, "The connection to \(location) was out of step.", location: location, recovery: .connectionLost))
            }
            return .success(nil)
        }
        let answer: Result<Rows?, StoreError>
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            if case .parse(let key, let name) = part {
                parsed[key] = name
                answer = .success(nil)
            } else {
                answer = .success(rows)
            }
        case PGRES_PIPELINE_ABORTED: answer = .success(nil)
        default:
            let error = StoreError(postgreSQL: result, location: location)
            // The server closes the connection after such an error.
            if PQstatus(handle) == CONNECTION_BAD { throw fail(error.recovery == .connectionLost ? error : lost()) }
            answer = .failure(error)
        }
        if try nextResult(deadline) != nil { throw fail(StoreError(.io, "\(location) sent an unexpected result.", location: location)) }
        return answer
    }

    /// Sends statements in one pipeline and waits for their results.
    /// - Throws: The first error of a statement. The statements after it were not executed.
    @discardableResult
    func run(_ statements: [Statement]) throws -> [Rows] {
        if statements.contains(where: { $0.copied != nil }) { return try runCopying(statements) }
        let before = unread.count
        let expected = try send(statements)
        var results: [Rows] = []
        var first: StoreError?
        for (index, part) in expected.enumerated() {
            switch try receive(part) {
            case .success(let rows): if let rows, index >= before { results.append(rows) }
            case .failure(let error): if index >= before, first == nil { first = error }
            }
        }
        if let first { throw first }
        return results
    }

    /// Reads the responses that nobody waited for.
    func readUnread() throws {
        let expected = unread
        unread = []
        for part in expected { _ = try receive(part) }
    }

    /// Counts a round trip that is not that of a pipeline.
    func countRoundTrip() { pipelineCount += 1 }

    /// Parses a statement, unless it was parsed before, and returns its name on the server.
    func prepare(_ sql: String, _ types: [UInt32]) throws -> String {
        let key = ParsedKey(sql: sql, types: types)
        if let name = parsed[key] { return name }
        try check()
        try detachStream()
        pipelineCount += 1
        var expected = unread
        unread = []
        lastName += 1
        let name = "p\(lastName)"
        try queued(PQsendPrepare(handle, name, sql, Int32(types.count), types))
        expected += [.parse(key, name: name), .sync]
        try queued(PQpipelineSync(handle))
        try flush()
        var failure: StoreError?
        for (index, part) in expected.enumerated() {
            if case .failure(let error) = try receive(part), index == expected.count - 2 { failure = error }
        }
        if let failure { throw failure }
        return name
    }

    /// Executes one statement and returns its rows.
    func rows(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
        guard let rows = try run([Statement(sql, parameters)]).last else {
            throw StoreError(.io, "\(location) did not answer a statement.", location: location)
        }
        return rows
    }

    /// Sends statements without waiting for their results, which are read before those of the next statements. Their errors are ignored.
    func post(_ statements: [Statement]) {
        guard failure == nil, process.isCurrent else { return }
        // An error has marked the connection.
        if let expected = try? send(statements) { unread = expected }
    }
}
