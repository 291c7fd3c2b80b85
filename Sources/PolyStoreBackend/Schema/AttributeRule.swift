#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a value of an attribute must be, beyond its type. Checked when a transaction is committed; null satisfies every rule.
///
///     @Attribute(.range(0...150)) var age: Int
///     @Attribute(.length(1...50)) var name: String
///     @Attribute(.matches("[^@]+@[^@]+")) var email: String?
///
/// Rules change no stored byte, so they are no part of ``SchemaDescription/versionHash``: a rule may be added, changed and removed at any time, and values that
/// were stored before are only judged when they are changed.
public struct AttributeRule: Sendable, Hashable, Codable {
    enum Kind: Sendable, Hashable, Codable {
        /// nil: no bound at that end.
        case range(lower: Bound?, upper: Bound?, includesUpper: Bool)
        case length(least: Int, most: Int?)
        case matches(String)
    }

    struct Bound: Sendable, Hashable, Codable {
        let value: Value
        let type: AttributeType
    }

    let kind: Kind

    /// Numbers, or dates, between two.
    /// - Parameters:
    ///   - lower: nil: any that is not above `upper`.
    ///   - type: of both bounds. They are compared by value, so that 0.5 may be the bound of an integer.
    package static func range(_ lower: Value?, _ upper: Value?, includesUpper: Bool = true, of type: AttributeType) -> AttributeRule {
        AttributeRule(
            kind: .range(
                lower: lower.map { Bound(value: $0, type: type) }, upper: upper.map { Bound(value: $0, type: type) },
                includesUpper: includesUpper))
    }

    /// Texts of so many characters (as a person counts them: an emoji with all its parts is one), data of so many bytes.
    public static func length(_ least: Int, _ most: Int?) -> AttributeRule { AttributeRule(kind: .length(least: least, most: most)) }

    /// Texts that satisfy a regular expression as a whole, as `MATCHES` has it.
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
    /// Between so many characters, or bytes of data: see ``AttributeRule/length(_:_:)``.
    public static func length(_ bounds: ClosedRange<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, bounds.upperBound)) }
    public static func length(_ bounds: Range<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, bounds.upperBound - 1)) }
    public static func length(_ bounds: PartialRangeFrom<Int>) -> AttributeOption { .rule(.length(bounds.lowerBound, nil)) }
    public static func length(_ bounds: PartialRangeThrough<Int>) -> AttributeOption { .rule(.length(0, bounds.upperBound)) }
    public static func length(_ bounds: PartialRangeUpTo<Int>) -> AttributeOption { .rule(.length(0, bounds.upperBound - 1)) }
    /// A regular expression that the whole text satisfies.
    public static func matches(_ pattern: String) -> AttributeOption { .rule(.matches(pattern)) }
}

extension Value {
    /// For people, who know the type.
    package func described(_ type: AttributeType) -> String {
        switch (self, type) {
        case (.integer(let value), .uint64): "\(UInt64(bitPattern: value))"
        case (.integer(let value), .bool): "\(value != 0)"
        // A calendar, and Foundation's description, take only finite dates, not too far away.
        case (.real(let value), .date):
            value.magnitude < 1e11 ? Date(timeIntervalSinceReferenceDate: value).description : "\(value) s after 2001-01-01 00:00:00 +0000"
        case (.blob(let bytes), .decimal): bytes.withUnsafeBytes { Decimal(orderedBytes: $0) }?.description ?? literal
        default: literal
        }
    }
}
