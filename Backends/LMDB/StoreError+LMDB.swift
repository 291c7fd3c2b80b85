import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStorePlatform

extension StoreError {
    /// Creates a store error from a result code of LMDB, which is one of its own codes or a value of `errno`.
    /// - Parameters:
    ///   - what: The operation that failed: "Writing", "Reading".
    ///   - path: The path of the store.
    init(lmdb code: Int32, _ what: String, path: String) {
        let (kind, message): (Code, String) =
            switch code {
            case MDB_INVALID: (.notAStore, "The file \(path) is not an LMDB database. It was left unchanged.")
            case MDB_VERSION_MISMATCH:
                (
                    .incompatibleSchema,
                    "The file \(path) was written by another version of LMDB. It was left unchanged. Open it with that version."
                )
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL:
                (.corrupt, "\(what) failed: the store \(path) is damaged. Verify it, or restore it from a backup.")
            case MDB_BAD_TXN:
                // LMDB rejects a transaction that has encountered damage.
                (.corrupt, "\(what) failed: the transaction of \(path) has failed before. End it, and verify the store.")
            case MDB_PANIC: (.io, "\(what) failed: an earlier commit to \(path) could not be written to the disk. Open the store again.")
            case MDB_READERS_FULL: (.busy, "Too many read transactions are open on \(path). End some, or raise maximumReaders.")
            case MDB_TXN_FULL: (.full, "The transaction is too large for LMDB: \(path). Commit in smaller steps.")
            case MDB_MAP_FULL: (.full, "\(what) failed: the map of \(path) is full. Open the store with a larger mapSize.")
            case ENOSPC, EDQUOT, EFBIG:
                (.full, "\(what) failed: the disk is full, or the file \(path) may not grow. Free disk space and try again.")
            case ENOMEM:
                (
                    .full,
                    "\(what) failed: there is not enough memory or address space for \(path). Open the store with a smaller mapSize."
                )
            case EACCES, EPERM, EROFS:
                (.io, "\(what) failed: the permissions of the file \(path) do not allow it. Change them, or open the store read-only.")
            default: (.io, "\(what) failed: the operating system could not read or write \(path). Check the disk and try again.")
            }
        self.init(kind, message, location: path, engineCode: Int(code), underlying: String(cString: mdb_strerror(code)))
    }
}

/// The errors for result codes of LMDB's write transactions, in which a full map is not an error of the caller.
enum LMDBResult {
    /// - Throws: the error that ``failure(_:_:_:)`` returns.
    static func check(_ code: Int32, _ what: @autoclosure () -> String, _ path: String) throws {
        if let failure = failure(code, what(), path) { throw failure }
    }

    /// Returns `EngineOutOfRoom` if the map is too small, a `StoreError` for every other code, and `nil` for success.
    static func failure(_ code: Int32, _ what: @autoclosure () -> String, _ path: String) -> (any Error)? {
        if code == MDB_SUCCESS { return nil }
        return code == MDB_MAP_FULL ? EngineOutOfRoom() : StoreError(lmdb: code, what(), path: path)
    }
}
