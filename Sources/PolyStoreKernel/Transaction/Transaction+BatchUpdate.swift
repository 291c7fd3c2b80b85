import PolyStoreBackend
import PolyStoreConditions

extension Transaction {
    /// Updates every matching object, including pending ones. Objects that already have the new values are not changed.
    ///
    ///     try transaction.batchUpdate(From<Person>().where(\.age > 30)) { $0.set(\.nickname, to: nil); $0.increment(\.age, by: 1) }
    ///     try transaction.batchUpdate(From<Person>(), Where(\.age > 30)) { $0.set("nickname", to: nil) }
    ///
    /// Inverses, validation, unique constraints and observers work as for individual changes. The matching objects are determined before the first
    /// change. They are read in batches of a few hundred. Changed objects are retained until the commit, like all pending changes, and determine the
    /// memory use.
    /// - Parameters:
    ///   - source: the objects to update; limit and offset apply.
    ///   - changes: defines the changes; called once.
    /// - Returns: the number of matching objects, whether or not they were changed.
    /// - Throws: `invalidPredicate` for a property that cannot be set, `invalidValue` for a value or a sum that the attribute cannot store, `misuse`
    ///   for an object of another store, and the errors of functions. Nothing is changed then.
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
        let entries = try entries(of: source.chain.from)
        let readsOthers = try batch.operands.contains { operand in
            try entries.contains { try operand.resolved(for: $0.entity, in: $0.store.schema).expression.needsTransaction }
        }
        var count = 0
        var computed: [(object: S.Entity, values: [Int: Value])] = []
        try fetchInBatches(source) { objects in
            for object in objects {
                let entry = entry(object._$state.entityIndex)
                let old = try assigner.record(of: object, entry)
                let values = try values(batch, object, old, entry, assigner)
                if values.isEmpty { continue }
                if readsOthers { computed.append((object, values)) } else { try assigner.assign(values, to: object, old, entry) }
            }
            count += objects.count
        }
        for (object, values) in computed {
            let entry = entry(object._$state.entityIndex)
            try assigner.assign(values, to: object, assigner.record(of: object, entry), entry)
        }
        return count
    }

    /// Returns the values that change, by field index.
    private func values<T: Model>(
        _ batch: BatchChanges<T>, _ object: T, _ old: RecordView, _ entry: StoreEntity, _ assigner: FieldAssigner
    ) throws -> [Int: Value] {
        var values: [Int: Value] = [:]
        for step in batch.steps {
            let field = try BatchChanges<T>.field(step.name, entry)
            // A step sees the results of the preceding ones.
            let seen = try step.reads && !values.isEmpty ? assigner.record(old, with: values, entry.entity) : old
            do {
                let subject = BatchChanges<T>.Subject(record: seen, rowID: object._$state.rowID, context: self, entry: entry)
                let value = try step.value(subject, field)
                try field.check(value)
                values[field.index] = value
            } catch var error as StoreError {
                error.entity = entry.entity.name
                error.attribute = field.name
                error.rowID = object._$state.rowID
                error.message = "\(entry.entity.name).\(field.name) of \(object.inWords): \(error.message)"
                throw error
            }
        }
        return values.filter { fieldIndex, value in old.value(entry.entity.fields[fieldIndex]) != value }
    }

    /// Updates every matching object; see ``batchUpdate(_:set:)-(S,_)``.
    @discardableResult
    public func batchUpdate<T>(
        _ from: From<T>, _ clauses: any FetchClause<T>..., set changes: (inout BatchChanges<T>) throws -> Void
    ) throws -> Int {
        try batchUpdate(from.chain(clauses), set: changes)
    }
}
