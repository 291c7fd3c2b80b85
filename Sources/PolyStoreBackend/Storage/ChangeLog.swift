/// An entry of a store's change log: bytes that a transaction appends and that are committed together with its records.
///
/// A backend does not interpret the bytes. The object layer writes the history of its transactions there. See ``ChangeSet/appendLogEntry(_:)``.
public struct LogEntry: Sendable, Hashable {
    /// The position of the entry in the log: at least 1, greater than the position of every earlier entry, and never reused after the entry is removed.
    public let position: Int64
    /// ``ReadTransaction/version`` of the commit that appended the entry. Entries of one commit have the same version.
    public let version: UInt64
    /// The contents of the entry.
    public let bytes: [UInt8]

    /// Creates an entry.
    public init(position: Int64, version: UInt64, bytes: [UInt8]) {
        self.position = position
        self.version = version
        self.bytes = bytes
    }
}

/// The positions of the entries in a change log: those above ``removedThrough``, up to ``last``.
public struct LogBounds: Sendable, Hashable {
    /// The position up to which entries were removed; 0 if none was removed.
    public var removedThrough: Int64
    /// The position of the last entry that was appended, even if it was removed; 0 if none was appended.
    public var last: Int64

    /// Creates the bounds of a log.
    public init(removedThrough: Int64 = 0, last: Int64 = 0) {
        self.removedThrough = removedThrough
        self.last = last
    }

    /// A Boolean value that indicates whether the log is empty.
    public var isEmpty: Bool { removedThrough >= last }

    /// The error of a backend without ``Capabilities/Feature/changeLog``.
    public static func unsupported(location: String? = nil) -> StoreError {
        StoreError(
            .unsupported, "\(location ?? "This backend") keeps no change log. Use a backend that claims the feature changeLog.",
            location: location)
    }
}

extension ReadTransaction {
    public func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { throw LogBounds.unsupported() }
    public func logBounds() throws -> LogBounds { throw LogBounds.unsupported() }
}
