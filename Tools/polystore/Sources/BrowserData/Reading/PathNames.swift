/// The names of a path of format strings, in which names can be quoted: `publisher.#"first name"`.
struct PathNames {
    let names: [String]

    /// - Returns: nil for anything else, such as a calculation.
    init?(_ path: String) {
        var (names, rest) = ([String](), path[...])
        while true {
            if let match = rest.prefixMatch(of: /#"((?:[^"\\]|\\.)*)"/.dotMatchesNewlines()) {
                names.append(String(match.1).replacing(/\\(.)/.dotMatchesNewlines()) { String($0.1) })
                rest = rest[match.range.upperBound...]
            } else if let match = rest.prefixMatch(of: /[\p{L}_][\p{L}\p{M}\p{N}_]*/) {
                names.append(String(match.0))
                rest = rest[match.range.upperBound...]
            } else {
                return nil
            }
            if rest.isEmpty { break }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
        self.names = names
    }

    /// The path as an order names it: names without quotes, which the library finds in the schema and whose index it can use. A path stays quoted if that would be another one.
    var order: String {
        let isPlain = !names.contains { $0.contains(".") || $0.contains("\0") } && names != [ColumnPlan.objectID]
        return isPlain ? names.joined(separator: ".") : names.map(\.asPath).joined(separator: ".")
    }
}

extension String {
    /// The text without white space at both ends.
    var trimmingWhitespace: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
