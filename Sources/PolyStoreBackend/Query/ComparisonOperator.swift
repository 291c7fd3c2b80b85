/// A comparison operator, with its spelling in format strings.
public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    /// The left value equals the right one.
    case equal = "=="
    /// The left value differs from the right one.
    case notEqual = "!="
    /// The left value is less than the right one.
    case less = "<"
    /// The left value is less than or equal to the right one.
    case lessOrEqual = "<="
    /// The left value is greater than the right one.
    case greater = ">"
    /// The left value is greater than or equal to the right one.
    case greaterOrEqual = ">="

    /// The operator for exchanged sides: `<` for `>`.
    public var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Returns whether an order (negative, 0, positive) satisfies the operator.
    @inlinable
    public func accepts(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
