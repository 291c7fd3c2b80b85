/// The options of a SQLite store.
public struct SQLiteOptions: Sendable, Hashable {
    /// The page cache of the writing connection, in KiB.
    public var writerCacheKiB = 65_536
    /// The page cache of each reading connection, in KiB.
    public var readerCacheKiB = 32_768
    /// The time to wait for another writer, in this process or another, before `busy` is thrown. It is rounded up to whole milliseconds.
    public var busyTimeout = Duration.seconds(10)
    /// The page size of a new file in bytes: a power of two from 512 to 65536. Existing files keep theirs.
    public var pageSize = 4096
    /// The permissions of a new file and its side files.
    public var fileMode: UInt32 = 0o600
    /// The maximum number of idle reading connections that are kept open for later snapshots, at least 0. A connection that is returned beyond it is closed.
    /// Each has a page cache of its own; see ``readerCacheKiB``. `PersistentStore.statistics()` reports their number.
    public var maximumIdleReaders = 8
    /// The size of the write-ahead log, in bytes, above which a warning is logged: a long-lived snapshot prevents the log from starting over.
    public var logWarningSize = 64 << 20
    /// A Boolean value that indicates whether a file with several names (hard links) can be opened read-only. It is never opened for writing, because the
    /// write-ahead log is named after the path: processes that use different names would lose each other's commits.
    ///
    /// The file is then read without locks and without its log. Opening it throws `busy` if another process has it open, and `io` if another name in the same
    /// folder has a log with commits. Names in other folders cannot be found: close the store under its other names before. If the file changes while it is
    /// open, the next read throws `busy`.
    public var readsHardLinkedFiles = false

    /// A Boolean value that indicates whether the store is opened read-only. The same as `readOnly()` of the configuration, which every engine has.
    public var isReadOnly: Bool

    /// Creates options with the default values.
    public init(isReadOnly: Bool = false) { self.isReadOnly = isReadOnly }
}
