#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A constraint on the values of an attribute beyond its type. Checked when a transaction is committed; null satisfies every rule.
///
///     @Attribute(.range(0...150)) var age: Int
///     @Attribute(.length(1...50)) var name: String
///     @Attribute(.matches("[^@]+@[^@]+")) var email: String?
///
/// Rules do not affect stored bytes, so ``SchemaDescription/versionHash`` does not cover them: a rule may be added, changed and removed at any time. Values
/// that were stored before are checked only when they change.
public struct AttributeRule: Sendable, Hashable, Codable {
    package enum Kind: Sendable, Hashable, Codable {
        /// A bound of `nil` means no bound at that end.
        case range(lower: Bound?, upper: Bound?, includesUpper: Bool)
        case length(least: Int, most: Int?)
        case matches(String)
    }

    package struct Bound: Sendable, Hashable, Codable {
        package let value: Value
        package let type: AttributeType
    }

    package let kind: Kind

    /// Accepts numbers or dates within a range.
    /// - Parameters:
    ///   - lower: The lower bound; `nil` for none.
    ///   - upper: The upper bound; `nil` for none.
    ///   - type: The type of both bounds. Bounds are compared by value, so 0.5 may be the bound of an integer.
    package static func range(_ lower: Value?, _ upper: Value?, includesUpper: Bool = true, of type: AttributeType) -> AttributeRule {
        AttributeRule(
            kind: .range(
                lower: lower.map { Bound(value: $0, type: type) }, upper: upper.map { Bound(value: $0, type: type) },
                includesUpper: includesUpper))
    }

    /// Accepts texts with a number of characters (grapheme clusters) in a range, or data with a number of bytes in a range.
    public static func length(_ least: Int, _ most: Int?) -> AttributeRule { AttributeRule(kind: .length(least: least, most: most)) }

    /// Accepts texts that match a regular expression completely, as `MATCHES` does.
    public static func matches(_ pattern: String) -> AttributeRule { AttributeRule(kind: .matches(pattern)) }
}

extension AttributeRule: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .range(let lower, let upper, let includesUpper):
            let (low, high) = (lower.map { $0.value.described($0.type) } ?? "", upper.map { $0.value.described($0.type) } ?? "")
            return "\(low)\(includesUpper || upper == nil ? "..." : "..<")\(high)"
        case .length(let least, let most): return most.map { least == $0 ? "\(least)" : "\(least)...\($0)" } ?? "\(least)..."
        case .matches(let pattern): return "\"\(pattern)\""
        }
    }

    package var rule: Violation.Rule {
        switch kind {
        case .range: .range
        case .length: .length
        case .matches: .pattern
        }
    }
}

extension AttributeOption {
    /// Limits the number of characters of texts, or of bytes of data: see ``AttributeRule/length(_:_:)``.
    public static func length(_ bounds: ClosedRange<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, bounds.upperBound)) }
    public static func length(_ bounds: Range<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, bounds.upperBound - 1)) }
    public static func length(_ bounds: PartialRangeFrom<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, nil)) }
    public static func length(_ bounds: PartialRangeThrough<Int>) -> AttributeOption { .rule(.length(0, bounds.upperBound)) }
    public static func length(_ bounds: PartialRangeUpTo<Int>) -> AttributeOption { .rule(.length(0, bounds.upperBound - 1)) }
    /// Requires that the whole text matches a regular expression.
    public static func matches(_ pattern: String) -> AttributeOption { .rule(.matches(pattern)) }
}

extension Value {
    /// Returns a readable form of the bound for an attribute type.
    package func described(_ type: AttributeType) -> String {
        switch (self, type) {
        case (.integer(let value), .uint64): "\(UInt64(bitPattern: value))"
        case (.integer(let value), .bool): "\(value != 0)"
        // Calendars and Foundation's description support only finite dates in a limited range.
        case (.real(let value), .date):
            value.magnitude < 1e11 ? Date(timeIntervalSinceReferenceDate: value).description : "\(value) s after 2001-01-01 00:00:00 +0000"
        case (.blob(let bytes), .decimal): bytes.withUnsafeBytes { Decimal(orderedBytes: $0) }?.description ?? literal
        default: literal
        }
    }
}
