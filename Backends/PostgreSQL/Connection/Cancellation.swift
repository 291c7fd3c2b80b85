import CPostgreSQL
import Foundation
import PolyStoreBackend
import PolyStorePlatform

/// A request to the server to end the statement that a connection executes. It has a thread of its own, because libpq waits for the server while it sends the request.
final class Cancellation: Sendable {
    private let lock = Lock()
    // Guarded by the lock.
    private nonisolated(unsafe) var isSent = false

    /// Sends the request.
    /// - Returns: nil if the connection is closed.
    init?(of handle: OpaquePointer?) {
        guard let handle, let request = PQgetCancel(handle) else { return nil }
        // The request contains copies of all that it needs, and only the thread uses it.
        nonisolated(unsafe) let owned = request
        Thread.detachNewThread { [self] in
            var message = [CChar](repeating: 0, count: 256)
            PQcancel(owned, &message, 256)
            PQfreeCancel(owned)
            lock.withLock {
                isSent = true
                lock.broadcast()
            }
        }
    }

    /// A Boolean value that indicates whether the server has received the request, or cannot be reached. It ends no later statement then.
    var hasEnded: Bool { lock.withLock { isSent } }

    /// Waits until the server has received the request.
    /// - Returns: `false` at the deadline.
    func wait(until deadline: Deadline) -> Bool {
        lock.withLock {
            while !isSent { guard lock.wait(until: deadline) else { return isSent } }
            return true
        }
    }
}

extension Connection {
    /// Asks the server to end the statement that it executes. Its result is an error, unless it ends before. Does not wait.
    func cancel() {
        guard failure == nil, process.isCurrent, cancellation == nil else { return }
        cancellation = Cancellation(of: handle)
        limit = Deadline(after: cancelTimeout)
    }

    /// Waits for the request to cancel a statement, which must not end a later one.
    func endCancellation() throws {
        guard let cancellation else { return }
        guard cancellation.wait(until: Deadline(after: cancelTimeout)) else {
            throw fail(
                StoreError(
                    .io, "The server of \(location) did not receive the request to cancel a statement.", location: location,
                    recovery: .connectionLost))
        }
        self.cancellation = nil
        limit = nil
    }

    /// Waits for a part of a response. Cancels the statement when the current request is interrupted; its result then arrives as usual.
    func awaitResponse(_ deadline: Deadline?) throws {
        let interruption = uninterruptedParts <= 0 ? interruption : nil
        guard interruption != nil || cancellation != nil else {
            guard wait(Int16(POLLIN), until: deadline) else { throw timedOut() }
            return
        }
        var pause = 1
        var repetition = Deadline(milliseconds: Self.shortestRepetition)
        while true {
            if !isCancelled, interruption?.error != nil {
                isCancelled = true
                cancel()
            }
            if let end = limit ?? deadline, end.isPast { throw timedOut() }
            let left = isCancelled ? pause : min(pause, interruption?.remaining?.inMilliseconds ?? pause)
            if isReady(Int16(POLLIN), milliseconds: Int32(left)) { return }
            pause = min(2 * pause, Self.longestPause)
            // The server ignores a request that it receives before it begins the statement.
            if let cancellation, cancellation.hasEnded, repetition.isPast {
                self.cancellation = Cancellation(of: handle)
                repetition = Deadline(milliseconds: 5 * Self.shortestRepetition)
            }
        }
    }

    /// The minimum time after which a statement is cancelled again, in milliseconds.
    private static let shortestRepetition = 100
    /// The maximum time between two checks of an interruption, in milliseconds.
    private static let longestPause = 25

    // MARK: Streams

    /// Reads the rows of the current stream that have arrived, up to a limit, without waiting for others.
    /// - Returns: `true` if that ended the stream, or if there is none.
    func skipArrivedRows() -> Bool {
        guard failure == nil, process.isCurrent, let stream else { return true }
        stream.discard()
        do {
            for _ in 0..<Self.mostDiscarded where self.stream != nil {
                guard PQconsumeInput(handle) == 1 else { throw lost() }
                if PQisBusy(handle) != 0 { return false }
                guard let row = try nextRows() else { return true }
                PQclear(row)
            }
        } catch {
            // An error of the statement has ended the stream; one of the connection has marked it.
        }
        return self.stream == nil
    }

    /// The number of rows that are read at the end of a transaction before the statement is cancelled.
    private static let mostDiscarded = 1000

    /// Ends the current stream, whose rows are not read any more. Call it at the end of a transaction, or with a savepoint: cancelling a statement ends the transaction on the server.
    func abandonStream() {
        guard !skipArrivedRows(), let stream else { return }
        cancel()
        do {
            while self.stream != nil, let row = try nextRows() { PQclear(row) }
        } catch {
            // The error of the cancelled statement; an error of the connection has marked it.
        }
        stream.end()
        self.stream = nil
    }
}
