/// An entry of a store's change log: bytes that a transaction appends and that the store keeps in the same commit as the records.
///
/// A backend does not interpret the bytes. The object layer writes the history of its transactions there. See ``ChangeSet/appendLogEntry(_:)``.
public struct LogEntry: Sendable, Hashable {
    /// Where the entry stands in the log: 1 or more, greater than the position of every entry that was appended before it, and never used again after the
    /// entry was removed.
    public let position: Int64
    /// ``ReadTransaction/version`` of the commit that appended the entry. Entries of one commit have the same version.
    public let version: UInt64
    public let bytes: [UInt8]

    public init(position: Int64, version: UInt64, bytes: [UInt8]) {
        self.position = position
        self.version = version
        self.bytes = bytes
    }
}

/// The positions of the entries that a change log holds: those above ``removedThrough``, up to ``last``.
public struct LogBounds: Sendable, Hashable {
    /// Entries up to this position were removed; 0 where none was.
    public var removedThrough: Int64
    /// The position of the entry that was appended last, also where it was removed; 0 where none was appended.
    public var last: Int64

    public init(removedThrough: Int64 = 0, last: Int64 = 0) {
        self.removedThrough = removedThrough
        self.last = last
    }

    /// A Boolean value that indicates whether the log holds no entry.
    public var isEmpty: Bool { removedThrough >= last }

    /// The error of a backend that does not claim ``Capabilities/Feature/changeLog``.
    public static func unsupported(url: String? = nil) -> StoreError {
        StoreError(
            .unsupported, "\(url ?? "This backend") keeps no change log. Use a backend that claims the feature changeLog.", url: url)
    }
}

extension ReadTransaction {
    public func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { throw LogBounds.unsupported() }
    public func logBounds() throws -> LogBounds { throw LogBounds.unsupported() }
}
