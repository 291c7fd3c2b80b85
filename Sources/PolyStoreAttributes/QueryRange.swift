/// A range in a condition, of any form: `1...9`, `1..<9`, `30...`, `...30`, `..<30`.
///
/// It is evaluated as a comparison with its bounds. Its elements are never listed.
public protocol QueryRange<Bound> {
    /// The type of the bounds.
    associatedtype Bound
    /// The bounds of the range.
    var queryBounds: QueryBounds<Bound> { get }
}

/// The bounds of a range in a condition. A nil bound leaves that side open.
public struct QueryBounds<Bound> {
    /// The lower bound.
    public let low: Bound?
    /// The upper bound.
    public let high: Bound?
    /// A Boolean value that indicates whether the upper bound belongs to the range.
    public let includesHigh: Bool

    /// Creates bounds.
    public init(low: Bound?, high: Bound?, includesHigh: Bool) {
        self.low = low
        self.high = high
        self.includesHigh = includesHigh
    }
}

extension QueryBounds: Sendable where Bound: Sendable {}

extension ClosedRange: QueryRange {
    /// Both bounds; the upper one is included.
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: upperBound, includesHigh: true) }
}
extension Range: QueryRange {
    /// Both bounds; the upper one is excluded.
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: upperBound, includesHigh: false) }
}
extension PartialRangeFrom: QueryRange {
    /// The lower bound; the range has no upper one.
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: lowerBound, high: nil, includesHigh: true) }
}
extension PartialRangeThrough: QueryRange {
    /// The upper bound, which is included; the range has no lower one.
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: nil, high: upperBound, includesHigh: true) }
}
extension PartialRangeUpTo: QueryRange {
    /// The upper bound, which is excluded; the range has no lower one.
    public var queryBounds: QueryBounds<Bound> { QueryBounds(low: nil, high: upperBound, includesHigh: false) }
}
