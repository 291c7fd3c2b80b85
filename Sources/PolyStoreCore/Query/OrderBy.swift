import PolyStoreBackend

/// One key of an order: `.ascending(\.name)`.
public struct OrderKey<T: Model>: Sendable {
    let key: SortKey?
    let error: StoreError?

    private init(_ path: PartialKeyPath<T>, _ ascending: Bool, _ nulls: SortKey.NullPlacement) {
        do {
            key = SortKey(try T._$properties.field(path), ascending: ascending, nulls: nulls)
            error = nil
        } catch let caught {
            key = nil
            error = caught as? StoreError
        }
    }

    /// Smallest first. `nulls` says where missing values stand; by default they are the smallest.
    public static func ascending<V>(_ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest) -> OrderKey<T> {
        OrderKey(path, true, nulls)
    }

    /// Greatest first.
    public static func descending<V>(_ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest) -> OrderKey<T> {
        OrderKey(path, false, nulls)
    }
}

/// The order of a fetch. Without one, or among equals, objects come in the order of their ids.
public struct OrderBy<T: Model>: Sendable, FetchClause {
    let keys: [SortKey]
    let error: StoreError?

    public init(_ keys: OrderKey<T>...) { self.init(keys) }

    public init(_ keys: [OrderKey<T>]) {
        // Closures, not key paths: those of a generic type are made anew each time, for more than the rest of a small fetch costs.
        self.keys = keys.compactMap { $0.key }
        error = keys.first { $0.error != nil }?.error
    }

    private init(keys: [SortKey], error: StoreError?) {
        self.keys = keys
        self.error = error
    }

    public static func + (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> {
        OrderBy(keys: left.keys + right.keys, error: left.error ?? right.error)
    }

    public static func += (left: inout OrderBy<T>, right: OrderBy<T>) { left = left + right }

    public static func | (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> { left + right }

    public func apply(to chain: inout FetchChain<T>) { chain.order = (chain.order ?? OrderBy(keys: [], error: nil)) + self }
}
