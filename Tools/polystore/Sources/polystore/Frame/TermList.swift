import BrowserData
import Foundation
import PolyStoreCore

/// A list of names, paths and calculations in an option, separated by commas.
enum TermList {
    /// Splits a list at its commas, except those in quotes and parentheses.
    /// - Throws: `usage` for an empty part, and for quotes and parentheses that are not closed.
    static func parts(_ text: String, option: String) throws -> [String] {
        var (parts, current, depth, quote, isEscaped) = ([String](), "", 0, Character?.none, false)
        for character in text {
            if let open = quote {
                if isEscaped { isEscaped = false } else if character == "\\" { isEscaped = true } else if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if "([{".contains(character) {
                depth += 1
            } else if ")]}".contains(character) {
                depth -= 1
            } else if character == ",", depth == 0 {
                parts.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        guard quote == nil, depth == 0 else {
            throw ToolError(.usage, "\(option) \"\(text)\" has \(quote == nil ? "a parenthesis" : "a quote") that is not closed.")
        }
        parts.append(current)
        let trimmed = parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        guard !trimmed.contains("") else {
            throw ToolError(.usage, "\(option) \"\(text)\" has an empty part; separate the names by one comma.")
        }
        return trimmed
    }

    /// Splits a part into what it selects and the name of its column: `population / areaKm2 as density`.
    static func named(_ part: String) -> (text: String, name: String?) {
        // A name in quotes, whose column has no quotes.
        if part.hasPrefix("#"), let names = PathNames(part)?.names, names.count == 1 { return (part, names[0]) }
        guard let match = part.wholeMatch(of: /(.+)\s+[aA][sS]\s+([^\s'"()]+)/.dotMatchesNewlines()) else { return (part, nil) }
        return (String(match.1).trimmingCharacters(in: .whitespaces), String(match.2))
    }

    /// Returns whether a part is a function of many objects, such as `average(age)`.
    static func isAggregate(_ text: String) -> Bool {
        text.wholeMatch(
            of: /(count|countDistinct|sum|average|avg|min|minimum|max|maximum|stddev|standardDeviation|median|mode)\(.*\)/.ignoresCase()
                .dotMatchesNewlines()) != nil
    }
}
