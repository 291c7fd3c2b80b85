/// Estimates the widths of texts. The font is that of the browser, so widths are those of usual fonts without serifs, rounded up.
enum TextMeasure {
    /// Returns the width of a text in pixels.
    static func width(_ text: String, size: Double) -> Double {
        text.reduce(0) { $0 + width($1) } * size
    }

    /// Returns the text, cut and marked with an ellipsis if it is wider than a number of pixels.
    static func cut(_ text: String, to limit: Double, size: Double) -> String {
        let limit = limit / size
        var (kept, used, safe) = ("", 0.0, "")
        for character in text {
            used += width(character)
            // A character can consist of any number of scalars; of one with very many, nothing is shown.
            guard used <= limit, character.unicodeScalars.count <= 32 else { return safe + "…" }
            kept.append(character)
            if used + ellipsis <= limit { safe = kept }
        }
        return kept
    }

    private static let ellipsis = 0.9

    /// Returns the width of a character in units of the size of the font.
    private static func width(_ character: Character) -> Double {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.value {
        case 0..<0x20: return 1
        case 0x20..<0x80: return narrow.contains(first) ? 0.34 : wide.contains(first) ? 0.95 : 0x41...0x5a ~= first.value ? 0.72 : 0.59
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff01...0xff60,
            0x10000...:
            return first.value < 0x10000 || first.value >= 0x1f000 ? 1.3 : 1
        default:
            let isMark = first.properties.generalCategory == .nonspacingMark || first.properties.generalCategory == .enclosingMark
            return isMark ? 0 : 0.75
        }
    }

    private static let narrow: Set<Unicode.Scalar> = [
        " ", "!", "'", "(", ")", ",", ".", ":", ";", "[", "]", "f", "i", "j", "l", "t", "|", "I",
    ]
    private static let wide: Set<Unicode.Scalar> = ["%", "@", "M", "W", "m", "w"]
}
