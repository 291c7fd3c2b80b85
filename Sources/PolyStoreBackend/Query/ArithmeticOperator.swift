/// An arithmetic operator, with its spelling in format strings.
public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
}

extension ArithmeticOperator {
    /// Returns the type of the result: two integers give an integer, a real gives a real, a date and seconds give a date, two dates give seconds.
    func type(_ left: AttributeType, _ right: AttributeType) -> AttributeType? {
        switch (left, right) {
        case (.date, .date): return self == .subtract ? .double : nil
        case (.date, _) where right.isNumber: return self == .add || self == .subtract ? .date : nil
        case (_, .date) where left.isNumber: return self == .add ? .date : nil
        default:
            guard left.isNumber, right.isNumber else { return nil }
            return left.physical == .integer && right.physical == .integer ? .int64 : .double
        }
    }
}
