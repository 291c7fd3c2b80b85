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

    /// An operator. The contract's operators, and the two that take a list or a range.
    package enum Operator: Sendable, Hashable, CaseIterable {
        case comparison(ComparisonOperator)
        case text(TextOperator)
        /// Membership. The right side is a list, a range or a to-many path.
        case oneOf
        /// Inclusive range test. The right side is a range or a list of two bounds.
        case between
        /// Full-text search in the texts of an object, by the name of the index. The left side leads to the object, the right side is a text or a query.
        ///
        /// Indirect, because each byte of a comparison occupies the stack for every level of a nested condition.
        indirect case search(index: String)

        package static let equal = Operator.comparison(.equal)
        package static let notEqual = Operator.comparison(.notEqual)
        package static let less = Operator.comparison(.less)
        package static let lessOrEqual = Operator.comparison(.lessOrEqual)
        package static let greater = Operator.comparison(.greater)
        package static let greaterOrEqual = Operator.comparison(.greaterOrEqual)

        /// All operators except search, whose left side is not a value.
        package static var allCases: [Operator] {
            ComparisonOperator.allCases.map(comparison) + [.oneOf, .between] + TextOperator.allCases.map(text)
        }

        /// The spelling in format strings.
        package var symbol: String {
            switch self {
            case .comparison(let comparison): comparison.rawValue
            case .text(let text): text.rawValue
            case .oneOf: "IN"
            case .between: "BETWEEN"
            case .search: "SEARCH"
            }
        }
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
