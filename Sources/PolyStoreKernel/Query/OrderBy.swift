public import Foundation
import PolyStoreBackend
import PolyStoreConditions

/// A sort key: `.ascending(\.name)`, `.descending("department.title")`.
///
/// Two keys are equal if they have the same key path or name, direction, null placement and text options. A key path and a name are never equal.
public struct OrderKey<T: Model>: Sendable, Hashable {
    fileprivate enum Form: Sendable {
        case plain(SortKey)
        /// A key with names that are resolved against the schema of a store.
        case open(@Sendable (Context, StoreEntity) throws -> QueryExpression)

        /// Returns a key that reads a path of names.
        static func reading(_ path: PropertyPath) -> Form {
            .open { _, entry in try path.expression(for: entry.entity, in: entry.store.schema) }
        }
    }

    fileprivate let form: Form
    /// The original name, for queries of values, which resolve it among their own columns first.
    let name: QueryName
    private let isAscending: Bool
    private let nulls: SortKey.NullPlacement
    private let options: TextOptions

    private init(
        _ form: Form, _ name: QueryName, _ ascending: Bool = true, _ nulls: SortKey.NullPlacement = .smallest, _ options: TextOptions = []
    ) {
        self.form = form
        self.name = name
        (isAscending, self.nulls, self.options) = (ascending, nulls, options)
    }

    private init(_ path: PartialKeyPath<T>, _ ascending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions) {
        let form: Form
        if options.isEmpty, let field = T._$properties.knownField(path) {
            form = .plain(SortKey(field, ascending: ascending, nulls: nulls))
        } else {
            nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
            form = .open { context, entry in try context.expression(path, entry) }
        }
        self.init(form, .path(path), ascending, nulls, options)
    }

    private init(_ name: String, _ ascending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions) {
        self.init(.reading(PropertyPath(dotted: name)), .text(name), ascending, nulls, options)
    }

    /// Creates a key from a value by names.
    package init(_ operand: Operand, ascending: Bool, nulls: SortKey.NullPlacement, options: TextOptions) {
        let form = Form.open { _, entry in try operand.resolved(for: entry.entity, in: entry.store.schema).expression }
        self.init(form, .operand(operand), ascending, nulls, options)
    }

    /// Creates a key from a field of the class.
    package init(_ field: FieldReference, ascending: Bool, nulls: SortKey.NullPlacement, options: TextOptions) {
        let form = options.isEmpty ? Form.plain(SortKey(field, ascending: ascending, nulls: nulls)) : .open { _, _ in .field(field) }
        self.init(form, .operand(.path(PropertyPath([field.name]))), ascending, nulls, options)
    }

    /// Creates a key that the fetch refuses.
    package init(refusing error: StoreError) { self.init(.open { _, _ in throw error }, .text("")) }

    /// Creates a key from a Foundation descriptor; see ``OrderBy/init(_:_:)``.
    public init(_ descriptor: SortDescriptor<T>) {
        guard let path = descriptor.keyPath else {
            let form = Form.open { _, entry in
                throw StoreError(
                    .invalidPredicate, "A SortDescriptor without a key path cannot be evaluated by a store; order by a stored attribute.",
                    entity: entry.entity.name)
            }
            self.init(form, .text(""))
            return
        }
        self.init(path, descriptor.order == .forward, .smallest, [])
    }

    /// Returns an ascending key. `nulls` specifies the position of null values; by default, null is the smallest value.
    /// - Parameters:
    ///   - path: The attribute to order by, also of an object that to-one relationships lead to.
    ///   - nulls: The position of null values.
    ///   - options: Options for comparing texts. Texts that are equal under these options are ordered by the next key.
    public static func ascending<V>(
        _ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []
    ) -> OrderKey<T> {
        OrderKey(path, true, nulls, options)
    }

    /// Returns a descending key.
    public static func descending<V>(
        _ path: KeyPath<T, V>, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []
    ) -> OrderKey<T> {
        OrderKey(path, false, nulls, options)
    }

    /// Returns an ascending key, by the name of a property or by a path: `"department.title"`, `"friends.@count"`.
    public static func ascending(_ name: String, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> OrderKey<T> {
        OrderKey(name, true, nulls, options)
    }

    /// Returns a descending key, by the name of a property or by a path.
    public static func descending(_ name: String, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []) -> OrderKey<T> {
        OrderKey(name, false, nulls, options)
    }

    /// Returns a key for a random order that a seed determines: `From<Person>().orderBy(.random(seed: 42))`.
    ///
    /// The order depends on the seed and the row ids alone: one seed yields the same order on every backend and in every process, and another seed another one.
    /// Objects that are inserted or deleted do not change the order of the others. Objects are ordered by the shuffle of their row ids
    /// (`ScalarFunction.shuffle`), as by the text `"shuffle(objectID, 42)"`. Objects of several stores are merged in this order; those with equal row ids are
    /// in the order of the stores.
    ///
    /// With a limit, the first objects are a random sample: `.orderBy(.random(seed: 42)).limit(10)`. The query evaluates all objects that satisfy the
    /// condition, and needs memory for those of the sample only. ``random`` has a seed of its own each time.
    public static func random(seed: Int) -> OrderKey<T> {
        let operands: [Operand] = [.path(PropertyPath(["objectID"])), .constant(.integer(Int64(seed)), .int64)]
        return OrderKey(.function(.shuffle, operands), ascending: true, nulls: .smallest, options: [])
    }

    /// A key for a random order with a new seed each time it is made: `From<Person>().orderBy(.random).limit(1)`. See ``random(seed:)``.
    public static var random: OrderKey<T> { .random(seed: .random(in: .min ... .max)) }

    func key(_ context: Context, _ entry: StoreEntity) throws -> SortKey {
        switch form {
        case .plain(let key): return key
        case .open(let make): return try key(by: try make(context, entry), entry)
        }
    }

    /// Returns a backend sort key for another expression, with the same direction and options.
    func key(by expression: QueryExpression, _ entry: StoreEntity) throws -> SortKey {
        guard options.isEmpty || expression.type.physical == .text else {
            throw StoreError(
                .invalidPredicate, "Only text has case and accents, and \(expression) is \(expression.type).", entity: entry.entity.name)
        }
        return SortKey(.folded(expression, options), ascending: isAscending, nulls: nulls)
    }

    public static func == (left: OrderKey, right: OrderKey) -> Bool {
        left.name == right.name && left.isAscending == right.isAscending && left.nulls == right.nulls && left.options == right.options
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(isAscending)
        hasher.combine(nulls)
        hasher.combine(options)
    }
}

/// The order of a fetch. Ties, and fetches without an order, are ordered by row id.
public struct OrderBy<T: Model>: Sendable, Hashable, FetchClause {
    /// The class of the objects to sort.
    public typealias Entity = T

    let keys: [OrderKey<T>]

    /// Creates an order from sort keys.
    public init(_ keys: OrderKey<T>...) { self.init(keys) }
    public init(_ keys: [OrderKey<T>]) { self.keys = keys }

    /// Creates an order from Foundation descriptors. Texts are ordered by their bytes, regardless of the descriptor's comparator.
    ///
    /// A fetch with a descriptor that has no key path, such as one that compares whole objects, throws `invalidPredicate`.
    public init(_ descriptor: SortDescriptor<T>, _ others: SortDescriptor<T>...) { self.init(([descriptor] + others).map { OrderKey($0) }) }

    func keys(_ context: Context, _ entry: StoreEntity) throws -> [SortKey] { try keys.map { try $0.key(context, entry) } }

    /// Appends the keys of one order to those of another.
    public static func + (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> { OrderBy(left.keys + right.keys) }
    /// Appends the keys of another order.
    public static func += (left: inout OrderBy<T>, right: OrderBy<T>) { left = left + right }
    /// Appends the keys of one order to those of another. The form of CoreDataMonk; the same as `+`.
    public static func | (left: OrderBy<T>, right: OrderBy<T>) -> OrderBy<T> { left + right }

    /// Adds the order to a chain. The keys of several orders are appended.
    public func apply(to chain: inout FetchChain<T>) { chain.add(self) }
}

extension OrderKey {
    /// Combines sort keys: `OrderBy(.ascending(\.name) | .descending(\.age))`. The form of CoreDataMonk; the same as a comma.
    public static func | (left: OrderKey<T>, right: OrderKey<T>) -> [OrderKey<T>] { [left, right] }
    public static func | (left: [OrderKey<T>], right: OrderKey<T>) -> [OrderKey<T>] { left + [right] }
}

extension PropertyPath {
    /// Creates a path from names joined by dots.
    public init(dotted name: String) {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        // `errands[0]` is the member at a position.
        self.init(
            names.flatMap { name -> [String] in
                guard name.hasSuffix("]"), let opening = name.lastIndex(of: "["), opening > name.startIndex else { return [name] }
                return [String(name[..<opening]), name[opening...].uppercased()]
            })
    }
}
