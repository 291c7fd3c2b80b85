import Foundation
import PolyStoreBackend

/// The sample values on which the kernel evaluates a key path to find the property that it reads.
///
/// A stored property returns the sample. A computed property that depends on its input returns something else for at least one sample.
package struct KeyPathSamples {
    /// The kinds of sample values.
    package enum Content: Int, CaseIterable {
        /// Two values that differ in every attribute and that typical conversions change.
        case first, second
        /// Zero, and empty text and data.
        case empty
        /// Null, for optional attributes.
        case missing
    }

    let content: Content
    /// The index of the step whose to-one relationship is null. All other relationships have a destination.
    package let end: Int?

    /// Creates the samples of a kind.
    package init(content: Content, end: Int? = nil) {
        self.content = content
        self.end = end
    }

    /// The number of values that ``value(_:attempt:)`` tries.
    package static let attempts = 4

    /// Returns the value of an attribute.
    /// - Parameter attempt: the number of values that the property failed to decode before: its type may be an enum, or non-optional although the attribute of
    ///   a shared entity is optional.
    package func value(_ field: Field, attempt: Int) -> Value {
        switch attempt {
        case 0 where content == .missing && field.isOptional: .null
        case 0: Self.value(of: field.type, content) ?? field.defaultValue ?? .null
        case 1: field.defaultValue ?? .null
        case 2: Self.value(of: field.type, .first) ?? .null
        default: Self.value(of: field.type, .empty) ?? .null
        }
    }

    private static func value(of type: AttributeType, _ content: Content) -> Value? {
        let number = content.rawValue
        return switch type {
        case .bool: .integer(content == .first ? 1 : 0)
        case .int8, .int16, .int32, .int64: .integer([77, -3, 0, 0][number])
        case .uint8, .uint16, .uint32, .uint64: .integer([77, 200, 0, 0][number])
        case .float, .double: .real([2.625, -1e9, 0, 0][number])
        case .date: .real([86_400.5, -1e9, 0, 0][number])
        case .decimal: .blob(([Decimal(2625) / 1000, Decimal(-41), 0, 0] as [Decimal])[number].orderedBytes)
        case .string: .text([" aÉ\u{301}ß  Z\n", "7 x", "", ""][number])
        case .url: .text(["http://A.example:80/a/../b?q#f", "relative/", "about:blank", "about:blank"][number])
        case .data: .blob([[0, 255, 10], [1], [], []][number])
        case .uuid: .blob([UInt8](repeating: [0xa5, 0x3c, 0, 0][number], count: 16))
        case .json: nil
        }
    }

    /// Returns whether a key path returned a value, or nil for null.
    /// - Returns: true if the two cannot be compared.
    package static func isSame(_ found: Any, _ value: Value) -> Bool {
        guard let found = unwrapped(found) else { return value.isNull }
        if value.isNull { return false }
        if let attribute = found as? any AttributeValue { return attribute.attributeValue == value }
        guard let raw = found as? any RawRepresentable, let attribute = raw.rawValue as? any AttributeValue else { return true }
        return attribute.attributeValue == value
    }

    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first.flatMap { unwrapped($0.value) }
    }
}
