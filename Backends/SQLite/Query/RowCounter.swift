import CSQLite
import PolyStoreBackend

/// Counts the rows that a statement examines: SQL functions that are always true and precede every other condition, so that SQLite calls them once for each row
/// of an index search or scan. One function counts the rows of the requested entity, the other one those of related entities, in subqueries.
final class RowCounter {
    fileprivate static let name = "polystore_row"
    fileprivate static let relatedName = "polystore_related_row"
    fileprivate(set) var count = 0
    fileprivate(set) var relatedCount = 0

    func restart() { (count, relatedCount) = (0, 0) }

    /// Returns a term that counts a row of the requested entity.
    static func call(_ column: String) -> String { "\(name)(\(column))" }
    /// Returns a term that counts a row of a related entity.
    static func call(related column: String) -> String { "\(relatedName)(\(column))" }
}

extension Connection {
    /// Returns the row counter of this connection, which is registered on first use and stays registered: SQLite does not allow a function to be replaced or
    /// removed while a statement runs, for example that of an open cursor.
    func countingRows() throws -> RowCounter {
        if let rowCounter { return rowCounter }
        let counter = RowCounter()
        try register(counter, RowCounter.name) { context, _, _ in
            RowCounter.of(context)?.count += 1
            sqlite3_result_int(context, 1)
        }
        try register(counter, RowCounter.relatedName) { context, _, _ in
            RowCounter.of(context)?.relatedCount += 1
            sqlite3_result_int(context, 1)
        }
        rowCounter = counter
        return counter
    }

    private func register(
        _ counter: RowCounter, _ name: String,
        _ function: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws {
        let pointer = Unmanaged.passUnretained(counter).toOpaque()
        let code = sqlite3_create_function_v2(handle, name, 1, SQLITE_UTF8, pointer, function, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, "Explaining a query") }
    }
}

extension RowCounter {
    /// Returns the counter of a function call.
    fileprivate static func of(_ context: OpaquePointer?) -> RowCounter? {
        sqlite3_user_data(context).map { Unmanaged<RowCounter>.fromOpaque($0).takeUnretainedValue() }
    }
}
