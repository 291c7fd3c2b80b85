import Foundation
import PolyStoreBackend

/// What can stand in a condition beside names: an argument of a format string, the right side of `%"age" > 30`, a value of a dictionary.
public protocol QueryArgument {
    /// As a side of a comparison.
    var queryOperand: Operand { get }
}

extension AttributeValue {
    public var queryOperand: Operand {
        let value = attributeValue
        return value.isNull ? .null : .constant(value, Self.attributeType)
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
extension Substring: QueryArgument { public var queryOperand: Operand { String(self).queryOperand } }
extension Character: QueryArgument { public var queryOperand: Operand { String(self).queryOperand } }

extension Optional: QueryArgument where Wrapped: QueryArgument {
    public var queryOperand: Operand { self?.queryOperand ?? .null }
}

extension Array: QueryArgument where Element: QueryArgument {
    public var queryOperand: Operand { .list(map(\.queryOperand)) }
}

/// In no particular order.
extension Set: QueryArgument where Element: QueryArgument {
    public var queryOperand: Operand { .list(map(\.queryOperand)) }
}

/// The two ends, for `BETWEEN`.
extension ClosedRange: QueryArgument where Bound: QueryArgument {
    public var queryOperand: Operand { .list([lowerBound.queryOperand, upperBound.queryOperand]) }
}

extension ObjectID: QueryArgument {
    public var queryOperand: Operand { .object(entity: T.storedEntityName, id: key, store: entry.store.storeID) }
}

/// An object stands for its id: `Where("department == %@", research)`.
extension Model {
    public var queryOperand: Operand { objectID.queryOperand }
}

/// A side of a comparison that is made already.
extension Operand: QueryArgument {
    public var queryOperand: Operand { self }
}

extension RawRepresentable where RawValue: QueryArgument {
    public var queryOperand: Operand { rawValue.queryOperand }
}

extension Where {
    /// A condition in the language of format strings; see `docs/query-language.md`.
    ///
    ///     Where("age > %d AND name BEGINSWITH[c] %@", 30, "ja")
    ///     Where("%K == %@", "department.title", "Research")
    ///
    /// A wrong string is told by the fetch: what is wrong, where, and what was expected.
    public init(_ format: String, _ arguments: (any QueryArgument)?...) { self.init(format: format, arguments: arguments) }

    /// - Parameter variables: what `$name` in the format stands for.
    public init(format: String, arguments: [(any QueryArgument)?] = [], variables: [String: (any QueryArgument)?] = [:]) {
        self.init {
            try Condition(
                format: format, arguments: arguments.map { $0?.queryOperand ?? .null },
                variables: variables.mapValues { $0?.queryOperand ?? .null })
        }
    }

    /// `Where("name", isEqualTo: "Jane")`; with nil, objects without a value.
    public init(_ key: String, isEqualTo value: (any QueryArgument)?) {
        self.init(.comparison(Comparison(.path(PropertyPath(dotted: key)), .equal, value?.queryOperand ?? .null)))
    }

    /// `Where("age", isMemberOf: 18...65)`: a range of any shape.
    public init<R: QueryRange>(_ key: String, isMemberOf range: R) where R.Bound: QueryArgument { self = range ~= QueryKey(key) }

    /// `Where("name", isMemberOf: ["Jane", "John"])`
    @_disfavoredOverload
    public init<S: Sequence>(_ key: String, isMemberOf values: S) where S.Element: QueryArgument {
        if let range = values as? any QueryRange, let bounds = range.operands {
            self.init(.within(.path(PropertyPath(dotted: key)), bounds))
            return
        }
        self.init(.comparison(Comparison(.path(PropertyPath(dotted: key)), .oneOf, .list(values.map(\.queryOperand)))))
    }

    /// Objects that satisfy all of some conditions, by key: equal to a value, within a closed range, or one of a list.
    ///
    ///     Where(["age": 30...40, "name": ["Jane", "John"], "department.title": "Research", "nickname": nil])
    public init(_ conditions: [String: (any QueryArgument)?]) {
        self.init(
            .and(
                conditions.sorted { $0.key < $1.key }.map { key, value in
                    .comparison(
                        Comparison(.path(PropertyPath(dotted: key)), (value?.dictionaryOperator ?? .equal), value?.queryOperand ?? .null))
                }))
    }

    public func and(_ other: Where<T>) -> Where<T> { self && other }
    public func or(_ other: Where<T>) -> Where<T> { self || other }
    public func and(_ conditions: [String: (any QueryArgument)?]) -> Where<T> { self && Where(conditions) }
    public func or(_ conditions: [String: (any QueryArgument)?]) -> Where<T> { self || Where(conditions) }
}

extension QueryArgument {
    /// What a dictionary asks of a value of this kind.
    fileprivate var dictionaryOperator: Comparison.Operator {
        if self is any ClosedRangeArgument { return .between }
        if case .list = queryOperand { return .oneOf }
        return .equal
    }
}

private protocol ClosedRangeArgument {}
extension ClosedRange: ClosedRangeArgument {}
