internal import Foundation

/// A proxy between clients and a server of PostgreSQL that knows the messages of the protocol. Rules of a test decide what happens to each statement and to each response.
package final class ProtocolProxy: @unchecked Sendable {  // the state is guarded by the lock
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

    private let listener: ProxyListener
    /// The folder of the socket.
    package var folder: String { listener.folder }
    private let condition = NSCondition()
    private var rule: Rule = { _ in .forward }
    private var responseRule: ResponseRule = { _ in .forward }
    private var releases = 0

    /// Starts the proxy of a server.
    package init(_ server: PostgreSQLServer) throws {
        listener = try ProxyListener(folder: server.folder + "/q\(UUID().uuidString.prefix(8))", target: server.folder)
        listener.start([{ self.pumpStatements($0) }, { self.pumpResponses($0) }])
    }

    /// Ends the proxy: it accepts no further connections. Call it once.
    package func stop() { listener.stop() }

    /// Returns the URL of the database `postgres` through the proxy.
    package func url(options: String = "") -> String { listener.url(options: options) }

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

    // MARK: Messages

    /// Forwards the messages of the client.
    private func pumpStatements(_ pair: ProxyListener.Pair) {
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
                guard ProxyListener.write(forwarded[...], to: pair.server) else { return }
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
            guard ProxyListener.write(forwarded[...], to: pair.server) else { return }
        }
    }

    /// Waits for ``release()``.
    /// - Returns: `false` if the client has closed the connection before.
    private func waitForRelease(_ client: Int32) -> Bool {
        let before = withLock { releases }
        while true {
            condition.lock()
            if releases == before { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02)) }
            let isReleased = releases != before
            condition.unlock()
            if isReleased { return true }
            var descriptor = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
            // Data that is not read precedes the end.
            if poll(&descriptor, 1, 0) > 0, descriptor.revents & Int16(POLLHUP) != 0 { return false }
        }
    }

    /// Forwards the messages of the server.
    private func pumpResponses(_ pair: ProxyListener.Pair) {
        var messages = MessageBuffer(hasStartup: false)
        while messages.fill(from: pair.server) {
            var forwarded: [UInt8] = []
            while let message = messages.next() {
                if message.type == UInt8(ascii: "C"), case .drop = withLock({ responseRule })(message.text(0)) {
                    _ = ProxyListener.write(forwarded[...], to: pair.client)
                    return
                }
                forwarded += message.bytes
            }
            guard ProxyListener.write(forwarded[...], to: pair.client) else { return }
        }
    }
}
