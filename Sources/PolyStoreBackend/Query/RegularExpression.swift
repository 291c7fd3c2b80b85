import Foundation

/// A `MATCHES` pattern: an ICU regular expression that must match the whole text.
package struct RegularExpression {
    private let expression: NSRegularExpression

    /// Compiles a pattern.
    /// - Throws: `invalidPredicate`.
    package init(_ pattern: String) throws {
        do {
            // Compiled alone first, so that the group around it cannot make an invalid pattern valid. Foundation rejects the empty pattern, which
            // matches the empty text.
            if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern) }
            expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
        } catch {
            throw StoreError(.invalidPredicate, "\"\(pattern)\" is not a regular expression.", underlying: "\(error)")
        }
    }

    package func matches(_ text: String) -> Bool {
        expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }
}
