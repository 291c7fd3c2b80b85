import CSQLite
import PolyStoreBackend

/// Counts the rows that a statement looks at: a function that is always true, put before every other condition, so that SQLite calls it once
/// for each row that its index or its scan leads to.
final class RowCounter {
    static let name = "polystore_row"
    private(set) var count = 0

    /// To be called before the statement is prepared. The counter must live until it is removed.
    func install(_ connection: Connection) throws {
        let code = sqlite3_create_function_v2(
            connection.handle, Self.name, 1, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
            { context, _, _ in
                if let pointer = sqlite3_user_data(context) {
                    Unmanaged<RowCounter>.fromOpaque(pointer).takeUnretainedValue().count += 1
                }
                sqlite3_result_int(context, 1)
            }, nil, nil, nil)
        if code != SQLITE_OK { throw connection.error(code, "Explaining a query") }
    }

    func remove(_ connection: Connection) {
        // Removing a function from a connection without statements that use it cannot fail.
        _ = sqlite3_create_function_v2(connection.handle, Self.name, 1, SQLITE_UTF8, nil, nil, nil, nil, nil)
    }
}
