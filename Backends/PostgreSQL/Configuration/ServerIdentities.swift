import PolyStoreBackend

/// What the servers say which store a URL names. Several URLs can name one store: by other hosts, users or services.
enum ServerIdentities {
    private enum Known {
        case name(String)
        /// The server could not be asked; the deadline says until when it is not asked again.
        case unreachable(ContinuousClock.Instant)
    }

    private static let known = Protected<[String: Known]>([:])
    /// The time in which a server that could not be reached is not asked again.
    private static let pause = Duration.seconds(5)

    /// Returns the identity of a store.
    /// - Parameters:
    ///   - key: What the connection depends on, without passwords.
    ///   - read: Asks the server.
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
