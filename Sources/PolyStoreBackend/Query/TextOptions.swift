import Foundation

/// Options for text comparisons.
public struct TextOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    /// Creates options from a bit mask.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: ignores case.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: ignores accents and other diacritical marks.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

extension TextOptions {
    /// The letters of the options in format strings: `c`, `d`, `cd` or empty.
    public var letters: String { (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "") }
}

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

/// A text comparison operator, with its spelling in format strings.
public enum TextOperator: String, Sendable, Hashable, CaseIterable {
    /// The left text contains the right one.
    case contains = "CONTAINS"
    /// The left text begins with the right one.
    case beginsWith = "BEGINSWITH"
    /// The left text ends with the right one.
    case endsWith = "ENDSWITH"
    /// Wildcard match: `?` matches one Unicode scalar, `*` any number of them, a backslash escapes the next character.
    case like = "LIKE"
    /// Regular expression match against the whole text.
    case matches = "MATCHES"
}
