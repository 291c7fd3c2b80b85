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
    var responseTimeout: Duration?
    /// The error that ended the connection. Every later call throws it.
    private(set) var failure: StoreError?
    /// The key of a parsed statement.
    struct ParsedKey: Hashable {
        let sql: String
        /// The types of the parameters.
        let types: [UInt32]

        // Equal strings can have different bytes.
        static func == (left: ParsedKey, right: ParsedKey) -> Bool {
            guard left.sql.utf8.count == right.sql.utf8.count, left.types == right.types else { return false }
            let isEqual = left.sql.utf8.withContiguousStorageIfAvailable { first in
                right.sql.utf8.withContiguousStorageIfAvailable { second in
                    guard let left = first.baseAddress, let right = second.baseAddress else { return first.isEmpty }
                    return memcmp(left, right, first.count) == 0
                }
            }
            return (isEqual ?? nil) ?? left.sql.utf8.elementsEqual(right.sql.utf8)
        }

        func hash(into hasher: inout Hasher) {
            if sql.utf8.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
                for byte in sql.utf8 { hasher.combine(byte) }
            }
        }
    }

    /// The names of the parsed statements. A name is added when the server has answered that it parsed the statement.
    private var parsed: [ParsedKey: String] = [:]
    private let usesNames: Bool
    /// When a pool took the connection back.
    var idleSince = ContinuousClock.now
    /// The number of names given so far. A name is not given again, because it is unknown whether the server has parsed a statement of a pipeline that failed.
    private var lastName = 0
    /// The rows that are being read, if the response to a statement has not been read completely.
    var stream: RowStream?
    /// The expected parts of responses that have not been read.
    var unread: [Expected] = []
    /// Statements without parameters that precede the next pipeline.
    var prefix: [Statement] = []
    /// The beginning of a transaction, which the next pipeline begins with, and what keeps its response.
    var beginning: (statements: [Statement], response: PostedResponse)?
    /// The number of parts of the response before those of the current request, which is not cancelled before they have been read.
    private(set) var uninterruptedParts = 0
    /// The interruption of the current request.
    var interruption: Interruption?
    /// A Boolean value that indicates whether the interruption has cancelled the statement of the current request.
    var isCancelled = false
    /// The request to cancel the last statement. No other statement is sent before it has ended.
    var cancellation: Cancellation?
    /// The end of the wait for the result of a cancelled statement.
    var limit: Deadline?
    /// The time to wait for the end of a statement that was cancelled, before the connection is closed.
    var cancelTimeout = Duration.seconds(10)
    /// The number of pipelines whose response was awaited. Each is one round trip.
    var pipelineCount = 0
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
        /// A part of a response that is not waited for, but kept.
        indirect case posted(PostedResponse, Expected)
    }

    /// Opens a connection.
    /// - Throws: `io` if the server refuses it or cannot be reached, `busy` at the end of the time limit.
    /// - Parameter usesNames: Whether statements are parsed once and then executed by their names, which needs the same connection of the server for all transactions.
    init(
        _ address: ServerAddress, location: String, connectTimeout: Duration, responseTimeout: Duration?, usesNames: Bool = true
    ) throws {
        self.usesNames = usesNames
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
        let other = otherLimit
        guard deadline != nil || other != nil else {
            while !isReady(events, milliseconds: -1) {}
            return true
        }
        func isOver() -> Bool { deadline?.isPast ?? false || other?.isPast ?? false }
        // What has arrived is also read after the deadline.
        while !isReady(events, milliseconds: isOver() ? 0 : 100) { if isOver() { return false } }
        return true
    }

    /// Waits until the socket can be read or written.
    /// - Returns: `false` after the time, and after a signal.
    func isReady(_ events: Int16, milliseconds: Int32) -> Bool {
        let socket = PQsocket(handle)
        // Reading then reports the error.
        guard socket >= 0 else { return true }
        var descriptor = pollfd(fd: socket, events: events, revents: 0)
        let found = poll(&descriptor, 1, milliseconds)
        return found > 0 || found < 0 && errno != EINTR
    }

    /// Until when a response is waited for that another thread needs.
    var otherLimit: Deadline?
    var newDeadline: Deadline? { limit ?? responseTimeout.map { Deadline(after: $0) } }

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
    func send(_ statements: [Statement], rowsAtOnce: Int32? = nil, isAwaited: Bool = true) throws -> [Expected] {
        try check()
        try detachStream()
        try endCancellation()
        if isAwaited { pipelineCount += 1 }
        var expected = unread
        unread = []
        var names: [ParsedKey: String] = [:]
        if let (first, response) = beginning {
            beginning = nil
            let before = expected.count
            for statement in first { try queue(statement, &expected, &names) }
            expected = expected[..<before] + expected[before...].map { .posted(response, $0) }
        }
        for statement in prefix {
            try queued(PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1))
            expected.append(.rows)
        }
        if !prefix.isEmpty {
            // The server answers them before it executes the statements.
            try queued(PQpipelineSync(handle))
            expected.append(.sync)
            prefix = []
        }
        uninterruptedParts = expected.count
        for statement in statements { try queue(statement, &expected, &names) }
        if let rowsAtOnce, expected.count == 1 { _ = polystore_pg_set_rows_mode(handle, rowsAtOnce) }
        try queued(PQpipelineSync(handle))
        expected.append(.sync)
        try flush()
        return expected
    }

    /// Queues a statement, and adds the parts of its response.
    /// - Parameter names: The statements that the pipeline parses.
    private func queue(_ statement: Statement, _ expected: inout [Expected], _ names: inout [ParsedKey: String]) throws {
        guard statement.isPrepared else {
            try queued(PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1))
            expected.append(.rows)
            return
        }
        let parameters: [Parameter]
        do { parameters = try statement.deferred?.encode() ?? statement.parameters } catch {
            try abandon(expected)
            throw error
        }
        let key = ParsedKey(sql: statement.sql, types: statement.types)
        var name = parsed[key] ?? names[key]
        // A transaction that executes many different statements, such as those of many limits, keeps no more of them than that.
        guard usesNames, name != nil || parsed.count + names.count < 2 * Self.mostParsed else {
            try execute(nil, statement, parameters, after: expected)
            expected.append(.rows)
            return
        }
        if name == nil {
            lastName += 1
            let new = "p\(lastName)"
            try queued(PQsendPrepare(handle, new, key.sql, Int32(key.types.count), key.types), after: expected)
            expected.append(.parse(key, name: new))
            names[key] = new
            name = new
        }
        try execute(name, statement, parameters, after: expected)
        expected.append(.rows)
        if queuedBytes > Self.longestQueue { try flush() }
    }

    /// Ends a pipeline whose next statement cannot be encoded, and reads its response.
    private func abandon(_ expected: [Expected]) throws {
        try queued(PQpipelineSync(handle))
        try flush()
        for part in expected + [.sync] { _ = try receive(part) }
    }

    /// - Parameters:
    ///   - name: The name of the parsed statement; nil to parse it for this execution alone.
    ///   - expected: The parts of the response to the statements before it.
    private func execute(_ name: String?, _ statement: Statement, _ parameters: [Parameter], after expected: [Expected]) throws {
        var values = parameters.map { UnsafePointer($0.buffer?.start.assumingMemoryBound(to: CChar.self)) }
        var lengths = parameters.map { Int32(clamping: $0.buffer?.count ?? 0) }
        var formats = [Int32](repeating: 1, count: parameters.count)
        try withExtendedLifetime(parameters) {
            let count = Int32(parameters.count)
            let success =
                if let name {
                    PQsendQueryPrepared(handle, name, count, &values, &lengths, &formats, 1)
                } else {
                    PQsendQueryParams(handle, statement.sql, count, statement.types, &values, &lengths, &formats, 1)
                }
            try queued(success, after: expected)
        }
        queuedBytes += lengths.reduce(0) { $0 + Int($1) }
    }

    /// Checks that libpq accepted a statement.
    /// - Parameters:
    ///   - success: What the function of libpq returned.
    ///   - expected: The parts of the response to the statements before it, which are executed if libpq refuses a statement, as one with too many parameters; nil if the connection cannot be used then.
    func queued(_ success: Int32, after expected: [Expected]? = nil) throws {
        guard success != 1 else { return }
        if PQstatus(handle) == CONNECTION_BAD { throw lost() }
        var error = StoreError(
            .io, "A statement could not be sent to \(location).", location: location,
            underlying: StoreError.firstLine(PQerrorMessage(handle)))
        if let expected {
            try abandon(expected)
            throw error
        }
        error.recovery = .connectionLost
        throw fail(error)
    }

    /// Sends what is queued. Reads meanwhile, because a server that cannot send its responses reads no further statements.
    func flush() throws {
        while true {
            switch PQflush(handle) {
            case 0:
                queuedBytes = 0
                return
            case 1:
                // Each part that the server accepts starts a new deadline.
                guard wait(Int16(POLLIN | POLLOUT), until: newDeadline) else { throw timedOut() }
                guard PQconsumeInput(handle) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    /// Closes a connection whose server did not respond in time. The statement ends on the server too.
    func timedOut() -> StoreError {
        let time = limit != nil ? "within \(cancelTimeout)" : otherLimit != nil ? "in time" : "within \(responseTimeout ?? .zero)"
        cancel()
        return fail(
            StoreError(
                .busy, "The server of \(location) did not respond \(time). Try again later.",
                location: location))
    }

    // MARK: Receiving

    /// Returns the next result of libpq; nil at the end of a statement.
    func nextResult(_ deadline: Deadline?) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 {
            try awaitResponse(deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        return PQgetResult(handle)
    }

    /// Reads one part of a response.
    /// - Returns: The rows of a statement; nil for other parts and for a statement that was skipped after an error.
    func receive(_ part: Expected) throws -> Result<Rows?, StoreError> {
        if case .posted(let response, let part) = part {
            response.add(try receive(part), part)
            return .success(nil)
        }
        let deadline = newDeadline
        defer { uninterruptedParts -= 1 }
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
}
