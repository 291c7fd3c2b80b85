import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore

/// Invariants of every format string.
enum FormatCheck {
    /// Arguments of every kind, at least nearly as many as a format has placeholders.
    static let arguments: [Operand] = [
        FormatTable.integer(30), FormatTable.text("name"), FormatTable.real(1.5), .list([FormatTable.integer(1), FormatTable.text("x")]),
        .null,
    ]

    /// Checks that a format gives a condition whose printed form reads back equal, or `invalidPredicate` with an offset in the string.
    /// - Returns: A description of the failure, or nil, and whether the format was parsed.
    static func problem(with format: String) -> (problem: String?, isParsed: Bool) {
        let places = format.utf8.count { $0 == UInt8(ascii: "%") }
        do {
            let condition = try Condition(format: format, arguments: Array(arguments.prefix(places)), variables: FormatTable.variables)
            let printed = condition.description
            guard let again = try? Condition(format: printed, variables: FormatTable.variables) else {
                return ("prints as \(printed), which is not read", true)
            }
            return (again == condition ? nil : "prints as \(printed), which is read as \(again)", true)
        } catch let error as StoreError {
            guard error.code == .invalidPredicate else { return ("\(error)", false) }
            return (isInside(error.message, format) ? nil : "has an error with no place in it: \(error)", false)
        } catch {
            return ("\(error)", false)
        }
    }

    /// Returns whether the message has an offset, in the format or at its end.
    private static func isInside(_ message: String, _ format: String) -> Bool {
        let bytes = Array(message.utf8)
        let start = Array(" (at ".utf8)
        // The message may quote text that resembles an offset; one of the matches is the message's own.
        for at in bytes.indices where bytes[at] == start[0] && bytes[at...].starts(with: start) {
            let numbers = bytes[(at + start.count)...].prefix { $0 != UInt8(ascii: ")") }.split(separator: UInt8(ascii: ":"))
            if numbers.count == 2, let line = Int(String(decoding: numbers[0], as: UTF8.self)),
                let column = Int(String(decoding: numbers[1], as: UTF8.self)), isInside(line, column, format)
            {
                return true
            }
        }
        return false
    }

    private static func isInside(_ line: Int, _ column: Int, _ format: String) -> Bool {
        let lines = format.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1), column > 0 else { return false }
        return column <= (String(lines[line - 1])?.count ?? 0) + 1
    }
}
