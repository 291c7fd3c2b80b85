import PolyStoreBackend

/// What one writer leaves to the next: numbers that it would have to look up with every commit. Of engines only to which no other process writes,
/// and always of the last commit.
struct WriterNotes {
    /// The commits so far; nil: not known.
    var version: UInt64?
    /// The number of an entity's records, by the entity's number.
    var recordCounts: [UInt32: Int64] = [:]
    /// By the index's number.
    var indexStates: [UInt32: IndexState] = [:]
    /// The positions of the change log's entries; nil: not known.
    var logBounds: LogBounds?
}
