import CSQLite
import PolyStoreBackend

// By default SQLite runs a checkpoint every 1000 pages. A later checkpoint is cheaper: a page that many commits write, such as the one with the version, is
// copied once for all of them. The hook also reports the length of the log, which avoids a system call after each commit.

extension Connection {
    /// The number of pages that fit the first table of the log's index. Up to this length, finding a page in the log takes constant time.
    private static let mostLogPages = 4000
    /// The same limit in bytes, for large pages. Recovery after a crash reads this much.
    private static let mostLogBytes = 16 << 20

    /// Installs the hook that runs checkpoints when the log is long. Called on the writing connection.
    func followLog() throws {
        pageSize = Int(try integer("PRAGMA page_size") ?? 4096)
        // The connection closes its handle, and the hook does not run after that.
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().didWriteLog(Int(pages))
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func didWriteLog(_ pages: Int) {
        logSize = pages * pageSize
        guard pages >= Self.mostLogPages || logSize >= Self.mostLogBytes else {
            nextCheckpoint = nil
            isLogStalled = false
            return
        }
        if pages >= nextCheckpoint ?? 0 { checkpoint() }
    }

    /// Runs a passive checkpoint, which copies as much of the log into the database as readers allow.
    func checkpoint() {
        var (pages, copied): (Int32, Int32) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
        if code & 0xff == SQLITE_IOERR {
            checkpointFailure = StoreError(sqlite: code, "Copying the log into the database", path: path)
        }
        isLogStalled = code != SQLITE_OK || copied < pages
        // Pages that cannot be copied now, and a log that cannot start over, are retried when the log has grown: each attempt flushes both files.
        nextCheckpoint = Int(max(pages, 0)) + Self.mostLogPages / 4
    }
}

extension Connection {
    /// Empties the file if it is one page of zeros.
    /// - Returns: Whether it was.
    /// - Throws: `busy` if another connection is using such a file, and the errors of the file system.
    func emptyFileOfZeros() throws -> Bool {
        var isEmptied: Int32 = 0
        let code = polystore_sqlite_empty_zeros(handle, &isEmptied)
        guard code == SQLITE_OK else { throw StoreError(sqlite: code, "Emptying a file of zeros", path: path) }
        return isEmptied != 0
    }
}
