import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Converts LMDB result codes to errors of the framework.
enum LMDBError {
    /// - Throws: `EngineOutOfRoom` if the map is too small; a `StoreError` for every other code except success.
    static func check(_ code: Int32, _ doing: @autoclosure () -> String, _ path: String) throws {
        if let failure = failure(code, doing(), path) { throw failure }
    }

    /// - Returns: the error that ``check(_:_:_:)`` throws; `nil` for success.
    static func failure(_ code: Int32, _ doing: @autoclosure () -> String, _ path: String) -> (any Error)? {
        if code == MDB_SUCCESS { return nil }
        return code == MDB_MAP_FULL ? EngineOutOfRoom() : error(code, doing(), path)
    }

    static func error(_ code: Int32, _ doing: String, _ path: String) -> StoreError {
        let (kind, message): (StoreError.Code, String) =
            switch code {
            case MDB_INVALID: (.notAStore, "The file \(path) is not an LMDB database. It was left as it is.")
            case MDB_VERSION_MISMATCH: (.incompatibleSchema, "The file \(path) was written by another version of LMDB.")
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL:
                (.corrupt, "\(doing) failed: the store \(path) is damaged. Verify it, or restore it from a backup.")
            case MDB_BAD_TXN:
                // LMDB rejects a transaction that has encountered damage.
                (.corrupt, "\(doing) failed: the transaction of \(path) has failed before. End it, and verify the store.")
            case MDB_PANIC: (.io, "\(doing) failed: an earlier commit to \(path) could not be written to the disk. Open the store again.")
            case MDB_READERS_FULL: (.busy, "Too many read transactions are open on \(path). End some, or raise mostReaders.")
            case MDB_TXN_FULL: (.full, "The transaction is too large for LMDB: \(path). Commit in smaller steps.")
            case MDB_MAP_FULL: (.full, "The map of \(path) is full.")
            case ENOSPC, EDQUOT, EFBIG:
                (
                    .full,
                    "\(doing) failed: the disk is full, or the file \(path) may not grow. Free disk space and try again."
                )
            case ENOMEM: (.full, "There is not enough memory or address space for \(path).")
            case EACCES, EPERM, EROFS: (.io, "\(doing) failed: the file \(path) may not be used like this. Look at its permissions.")
            default: (.io, "\(doing) failed: the system could not read or write \(path).")
            }
        return StoreError(kind, message, url: path, engineCode: Int(code), underlying: String(cString: mdb_strerror(code)))
    }
}
