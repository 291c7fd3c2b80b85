import PolyStoreBackend
import PolyStoreConditions

// Queries of values: `queryValue(From<Person>(), Select<Double>(.average(\.age)), Where(…), GroupBy(…), Having(…), OrderBy(…), Tweak {…})`. All
// clauses after `Select` are optional, and their key paths need no root type.

extension Context {
    /// Returns the first value of a query, without creating objects. Pending changes of a transaction are included only with
    /// `Tweak { $0.includesPendingChanges = true }`.
    ///
    ///     try context.queryValue(From<Person>(), Select<Double>(.average(\.age)), Where(\.city == "Kobe"))
    ///     try context.queryValue(From<Person>(), Select<Int>("age"), OrderBy(.descending(\.age)))
    ///
    /// - Returns: nil if the result is empty, or if the value is null or not convertible to the type. The count and the sum of an empty result are 0.
    /// - Throws: `invalidPredicate` with the invalid part.
    public func queryValue<S: FetchSource, V: QueryResult>(
        _ source: S, _ select: Select<V>, _ clauses: [any QueryClause<S.Entity>]
    ) throws -> V? {
        try firstValue(source.query(clauses, select))
    }

    /// Returns values of each object, or aggregate values of groups if functions or `GroupBy` are used, without creating objects. Each dictionary
    /// omits null values. Groups are in ascending order unless `OrderBy` is given. Reads committed data, like `queryValue(_:_:)`.
    ///
    ///     try context.queryAttributes(
    ///         From<Person>(), Select("age", .count("age", as: "people")), GroupBy("age"), Having("people > 1"), OrderBy(.descending("people")))
    ///
    /// - Throws: `invalidPredicate` with the invalid part.
    public func queryAttributes<S: FetchSource>(
        _ source: S, _ select: Select<QueryRow>, _ clauses: [any QueryClause<S.Entity>]
    ) throws -> [QueryRow] {
        try dictionaries(source.query(clauses, select))
    }

    final func firstValue<T: Model, V: QueryResult>(_ chain: QueryChain<T, V>) throws -> V? {
        var query = chain.query
        query.chain.options.limit = min(query.chain.options.limit ?? 1, 1)
        let plan = try ValuePlan(query, chain.select.terms, self)
        return try results(plan).first?.first?.flatMap { $0.as(V.self) }
    }

    final func values<S: FetchSource, V>(_ source: S, _ select: Select<V>, _ clauses: [any QueryClause<S.Entity>]) throws -> [V] {
        let chain = source.query(clauses, select)
        let decoder = ResultDecoder(of: V.self)
        let plan = try ValuePlan(chain.query, chain.select.terms, self)
        return try results(plan).compactMap { row in
            guard let value = row.first ?? nil else { return nil }
            guard let found = try decoder.decode(value, self) as? V else {
                throw StoreError(.invalidValue, "\(plan.names[0]) is \(value), which is no \(V.self).", entity: S.Entity._$entityName)
            }
            return found
        }
    }

    final func dictionaries<T: Model>(_ chain: QueryChain<T, QueryRow>) throws -> [QueryRow] {
        let plan = try ValuePlan(chain.query, chain.select.terms, self)
        return try results(plan).map { row in
            var dictionary = QueryRow(minimumCapacity: row.count)
            for (name, value) in zip(plan.names, row) { dictionary[name] = value }
            return dictionary
        }
    }

    /// Returns the values of each object, or of each group if the query has groups or all values are aggregates; nil for null.
    /// - Parameter first: Whether only the first row is needed.
    package final func rows<T: Model>(_ query: ValueQuery<T>, selecting operands: [Operand], first: Bool = false) throws -> [[QueryValue?]]
    {
        if let operand = operands.first(where: \.computesWithAggregates) {
            throw StoreError(
                .invalidPredicate,
                "\(operand) computes with an aggregate, and a selection does not. Select the aggregate, and compute in Swift.",
                entity: T._$entityName)
        }
        var names: Set<String> = []
        let terms = operands.map { operand in
            // A plan has each name once.
            var name = QueryTerm(operand: operand).name
            while !names.insert(name).inserted { name += " " }
            return SelectTerm(nil, .operand(operand), name)
        }
        var plan = try ValuePlan(query, terms, self)
        if plan.isGrouped, plan.groupBy.isEmpty {
            try query.chain.refuseSlice()
        } else if first {
            var query = query
            query.chain.options.limit = min(query.chain.options.limit ?? 1, 1)
            plan = try ValuePlan(query, terms, self)
        }
        return try results(plan)
    }

    /// Returns the groups or the rows of a plan.
    private func results<T: Model>(_ plan: ValuePlan<T>) throws -> [[QueryValue?]] {
        try timed(plan) { try plan.isGrouped ? plan.groups() : plan.rows() }
    }

    /// Executes a query and logs it if it is slow.
    final func timed<T: Model, Rows>(_ plan: ValuePlan<T>, _ body: () throws -> Rows) throws -> Rows {
        beginReading()
        let began = startTiming()
        defer {
            if began != 0 {
                let requests = plan.entries.map { ($0, FetchRequest($0.entity, predicate: (try? predicate(plan.query.chain, $0)) ?? .all)) }
                endTiming(began, "Query", requests)
            }
            endReading()
        }
        return try limited(plan.options, body)
    }
}

extension FetchSource {
    /// Applies the clauses in order.
    fileprivate func query<Result>(_ clauses: [any QueryClause<Entity>], _ select: Select<Result>) -> QueryChain<Entity, Result> {
        var query = ValueQuery(chain)
        for clause in clauses { clause.add(to: &query) }
        if select.isDistinct { query.chain.options.returnsDistinctResults = true }
        return QueryChain(query: query, select: select)
    }
}
