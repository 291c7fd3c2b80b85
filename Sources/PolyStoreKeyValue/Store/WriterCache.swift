import PolyStoreBackend

/// Values that one writer passes to the next to save lookups in every commit. Only for engines to which no other process writes, and always as of the last
/// commit.
struct WriterCache {
    /// The number of commits so far; `nil` if unknown.
    var version: UInt64?
    /// The record counts, by entity number.
    var recordCounts: [UInt32: Int64] = [:]
    /// The states of indexes, by index number.
    var indexStates: [UInt32: IndexState] = [:]
    /// The bounds of the change log; `nil` if unknown.
    var logBounds: LogBounds?
}
