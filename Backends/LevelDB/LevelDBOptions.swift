/// Settings of a LevelDB store. The defaults suit most programs.
public struct LevelDBOptions: Sendable, Hashable {
    /// Blocks of the files that are kept in memory, in bytes.
    public var cacheSize = 32 << 20
    /// What is collected in memory before it becomes a file, in bytes.
    public var writeBufferSize = 16 << 20
    /// The most bytes that one transaction may write: all of it is in memory twice.
    public var largestTransaction = 512 << 20
    /// Permissions of a new folder.
    public var folderMode: UInt32 = 0o700

    public init() {}
}
