/// What a stack records about the commits to a store, and how long the entries are kept: the argument `history` of
/// ``DataStack/addStore(_:configuration:history:file:line:)``.
///
/// Without limits entries are kept until ``DataStack/deleteHistory(before:)`` removes them. With limits each commit removes the entries that exceed them,
/// the oldest first, in the commit itself. A commit removes at most 256 entries, so a limit that was lowered takes effect over several commits.
public struct HistoryOptions: Sendable, Hashable {
    /// A Boolean value that indicates whether entries contain the values that attributes and to-one relationships had before an update or a deletion.
    ///
    /// Each updated or deleted object is then read once more when its transaction is committed.
    public var recordsPreviousValues: Bool
    /// The greatest age of an entry; nil: no limit. The age is judged by the clock of the process that commits.
    public var maximumAge: Duration?
    /// The greatest number of entries; nil: no limit.
    public var maximumCount: Int?
    /// The greatest number of bytes of all entries together, without what the engine needs for their keys; nil: no limit. The newest entry is always
    /// kept.
    public var maximumBytes: Int?

    public init(
        recordsPreviousValues: Bool = false, maximumAge: Duration? = nil, maximumCount: Int? = nil, maximumBytes: Int? = nil
    ) {
        self.recordsPreviousValues = recordsPreviousValues
        self.maximumAge = maximumAge
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    /// A Boolean value that indicates whether any limit is set.
    var hasLimits: Bool { maximumAge != nil || maximumCount != nil || maximumBytes != nil }
}
