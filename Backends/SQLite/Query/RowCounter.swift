import CSQLite
import PolyStoreBackend

/// Counts the rows that a statement examines: an SQL function that is always true and precedes every other condition, so that SQLite calls it once for each row
/// of its index search or scan.
final class RowCounter {
    static let name = "polystore_row"
    fileprivate(set) var count = 0

    func restart() { count = 0 }
}

extension Connection {
    /// Returns the row counter of this connection, which is registered on first use and stays registered: SQLite does not allow a function to be replaced or
    /// removed while a statement runs, for example that of an open cursor.
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
