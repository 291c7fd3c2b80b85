/// Settings of a LevelDB store. The defaults suit most programs.
public struct LevelDBOptions: Sendable, Hashable {
    /// Blocks of the files that are kept in memory, in bytes.
    public var cacheSize = 32 << 20
    /// What is collected in memory before it becomes a file, in bytes.
    public var writeBufferSize = 16 << 20
    /// The most bytes that one transaction may write: all of it is in memory twice.
    public var largestTransaction = 512 << 20
    /// Permissions of a new folder. An empty folder that becomes a store loses those that are not among them.
    public var folderMode: UInt32 = 0o700
    /// A Boolean value that indicates whether opening repairs a log that is damaged before its last acknowledged commit, instead of throwing `corrupt`.
    ///
    /// The commits before the damage are kept, all later ones are lost. The damaged files stay in the folder, with `.damaged` behind their names. Damaged
    /// tables are not repaired: nothing proves what their unreadable part held.
    public var repairsLog = false

    public init() {}
}
