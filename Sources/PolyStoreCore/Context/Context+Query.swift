import PolyStoreBackend

extension Context {
    /// A value worked out over all objects that match, without making any of them. Reads what is committed, unless
    /// `tweak { $0.includesPendingChanges = true }` tells a transaction to count what it has pending.
    ///
    ///     let average = try context.queryValue(From<Person>().where(\.age > 17), .average(\.age))
    public func queryValue<S: FetchSource, Result>(_ source: S, _ aggregate: AggregateOf<S.Entity, Result>) throws -> Result {
        if let error = aggregate.error { throw error }
        let (rows, entity) = try aggregates(source.chain, by: [], [aggregate.aggregate])
        return try aggregate.decode(rows.first?.values.first ?? .null, entity)
    }

    /// Values worked out over the objects of each group: those with one value in an attribute. The groups come in ascending order.
    ///
    ///     for group in try context.queryGroups(From<Person>(), by: \.city, .count, .average(\.age)) {
    ///         let (count, average) = group.values
    ///     }
    public func queryGroups<S: FetchSource, Key: AttributeValue, each Result>(
        _ source: S, by path: KeyPath<S.Entity, Key>, _ aggregate: repeat AggregateOf<S.Entity, each Result>
    ) throws -> [QueryGroup<Key, (repeat each Result)>] {
        let field = try S.Entity._$properties.field(path)
        return try groups(source.chain, field, repeat each aggregate).map { value, decoder, results in
            guard let key: Key = try decoder.decode(value, field) else {
                throw StoreError(
                    .corrupt, "\(S.Entity._$entityName).\(field.name) is missing in an object, and it is not optional.",
                    entity: S.Entity._$entityName, attribute: field.name)
            }
            return QueryGroup(key: key, values: results)
        }
    }

    /// The same by an optional attribute: the objects without a value are a group of their own, the first.
    public func queryGroups<S: FetchSource, Key: AttributeValue, each Result>(
        _ source: S, by path: KeyPath<S.Entity, Key?>, _ aggregate: repeat AggregateOf<S.Entity, each Result>
    ) throws -> [QueryGroup<Key?, (repeat each Result)>] {
        let field = try S.Entity._$properties.field(path)
        return try groups(source.chain, field, repeat each aggregate).map { value, decoder, results in
            QueryGroup(key: try decoder.decode(value, field), values: results)
        }
    }

    private func groups<T: Model, each Result>(
        _ chain: FetchChain<T>, _ field: FieldReference, _ aggregate: repeat AggregateOf<T, each Result>
    ) throws -> [(Value, ValueDecoder, (repeat each Result))] {
        var wanted: [Aggregate] = []
        for one in repeat each aggregate {
            if let error = one.error { throw error }
            wanted.append(one.aggregate)
        }
        let (rows, entity) = try aggregates(chain, by: [field], wanted)
        let decoder = ValueDecoder(entity)
        return try rows.map { row in
            var values = row.values.makeIterator()
            return (row.group[0], decoder, (repeat try (each aggregate).decode(values.next() ?? .null, entity)))
        }
    }

    private func aggregates<T: Model>(_ chain: FetchChain<T>, by fields: [FieldReference], _ aggregates: [Aggregate]) throws -> (
        [AggregateRow], Entity
    ) {
        guard chain.options.limit == nil, chain.options.offset == 0 else {
            throw StoreError(
                .invalidPredicate, "A limit or an offset cuts objects, and a query of values has none. Leave them out.",
                entity: T._$entityName)
        }
        let fetch = try resolve(chain)
        let parts = fetch.parts.map { part in
            (part.entry, AggregateRequest(part.entry.entity, predicate: part.request.predicate, groupBy: fields, aggregates: aggregates))
        }
        let options = fetch.options.ofQuery
        let began = startTiming()
        defer { if began != 0 { endTiming(began, "Query", parts.map { ($0.0, $0.1.source) }) } }
        if parts.count == 1, !(options.includesPendingChanges && self is Transaction) {
            return (try storage(parts[0].0.store).aggregate(parts[0].1), parts[0].0.entity)
        }
        // Averages of averages would be wrong, so the records of all stores go through one evaluator.
        let evaluator = AggregateEvaluator(parts[0].1)
        for (entry, request) in parts {
            try request.validate()
            let cursor = try rows(entry, request.source, options)
            defer { cursor.close() }
            try evaluator.add(cursor)
        }
        return (try evaluator.finish(), parts[0].0.entity)
    }
}
