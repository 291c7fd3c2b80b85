import CSQLite
import PolyStoreBackend
import PolyStorePlatform

extension StoreError {
    /// Creates a store error from an error of SQLite.
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - what: The operation that failed: "Writing", "Reading Person".
    ///   - path: The path of the store.
    ///   - connection: The connection whose latest error is `code`, for its message; `nil` uses the general message of the code.
    init(sqlite code: Int32, _ what: String, path: String, connection: OpaquePointer? = nil) {
        let (kind, reason, advice) = Self.meaning(of: code, path, connection)
        let text = String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
        self.init(kind, "\(what) failed at \(path): \(reason). \(advice).", location: path, engineCode: Int(code), underlying: text)
    }

    /// Returns the error code, the reason and the advice for an extended result code.
    private static func meaning(of code: Int32, _ path: String, _ connection: OpaquePointer?) -> (
        code: Code, reason: String, advice: String
    ) {
        guard [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xff) else { return meaning(of: code & 0xff) }
        let known = ReportingFileSystem.systemError(of: code)
        let error = known != 0 ? known : connection.map { sqlite3_system_errno($0) } ?? 0
        // SQLite reports a full disk as such only for the pages of the database and its log, not for new files and the shared memory file.
        if code != polystore_sqlite_ioerr_read,
            [ENOSPC, EDQUOT, EFBIG].contains(error) || code & 0xff == SQLITE_CANTOPEN && allowsNoFile(path)
        {
            return meaning(of: SQLITE_FULL)
        }
        let cause = error == 0 ? "" : " (\(String(cString: strerror(error))))"
        guard code == polystore_sqlite_ioerr_read else {
            let (code, reason, advice) = meaning(of: code & 0xff)
            return (code, reason + cause, advice)
        }
        // The code does not concern the contents of the file.
        return (.io, "the system could not read the file\(cause)", "Try again. If it fails again, check the disk")
    }

    /// Returns whether the disk has no room for a new file. If SQLite cannot create a file, it tries to open it for reading, and the reason is lost.
    private static func allowsNoFile(_ path: String) -> Bool {
        do { try TemporaryEntry(beside: StorePath(path: path), mode: 0o600).remove() } catch let error as StoreError {
            return error.code == .full
        } catch {}
        return false
    }

    /// Returns the error code, the reason and the advice for a primary result code.
    private static func meaning(of code: Int32) -> (code: Code, reason: String, advice: String) {
        switch code {
        case SQLITE_FULL: (.full, "the disk is full", "Free disk space and try again")
        case SQLITE_TOOBIG: (.full, "a value or a row is larger than SQLite supports", "Store large values outside the store")
        case SQLITE_NOMEM: (.full, "there is not enough memory", "Free memory and try again")
        case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "another connection holds a lock on the file", "Try again later")
        case SQLITE_READONLY: (.readOnly, "the file is read-only", "Check the permissions of the file and its folder")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            (.corrupt, "the file is damaged", "Verify the store, or restore it from a backup")
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOLFS:
            (.io, "the operating system reported an error", "Check the disk, and the permissions of the file and its folder")
        case SQLITE_CONSTRAINT: (.constraint, "a constraint of the tables is violated", "Change the values and try again")
        case SQLITE_INTERRUPT, SQLITE_ABORT: (.cancelled, "the operation was interrupted", "Try again")
        case SQLITE_MISUSE: (.misuse, "the connection was used incorrectly", "Use a transaction on one thread at a time, until it ends")
        // All statements are generated and fit the tables that this library creates, so another program has modified the tables.
        default: (.corrupt, "the tables differ from those that this library creates", "Verify the store, or restore it from a backup")
        }
    }
}
