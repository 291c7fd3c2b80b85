import PolyStoreBackend

extension AttributeOption {
    /// Numbers or dates from one to another: `.range(0...150)`, `.range(0.0..<1)`, `.range(18...)`. See ``AttributeRule``.
    public static func range<B: AttributeValue & Comparable>(_ bounds: ClosedRange<B>) -> AttributeOption {
        .rule(.range(bounds.lowerBound.attributeValue, bounds.upperBound.attributeValue, of: B.attributeType))
    }

    /// Without the upper bound itself.
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
