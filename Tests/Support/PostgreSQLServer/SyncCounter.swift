internal import Foundation

/// Counts the responses that clients wait for, by the messages of PostgreSQL's protocol that they send: the end of a pipeline, a simple query, the end of copied rows.
///
/// The end of a transaction without a result and an announcement are not counted, because the client does not wait for their responses.
final class SyncCounter: @unchecked Sendable {  // the state is guarded by the lock
    /// The messages of one connection.
    private struct Stream {
        var bytes: [UInt8] = []
        var hasStarted = false
        /// A Boolean value that indicates whether the current pipeline contains a statement whose result the client reads.
        var isAwaited = false
    }

    private static let posted = ["ROLLBACK", "NOTIFY", "DEALLOCATE ALL"]
    private let lock = NSLock()
    private var streams: [Int32: Stream] = [:]
    private var total = 0

    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return total
    }

    /// Takes bytes of a connection in their order.
    func receive(_ bytes: ArraySlice<UInt8>, of connection: Int32) {
        lock.lock()
        defer { lock.unlock() }
        var stream = streams[connection] ?? Stream()
        stream.bytes += bytes
        var offset = 0
        // The first message of a connection has no type.
        while let length = Self.length(stream.bytes, at: offset + (stream.hasStarted ? 1 : 0)) {
            let end = offset + length + (stream.hasStarted ? 1 : 0)
            guard end <= stream.bytes.count else { break }
            if stream.hasStarted { read(stream.bytes[offset..<end], &stream) }
            stream.hasStarted = true
            offset = end
        }
        stream.bytes.removeFirst(offset)
        streams[connection] = stream
    }

    /// Forgets a connection that has ended, whose descriptor another one can have later.
    func end(_ connection: Int32) {
        lock.lock()
        defer { lock.unlock() }
        streams[connection] = nil
    }

    private static func length(_ bytes: [UInt8], at offset: Int) -> Int? {
        guard offset + 4 <= bytes.count else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private func read(_ message: ArraySlice<UInt8>, _ stream: inout Stream) {
        let parts = message.dropFirst(5).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        switch message.first.map({ Character(Unicode.Scalar($0)) }) {
        // The name of the statement, and its text.
        case "P": if parts.count > 1, !isPosted(parts[1]) { stream.isAwaited = true }
        // The name of the portal, and that of a statement that was parsed before.
        case "B": if parts.count > 1, !parts[1].isEmpty { stream.isAwaited = true }
        case "S":
            if stream.isAwaited { total += 1 }
            stream.isAwaited = false
        case "Q", "c": total += 1
        default: break
        }
    }

    private func isPosted(_ sql: ArraySlice<UInt8>) -> Bool {
        Self.posted.contains { String(decoding: sql, as: UTF8.self).hasPrefix($0) && !sql.contains(UInt8(ascii: ";")) }
            && !String(decoding: sql, as: UTF8.self).hasPrefix("ROLLBACK TO")
    }
}
