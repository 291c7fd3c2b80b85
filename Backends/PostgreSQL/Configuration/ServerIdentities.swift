import PolyStoreBackend

/// The identities of the stores that URLs name, as the servers report them. Several URLs with different hosts, users or services can name one store.
enum ServerIdentities {
    private enum Known {
        case name(String)
        /// The server could not be reached. It receives no further request before the deadline.
        case unreachable(ContinuousClock.Instant)
    }

    private static let known = Protected<[String: Known]>([:])
    /// The time in which a server that could not be reached receives no further request.
    private static let pause = Duration.seconds(5)

    /// Returns the identity of a store.
    /// - Parameters:
    ///   - key: A text that identifies the parameters of the connection, without passwords.
    ///   - read: Reads the identity from the server.
    /// - Throws: The error of the server.
    static func identity(_ key: String, _ read: () throws -> String) throws -> String {
        switch known.withLock({ $0[key] }) {
        case .name(let name): return name
        case .unreachable(let end) where ContinuousClock.now < end: throw StoreError(.io, "The server of \(key) cannot be reached.")
        default: break
        }
        do {
            let name = try read()
            known.withLock { $0[key] = .name(name) }
            return name
        } catch {
            known.withLock { $0[key] = .unreachable(.now + pause) }
            throw error
        }
    }
}
