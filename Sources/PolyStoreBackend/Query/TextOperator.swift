/// A text comparison operator, with its spelling in format strings.
public enum TextOperator: String, Sendable, Hashable, CaseIterable {
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    /// Wildcard match: `?` matches one Unicode scalar, `*` any number of them, a backslash escapes the next character.
    case like = "LIKE"
    /// Regular expression match against the whole text.
    case matches = "MATCHES"
}
