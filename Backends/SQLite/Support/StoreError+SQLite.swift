import CSQLite
import PolyStoreBackend

extension StoreError {
    /// An error of the engine, in the contract's terms.
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - what: What was being done: "Writing", "Reading Person".
    ///   - text: SQLite's own words.
    init(sqlite code: Int32, _ what: String, text: String, url: String) {
        let (kind, told) = Self.meaning(of: code & 0xff)
        self.init(kind, "\(what) failed: \(told): \(url).", url: url, engineCode: Int(code), underlying: text)
    }

    private static func meaning(of code: Int32) -> (Code, String) {
        switch code {
        case SQLITE_FULL: (.full, "there is no room left on the disk")
        case SQLITE_TOOBIG: (.full, "a value or row is larger than SQLite takes")
        case SQLITE_NOMEM: (.full, "there is not enough memory")
        case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "the file is in use by another connection")
        case SQLITE_READONLY: (.readOnly, "the file may not be written")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: (.corrupt, "the file is damaged")
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOLFS: (.io, "the system refused")
        case SQLITE_CONSTRAINT: (.constraint, "a constraint of the tables is broken")
        case SQLITE_INTERRUPT, SQLITE_ABORT: (.cancelled, "it was given up")
        case SQLITE_MISUSE: (.misuse, "the connection was used in a wrong way")
        // Statements are made here and fit the tables that are made here, so the tables have been changed by somebody else.
        default: (.corrupt, "the tables are not as this library made them")
        }
    }
}
