import PolyStoreBackend

/// The transaction that runs a query.
enum OracleTransaction: String {
    case latest
    /// The write transaction; a new reader if there is none.
    case writer
    /// The held read transaction; a new one if there is none.
    case held
}
