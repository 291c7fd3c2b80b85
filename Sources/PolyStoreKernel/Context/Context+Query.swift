import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreQuery

extension Context {
    /// Returns an aggregate value of all matching objects, without creating objects. Pending changes of a transaction are included only with
    /// `tweak { $0.includesPendingChanges = true }`.
    ///
    ///     let average = try context.queryValue(From<Person>().where(\.age > 17), .average(\.age))
    public func queryValue<S: FetchSource, Result>(_ source: S, _ aggregate: AggregateOf<S.Entity, Result>) throws -> Result {
        let (groups, outputs, _, entity) = try storedValues(source.chain, [(aggregate.function, aggregate.operand)])
        return try aggregate.decode(groups.first?[column: outputs[0]] ?? .null, entity)
    }

    /// Returns aggregate values of groups of objects with equal values of a property, in ascending order of that value. Objects without a
    /// value form the first group.
    ///
    ///     for group in try context.queryGroups(From<Person>(), by: \.city, .count, .average(\.age)) {
    ///         let (count, average) = group.values
    ///     }
    ///
    /// The typed form, by one key: an attribute, an enum, a to-one relationship or a path. ``queryAttributes(_:_:_:)`` returns dictionaries and accepts several keys, conditions on groups and their order.
    public func queryGroups<S: FetchSource, Key, each Result>(
        _ source: S, by path: KeyPath<S.Entity, Key>, _ aggregate: repeat AggregateOf<S.Entity, each Result>
    ) throws -> [QueryGroup<Key, (repeat each Result)>] {
        let decoder = ResultDecoder(of: Key.self)
        return try groups(source.chain, path, repeat each aggregate).map { value, results in
            guard let value else {
                // Of an optional type, nil.
                if let key = (nil as Any?) as? Key { return QueryGroup(key: key, values: results) }
                throw StoreError(
                    .invalidValue, "The key of a group is null, and \(Key.self) is not optional.", entity: S.Entity._$entityName)
            }
            let found = try decoder.decode(value, self)
            if found == nil, decoder.isObject, let key = (nil as Any?) as? Key { return QueryGroup(key: key, values: results) }
            guard let found, let key = found as? Key else {
                throw StoreError(.invalidValue, "The key of a group is \(value), which is no \(Key.self).", entity: S.Entity._$entityName)
            }
            return QueryGroup(key: key, values: results)
        }
    }

    private func groups<T: Model, each Result>(
        _ chain: FetchChain<T>, _ path: PartialKeyPath<T>, _ aggregate: repeat AggregateOf<T, each Result>
    ) throws -> [(QueryValue?, (repeat each Result))] {
        var terms = [QueryName.path(path)].map { (Aggregate.Function?.none, $0) }
        for one in repeat each aggregate { terms.append((one.function, one.operand)) }
        let (groups, outputs, keys, entity) = try storedValues(chain, terms, by: [.path(path)])
        return try zip(groups, keys).map { group, key in
            // The first term is the grouping key.
            var term = 0
            func next() -> Value {
                term += 1
                return group[column: outputs[term]]
            }
            return (key, (repeat try (each aggregate).decode(next(), entity)))
        }
    }

    /// Returns the values of each group, as the stores return them, the column of each term, the first key of each group, and the entity of the objects.
    private func storedValues<T: Model>(
        _ chain: FetchChain<T>, _ terms: [(function: Aggregate.Function?, operand: QueryName)], by keys: [QueryName] = []
    ) throws -> (groups: [AggregateRow], outputs: [Int], keys: [QueryValue?], entity: Entity) {
        try chain.refuseSlice()
        var query = ValueQuery(chain)
        query.groupBy = keys
        // The order is that of objects, and the groups are in ascending order.
        query.chain.order = nil
        // Unique names, because terms may be equal.
        let plan = try ValuePlan(query, terms.enumerated().map { SelectTerm($1.function, $1.operand, "\($0)") }, self)
        for entry in plan.entries { _ = try chain.order?.keys(self, entry) }
        let (groups, outputs, keys) = try timed(plan) { try plan.storedValues() }
        return (groups, outputs, keys, plan.entries[0].entity)
    }
}

extension FetchChain {
    /// Checks that a query of aggregates has no limit and no offset.
    package func refuseSlice() throws {
        guard options.limit == nil, options.offset == 0 else {
            throw StoreError(
                .invalidPredicate, "A limit or an offset cuts objects, and a query of values has none. Leave them out.",
                entity: T._$entityName)
        }
    }
}
