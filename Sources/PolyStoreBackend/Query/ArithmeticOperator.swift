/// An arithmetic operator, with its spelling in format strings.
public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    /// The sum of two numbers, or a date that is a number of seconds later.
    case add = "+"
    /// The difference of two numbers, a date that is a number of seconds earlier, or the seconds between two dates.
    case subtract = "-"
    /// The product of two numbers.
    case multiply = "*"
    /// The quotient of two numbers.
    case divide = "/"
}

extension ArithmeticOperator {
    /// Returns the type of the result: two integers give an integer, a real gives a real, a date and seconds give a date, two dates give seconds, and a decimal
    /// with a decimal or an integer gives a decimal. Decimals cannot be divided, because a quotient may have no last digit, and do not mix with reals.
    func type(_ left: AttributeType, _ right: AttributeType) -> AttributeType? {
        switch (left, right) {
        case (.date, .date): return self == .subtract ? .double : nil
        case (.date, _) where right.isNumber: return self == .add || self == .subtract ? .date : nil
        case (_, .date) where left.isNumber: return self == .add ? .date : nil
        case (.decimal, .decimal): return self == .divide ? nil : .decimal
        case (.decimal, let other), (let other, .decimal):
            return self != .divide && other.isNumber && other.physical == .integer ? .decimal : nil
        default:
            guard left.isNumber, right.isNumber else { return nil }
            return left.physical == .integer && right.physical == .integer ? .int64 : .double
        }
    }
}
