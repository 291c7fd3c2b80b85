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
