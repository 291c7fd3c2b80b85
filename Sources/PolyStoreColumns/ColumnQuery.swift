import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

/// A query of values by columns. Its rows are tuples, or single values.
///
///     From<Person>().select { ($0.city, $0.objectID.count, $0.age.average) }.groupBy { $0.city }
///
/// Without ``groupBy(columns:)``, it has a row for each object, or one row if all columns are aggregates. Execute it with `queryRows` or `queryValue`.
public struct ColumnQuery<T: Model, Row>: ClauseChain {
    private var query: ValueQuery<T>
    private let selected: SelectedColumns
    private let make: @Sendable (inout ColumnRow) throws -> Row

    init(_ query: ValueQuery<T>, _ selected: SelectedColumns, _ make: @escaping @Sendable (inout ColumnRow) throws -> Row) {
        (self.query, self.selected, self.make) = (query, selected, make)
    }

    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> ColumnQuery { with { change(&$0.chain) } }

    /// Adds keys that define the groups: `.groupBy { $0.city }`, `.groupBy { ($0.city, $0.job) }`. The query returns one row for each group, in ascending order of
    /// the keys unless it has an order. Objects whose value is null form a group.
    public func groupBy<each V>(columns keys: (Columns<T>) -> (repeat Column<each V>)) -> ColumnQuery { adding(GroupBy(columns: keys)) }

    /// Adds a condition on groups, on their keys and aggregates: `.having { $0.age.average > 30 }`. Several conditions are joined by "and".
    public func having(@ConditionBuilder columns condition: (Columns<T>) -> ColumnCondition) -> ColumnQuery {
        adding(Having(columns: condition))
    }

    /// Returns only distinct rows.
    public func distinct() -> ColumnQuery { with { $0.chain.options.returnsDistinctResults = true } }

    private func adding(_ clause: some QueryClause<T>) -> ColumnQuery { with { clause.add(to: &$0) } }

    private func with(_ change: (inout ValueQuery<T>) -> Void) -> ColumnQuery {
        var copy = self
        change(&copy.query)
        return copy
    }

    // MARK: Execution

    private func values(_ context: Context, first: Bool) throws -> [[QueryValue?]] {
        try context.rows(query, selecting: try selected.values.map { try $0.selected(in: T.self) }, first: first)
    }

    func rows(_ context: Context, first: Bool = false) throws -> [Row] {
        for (column, decoder) in zip(selected.values, selected.decoders) { try decoder.check(column, T._$entityName) }
        let rows = try values(context, first: first)
        return try withExtendedLifetime(selected.objects(of: rows, context)) {
            try rows.map { values in
                var row = ColumnRow(values, selected, context, T._$entityName)
                return try make(&row)
            }
        }
    }

    /// The names of the columns.
    fileprivate var names: [String] {
        get throws {
            let names = try selected.values.map { try $0.rowName }
            for (index, name) in names.enumerated() where names[..<index].contains(name) {
                throw StoreError(
                    .invalidPredicate,
                    "Two selected columns are called \"\(name)\". Name one of them with `as`: $0.age.average.as(\"mean\").",
                    entity: T._$entityName)
            }
            return names
        }
    }

    func dictionaries(_ context: Context) throws -> [QueryRow] {
        let names = try names
        return try values(context, first: false).map { values in
            var row = QueryRow(minimumCapacity: values.count)
            for (name, value) in zip(names, values) { row[name] = value }
            return row
        }
    }
}

extension ColumnQuery: ReadableQuery {
    public func _$result(in context: Context) throws -> [Row] { try rows(context) }

    /// Returns the query with rows of a `Decodable` type, whose keys are the names of the columns; see ``Column/as(_:)``.
    ///
    ///     struct Total: Decodable, Equatable { let city: String, average: Double? }
    ///     stack.values(of: From<Person>().select { ($0.city, $0.age.average.as("average")) }.groupBy { $0.city }.decoding(Total.self))
    public func decoding<Value: Decodable>(_ type: Value.Type) -> DecodedQuery<T, Row, Value> { DecodedQuery(query: self) }
}

/// A query of values by columns whose rows are decoded to a `Decodable` type.
public struct DecodedQuery<T: Model, Row, Value: Decodable>: ReadableQuery {
    fileprivate let query: ColumnQuery<T, Row>

    public func _$result(in context: Context) throws -> [Value] {
        let names = try query.names
        return try query.dictionaries(context).map { try RowDecoder.decode(Value.self, $0, names, T._$entityName) }
    }
}

// swift-format-ignore: AmbiguousTrailingClosureOverload
extension FetchSource {
    /// Selects columns of each object or group; see ``ColumnQuery``.
    ///
    ///     From<Person>().select { $0.name }                                            // rows of String
    ///     From<Person>().select { ($0.job, $0.objectID.count) }.groupBy { $0.job }     // rows of (Job, Int)
    ///
    /// The type of a column is that of its property. A column that a to-one relationship leads to is null without an object: select
    /// `$0.department.title.orNil`, or give a value with `??`.
    // A pack of one type is a tuple of one element, so one column has an overload of its own.
    @_disfavoredOverload
    public func select<each V>(columns: (Columns<Entity>) -> (repeat Column<each V>)) -> ColumnQuery<Entity, (repeat each V)> {
        let columns = columns(Columns())
        return ColumnQuery(ValueQuery(chain), SelectedColumns(repeat each columns)) { row in (repeat try row.next((each V).self)) }
    }

    /// Selects one column of each object or group: `.select { $0.name }`.
    public func select<V>(columns: (Columns<Entity>) -> Column<V>) -> ColumnQuery<Entity, V> {
        ColumnQuery(ValueQuery(chain), SelectedColumns(columns(Columns()))) { row in try row.next(V.self) }
    }
}

extension GroupBy {
    /// Creates a clause from columns: `GroupBy<Person> { ($0.city, $0.job) }`.
    public init<each V>(columns keys: (Columns<T>) -> (repeat Column<each V>)) {
        let columns = keys(Columns())
        var values: [ColumnValue] = []
        for column in repeat each columns { values.append(column._$value) }
        self.init(catching: { try values.map { try $0.selected(in: T.self) } })
    }
}

extension Having {
    /// Creates a condition on columns of groups: `Having<Person> { $0.age.average > 30 }`.
    public init(@ConditionBuilder columns condition: (Columns<T>) -> ColumnCondition) {
        let before = VariableNames.count
        let condition = condition(Columns()).numbered(before)
        self.init(catching: {
            if let error = condition.error ?? ColumnCondition.refusal(of: condition.root, in: T.self) { throw error }
            return condition.condition.byNames
        })
    }
}

extension ColumnValue {
    /// Returns the value by names.
    /// - Throws: `invalidPredicate` for a column of another fetch, and for one that no store can evaluate.
    func selected<T: Model>(in type: T.Type) throws -> Operand {
        if let error = ColumnCondition.refusal(of: root, in: type) { throw error }
        return try operand.withNumberedVariables
    }

    /// The name in a row.
    fileprivate var rowName: String {
        get throws {
            if let alias { return alias }
            if case .aggregate(.count, nil) = try operand { return "count" }
            return text
        }
    }
}

extension FetchableSource {
    /// Returns whether any object matches.
    ///
    ///     if try context.exists(From<Person>().where(\.email == "jane@example.com")) { … }
    public func exists<S: FetchSource>(_ source: S) throws -> Bool { try readingContext.fetchObjectID(source) != nil }
    public func exists<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> Bool {
        try readingContext.fetchObjectID(from.chain(clauses)) != nil
    }

    /// Returns the rows of a query by columns, in order.
    ///
    ///     for (job, count) in try context.queryRows(From<Person>().select { ($0.job, $0.objectID.count) }.groupBy { $0.job }) { … }
    ///
    /// - Throws: `invalidPredicate` with the invalid part; `invalidValue` if a column is null whose type is not optional.
    public func queryRows<T, Row>(_ query: ColumnQuery<T, Row>) throws -> [Row] { try query.rows(readingContext) }

    /// Returns the rows of a query by columns as values of a `Decodable` type, whose keys are the names of the columns; see ``Column/as(_:)``.
    ///
    ///     struct Total: Decodable { let city: String, average: Double? }
    ///     let totals = try context.queryRows(From<Person>().select { ($0.city, $0.age.average.as("average")) }.groupBy { $0.city }, as: Total.self)
    ///
    /// - Throws: `invalidValue` if a row does not fit the type.
    public func queryRows<T, Row, Value: Decodable>(_ query: ColumnQuery<T, Row>, as type: Value.Type) throws -> [Value] {
        try query.decoding(type)._$result(in: readingContext)
    }

    /// Returns the rows of a query by columns as dictionaries, without null values.
    public func queryAttributes<T, Row>(_ query: ColumnQuery<T, Row>) throws -> [QueryRow] { try query.dictionaries(readingContext) }

    /// Returns the first row of a query by columns: `queryValue(From<Person>().select { $0.age.maximum })`; nil if there is none.
    public func queryValue<T, Row>(_ query: ColumnQuery<T, Row>) throws -> Row? { try query.rows(readingContext, first: true).first }
    /// Returns the first row of a query by columns of one optional value, such as an aggregate; nil if there is none.
    public func queryValue<T, Value>(_ query: ColumnQuery<T, Value?>) throws -> Value? {
        try query.rows(readingContext, first: true).first ?? nil
    }

    /// Returns aggregates of groups of objects with equal values, in ascending order of these.
    ///
    ///     for group in try context.queryGroups(From<Person>(), by: { $0.job }, select: { ($0.objectID.count, $0.age.average) }) {
    ///         let (count, average) = group.values
    ///     }
    @_disfavoredOverload
    public func queryGroups<S: FetchSource, Key, each V>(
        _ source: S, by key: (Columns<S.Entity>) -> Column<Key>, select columns: (Columns<S.Entity>) -> (repeat Column<each V>)
    ) throws -> [QueryGroup<Key, (repeat each V)>] {
        try source.chain.refuseSlice()
        let (key, columns) = (key(Columns()), columns(Columns()))
        let selected = SelectedColumns(key, repeat each columns)
        let query = ColumnQuery<S.Entity, QueryGroup<Key, (repeat each V)>>(ValueQuery(source.chain), selected) { row in
            QueryGroup(key: try row.next(Key.self), values: (repeat try row.next((each V).self)))
        }
        return try query.groupBy { _ in key }.rows(readingContext)
    }

    /// Returns an aggregate of groups of objects with equal values, in ascending order of these.
    public func queryGroups<S: FetchSource, Key, V>(
        _ source: S, by key: (Columns<S.Entity>) -> Column<Key>, select column: (Columns<S.Entity>) -> Column<V>
    ) throws -> [QueryGroup<Key, V>] {
        try source.chain.refuseSlice()
        let key = key(Columns())
        let query = ColumnQuery<S.Entity, QueryGroup<Key, V>>(ValueQuery(source.chain), SelectedColumns(key, column(Columns()))) { row in
            QueryGroup(key: try row.next(Key.self), values: try row.next(V.self))
        }
        return try query.groupBy { _ in key }.rows(readingContext)
    }
}
