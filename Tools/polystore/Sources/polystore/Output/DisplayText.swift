/// A text as a terminal shows it: control characters are escaped, and its width is counted in columns.
struct DisplayText {
    /// The text without control characters.
    let text: String
    /// The number of columns.
    let width: Int

    init(_ text: String) {
        self.text = Self.escaped(text)
        width = Self.width(self.text)
    }

    /// Returns the text, cut to a number of columns and marked with an ellipsis if it has more.
    func cut(to columns: Int) -> String {
        guard width > columns else { return text }
        var (kept, used) = ("", 0)
        for character in text {
            let width = Self.width(character)
            guard used + width < columns else { break }
            kept.append(character)
            used += width
        }
        return kept + "…" + String(repeating: " ", count: max(0, columns - used - 1))
    }

    /// Returns the text, cut or filled with spaces to a number of columns.
    func filled(to columns: Int, isRightAligned: Bool) -> String {
        guard width < columns else { return cut(to: columns) }
        let spaces = String(repeating: " ", count: columns - width)
        return isRightAligned ? spaces + text : text + spaces
    }

    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isEscaped) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isEscaped(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns a text of several lines, with the control characters of each line escaped.
    static func lines(_ text: String) -> String {
        // Not by characters of Swift: a carriage return with a newline is one character.
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }.joined(separator: "\n")
    }

    /// Control characters, line separators, and those that change the direction of the text around them.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    private static func width(_ text: String) -> Int {
        var text = text
        let isASCII = text.withUTF8 { $0.allSatisfy { $0 < 0x80 } }
        return isASCII ? text.utf8.count : text.reduce(0) { $0 + width($1) }
    }

    /// Returns the number of columns of a character, which can have several scalars.
    private static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.value < 0x80 { return scalars.contains { $0.value == 0xfe0f } ? 2 : 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide = first.properties.isEmojiPresentation || scalars.contains { $0.value == 0xfe0f } || isWide(first.value)
        return isWide ? 2 : 1
    }

    /// Returns whether a scalar is wide or full-width in East Asian scripts.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf, 0xa960...0xa97f,
            0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18dff,
            0x1aff0...0x1b2ff, 0x1f1e6...0x1f1ff, 0x1f200...0x1f2ff, 0x20000...0x3fffd:
            true
        default: false
        }
    }
}
