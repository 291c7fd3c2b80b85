import PolyStoreBackend
import PolyStoreKernel

/// A point in the history of a stack's stores. Pass it to ``DataStack/history(since:matching:limit:file:line:)`` to read the transactions that were committed
/// afterwards.
///
/// Tokens remain valid across restarts: encode one with `Codable` and store it with the data that was derived from the history. A token identifies the entry at
/// its position, so that it is not accepted by a store that was restored from a backup and continued differently.
public struct HistoryToken: Sendable, Codable {
    /// A point in the history of one store.
    struct Point: Sendable, Hashable {
        /// The position of the last entry that was read; 0 for the beginning.
        var position: Int64
        /// The identity of that entry; `nil` at the beginning, and in a token of an earlier release.
        var identity: Int64?
        /// The version of the store at this point; `nil` in a token of an earlier release.
        var version: UInt64?
        /// A Boolean value that indicates whether the last entry after unrecorded commits was read, but excluded by a filter.
        var followsUnrecordedCommits = false
    }

    /// The points, by ``PersistentStore/storeID``.
    private(set) var points: [String: Point] = [:]

    init(_ points: [String: Point] = [:]) { self.points = points }

    /// Returns the position of the last entry that was read in the history of a store; `nil` if the token does not contain the store.
    public func position(in storeID: String) -> Int64? { points[storeID]?.position }

    mutating func advance(_ storeID: String, to point: Point) { points[storeID] = point }
}

extension HistoryToken: Hashable {
    /// Returns whether two tokens are at the same entries.
    public static func == (left: HistoryToken, right: HistoryToken) -> Bool { left.entries == right.entries }

    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }

    private struct Entry: Hashable {
        let position: Int64
        let identity: Int64?
    }

    private var entries: [String: Entry] { points.mapValues { Entry(position: $0.position, identity: $0.identity) } }
}

// The encoded form is a dictionary of integers. The positions are those that every release reads. The other values have names that contain the position that they
// belong to: a release that does not know them keeps them, but moves the position on.
extension HistoryToken {
    /// The names of the values of a point in the encoded form.
    private struct Names {
        let identity: String
        let version: String
        let mark: String

        init(_ storeID: String, _ position: Int64) {
            identity = "\(storeID)@\(position)"
            version = identity + "#version"
            mark = identity + "#unrecorded"
        }

        /// Returns whether a key names a value of another store's point, perhaps of an earlier position.
        static func isName(_ key: String, _ values: [String: Int64]) -> Bool {
            guard let separator = key.lastIndex(of: "@"), values[String(key[..<separator])] != nil else { return false }
            let rest = key[key.index(after: separator)...].drop { $0.isWholeNumber }
            return ["", "#version", "#unrecorded"].contains(rest)
        }
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: Int64].self)
        for (storeID, position) in values where !Names.isName(storeID, values) {
            let names = Names(storeID, position)
            points[storeID] = Point(
                position: position, identity: values[names.identity], version: values[names.version].flatMap { UInt64(exactly: $0) },
                followsUnrecordedCommits: values[names.mark] != nil)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values: [String: Int64] = [:]
        for (storeID, point) in points {
            let names = Names(storeID, point.position)
            values[storeID] = point.position
            values[names.identity] = point.identity
            values[names.version] = point.version.flatMap { Int64(exactly: $0) }
            if point.followsUnrecordedCommits { values[names.mark] = 1 }
        }
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

extension HistoryToken: CustomStringConvertible {
    public var description: String { points.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.position)" }.joined(separator: " ") }
}

extension LogEntry {
    /// A number that distinguishes the entry from any that another copy of the store has at its position, derived from what is stored: a hash of the version, the
    /// length, the head with the date, and the checksum of the entry. It has 53 bits, which every reader of JSON preserves.
    var identity: Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for number in [version, UInt64(bytes.count)] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        for byte in bytes.prefix(32) { add(byte) }
        for byte in bytes.suffix(4) { add(byte) }
        return Int64(truncatingIfNeeded: (hash ^ hash >> 53) & (1 << 53 - 1))
    }

    /// The point after the entry.
    func point(followsUnrecordedCommits: Bool = false) -> HistoryToken.Point {
        HistoryToken.Point(position: position, identity: identity, version: version, followsUnrecordedCommits: followsUnrecordedCommits)
    }
}
