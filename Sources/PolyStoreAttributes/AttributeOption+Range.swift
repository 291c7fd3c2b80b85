import PolyStoreBackend

extension AttributeOption {
    /// Limits numbers or dates to a range of any form: `.range(0...150)`, `.range(0.0..<1)`, `.range(18...)`. See `AttributeRule`.
    public static func range<R: QueryRange>(_ range: R) -> AttributeOption where R.Bound: AttributeValue & Comparable {
        let bounds = range.queryBounds
        return .rule(
            .range(bounds.low?.attributeValue, bounds.high?.attributeValue, includesUpper: bounds.includesHigh, of: R.Bound.attributeType))
    }
}
