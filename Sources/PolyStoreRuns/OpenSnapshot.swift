import PolyStoreBackend

/// An open snapshot of the stores. An open snapshot prevents disk space from being reclaimed.
public struct OpenSnapshot: Sendable, Hashable {
    /// The kind of reader: `read`, `view`, `context`, `unsafe transaction`.
    public let kind: String
    /// The source location that opened the snapshot: file and line.
    public let origin: String
    /// The time since the snapshot was opened.
    public let age: Duration
    /// The time since the first commit that the snapshot does not include; nil if it shows the newest version.
    public let outdatedFor: Duration?
}

extension OpenSnapshot: CustomStringConvertible {
    /// `read at Shop/Orders.swift:12, open for 3.1 s`.
    public var description: String { "\(kind) at \(origin), open for \(age.formattedSeconds) s" }
}
