internal import Foundation

#if canImport(Darwin)
    private let streamSocket = SOCK_STREAM
    private let sendFlags: Int32 = 0
#else
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
    private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// The socket of a proxy. Each client that connects to it gets a connection to the server of the proxy.
final class ProxyListener: Sendable {
    /// The folder of the socket.
    let folder: String
    private let target: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - folder: The folder of the socket, which is created.
    ///   - target: The folder of the socket of the server.
    init(folder: String, target: String) throws {
        self.folder = folder
        self.target = target + "/.s.PGSQL.5432"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        descriptor = socket(AF_UNIX, streamSocket, 0)
        let isBound = Self.withAddress(folder + "/.s.PGSQL.5432") { bind(descriptor, $0, $1) } == 0
        guard descriptor >= 0, isBound, listen(descriptor, 64) == 0 else {
            throw PostgreSQLServer.Unavailable(description: "The proxy cannot listen in \(folder).")
        }
    }

    /// Accepts connections on a thread of its own until ``stop()`` is called.
    /// - Parameter pumps: Forward what the client sends, and what the server sends. Each is called for every connection, on a thread of its own, and ends the connection when it returns.
    func start(_ pumps: [@Sendable (Pair) -> Void]) {
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                guard let server = connection() else {
                    close(client)
                    continue
                }
                let pair = Pair(client, server)
                for pump in pumps {
                    Thread.detachNewThread {
                        pump(pair)
                        pair.end()
                        pair.leave()
                    }
                }
            }
        }
    }

    private func connection() -> Int32? {
        let server = socket(AF_UNIX, streamSocket, 0)
        if server >= 0, Self.withAddress(target, { connect(server, $0, $1) }) == 0 { return server }
        if server >= 0 { close(server) }
        return nil
    }

    /// Accepts no further connections. Call it once.
    func stop() {
        // Wakes the thread that waits for connections.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        unlink(folder + "/.s.PGSQL.5432")
        rmdir(folder)
    }

    /// Returns the URL of a database through the proxy.
    func url(_ database: String = "postgres", options: String) -> String {
        let host = folder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://polystore@\(host)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }

    /// Writes bytes to a socket.
    /// - Returns: `false` if the connection has ended.
    static func write(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, sendFlags) }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
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
    final class Pair: @unchecked Sendable {  // the state is guarded by the lock
        let client: Int32
        let server: Int32
        private let lock = NSLock()
        private var isAnswered = true
        private var open = 2

        fileprivate init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

        fileprivate func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }

        /// Closes the descriptors when both directions have ended.
        fileprivate func leave() {
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
}
