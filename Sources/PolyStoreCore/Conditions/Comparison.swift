import PolyStoreBackend

/// A comparison of two operands.
package struct Comparison: Sendable, Hashable {
    /// A quantifier over the values of a to-many path.
    package enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// No quantifier: the path leads to one value.
        case direct = ""
        /// At least one value; false for an empty collection.
        case any = "ANY"
        /// Every value; true for an empty collection.
        case all = "ALL"
        /// No value; true for an empty collection.
        case none = "NONE"
    }

    /// An operator, with its spelling in format strings.
    package enum Operator: String, Sendable, Hashable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        /// Membership. The right side is a list, a range or a to-many path.
        case oneOf = "IN"
        /// Inclusive range test. The right side is a range or a list of two bounds.
        case between = "BETWEEN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// Wildcard match: `?` matches one character, `*` any number of characters, a backslash escapes the next character.
        case like = "LIKE"
        /// Regular expression match against the whole text.
        case matches = "MATCHES"
    }

    /// The quantifier, if the left side is a to-many path.
    package var modifier: Modifier
    /// The left side.
    package var left: Operand
    /// The operator.
    package var operation: Operator
    /// The right side.
    package var right: Operand
    /// The options for text.
    package var options: TextOptions
    /// The location in the format string.
    package var location: FormatLocation

    /// Creates a comparison of two operands.
    package init(
        _ left: Operand, _ operation: Operator, _ right: Operand, modifier: Modifier = .direct, options: TextOptions = [],
        location: FormatLocation = .none
    ) {
        self.modifier = modifier
        self.left = left
        self.operation = operation
        self.right = right
        self.options = options
        self.location = location
    }
}
