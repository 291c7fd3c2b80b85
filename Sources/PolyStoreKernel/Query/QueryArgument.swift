import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions

/// A value in a condition: an argument of a format string, the right side of `%"age" > 30`, a value of a dictionary.
public protocol QueryArgument {
    /// The value as an operand. A type of your own returns the operand of a value that it wraps.
    var queryOperand: QueryOperand { get }
}

/// A value as one side of a comparison; see ``QueryArgument``.
public struct QueryOperand: Sendable, Hashable {
    let operand: Operand

    init(_ operand: Operand) { self.operand = operand }
}

extension QueryArgument {
    /// The value as an operand of a condition.
    package var operand: Operand { queryOperand.operand }
}

extension AttributeValue {
    /// The value as a constant of its attribute type.
    public var queryOperand: QueryOperand {
        let value = attributeValue
        return QueryOperand(value.isNull ? .null : .constant(value, Self.attributeType))
    }
}

extension Bool: QueryArgument {}
extension Int: QueryArgument {}
extension Int8: QueryArgument {}
extension Int16: QueryArgument {}
extension Int32: QueryArgument {}
extension Int64: QueryArgument {}
extension UInt: QueryArgument {}
extension UInt8: QueryArgument {}
extension UInt16: QueryArgument {}
extension UInt32: QueryArgument {}
extension UInt64: QueryArgument {}
extension Double: QueryArgument {}
extension Float: QueryArgument {}
extension String: QueryArgument {}
extension Date: QueryArgument {}
extension Data: QueryArgument {}
extension UUID: QueryArgument {}
extension URL: QueryArgument {}
extension Decimal: QueryArgument {}
extension Substring: QueryArgument { public var queryOperand: QueryOperand { String(self).queryOperand } }
extension Character: QueryArgument { public var queryOperand: QueryOperand { String(self).queryOperand } }

extension Optional: QueryArgument where Wrapped: QueryArgument {
    public var queryOperand: QueryOperand { self?.queryOperand ?? QueryOperand(.null) }
}

extension Array: QueryArgument where Element: QueryArgument {
    public var queryOperand: QueryOperand { QueryOperand(.list(map(\.operand))) }
}

/// The order of the values is irrelevant.
extension Set: QueryArgument where Element: QueryArgument {
    public var queryOperand: QueryOperand { QueryOperand(.list(map(\.operand))) }
}

// Ranges for `BETWEEN` and `IN`. They are compared by their bounds.
extension ClosedRange: QueryArgument where Bound: QueryArgument {}
extension Range: QueryArgument where Bound: QueryArgument {}
extension PartialRangeFrom: QueryArgument where Bound: QueryArgument {}
extension PartialRangeThrough: QueryArgument where Bound: QueryArgument {}
extension PartialRangeUpTo: QueryArgument where Bound: QueryArgument {}

extension QueryRange where Bound: QueryArgument {
    /// The bounds as an operand.
    public var queryOperand: QueryOperand {
        let bounds = queryBounds
        return QueryOperand(.range(low: bounds.low?.operand, high: bounds.high?.operand, includesHigh: bounds.includesHigh))
    }
}

extension ObjectID: QueryArgument {
    public var queryOperand: QueryOperand { QueryOperand(.object(entity: T.storedEntityName, id: rowID, store: entry.store.storeID)) }
}

/// An object represents its id: `Where("department == %@", research)`.
extension Model {
    public var queryOperand: QueryOperand { objectID.queryOperand }
}

/// Operands can be passed as arguments.
extension Operand: QueryArgument {
    package var queryOperand: QueryOperand { QueryOperand(self) }
}

extension RawRepresentable where RawValue: QueryArgument {
    /// The raw value as an operand.
    public var queryOperand: QueryOperand { rawValue.queryOperand }
}

extension Where {
    /// Creates a condition in the syntax of format strings; see `docs/query-language.md`.
    ///
    ///     Where("age > %d AND name BEGINSWITH[c] %@", 30, "ja")
    ///     Where("%K == %@", "department.title", "Research")
    ///
    /// For an invalid string the fetch throws an error that names the problem, the position and what was expected.
    public init(_ format: String, _ arguments: (any QueryArgument)?...) { self.init(format: format, arguments: arguments) }

    /// Creates a condition with enumeration cases among the arguments: `Where("job == %@ AND age > %d", Job.engineer, 30)`. A case represents its raw value.
    /// The fetch throws for an argument of an unsupported type.
    @_disfavoredOverload
    public init(_ format: String, _ arguments: Any?...) {
        self.init {
            try Condition(format: format, arguments: arguments.enumerated().map { try Operand(argument: $1, position: $0) })
        }
    }

    /// Creates a condition in the syntax of format strings.
    /// - Parameters:
    ///   - format: The condition, such as `"age > %@ AND name BEGINSWITH $prefix"`.
    ///   - arguments: The values of the placeholders `%@`, in order.
    ///   - variables: The values of `$name` in the format.
    public init(format: String, arguments: [(any QueryArgument)?] = [], variables: [String: (any QueryArgument)?] = [:]) {
        self.init {
            try Condition(
                format: format, arguments: arguments.map { $0?.operand ?? .null },
                variables: variables.mapValues { $0?.operand ?? .null })
        }
    }

    /// Creates an equality condition: `Where("name", isEqualTo: "Jane")`. With nil, selects objects without a value. The form of CoreStore; the same as
    /// `%"name" == "Jane"`.
    public init(_ key: String, isEqualTo value: (any QueryArgument)?) {
        self.init(.comparison(Comparison(.path(PropertyPath(dotted: key)), .equal, value?.operand ?? .null)))
    }

    /// Creates an equality condition: `Where(\.name, isEqualTo: "Jane")`. The form of CoreStore; the same as `\.name == "Jane"`.
    public init<V: AttributeValue & Equatable>(_ path: KeyPath<T, V>, isEqualTo value: V) { self = path == value }
    /// Creates an equality condition: `Where(\.nickname, isEqualTo: nil)`. With nil, selects objects without a value.
    @_disfavoredOverload
    public init<V: AttributeValue & Equatable>(_ path: KeyPath<T, V?>, isEqualTo value: V?) { self = path == value }
    /// Creates an equality condition: `Where(\.department, isEqualTo: research)`. With nil, selects objects whose relationship is null.
    @_disfavoredOverload
    public init<D: Model>(_ path: KeyPath<T, D?>, isEqualTo target: D?) { self = path == target }
    public init<D: Model>(_ path: KeyPath<T, D?>, isEqualTo target: ObjectID<D>?) { self = path == target }

    /// Creates a membership condition: `Where(\.name, isMemberOf: ["Jane", "John"])`. The form of CoreStore; the same as `["Jane", "John"] ~= \.name`. Ranges
    /// compare by bounds.
    public init<V: AttributeValue, S: Sequence<V>>(_ path: KeyPath<T, V>, isMemberOf values: S) { self = values ~= path }
    @_disfavoredOverload
    public init<V: AttributeValue, S: Sequence<V>>(_ path: KeyPath<T, V?>, isMemberOf values: S) { self = values ~= path }
    @_disfavoredOverload
    public init<R: QueryRange>(_ path: KeyPath<T, R.Bound>, isMemberOf range: R) where R.Bound: AttributeValue { self = range ~= path }
    @_disfavoredOverload
    public init<R: QueryRange>(_ path: KeyPath<T, R.Bound?>, isMemberOf range: R) where R.Bound: AttributeValue { self = range ~= path }

    /// Creates a range condition: `Where("age", isMemberOf: 18...65)`; the same as `18...65 ~= %"age"`.
    public init<R: QueryRange>(_ key: String, isMemberOf range: R) where R.Bound: QueryArgument { self = range ~= QueryKey(key) }

    /// Creates a membership condition: `Where("name", isMemberOf: ["Jane", "John"])`.
    @_disfavoredOverload
    public init<S: Sequence>(_ key: String, isMemberOf values: S) where S.Element: QueryArgument {
        if let range = values as? any QueryRange, let bounds = range.operands {
            self.init(.within(.path(PropertyPath(dotted: key)), bounds))
            return
        }
        self.init(.comparison(Comparison(.path(PropertyPath(dotted: key)), .oneOf, .list(values.map(\.operand)))))
    }

    /// Creates a conjunction of conditions by key: equal to a value, within a range, or member of a list.
    ///
    ///     Where(["age": 30...40, "name": ["Jane", "John"], "department.title": "Research", "nickname": nil])
    public init(_ conditions: [String: (any QueryArgument)?]) {
        self.init(
            .and(
                conditions.sorted { $0.key < $1.key }.map { key, value in
                    .comparison(
                        Comparison(.path(PropertyPath(dotted: key)), (value?.dictionaryOperator ?? .equal), value?.operand ?? .null))
                }))
    }

    /// Returns the conjunction of two conditions. The form of ashevin's CoreDataStack for chains of conditions; the same as `&&`.
    public func and(_ other: Where<T>) -> Where<T> { self && other }
    /// Returns the disjunction of two conditions. The form of ashevin's CoreDataStack for chains of conditions; the same as `||`.
    public func or(_ other: Where<T>) -> Where<T> { self || other }
    /// Returns the conjunction with conditions by key; the same as `&& Where(conditions)`.
    public func and(_ conditions: [String: (any QueryArgument)?]) -> Where<T> { self && Where(conditions) }
    /// Returns the disjunction with conditions by key; the same as `|| Where(conditions)`.
    public func or(_ conditions: [String: (any QueryArgument)?]) -> Where<T> { self || Where(conditions) }
}

extension QueryArgument {
    /// The operator that a dictionary applies to a value of this kind.
    fileprivate var dictionaryOperator: Comparison.Operator {
        switch operand {
        case .range: .between
        case .list: .oneOf
        default: .equal
        }
    }
}

extension Operand {
    /// Creates an argument of a format string from a value of unknown type.
    fileprivate init(argument: Any?, position: Int) throws {
        guard let operand = Operand(of: argument) else {
            throw StoreError(
                .invalidPredicate,
                "Argument \(position + 1) is a \(Swift.type(of: argument ?? ())), which cannot be compared with what a store holds. Pass a value of an attribute's "
                    + "type, an object, an enumeration with raw values, or a list or range of these.")
        }
        self = operand
    }

    /// Creates an operand from a value of unknown type; nil if the type is not supported.
    package init?(of argument: Any?) {
        guard let operand = Self.operand(of: argument) else { return nil }
        self = operand
    }

    private static func operand(of argument: Any?) -> Operand? {
        guard let argument else { return .null }
        switch argument {
        case let argument as any QueryArgument: return argument.operand
        case let raw as any RawRepresentable: return (raw.rawValue as? any QueryArgument)?.operand
        case let range as any QueryRange:
            let bounds = range.anyBounds
            let (low, high) = (bounds.low.map { operand(of: $0) }, bounds.high.map { operand(of: $0) })
            guard low != .some(nil), high != .some(nil) else { return nil }
            return .range(low: low ?? nil, high: high ?? nil, includesHigh: bounds.includesHigh)
        case let values as any Collection:
            let elements = values.map { operand(of: $0) }
            return elements.contains(nil) || values is String ? nil : .list(elements.compactMap { $0 })
        // A nested optional.
        default:
            let mirror = Mirror(reflecting: argument)
            guard mirror.displayStyle == .optional else { return nil }
            return operand(of: mirror.children.first?.value)
        }
    }
}

extension QueryRange {
    fileprivate var anyBounds: (low: Any?, high: Any?, includesHigh: Bool) {
        let bounds = queryBounds
        return (bounds.low, bounds.high, bounds.includesHigh)
    }
}
