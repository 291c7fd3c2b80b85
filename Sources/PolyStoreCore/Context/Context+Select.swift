import PolyStoreBackend

// Queries of values: `queryValue(From<Person>(), Select<Double>(.average(\.age)), Where(…), GroupBy(…), Having(…), OrderBy(…), Tweak {…})`, any of the
// clauses left out. Key paths in them need no root.

extension Context {
    /// One value: the first of what the query finds, without making objects. Reads what is committed, unless `Tweak { $0.includesPendingChanges = true }` tells a
    /// transaction to count what it has pending.
    ///
    ///     try context.queryValue(From<Person>(), Select<Double>(.average(\.age)), Where(\.city == "Kobe"))
    ///     try context.queryValue(From<Person>(), Select<Int>("age"), OrderBy(.descending(\.age)))
    ///
    /// - Returns: nil if nothing is found, if the value is null, and if it does not fit the type; of nothing, counts and sums are 0.
    /// - Throws: `invalidPredicate` with what is wrong and where.
    public func queryValue<S: FetchSource, V: QueryResult>(
        _ source: S, _ select: Select<V>, _ clauses: any QueryClause<S.Entity>...
    ) throws -> V? {
        try firstValue(source.query(clauses), select)
    }

    /// Values of each object, or, with functions or `GroupBy`, worked out over groups of objects, without making any of them: a dictionary for each, in
    /// which null values are absent. Groups come in ascending order unless `OrderBy` says another. Reads what is committed, as ``queryValue(_:_:)-(S,Select<V>)``.
    ///
    ///     try context.queryAttributes(
    ///         From<Person>(), Select("age", .count("age", as: "people")), GroupBy("age"), Having("people > 1"), OrderBy(.descending("people")))
    ///
    /// - Throws: `invalidPredicate` with what is wrong and where.
    public func queryAttributes<S: FetchSource>(
        _ source: S, _ select: Select<QueryRow>, _ clauses: any QueryClause<S.Entity>...
    ) throws -> [QueryRow] {
        try dictionaries(source.query(clauses), select)
    }

    private func firstValue<T: Model, V: QueryResult>(_ query: ValueQuery<T>, _ select: Select<V>) throws -> V? {
        var query = query
        query.chain.options.limit = min(query.chain.options.limit ?? 1, 1)
        let plan = try ValuePlan(query, select.terms, self)
        return try timed(plan) { try plan.isGrouped ? plan.groups() : plan.rows() }.first?.first?.flatMap { $0.as(V.self) }
    }

    private func dictionaries<T: Model>(_ query: ValueQuery<T>, _ select: Select<QueryRow>) throws -> [QueryRow] {
        let plan = try ValuePlan(query, select.terms, self)
        return try timed(plan) { try plan.isGrouped ? plan.groups() : plan.rows() }.map { row in
            var dictionary = QueryRow(minimumCapacity: row.count)
            for (name, value) in zip(plan.names, row) { dictionary[name] = value }
            return dictionary
        }
    }

    /// Logs a query that takes long.
    private func timed<T: Model>(_ plan: ValuePlan<T>, _ body: () throws -> [[QueryValue?]]) rethrows -> [[QueryValue?]] {
        let began = startTiming()
        defer {
            if began != 0 {
                endTiming(
                    began, "Query",
                    plan.entries.map { entry in
                        (entry, FetchRequest(entry.entity, predicate: (try? predicate(plan.query.chain, entry)) ?? .all))
                    })
            }
        }
        return try body()
    }
}

extension FetchSource {
    /// The clauses applied in order.
    fileprivate func query(_ clauses: [any QueryClause<Entity>]) -> ValueQuery<Entity> {
        var query = ValueQuery(chain)
        for clause in clauses { clause.add(to: &query) }
        return query
    }
}
