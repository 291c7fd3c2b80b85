import CPostgreSQL
import Foundation
import PolyStoreBackend

/// Finds the commits of other processes and stores, which announce them with NOTIFY, on a connection and a thread of its own. Reads the version where the server refuses LISTEN. Ends when it is released or the store is closed.
final class CommitListener: Sendable {
    /// The state that the thread and the listener share.
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

        /// The time between two readings of the version, in milliseconds.
        private static let pollingPause = 50
        /// The maximum time between two attempts to connect, in milliseconds.
        private static let longestPause = 5000

        /// The body of the thread.
        func listen() {
            var pause = 100
            var isRefused = pool.database.options.usesTransactionPooler
            while !isEnded {
                do {
                    let connection = try pool.database.connect()
                    if isRefused { try poll(connection) { pause = 100 } } else { try receive(connection) { pause = 100 } }
                } catch let error as StoreError where error.code == .differentStoreAtURL || isRefused && error.isRefusal {
                    return
                } catch let error as StoreError where error.isRefusal {
                    // Such as a standby.
                    isRefused = true
                } catch {
                    // Not all clients at the same time.
                    var left = Int.random(in: pause / 2...pause)
                    while left > 0, !isEnded {
                        Deadline.pause(milliseconds: min(left, Int(Self.step)))
                        left -= Int(Self.step)
                    }
                    pause = min(2 * pause, Self.longestPause)
                }
            }
        }

        /// Waits for announcements.
        private func receive(_ connection: Connection, _ didConnect: () -> Void) throws {
            try connection.run([.once("LISTEN \(SQLNames.quoted(pool.channel))")])
            didConnect()
            // Commits from before are visible now.
            handler()
            while !isEnded {
                if try connection.notifications(within: Self.step).contains(where: { $0 != pool.sender }) { handler() }
            }
        }

        /// Reads the version regularly.
        private func poll(_ connection: Connection, _ didConnect: () -> Void) throws {
            var last: UInt64?
            while !isEnded {
                let version = try pool.state(connection.run([pool.versionStatement]).last).version
                didConnect()
                if version != last { handler() }
                last = version
                Deadline.pause(milliseconds: Self.pollingPause)
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

extension StoreError {
    /// A Boolean value that indicates whether the server does not support a statement, so that repeating it is useless.
    fileprivate var isRefusal: Bool { recovery == .permanent && code != .io }
}
