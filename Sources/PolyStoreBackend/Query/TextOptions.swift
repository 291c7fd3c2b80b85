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
