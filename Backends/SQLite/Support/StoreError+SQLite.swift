import CSQLite
import PolyStoreBackend

extension StoreError {
    /// Creates a store error from an error of SQLite.
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - what: The operation that failed: "Writing", "Reading Person".
    ///   - text: SQLite's message.
    init(sqlite code: Int32, _ what: String, text: String, url: String) {
        let (kind, reason) = Self.meaning(of: code & 0xff)
        self.init(kind, "\(what) failed: \(reason): \(url).", url: url, engineCode: Int(code), underlying: text)
    }

    private static func meaning(of code: Int32) -> (Code, String) {
        switch code {
        case SQLITE_FULL: (.full, "the disk is full")
        case SQLITE_TOOBIG: (.full, "a value or row is larger than SQLite takes")
        case SQLITE_NOMEM: (.full, "there is not enough memory")
        case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "the file is in use by another connection")
        case SQLITE_READONLY: (.readOnly, "the file may not be written")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: (.corrupt, "the file is damaged")
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOLFS: (.io, "the system refused")
        case SQLITE_CONSTRAINT: (.constraint, "a constraint of the tables is broken")
        case SQLITE_INTERRUPT, SQLITE_ABORT: (.cancelled, "it was given up")
        case SQLITE_MISUSE: (.misuse, "the connection was used in a wrong way")
        // All statements are generated and fit the tables that this library creates, so another program has modified the tables.
        default: (.corrupt, "the tables are not as this library made them")
        }
    }
}
