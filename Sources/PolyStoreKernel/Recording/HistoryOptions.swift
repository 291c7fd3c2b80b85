/// The options for recording the history of a store: the argument `history` of
/// ``DataStack/addStore(_:configuration:history:file:line:)``.
///
/// Without limits, entries are kept until `DataStack.deleteHistory(before:)` removes them. With limits, each commit removes the oldest entries that exceed
/// them. A commit removes at most 256 entries, so a lowered limit takes effect over several commits.
public struct HistoryOptions: Sendable, Hashable {
    /// A Boolean value that indicates whether entries contain the values that attributes and to-one relationships had before an update or a deletion.
    ///
    /// Each commit then reads every updated or deleted object once more.
    public var recordsPreviousValues: Bool
    /// The maximum age of an entry; `nil` for no limit. Measured by the clock of the committing process. An entry dated in the future counts as being as old as
    /// the next one that is not.
    public var maximumAge: Duration?
    /// The maximum number of entries; `nil` for no limit.
    public var maximumCount: Int?
    /// The maximum total size of all entries in bytes, without the engine's keys; `nil` for no limit. The newest entry is always
    /// kept.
    public var maximumBytes: Int?

    /// Creates options.
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
