import PolyStoreBackend

/// A range in a condition, of any shape: `1...9`, `1..<9`, `30...`, `...30`, `..<30`.
///
/// It is asked as a comparison with its bounds, whatever it contains; its elements are never listed.
public protocol QueryRange<Bound> {
    associatedtype Bound
    var queryBounds: QueryBounds<Bound> { get }
}

/// The bounds of a range in a condition. A bound that is nil does not limit the range.
public struct QueryBounds<Bound> {
    public let low: Bound?
    public let high: Bound?
    /// Whether the upper bound belongs to the range.
    public let includesHigh: Bool

    public init(low: Bound?, high: Bound?, includesHigh: Bool) {
        self.low = low
        self.high = high
        self.includesHigh = includesHigh
    }
}

extension QueryBounds: Sendable where Bound: Sendable {}

extension ClosedRange: QueryRange {
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: upperBound, includesHigh: true) }
}
extension Range: QueryRange {
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: upperBound, includesHigh: false) }
}
extension PartialRangeFrom: QueryRange {
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: nil, includesHigh: true) }
}
extension PartialRangeThrough: QueryRange {
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: nil, high: upperBound, includesHigh: true) }
}
extension PartialRangeUpTo: QueryRange {
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: nil, high: upperBound, includesHigh: false) }
}

extension QueryRange {
    /// The bounds, where they are of a type.
    func bounds<V>(of type: V.Type) -> QueryBounds<V>? { queryBounds as? QueryBounds<V> }

    /// The bounds as sides of comparisons; nil where the type of the bounds cannot stand in a condition.
    var operands: (low: Operand?, high: Operand?, includesHigh: Bool)? {
        let bounds = queryBounds
        let low = (bounds.low as? any QueryArgument)?.queryOperand
        let high = (bounds.high as? any QueryArgument)?.queryOperand
        guard (low == nil) == (bounds.low == nil), (high == nil) == (bounds.high == nil) else { return nil }
        return (low, high, bounds.includesHigh)
    }
}

extension Condition {
    /// That a value lies in a range.
    static func within(
        _ value: Operand, _ range: (low: Operand?, high: Operand?, includesHigh: Bool), modifier: Comparison.Modifier = .direct
    ) -> Condition {
        if let low = range.low, let high = range.high, range.includesHigh {
            return .comparison(Comparison(value, .between, .list([low, high]), modifier: modifier))
        }
        let low = range.low.map { Condition.comparison(Comparison(value, .greaterOrEqual, $0, modifier: modifier)) }
        let high = range.high.map {
            Condition.comparison(Comparison(value, range.includesHigh ? .lessOrEqual : .less, $0, modifier: modifier))
        }
        return .and([low, high].compactMap { $0 })
    }
}
