import BrowserData

/// The values of the template that shows a mistake in a condition with a caret below it.
enum MistakeView {
    static func add(_ mistake: FilterMistake, in filter: String, to view: inout View) {
        view["hasMistake"] = true
        view["mistake"] = mistake.message
        let offset = min(mistake.offset ?? 0, filter.count)
        view["mistakeOffset"] = "\(bytes(filter, offset))"
        // One line with the neighbourhood of the mistake, so that the caret is below it.
        let start = max(0, offset - 60)
        let line = filter.map { $0.isNewline ? " " : $0 }
        view["mistakeLine"] = String(line[start..<min(line.count, offset + 40)])
        view["mistakeCaret"] =
            String(repeating: " ", count: offset - start) + String(repeating: "^", count: max(1, min(mistake.length, 40)))
    }

    /// Returns the number of bytes in UTF-8 of the first characters of a text.
    static func bytes(_ text: String, _ characters: Int) -> Int { text.prefix(characters).utf8.count }

    /// Returns the number of characters of a text before a byte in UTF-8.
    static func characters(_ text: String, _ bytes: Int) -> Int {
        let index = text.utf8.index(text.startIndex, offsetBy: bytes, limitedBy: text.endIndex) ?? text.endIndex
        return text.distance(from: text.startIndex, to: index)
    }
}
