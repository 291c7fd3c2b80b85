/// Settings of an LMDB store. The defaults suit most programs.
public struct LMDBOptions: Sendable, Hashable {
    /// Bytes of address space that are reserved for the file when it is opened; no disk space, and no memory. It grows by itself while nobody reads
    /// an old version for long, and halves where the system refuses as much.
    public var mapSize = 64 << 30
    /// How long to wait for readers before the map is made larger, in milliseconds. Past it `full` is thrown.
    public var growthTimeout = 10_000
    /// Transactions, of all processes, that can read at once.
    public var mostReaders: UInt32 = 1022
    /// Permissions of a new file and its lock file.
    public var fileMode: UInt32 = 0o600
    /// Whether every page is checked when the file is opened, as `verify` does: costs a read of the whole file. LMDB's pages have no checksums, and
    /// LMDB can crash on one that is damaged; with this a damaged file is refused as `corrupt`.
    public var checksPages = false

    public init() {}
}
