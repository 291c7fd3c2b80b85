internal import Foundation

#if canImport(Darwin)
    private let streamSocket = SOCK_STREAM
    private let sendFlags: Int32 = 0
#else
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
    private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// A proxy between clients and a server of PostgreSQL, which counts round trips, delays them, and ends connections at a commit.
package final class ConnectionProxy: @unchecked Sendable {  // the state is guarded by the lock, and the descriptor never changes
    /// What happens to the next commit.
    package enum Fault: Sendable {
        /// The connection ends before the server receives the commit.
        case commitLost
        /// The connection ends after the commit and before its response.
        case responseLost
    }

    /// The folder of the socket.
    package let folder: String
    private let target: String
    private let listener: Int32
    private let lock = NSLock()
    private var fault: Fault?
    private var turns = 0
    private var delay: TimeInterval = 0
    private var counter: SyncCounter?

    /// Starts the proxy of a server.
    /// - Parameter target: The folder of the socket to connect to; nil for that of the server.
    package init(_ server: PostgreSQLServer, folder target: String? = nil) throws {
        folder = server.folder + "/p\(UUID().uuidString.prefix(8))"
        self.target = (target ?? server.folder) + "/.s.PGSQL.5432"
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
        unlink(folder + "/.s.PGSQL.5432")
        rmdir(folder)
    }

    /// Returns the URL of a database through the proxy.
    package func url(_ database: String = "postgres", options: String = "") -> String {
        let host = folder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://polystore@\(host)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }

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

    /// The two ends of a connection, which both threads close.
    private final class Pair: @unchecked Sendable {  // the state is guarded by the lock
        let client: Int32
        let server: Int32
        private let lock = NSLock()
        private var isAnswered = true
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

        /// Notes the direction of bytes, and returns whether it begins a round trip.
        func notes(fromClient: Bool) -> Bool {
            lock.lock()
            defer { lock.unlock() }
            defer { isAnswered = !fromClient }
            return fromClient && isAnswered
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
        Thread.detachNewThread { self.pump(from: client, to: server, pair, isClient: true) }
        Thread.detachNewThread { self.pump(from: server, to: client, pair, isClient: false) }
    }

    private static let commit = Array("COMMIT\0".utf8)

    private func pump(from source: Int32, to target: Int32, _ pair: Pair, isClient: Bool) {
        defer {
            if isClient { withLock { counter }?.end(source) }
            pair.end()
            pair.leave()
        }
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
            var sent = 0
            while sent < count {
                let written = buffer[sent..<count].withUnsafeBytes { send(target, $0.baseAddress, $0.count, sendFlags) }
                guard written > 0 else { return }
                sent += written
            }
        }
    }
}
