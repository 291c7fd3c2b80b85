internal import Foundation

/// A proxy between clients and a server of PostgreSQL, which counts round trips, delays them, and ends connections at a commit.
package final class ConnectionProxy: @unchecked Sendable {  // the state is guarded by the lock
    /// What happens to the next commit.
    package enum Fault: Sendable {
        /// The connection ends before the server receives the commit.
        case commitLost
        /// The connection ends after the commit and before its response.
        case responseLost
    }

    private let listener: ProxyListener
    /// The folder of the socket.
    package var folder: String { listener.folder }
    private let lock = NSLock()
    private var fault: Fault?
    private var turns = 0
    private var delay: TimeInterval = 0
    private var counter: SyncCounter?
    private var connections = 0
    /// The number of connections that clients have used.
    package var connectionCount: Int { withLock { connections } }

    /// Starts the proxy of a server.
    /// - Parameter target: The folder of the socket to connect to; nil for that of the server.
    package init(_ server: PostgreSQLServer, folder target: String? = nil) throws {
        listener = try ProxyListener(folder: server.folder + "/p\(UUID().uuidString.prefix(8))", target: target ?? server.folder)
        listener.start([
            { self.pump(from: $0.client, to: $0.server, $0, isClient: true) },
            { self.pump(from: $0.server, to: $0.client, $0, isClient: false) },
        ])
    }

    /// Ends the proxy: it accepts no further connections. Call it once.
    package func stop() { listener.stop() }

    /// Returns the URL of a database through the proxy.
    package func url(_ database: String = "postgres", options: String = "") -> String { listener.url(database, options: options) }

    /// Lets the next commit fail.
    package func failNextCommit(_ fault: Fault) { withLock { self.fault = fault } }

    /// Delays what clients send.
    package func delay(by seconds: Double) { withLock { delay = seconds } }

    /// Returns the number of times that a client has sent something after a response, while a closure runs.
    package func roundTrips(_ body: () throws -> Void) rethrows -> Int {
        let before = withLock { turns }
        try body()
        return withLock { turns } - before
    }

    /// Returns the number of responses that a client waits for, while a closure runs; see ``SyncCounter``. Call it before the first connection of the client.
    package func awaitedResponses(_ body: () throws -> Void) rethrows -> Int {
        let counter = withLock {
            let counter = self.counter ?? SyncCounter()
            self.counter = counter
            return counter
        }
        let before = counter.count
        try body()
        return counter.count - before
    }

    private func withLock<T>(_ body: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    private static let commit = Array("COMMIT\0".utf8)

    private func pump(from source: Int32, to target: Int32, _ pair: ProxyListener.Pair, isClient: Bool) {
        defer { if isClient { withLock { counter }?.end(source) } }
        if isClient { withLock { connections += 1 } }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { return }
            let begins = pair.notes(fromClient: isClient)
            let (wait, fault): (TimeInterval, Fault?) = withLock {
                if begins { turns += 1 }
                return (isClient ? delay : 0, self.fault)
            }
            if isClient { withLock { counter }?.receive(buffer[..<count], of: source) }
            if wait > 0 { Thread.sleep(forTimeInterval: wait) }
            if let fault, buffer[..<count].firstRange(of: Self.commit) != nil {
                switch (fault, isClient) {
                case (.commitLost, true), (.responseLost, false):
                    withLock { self.fault = nil }
                    return
                default: break
                }
            }
            guard ProxyListener.write(buffer[..<count], to: target) else { return }
        }
    }
}
