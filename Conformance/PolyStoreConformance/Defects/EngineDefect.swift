/// The defects of engines.
enum EngineDefect: String, Sendable {
    case none = "has no fault"
    case noneInAFolder = "has no fault, in a folder"
    case emptySeekFindsNothing = "finds no entry for an empty key"
    case lastOfTheFirstRange = "returns the last key of the first key range as the last key"
    case removesPrefix = "removes all keys with the prefix instead of one key"
    case removesNeighbour = "removes the next key if the key is absent"
    case lazySnapshot = "takes a snapshot at its first read"
    case snapshotWaits = "blocks a snapshot until the writer ends"
    case writerWaits = "blocks the writer until snapshots end"
    case opensTwice = "opens one path twice"
    case tearsBatches = "shows a batch while it is being written"
    case stopsAtTheBatchEnd = "loses an entry between two batches"
    case takesForeignFolder = "creates a store in a folder of another program"
    case openFileMode = "creates files that other users can read"
    case openFolderMode = "creates a folder that other users can read"
    case skipsDamagedBlocks = "skips blocks whose checksum is wrong"
    case keepsRelaxedInMemory = "keeps relaxed commits in memory until it is closed"
    case skipsTheTenthFlush = "skips every tenth flush"
    case writesValuesApart = "writes named values in a write of their own"
    case splitsBigBatches = "writes a batch above 256 KiB in two halves"
    case showsHalfBatches = "shows a half of a batch above 256 KiB while it is being written"
    case keepsSnapshots = "never releases a snapshot that is read after a later write"
    case readsEndedSnapshots = "reads from snapshots that have ended"
    case missesOneKey = "misses one key in 1,024"
    case swallowsABatch = "ignores the 1,000th batch"
    case ignoresCaseOfNames = "opens two stores whose names differ in case as one"
    case opensEachNameApart = "opens one store twice under two names"
    case neverFlushes = "never flushes"

    /// A Boolean value that indicates whether the data is stored in a folder.
    var usesFolder: Bool { [.noneInAFolder, .takesForeignFolder, .openFolderMode].contains(self) }
}
