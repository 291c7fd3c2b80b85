import CSQLite
import PolyStoreBackend
import PolyStoreQuery

/// A part of a date field in UTC or at a fixed offset, which SQL evaluates.
struct FixedDatePart {
    let part: DatePart
    let field: FieldReference
    /// The offset of the time zone in seconds.
    let offset: Int
}

extension QueryExpression {
    /// The expression as a part of a date field at a fixed offset; nil for any other expression, and for a zone of the tz database.
    var fixedDatePart: FixedDatePart? {
        guard case .datePart(let part, let zone, let date) = node, let offset = zone.offset, let field = date.asField else { return nil }
        return FixedDatePart(part: part, field: field, offset: offset)
    }
}

/// The SQL function that returns a part of a date: the calendar of the shared executor, so that both return the same number for every date.
///
/// Its arguments are the date in seconds, the number of the part, and the offset in seconds.
enum DatePartFunction {
    private static let name = "polystore_date_part"
    private static let parts = DatePart.allCases

    /// Returns the number of a part, as an argument of the function.
    static func number(of part: DatePart) -> Int { parts.firstIndex(of: part) ?? 0 }

    /// Returns a call of the function, with a parameter for the offset.
    static func call(_ column: String, _ number: UInt32) -> String { "\(name)(\(column), \(number), ?)" }

    /// Registers the function with a connection.
    static func register(_ handle: OpaquePointer) -> Int32 {
        sqlite3_create_function_v2(
            handle, name, 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, _, arguments in
                guard let date = arguments?[0], let number = arguments?[1], let offset = arguments?[2] else { return }
                // A NaN is stored as text.
                let type = sqlite3_value_type(date)
                guard type == SQLITE_FLOAT || type == SQLITE_INTEGER,
                    let value = DatePartFunction.parts[Int(sqlite3_value_int(number))].value(
                        of: sqlite3_value_double(date), offset: Int(sqlite3_value_int(offset)))
                else { return sqlite3_result_null(context) }
                sqlite3_result_int64(context, value)
            }, nil, nil, nil)
    }
}
