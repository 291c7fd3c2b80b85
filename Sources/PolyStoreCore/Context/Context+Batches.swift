import PolyStoreBackend
import PolyStoreQuery

extension Context {
    /// Iterates over all matching objects in order, in batches, for results that should not be in memory as a whole.
    ///
    ///     var total = 0
    ///     try context.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 1000) { people in
    ///         for person in people { total += person.age }
    ///     }
    ///
    /// The objects of a batch are released when `body` returns, unless they are referenced elsewhere; a transaction retains changed objects. The
    /// batches contain the objects that ``fetchAll(_:)-(S)`` would have returned at the start. Changes that the body makes in a transaction affect
    /// neither the objects nor their order; only objects deleted in the meantime are omitted. A sort order without an index is computed in advance,
    /// which takes memory for all records.
    ///
    /// The view context must not move to another version during the iteration: a commit in the body, on the main actor, ends it with `closed`.
    /// - Parameters:
    ///   - source: the objects to fetch, including limit and offset. Objects of several stores are merged in one order.
    ///   - size: the maximum number of objects per batch.
    ///   - body: called with each batch, which is never empty. An error that it throws ends the iteration.
    /// - Throws: `misuse` for a size below 1, and the errors of `body`.
    @inlinable
    public func fetchInBatches<S: FetchSource>(_ source: S, size: Int = 500, _ body: ([S.Entity]) throws -> Void) throws {
        let fetch = try resolve(source.chain)
        try checkBatch(size, S.Entity.self)
        if fetch.isMerged { return try fetchMergedInBatches(fetch, size, body) }
        for part in fetch.parts {
            let cursor = try openSteadily(part)
            defer { cursor.close() }
            var came = size
            // The batch is released before the next one is read.
            while came == size {
                var batch: [S.Entity] = []
                batch.reserveCapacity(min(size, 4096))
                try collect(S.Entity.self, part.entry, part.entityIndex, cursor, into: &batch, most: size)
                came = batch.count
                batch.removeAll { $0.isDeleted }
                if !batch.isEmpty { try body(batch) }
            }
        }
    }

    @usableFromInline
    final func checkBatch<T: Model>(_ size: Int, _ type: T.Type) throws {
        guard size > 0 else {
            throw StoreError(.misuse, "Batches of \(size) objects were asked for; 1 is the least.", entity: T._$entityName)
        }
    }

    @usableFromInline
    final func openSteadily(_ part: ResolvedFetch.Part) throws -> RecordCursor { try steadyRows(part.entry, part.request, part.options) }

    /// Iterates over several stores in batches by merging their rows.
    @usableFromInline
    final func fetchMergedInBatches<T: Model>(_ fetch: ResolvedFetch, _ size: Int, _ body: ([T]) throws -> Void) throws {
        var batch: [T] = []
        try walk(fetch, openSteadily) { part, cursor in
            batch.append(try object(part, cursor))
            if batch.count == size { try hand(over: &batch, to: body) }
        }
        try hand(over: &batch, to: body)
    }

    private func hand<T: Model>(over batch: inout [T], to body: ([T]) throws -> Void) throws {
        let objects = batch.filter { !$0.isDeleted }
        batch = []
        if !objects.isEmpty { try body(objects) }
    }

    /// Returns all matching objects of several stores, in one order.
    @usableFromInline
    final func fetchMerged<T: Model>(_ fetch: ResolvedFetch) throws -> [T] {
        var found: [T] = []
        try walk(fetch, open) { found.append(try object($0, $1)) }
        return found
    }

    /// Merges the rows of several stores and applies limit and offset.
    /// - Parameter visit: called with the cursor positioned on the next row.
    final func walk(
        _ fetch: ResolvedFetch, _ open: (ResolvedFetch.Part) throws -> RecordCursor,
        _ visit: (ResolvedFetch.Part, RecordCursor) throws -> Void
    ) throws {
        let walk = MergedCursors(fetch.parts[0].request.sortKeys)
        defer { walk.close() }
        for part in fetch.parts {
            let values = part.request.hasComputedKeys ? SortValues(part.request.sortKeys, try related(part.entry.store, part.options)) : nil
            try walk.add(open(part), values)
        }
        var toSkip = fetch.options.offset
        var left = fetch.options.limit ?? .max
        while left > 0, let index = try walk.next() {
            if toSkip > 0 {
                toSkip -= 1
                continue
            }
            left -= 1
            try visit(fetch.parts[index], walk.cursors[index])
        }
    }

    /// Returns the object of the row that a cursor is positioned on.
    private func object<T: Model>(_ part: ResolvedFetch.Part, _ cursor: RecordCursor) throws -> T {
        guard let living = living(T.self, part.entityIndex, cursor.rowID) else {
            let map = maps[Int(part.entityIndex)]
            guard part.entry.isPolymorphic else { return try make(T.self, part.entry, map, cursor.rowID, cursor.record) }
            guard let object = try relative(T.self, part.entry, map, cursor.rowID, cursor.record) else {
                throw StoreError(
                    .corrupt, "\(part.entry.entity.name) \(cursor.rowID) is no \(T._$entityName).", entity: part.entry.entity.name,
                    rowID: cursor.rowID)
            }
            return object
        }
        if living._$state.isFault { try fill(living, part.entry, cursor.rowID, cursor.record) }
        return living
    }
}
