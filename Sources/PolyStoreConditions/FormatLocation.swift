import PolyStoreBackend

/// A position in a format string, for error messages. Ignored when conditions are compared.
package struct FormatLocation: Sendable, Hashable {
    /// The format string; nil if the condition has none.
    package var source: String?
    /// The two offsets of the range. They are one number, because each field of a location occupies the stack for every level of a nested condition. A format
    /// string has at most 1 MiB.
    private var offsets: UInt64
    /// The range of UTF-8 offsets in ``source``.
    package var range: Range<Int> {
        get { Int(offsets >> 32)..<Int(offsets & 0xffff_ffff) }
        set { offsets = Self.offsets(newValue) }
    }

    private static func offsets(_ range: Range<Int>) -> UInt64 {
        UInt64(UInt32(clamping: range.lowerBound)) << 32 | UInt64(UInt32(clamping: range.upperBound))
    }

    /// Creates a location from a range of UTF-8 offsets in `source`.
    package init(_ source: String, _ range: Range<Int>) {
        self.source = source
        offsets = Self.offsets(range)
    }

    private init() {
        source = nil
        offsets = 0
    }

    /// The location of a condition that has no format string.
    package static let none = FormatLocation()

    package static func == (left: FormatLocation, right: FormatLocation) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

extension FormatLocation {
    /// Returns an error with the given message, followed by the source line with a caret under this location.
    ///
    /// ```text
    /// "agee" is not a property of Person. Did you mean "age"? (at 1:5)
    /// NOT agee > 30
    ///     ^~~~
    /// ```
    package func error(_ message: String, entity: String? = nil, attribute: String? = nil) -> StoreError {
        StoreError(.invalidPredicate, source.map { message + pointer(in: $0) } ?? message, entity: entity, attribute: attribute)
    }

    /// The line and the column, both from 1. Columns count characters, not bytes.
    var lineAndColumn: (line: Int, column: Int) {
        let bytes = Array((source ?? "").utf8)
        let start = min(max(range.lowerBound, 0), bytes.count)
        let lineStart = (bytes[..<start].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let line = bytes[..<start].count { $0 == UInt8(ascii: "\n") } + 1
        return (line, String(decoding: bytes[lineStart..<start], as: UTF8.self).count + 1)
    }

    private func pointer(in source: String) -> String {
        let bytes = Array(source.utf8)
        let start = min(max(range.lowerBound, 0), bytes.count)
        let lineStart = (bytes[..<start].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let end = min(max(range.upperBound, start), lineEnd)
        // The caret position counts characters, not bytes. A long line is shortened around the location.
        let before = Self.shortened(String(decoding: bytes[lineStart..<start], as: UTF8.self), keepingEnd: true)
        let marked = String(decoding: bytes[start..<end], as: UTF8.self)
        let rest = Self.shortened(String(decoding: bytes[start..<lineEnd], as: UTF8.self), keepingEnd: false)
        // Tabs are copied to the caret line, so that both lines have the same indentation.
        let indent = String(before.map { $0 == "\t" ? $0 : " " })
        let lineAndColumn = lineAndColumn
        return " (at \(lineAndColumn.line):\(lineAndColumn.column))\n\(before)\(rest)\n\(indent)^"
            + String(repeating: "~", count: max(min(marked.count, rest.count) - 1, 0))
    }

    /// Returns a text, shortened to its first or last 99 characters and an ellipsis if it is longer than 100 characters.
    private static func shortened(_ text: String, keepingEnd: Bool) -> String {
        let limit = 100
        guard text.count > limit else { return text }
        return keepingEnd ? "…" + text.suffix(limit - 1) : text.prefix(limit - 1) + "…"
    }
}
