import CPostgreSQL
import Foundation
import PolyStoreBackend

/// Receives the commits of other processes and stores, which announce them with NOTIFY, on a connection and a thread of its own. Ends when it is released or the store is closed.
final class CommitListener: Sendable {
    /// What the thread and the listener share.
    private final class Shared: Sendable {
        private let isReleased = Protected(false)
        private let pool: ConnectionPool
        private let handler: @Sendable () -> Void

        init(_ pool: ConnectionPool, _ handler: @escaping @Sendable () -> Void) { (self.pool, self.handler) = (pool, handler) }

        /// A Boolean value that indicates whether the listener was released or the store closed.
        private var isEnded: Bool { isReleased.withLock { $0 } || pool.isClosed }

        func end() { isReleased.withLock { $0 = true } }

        /// The time between two checks whether the listener has ended, in milliseconds.
        private static let step: Int32 = 200

        /// The body of the thread.
        func listen() {
            var pause = 100
            while !isEnded {
                do {
                    let connection = try pool.database.connect()
                    try connection.run([.once("LISTEN \(SQLNames.quoted(pool.channel))")])
                    pause = 100
                    // Commits from before are visible now.
                    handler()
                    while !isEnded {
                        if try connection.notifications(within: Self.step).contains(where: { $0 != pool.sender }) { handler() }
                    }
                } catch let error as StoreError where error.recovery == .permanent && error.code != .io {
                    // A server that cannot announce commits, such as a standby.
                    return
                } catch {
                    Deadline.pause(milliseconds: pause)
                    pause = min(2 * pause, 5000)
                }
            }
        }
    }

    private let shared: Shared

    init(_ pool: ConnectionPool, _ handler: @escaping @Sendable () -> Void) {
        let shared = Shared(pool, handler)
        self.shared = shared
        Thread.detachNewThread { shared.listen() }
    }

    deinit { shared.end() }
}
