import PolyStoreBackend

extension AttributeOption {
    /// Limits numbers or dates to a range: `.range(0...150)`, `.range(0.0..<1)`, `.range(18...)`. See `AttributeRule`.
    public static func range<B: AttributeValue & Comparable>(_ bounds: ClosedRange<B>) -> AttributeOption {
        .rule(.range(bounds.lowerBound.attributeValue, bounds.upperBound.attributeValue, of: B.attributeType))
    }

    /// Limits numbers or dates to a range without its upper bound.
    public static func range<B: AttributeValue & Comparable>(_ bounds: Range<B>) -> AttributeOption {
        .rule(.range(bounds.lowerBound.attributeValue, bounds.upperBound.attributeValue, includesUpper: false, of: B.attributeType))
    }

    public static func range<B: AttributeValue & Comparable>(_ bounds: PartialRangeFrom<B>) -> AttributeOption {
        .rule(.range(bounds.lowerBound.attributeValue, nil, of: B.attributeType))
    }

    public static func range<B: AttributeValue & Comparable>(_ bounds: PartialRangeThrough<B>) -> AttributeOption {
        .rule(.range(nil, bounds.upperBound.attributeValue, of: B.attributeType))
    }

    public static func range<B: AttributeValue & Comparable>(_ bounds: PartialRangeUpTo<B>) -> AttributeOption {
        .rule(.range(nil, bounds.upperBound.attributeValue, includesUpper: false, of: B.attributeType))
    }
}
