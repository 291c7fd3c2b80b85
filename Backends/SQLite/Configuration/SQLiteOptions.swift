/// Settings of a SQLite store. The defaults suit most programs.
public struct SQLiteOptions: Sendable, Hashable {
    /// Page cache of the writing connection, in KiB.
    public var writerCacheKiB = 65_536
    /// Page cache of each reading connection, in KiB.
    public var readerCacheKiB = 32_768
    /// How long to wait for another writer, in this process or another, before `busy` is thrown. In milliseconds.
    public var busyTimeout = 10_000
    /// Bytes of a page of a new file: a power of two from 512 to 65536. Existing files keep theirs.
    public var pageSize = 4096
    /// Permissions of a new file; its side files get the same.
    public var fileMode: UInt32 = 0o600
    /// Reading connections that are kept open when nobody reads.
    public var idleReaders = 4
    /// A warning is logged when the write-ahead log has more bytes than this: somebody reads an old version for too long.
    public var longLog = 64 << 20

    public init() {}
}
