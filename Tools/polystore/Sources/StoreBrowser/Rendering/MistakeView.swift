import BrowserData

/// The values of the template that shows a mistake, within the form that was sent.
enum MistakeView {
    /// Adds a mistake that is in none of the fields with conditions. The message has the text with the mistake and a caret below it, each in a line.
    static func add(_ message: String, to view: inout View) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        view["hasMistake"] = true
        guard lines.count > 2 else {
            view["mistake"] = message
            return
        }
        view["mistake"] = lines.dropLast(2).joined(separator: "\n")
        view["hasCaret"] = true
        (view["mistakeLine"], view["mistakeCaret"]) = (String(lines[lines.count - 2]), String(lines[lines.count - 1]))
    }

    /// Adds a mistake in a condition, with a caret below it.
    /// - Parameter field: The field of the condition: "Filter" or "Having".
    static func add(_ mistake: FilterMistake, in text: String, field: String, to view: inout View) {
        (view["hasMistake"], view["mistake"]) = (true, mistake.message)
        view["isIn\(field)"] = true
        let offset = min(mistake.offset ?? 0, text.count)
        view["mistakeOffset"] = "\(bytes(text, offset))"
        // One line with the neighbourhood of the mistake, so that the caret is below it.
        let start = max(0, offset - 60)
        let line = text.map { $0.isNewline ? " " : $0 }
        view["hasCaret"] = true
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
