/// A mistake in a query of the search language.
public struct SearchSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence that states the mistake and its correction.
    public let message: String
    /// The query.
    public let query: String
    /// The position of the mistake, as an offset in the UTF-8 of the query.
    public let offset: Int

    /// Creates an error.
    public init(_ message: String, query: String, offset: Int) {
        self.message = message
        self.query = query
        self.offset = offset
    }

    /// The message, then the query up to its line breaks, and a caret below the mistake.
    ///
    /// ```text
    /// The parenthesis is not closed
    /// swift (actor OR task
    ///       ^
    /// ```
    public var description: String {
        let bytes = Array(query.utf8)
        let start = min(max(offset, 0), bytes.count)
        let before = Self.line(bytes[..<start], keepingEnd: true)
        return "\(message)\n\(before)\(Self.line(bytes[start...], keepingEnd: false))\n\(String(repeating: " ", count: before.count))^"
    }

    /// Returns the text up to a line break, with spaces for control characters; at most about 60 characters.
    private static func line(_ bytes: ArraySlice<UInt8>, keepingEnd: Bool) -> String {
        let newline = UInt8(ascii: "\n")
        let isLong = bytes.count > 240
        // Clipping first keeps the cost independent of the length of the query.
        let near = isLong ? (keepingEnd ? bytes.suffix(240) : bytes.prefix(240)) : bytes
        let part = keepingEnd ? near.suffix(from: (near.lastIndex(of: newline) ?? near.startIndex - 1) + 1) : near.prefix { $0 != newline }
        let text = String(String(decoding: part, as: UTF8.self).map { $0.unicodeScalars.allSatisfy { $0.value < 0x20 } ? " " : $0 })
        guard isLong || text.count > 60 else { return text }
        return keepingEnd ? "…" + text.suffix(60) : text.prefix(60) + "…"
    }
}
