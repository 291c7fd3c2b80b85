public import PolyStoreAttributes
public import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

/// A key of an order by columns: a column, or `$0.age.descending`.
public protocol ColumnSortKey {
    /// The column and its direction.
    var _$order: ColumnOrder { get }
}

extension Column: ColumnSortKey {
    public var _$order: ColumnOrder { ColumnOrder(_$value) }
}

/// A column with a direction.
public struct ColumnOrder: ColumnSortKey, Sendable, Hashable {
    private let value: ColumnValue
    private let isAscending: Bool
    private let nulls: SortKey.NullPlacement
    private let options: TextOptions

    init(_ value: ColumnValue, isAscending: Bool = true, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) {
        self.value = value
        self.isAscending = isAscending
        self.nulls = nulls
        self.options = options
    }

    public var _$order: ColumnOrder { self }

    func key<T: Model>(_ type: T.Type) -> OrderKey<T> {
        if let error = ColumnCondition.refusal(of: value.root, in: type) { return OrderKey(refusing: error) }
        switch value.form {
        case .field(let field): return OrderKey(field, ascending: isAscending, nulls: nulls, options: options)
        case .operand(let operand): return OrderKey(operand.withNumberedVariables, ascending: isAscending, nulls: nulls, options: options)
        case .failure(let error): return OrderKey(refusing: error)
        }
    }
}

/// An optional type, whose columns can be ordered as those of its values.
public protocol ColumnOptional {
    associatedtype Wrapped
}
extension Optional: ColumnOptional {}

extension Column where V: AttributeValue {
    /// The column in descending order: `.orderBy { $0.age.descending }`.
    public var descending: ColumnOrder { ColumnOrder(_$value, isAscending: false) }
    /// The column in descending order.
    /// - Parameters:
    ///   - nulls: The position of null values; by default, null is the smallest value.
    ///   - options: Options for comparing texts. Texts that are equal under these options are ordered by the next key.
    public func descending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, isAscending: false, nulls: nulls, options: options)
    }
    /// The column in ascending order, which is the default.
    public func ascending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, nulls: nulls, options: options)
    }
}

extension Column where V: RawRepresentable, V.RawValue: AttributeValue {
    @_disfavoredOverload public var descending: ColumnOrder { ColumnOrder(_$value, isAscending: false) }
    @_disfavoredOverload public func descending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, isAscending: false, nulls: nulls, options: options)
    }
    @_disfavoredOverload public func ascending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, nulls: nulls, options: options)
    }
}

extension Column where V: ColumnOptional, V.Wrapped: AttributeValue {
    public var descending: ColumnOrder { ColumnOrder(_$value, isAscending: false) }
    public func descending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, isAscending: false, nulls: nulls, options: options)
    }
    public func ascending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, nulls: nulls, options: options)
    }
}

extension Column where V: ColumnOptional, V.Wrapped: RawRepresentable, V.Wrapped.RawValue: AttributeValue {
    @_disfavoredOverload public var descending: ColumnOrder { ColumnOrder(_$value, isAscending: false) }
    @_disfavoredOverload public func descending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, isAscending: false, nulls: nulls, options: options)
    }
    @_disfavoredOverload public func ascending(nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> ColumnOrder {
        ColumnOrder(_$value, nulls: nulls, options: options)
    }
}

extension ClauseChain {
    /// Appends the sort keys of an order by columns: `.orderBy { $0.name }`, `.orderBy { ($0.name, $0.age.descending) }`.
    public func orderBy<each K: ColumnSortKey>(columns keys: (Columns<Entity>) -> (repeat each K)) -> Chained {
        let columns = keys(Columns())
        var order: [OrderKey<Entity>] = []
        for key in repeat each columns { order.append(key._$order.key(Entity.self)) }
        return orderBy(OrderBy(order))
    }
}
