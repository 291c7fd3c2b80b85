/// The options of a LevelDB store.
public struct LevelDBOptions: Sendable, Hashable {
    /// The size of the block cache in bytes.
    public var cacheSize = 32 << 20
    /// The size of the memory buffer, in bytes, at which it is written to a file.
    public var writeBufferSize = 16 << 20
    /// The maximum number of bytes that one transaction may write. Memory holds them twice.
    public var maximumTransactionSize = 512 << 20
    /// The permissions of a new folder. An existing empty folder that becomes a store loses all others.
    public var folderMode: UInt32 = 0o700
    /// A Boolean value that indicates whether opening repairs a log that is damaged before its last acknowledged commit, instead of throwing `corrupt`.
    /// The commits before the damage are kept, and all later ones are lost. The damaged files stay in the folder, with `.damaged` appended to their names.
    /// Damaged tables are not repaired, because the contents of their unreadable part are unknown.
    public var repairsLog = false

    /// Creates options with the default values.
    public init() {}
}
