import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

extension BatchChanges {
    /// Sets a property to a value that is computed from each object.
    ///
    ///     try transaction.batchUpdate(From<Order>().where { $0.isOpen }) {
    ///         $0.set(\.total) { $0.price * $0.quantity }
    ///         $0.set(\.label) { ($0.quantity > 100).then("large", else: $0.label) }
    ///     }
    ///
    /// The values of other objects that it uses are those before the update. A null that the property cannot have, such as that of an overflow, cancels the update
    /// with `invalidValue`.
    public mutating func set<V>(_ path: KeyPath<T, V>, columns value: (Columns<T>) -> Column<V>) {
        set(path, computing: value(Columns())._$value)
    }
    /// Sets an optional property to a value that is computed from each object.
    @_disfavoredOverload
    public mutating func set<V>(_ path: KeyPath<T, V?>, columns value: (Columns<T>) -> Column<V>) {
        set(path, computing: value(Columns())._$value)
    }

    private mutating func set(_ path: PartialKeyPath<T>, computing value: ColumnValue) {
        set(path, computing: { try value.selected(in: T.self) })
    }
}
