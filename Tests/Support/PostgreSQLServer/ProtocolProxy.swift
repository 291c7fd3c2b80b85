internal import Foundation

#if canImport(Darwin)
    private let streamSocket = SOCK_STREAM
    private let sendFlags: Int32 = 0
#else
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
    private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// A proxy between clients and a server of PostgreSQL that knows the messages of the protocol. Rules of a test decide what happens to each statement and to each response.
package final class ProtocolProxy: @unchecked Sendable {  // the state is guarded by the lock, and the descriptor never changes
    /// What happens to a statement.
    package enum Action: Sendable {
        case forward
        /// The server answers with an error, and does not execute the statement.
        case fail(String)
        /// The statement arrives after some seconds.
        case delay(Double)
        /// The connection ends, and the statement does not reach the server.
        case drop
        /// Neither the statement nor anything after it arrives until ``ProtocolProxy/release()``, or the client ends the connection.
        case stall
        /// The client loses the connection immediately; the server after some seconds.
        case halfClose(Double)
    }

    /// What happens to the response to a statement.
    package enum ResponseAction: Sendable {
        case forward
        /// The connection ends before the client receives the response.
        case drop
    }

    /// Decides what happens to a statement. Called with its text, in the order of the statements of a connection.
    package typealias Rule = @Sendable (String) -> Action
    /// Decides what happens to the response to a statement. Called with the tag of the command, such as `COMMIT`.
    package typealias ResponseRule = @Sendable (String) -> ResponseAction

    /// The folder of the socket.
    package let folder: String
    private let target: String
    private let listener: Int32
    private let condition = NSCondition()
    private var rule: Rule = { _ in .forward }
    private var responseRule: ResponseRule = { _ in .forward }
    private var releases = 0

    /// Starts the proxy of a server.
    package init(_ server: PostgreSQLServer) throws {
        folder = server.folder + "/q\(UUID().uuidString.prefix(8))"
        target = server.folder + "/.s.PGSQL.5432"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = socket(AF_UNIX, streamSocket, 0)
        let isBound = Self.withAddress(folder + "/.s.PGSQL.5432") { bind(listener, $0, $1) } == 0
        guard listener >= 0, isBound, listen(listener, 64) == 0 else {
            throw PostgreSQLServer.Unavailable(description: "The proxy cannot listen in \(folder).")
        }
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                self.serve(client)
            }
        }
    }

    /// Ends the proxy: it accepts no further connections. Call it once.
    package func stop() {
        // Wakes the thread that waits for connections.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Returns the URL of the database `postgres` through the proxy.
    package func url(options: String = "") -> String {
        let host = folder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://polystore@\(host)/postgres" + (options.isEmpty ? "" : "?" + options)
    }

    /// Sets what happens to statements.
    package func setRule(_ rule: @escaping Rule) { withLock { self.rule = rule } }
    /// Sets what happens to responses.
    package func setResponseRule(_ rule: @escaping ResponseRule) { withLock { responseRule = rule } }
    /// Lets everything through.
    package func reset() {
        setRule { _ in .forward }
        setResponseRule { _ in .forward }
    }
    /// Continues with what was stalled.
    package func release() {
        withLock {
            releases += 1
            condition.broadcast()
        }
    }

    private func withLock<T>(_ body: () -> T) -> T {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    // MARK: Connections

    /// The two ends of a connection, which both threads close.
    private final class Pair: @unchecked Sendable {  // the state is guarded by the lock
        let client: Int32
        let server: Int32
        private let lock = NSLock()
        private var open = 2

        init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }

        /// Closes the descriptors when both directions have ended.
        func leave() {
            lock.lock()
            defer { lock.unlock() }
            open -= 1
            if open == 0 {
                close(client)
                close(server)
            }
        }
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_UNIX, streamSocket, 0)
        guard server >= 0, Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
            close(client)
            if server >= 0 { close(server) }
            return
        }
        let pair = Pair(client, server)
        for pump in [pumpStatements, pumpResponses] {
            Thread.detachNewThread {
                pump(pair)
                pair.end()
                pair.leave()
            }
        }
    }

    private func write(_ bytes: [UInt8], to target: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let written = bytes[sent...].withUnsafeBytes { send(target, $0.baseAddress, $0.count, sendFlags) }
            guard written > 0 else { return false }
            sent += written
        }
        return true
    }

    // MARK: Messages

    /// Forwards the messages of the client.
    private func pumpStatements(_ pair: Pair) {
        var messages = MessageBuffer(hasStartup: true)
        var statements: [String: String] = [:]
        // A statement is parsed and executed by two messages, which stay together.
        var parsing: [UInt8] = []
        while messages.fill(from: pair.client) {
            var forwarded: [UInt8] = []
            while let message = messages.next() {
                var statement: String?
                switch message.type {
                case UInt8(ascii: "P"):
                    statements[message.text(0)] = message.text(1)
                    parsing += message.bytes
                    continue
                case UInt8(ascii: "B"): statement = statements[message.text(1)]
                case UInt8(ascii: "Q"): statement = message.text(0)
                default: break
                }
                guard let statement else {
                    forwarded += parsing + message.bytes
                    parsing = []
                    continue
                }
                // The rule can wait for the statements before this one.
                guard write(forwarded, to: pair.server) else { return }
                (forwarded, parsing) = (parsing, [])
                switch withLock({ rule })(statement) {
                case .forward: break
                case .fail(let state):
                    // A message of the simple protocol is replaced; otherwise the server answers those before it, and skips it.
                    let isQuery = message.type == UInt8(ascii: "Q")
                    forwarded += Message.failure(state, isQuery: isQuery)
                    if isQuery { continue }
                case .delay(let seconds): Thread.sleep(forTimeInterval: seconds)
                case .drop: return
                case .stall: guard waitForRelease(pair.client) else { return }
                case .halfClose(let seconds):
                    shutdown(pair.client, Int32(SHUT_RDWR))
                    Thread.sleep(forTimeInterval: seconds)
                    return
                }
                forwarded += message.bytes
            }
            guard write(forwarded, to: pair.server) else { return }
        }
    }

    /// Waits for ``release()``.
    /// - Returns: `false` if the client has closed the connection before.
    private func waitForRelease(_ client: Int32) -> Bool {
        let before = withLock { releases }
        while true {
            condition.lock()
            let isReleased = releases != before || !condition.wait(until: Date(timeIntervalSinceNow: 0.02)) && releases != before
            condition.unlock()
            if isReleased { return true }
            var descriptor = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
            // Data that is not read precedes the end.
            if poll(&descriptor, 1, 0) > 0, descriptor.revents & Int16(POLLHUP) != 0 { return false }
        }
    }

    /// Forwards the messages of the server.
    private func pumpResponses(_ pair: Pair) {
        var messages = MessageBuffer(hasStartup: false)
        while messages.fill(from: pair.server) {
            var forwarded: [UInt8] = []
            while let message = messages.next() {
                if message.type == UInt8(ascii: "C"), case .drop = withLock({ responseRule })(message.text(0)) {
                    _ = write(forwarded, to: pair.client)
                    return
                }
                forwarded += message.bytes
            }
            guard write(forwarded, to: pair.client) else { return }
        }
    }
}
