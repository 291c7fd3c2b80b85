internal import Foundation

/// Counts the responses that clients wait for, by the messages of PostgreSQL's protocol that they send: the end of a pipeline, a simple query, the end of copied rows.
///
/// The beginning of a snapshot, the end of a transaction without a result and an announcement are not counted, because the client does not wait for their responses.
final class SyncCounter: @unchecked Sendable {  // the state is guarded by the lock
    /// The messages of one connection.
    private struct Stream {
        var bytes: [UInt8] = []
        var hasStarted = false
        /// A Boolean value that indicates whether the current pipeline contains a statement whose result the client reads.
        var isAwaited = false
        /// A Boolean value that indicates whether the current pipeline begins a snapshot.
        var isBeginning = false
        /// The beginnings of snapshots that were parsed before, by the names of the statements.
        var beginnings: Set<ArraySlice<UInt8>> = []

        mutating func use(_ name: ArraySlice<UInt8>) {
            if beginnings.contains(name) { isBeginning = true } else { isAwaited = true }
        }
    }

    private static let posted = ["ROLLBACK", "NOTIFY", "DEALLOCATE ALL", "/* not awaited */"]
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
        case "P":
            guard parts.count > 1, !isPosted(parts[1]) else { break }
            if isBeginning(parts[1]) { stream.beginnings.insert(parts[0]) } else { stream.beginnings.remove(parts[0]) }
            stream.use(parts[0])
        // The name of the portal, and that of a statement that was parsed before.
        case "B": if parts.count > 1, !parts[1].isEmpty { stream.use(parts[1]) }
        case "S":
            if stream.isAwaited, !stream.isBeginning { total += 1 }
            (stream.isAwaited, stream.isBeginning) = (false, false)
        case "Q", "c": total += 1
        default: break
        }
    }

    private func isBeginning(_ sql: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: sql, as: UTF8.self)
        return text.hasPrefix("BEGIN") && text.contains("READ ONLY")
    }

    private func isPosted(_ sql: ArraySlice<UInt8>) -> Bool {
        Self.posted.contains { String(decoding: sql, as: UTF8.self).hasPrefix($0) && !sql.contains(UInt8(ascii: ";")) }
            && !String(decoding: sql, as: UTF8.self).hasPrefix("ROLLBACK TO")
    }
}
