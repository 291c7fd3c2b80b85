import Foundation
import NIOCore

/// The address that the server is bound to. The name of the interface does not determine it: "0" and "::0" are all interfaces too.
final class ListeningAddress: @unchecked Sendable {  // accessed under the lock
    private let lock = NSLock()
    private var everywhere = false

    /// Whether the server listens on all interfaces; false before it listens.
    var isEverywhere: Bool { lock.withLock { everywhere } }

    func set(_ address: SocketAddress?) {
        let isWildcard = ["0.0.0.0", "::"].contains(address?.ipAddress)
        lock.withLock { everywhere = isWildcard }
    }
}
