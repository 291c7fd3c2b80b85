import Foundation

extension TextOptions {
    /// Returns the text normalized for comparison: lowercased for `[c]`, without diacritical marks for `[d]`, by Foundation's locale-independent folding.
    /// Normalized texts are compared byte by byte.
    public func fold(_ text: String) -> String {
        if isEmpty { return text }
        // ASCII has no diacritical marks.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return contains(.caseInsensitive) ? text.lowercased() : text }
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return text.folding(options: options, locale: nil)
    }
}
