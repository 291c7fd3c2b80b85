import CSQLite
import PolyStoreBackend

// SQLite copies the write-ahead log into the database by itself every 1000 pages. Later is cheaper: a page that many commits write, as that of the version,
// is copied once for all of them. The hook that sees to it also knows how long the log is, which saves asking the file system after each commit.

extension Connection {
    /// As many pages as the first table of the log's index has room for: until then a page is found in the log as fast as ever.
    private static let mostLogPages = 4000
    /// The same for large pages. Recovery after a crash reads so much.
    private static let mostLogBytes = 16 << 20

    /// Begins to copy the log whenever it is long. For the connection that writes.
    func followLog() throws {
        pageSize = Int(try integer("PRAGMA page_size") ?? 4096)
        // The connection closes its handle, and no commit comes after that.
        sqlite3_wal_hook(
            handle,
            { context, handle, database, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().didWriteLog(handle, database, Int(pages))
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func didWriteLog(_ handle: OpaquePointer?, _ database: UnsafePointer<CChar>?, _ pages: Int) {
        logSize = pages * pageSize
        // What cannot be copied now, as somebody reads an old version, is tried again after the next commit.
        if pages >= Self.mostLogPages || logSize >= Self.mostLogBytes {
            let code = sqlite3_wal_checkpoint_v2(handle, database, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            if code & 0xff == SQLITE_IOERR {
                copyingFailure = StoreError(
                    sqlite: code, "Copying the log into the database", text: String(cString: sqlite3_errstr(code)), url: path)
            }
        }
    }
}
