import PolyStoreBackend
import PolyStoreQuery

extension Context {
    /// Returns an aggregate value of all matching objects, without creating objects. Pending changes of a transaction are included only with
    /// `tweak { $0.includesPendingChanges = true }`.
    ///
    ///     let average = try context.queryValue(From<Person>().where(\.age > 17), .average(\.age))
    public func queryValue<S: FetchSource, Result>(_ source: S, _ aggregate: AggregateOf<S.Entity, Result>) throws -> Result {
        if let error = aggregate.error { throw error }
        let (rows, entity) = try aggregates(source.chain, by: [], [aggregate.aggregate])
        return try aggregate.decode(rows.first?.values.first ?? .null, entity)
    }

    /// Returns aggregate values of groups of objects with equal values of an attribute, in ascending order of that value.
    ///
    ///     for group in try context.queryGroups(From<Person>(), by: \.city, .count, .average(\.age)) {
    ///         let (count, average) = group.values
    ///     }
    ///
    /// The typed form, by one attribute. ``queryAttributes(_:_:_:)`` returns dictionaries and accepts several keys, conditions on groups and their order.
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

    /// Returns aggregate values of groups by an optional attribute. Objects without a value form the first group.
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
        // Averages of several stores cannot be combined, so one evaluator processes the records of all stores.
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
