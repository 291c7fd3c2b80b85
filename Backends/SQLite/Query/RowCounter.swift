import CSQLite
import PolyStoreBackend

/// Counts the rows that a statement looks at: a function that is always true, put before every other condition, so that SQLite calls it once
/// for each row that its index or its scan leads to.
final class RowCounter {
    static let name = "polystore_row"
    fileprivate(set) var count = 0

    func restart() { count = 0 }
}

extension Connection {
    /// The counter of this connection, which is told to SQLite when it is first asked for and stays: while a statement runs, a cursor's for
    /// one, SQLite lets no function be replaced or taken away.
    func countingRows() throws -> RowCounter {
        if let rowCounter { return rowCounter }
        let counter = RowCounter()
        let code = sqlite3_create_function_v2(
            handle, RowCounter.name, 1, SQLITE_UTF8, Unmanaged.passUnretained(counter).toOpaque(),
            { context, _, _ in
                if let pointer = sqlite3_user_data(context) {
                    Unmanaged<RowCounter>.fromOpaque(pointer).takeUnretainedValue().count += 1
                }
                sqlite3_result_int(context, 1)
            }, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, "Explaining a query") }
        rowCounter = counter
        return counter
    }
}
