import PolyStoreBackend

/// One key of an order: `.ascending(\.name)`, `.descending("department.title")`.
public struct OrderKey<T: Model>: Sendable {
    fileprivate enum Form: Sendable {
        case plain(SortKey)
        /// Names that only a store's schema can look up.
        case open(@Sendable (Context, StoreEntity) throws -> QueryExpression, ascending: Bool, SortKey.NullPlacement, TextOptions)
    }

    fileprivate let form: Form
    /// What was written, for queries of values, which also look among their own results.
    let name: QueryName

    private init(_ path: PartialKeyPath<T>, _ ascending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions) {
        name = .path(path)
        if options.isEmpty, let field = T._$properties.knownField(path) {
            form = .plain(SortKey(field, ascending: ascending, nulls: nulls))
        } else {
            nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
            form = .open({ context, entry in try context.expression(path, entry) }, ascending: ascending, nulls, options)
        }
    }

    private init(_ name: String, _ ascending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions) {
        self.name = .text(name)
        let path = PropertyPath(dotted: name)
        form = .open(
            { _, entry in try path.expression(for: entry.entity, in: entry.store.schema) }, ascending: ascending, nulls, options)
    }

    /// Smallest first. `nulls` says where missing values stand; by default they are the smallest.
    /// - Parameter options: what does not count in texts; texts that are then alike come in the order of the next key.
    public static func ascending<V>(
        _ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []
    ) -> OrderKey<T> {
        OrderKey(path, true, nulls, options)
    }

    /// Greatest first.
    public static func descending<V>(
        _ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []
    ) -> OrderKey<T> {
        OrderKey(path, false, nulls, options)
    }

    /// By the name of a property, or a path over relationships: `"department.title"`, `"friends.@count"`.
    public static func ascending(_ name: String, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> OrderKey<T> {
        OrderKey(name, true, nulls, options)
    }

    public static func descending(_ name: String, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> OrderKey<T> {
        OrderKey(name, false, nulls, options)
    }

    func key(_ context: Context, _ entry: StoreEntity) throws -> SortKey {
        switch form {
        case .plain(let key): return key
        case .open(let make, let ascending, let nulls, let options):
            return try Self.key(try make(context, entry), ascending, nulls, options, entry)
        }
    }

    /// By something else, in the same way.
    func key(by expression: QueryExpression, _ entry: StoreEntity) throws -> SortKey {
        switch form {
        case .plain(let key): SortKey(expression, ascending: key.ascending, nulls: key.nulls)
        case .open(_, let ascending, let nulls, let options): try Self.key(expression, ascending, nulls, options, entry)
        }
    }

    private static func key(
        _ expression: QueryExpression, _ ascending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions, _ entry: StoreEntity
    ) throws -> SortKey {
        guard options.isEmpty || expression.type.physical == .text else {
            throw StoreError(
                .invalidPredicate, "Only text has case and accents, and \(expression) is \(expression.type).", entity: entry.entity.name)
        }
        return SortKey(.folded(expression, options), ascending: ascending, nulls: nulls)
    }
}

/// The order of a fetch. Without one, or among equals, objects come in the order of their ids.
public struct OrderBy<T: Model>: Sendable, FetchClause {
    public typealias Entity = T

    let keys: [OrderKey<T>]

    public init(_ keys: OrderKey<T>...) { self.init(keys) }
    public init(_ keys: [OrderKey<T>]) { self.keys = keys }

    func keys(_ context: Context, _ entry: StoreEntity) throws -> [SortKey] { try keys.map { try $0.key(context, entry) } }

    public static func + (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> { OrderBy(left.keys + right.keys) }
    public static func += (left: inout OrderBy<T>, right: OrderBy<T>) { left = left + right }
    public static func | (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> { left + right }

    public func apply(to chain: inout FetchChain<T>) { chain.order = (chain.order ?? OrderBy([])) + self }
}

extension OrderKey {
    /// One key after the other: `OrderBy(.ascending(\.name) | .descending(\.age))`.
    public static func | (left: OrderKey<T>, right: OrderKey<T>) -> [OrderKey<T>] { [left, right] }
    public static func | (left: [OrderKey<T>], right: OrderKey<T>) -> [OrderKey<T>] { left + [right] }
}

extension PropertyPath {
    /// A path as it is written: names joined by dots.
    public init(dotted name: String) { self.init(name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)) }
}
