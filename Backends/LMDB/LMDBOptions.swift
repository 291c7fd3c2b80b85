/// The options of an LMDB store.
public struct LMDBOptions: Sendable, Hashable {
    /// The address space in bytes that is reserved for the file when it is opened. It uses neither disk space nor memory. It grows automatically unless a
    /// long-lived snapshot prevents that, and is halved if the system rejects the size.
    public var mapSize = 64 << 30
    /// The time to wait for readers before the map is enlarged. After it, `full` is thrown.
    public var growthTimeout = Duration.seconds(10)
    /// The time that a write transaction waits while another process migrates the store. After it, `busy` is thrown.
    public var migrationTimeout = Duration.seconds(10)
    /// The maximum number of concurrent read transactions of all processes.
    public var maximumReaders: UInt32 = 1022
    /// The permissions of a new file and its lock file.
    public var fileMode: UInt32 = 0o600
    /// A Boolean value that indicates whether opening checks every page of the file, as `verify` does, which reads the whole file. LMDB's pages have no
    /// checksums, and LMDB can crash on a damaged page; with this option, opening a damaged file throws `corrupt`.
    public var checksPages = false
    /// A Boolean value that indicates whether a file with several names (hard links) can be opened read-only. It is never opened for writing, because the
    /// lock file is named after the path: processes that use different names would lose each other's commits.
    ///
    /// The file is then read without locks. Opening it throws `busy` if another process has it open under a name in the same folder. Names in other folders
    /// cannot be found: close the store under its other names before. If the file changes while it is open, the next read throws `busy`.
    public var readsHardLinkedFiles = false

    /// A Boolean value that indicates whether the store is opened read-only. The same as `readOnly()` of the configuration, which every engine has.
    public var isReadOnly: Bool

    /// Creates options with the default values.
    public init(isReadOnly: Bool = false) { self.isReadOnly = isReadOnly }
}
