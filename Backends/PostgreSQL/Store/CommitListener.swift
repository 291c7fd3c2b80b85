import CPostgreSQL
import Foundation
import PolyStoreBackend

/// Receives the commits of other processes and stores, which announce them with NOTIFY, on a connection and a thread of its own.
final class CommitListener: Sendable {
    /// What the thread and the listener share.
    private final class Shared: Sendable {
        let isEnded = Protected(false)
        let database: Database
        let channel: String
        /// The announcements of this store object, which are ignored.
        let sender: String
        let handler: @Sendable () -> Void

        init(_ database: Database, channel: String, sender: String, _ handler: @escaping @Sendable () -> Void) {
            (self.database, self.channel, self.sender, self.handler) = (database, channel, sender, handler)
        }

        /// The time between two checks whether the listener has ended, in milliseconds.
        private static let step: Int32 = 200

        /// The body of the thread.
        func listen() {
            var pause = 100
            while !isEnded.withLock({ $0 }) {
                do {
                    let connection = try database.connect()
                    try connection.run([.once("LISTEN \(SQLNames.quoted(channel))")])
                    pause = 100
                    // Commits from before are visible now.
                    handler()
                    while !isEnded.withLock({ $0 }) {
                        if try connection.notifications(within: Self.step).contains(where: { $0 != sender }) { handler() }
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

    init(_ database: Database, channel: String, sender: String, _ handler: @escaping @Sendable () -> Void) {
        let shared = Shared(database, channel: channel, sender: sender, handler)
        self.shared = shared
        Thread.detachNewThread { shared.listen() }
    }

    deinit { shared.isEnded.withLock { $0 = true } }
}
