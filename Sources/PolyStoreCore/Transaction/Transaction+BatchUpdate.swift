import PolyStoreBackend

extension Transaction {
    /// Changes every object that matches, pending ones included, and leaves each one alone that is already as it is to be.
    ///
    ///     try transaction.batchUpdate(From<Person>().where(\.age > 30)) { $0.set(\.nickname, to: nil); $0.increment(\.age, by: 1) }
    ///     try transaction.batchUpdate(From<Person>(), Where(\.age > 30)) { $0.set("nickname", to: nil) }
    ///
    /// Nothing is passed by: inverses, validation, unique values and observers are served as for objects that are changed one by one. Which objects
    /// match is settled before the first is changed. They are read some hundred at a time; those that were changed are kept until the commit,
    /// as a transaction keeps all its changes, so it is these that take memory.
    /// - Parameters:
    ///   - source: which objects; limit and offset count too.
    ///   - changes: says once what to do to each.
    /// - Returns: how many objects match, whether or not they had to be changed.
    /// - Throws: `invalidPredicate` for what cannot be set, `invalidValue` for a value or a sum that the attribute cannot hold, `misuse` for an object of another
    ///   store, and what a function throws. Nothing is changed then.
    @discardableResult
    public func batchUpdate<S: FetchSource>(_ source: S, set changes: (inout BatchChanges<S.Entity>) throws -> Void) throws -> Int {
        var batch = BatchChanges<S.Entity>()
        try changes(&batch)
        if let error = batch.error { throw error }
        var count = 0
        try atomically { count = try carryOut(batch, source) }
        return count
    }

    private func carryOut<S: FetchSource>(_ batch: BatchChanges<S.Entity>, _ source: S) throws -> Int {
        let assigner = FieldAssigner(self)
        var count = 0
        try fetchInBatches(source) { objects in
            for object in objects { try carryOut(batch, object, assigner) }
            count += objects.count
        }
        return count
    }

    private func carryOut<T: Model>(_ batch: BatchChanges<T>, _ object: T, _ assigner: FieldAssigner) throws {
        let entry = entry(object._$state.slot)
        let old = try assigner.record(of: object, entry)
        var values: [Int: Value] = [:]
        for step in batch.steps {
            let field = try BatchChanges<T>.field(step.name, entry)
            // A step sees what those before it did.
            let seen = try step.reads && !values.isEmpty ? assigner.record(old, with: values, entry.entity) : old
            do {
                let value = try step.value(seen, field, self, entry)
                try field.check(value)
                values[field.ordinal] = value
            } catch var error as StoreError {
                error.entity = entry.entity.name
                error.attribute = field.name
                error.objectID = object._$state.key
                error.message = "\(entry.entity.name).\(field.name) of object \(object._$state.key): \(error.message)"
                throw error
            }
        }
        values = values.filter { ordinal, value in old.value(entry.entity.fields[ordinal]) != value }
        if !values.isEmpty { try assigner.assign(values, to: object, old, entry) }
    }

    /// Changes every object that matches; see ``batchUpdate(_:set:)-(S,_)``.
    @discardableResult
    public func batchUpdate<T>(
        _ from: From<T>, _ first: any FetchClause<T>, set changes: (inout BatchChanges<T>) throws -> Void
    ) throws -> Int {
        try batchUpdate(from.chain(first), set: changes)
    }

    @discardableResult
    public func batchUpdate<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, set changes: (inout BatchChanges<T>) throws -> Void
    ) throws -> Int {
        try batchUpdate(from.chain(first, second), set: changes)
    }

    @discardableResult
    public func batchUpdate<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>,
        set changes: (inout BatchChanges<T>) throws -> Void
    ) throws -> Int {
        try batchUpdate(from.chain(first, second, third), set: changes)
    }
}
