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
    /// batches contain the objects that ``fetchAll(_:)-(S)`` would have returned at the start, in that order. Changes that the body makes in a
    /// transaction affect neither the objects nor their order; only objects deleted in the meantime are omitted. A sort order without an index is
    /// computed in advance, which takes memory for all records.
    ///
    /// The body can commit, roll back or refresh an unqueued transaction, so that long work is written in parts:
    ///
    ///     try await stack.performBatch { batch in
    ///         try batch.fetchInBatches(From<Person>(), size: 1000) { people in
    ///             for person in people { person.age += 1 }
    ///             try batch.commit()
    ///         }
    ///     }
    ///
    /// The objects and their order remain those of the start. From the first commit on, the objects of each batch are read in the snapshot that the
    /// context shows when the batch is read: with the values that this and other transactions have committed until then, and without objects deleted
    /// by them. An object that no longer matches the condition is still included, and an object inserted after the start is not, so no object is
    /// included twice. Until then the iteration keeps one cursor per store open; afterwards it keeps the row ids of the remaining objects, 8 bytes
    /// each, and no snapshot. The same applies to a commit in the body that moves the view context, and to a refresh of a read context.
    /// - Parameters:
    ///   - source: the objects to fetch, including limit and offset. Objects of several stores are merged in one order.
    ///   - size: the maximum number of objects per batch.
    ///   - body: called with each batch, which is never empty. An error that it throws ends the iteration.
    /// - Throws: `misuse` for a size below 1, and the errors of `body`.
    @inlinable
    public func fetchInBatches<S: FetchSource>(_ source: S, size: Int = 500, _ body: ([S.Entity]) throws -> Void) throws {
        beginReading()
        defer { endReading() }
        let fetch = try resolve(source.chain)
        try checkBatch(size, S.Entity.self)
        // The limit is not that of the requests of the body: of others that read the same snapshots, of observers, and of children.
        let outer = interruption
        try limited(fetch.options) {
            try fetchInBatches(fetch, size) { (batch: [S.Entity]) in
                if outer === interruption { try body(batch) } else { try interrupted(by: outer) { try body(batch) } }
            }
        }
    }

    @inlinable
    final func fetchInBatches<T: Model>(_ fetch: ResolvedFetch, _ size: Int, _ body: ([T]) throws -> Void) throws {
        if fetch.isMerged { return try fetchMergedInBatches(fetch, size, body) }
        for part in fetch.parts {
            let cursor = try openSteadily(part)
            let iteration = startIteration(part, cursor)
            defer { end(iteration) }
            var came = size
            // The batch is released before the next one is read.
            while came == size {
                var batch: [T] = []
                try interruptAgain()
                if iteration.hasMoved {
                    came = try collectRemaining(iteration, into: &batch, most: size)
                } else {
                    batch.reserveCapacity(min(size, 4096))
                    try collect(T.self, part.entry, part.entityIndex, cursor, into: &batch, most: size)
                    came = batch.count
                    batch.removeAll { $0.isDeleted }
                }
                iteration.isAtEnd = came < size
                if !batch.isEmpty { try body(batch) }
            }
        }
    }

    /// Called before a batch is read: the requests of the body and the properties that it has read have another interruption or none.
    @usableFromInline
    final func interruptAgain() throws {
        guard let interruption else { return }
        try interruption.check()
        source.interrupt(with: interruption)
    }

    @usableFromInline
    final func checkBatch<T: Model>(_ size: Int, _ type: T.Type) throws {
        guard size > 0 else {
            throw StoreError(.misuse, "Batches of \(size) objects were asked for; 1 is the least.", entity: T._$entityName)
        }
    }

    @usableFromInline
    package final func openSteadily(_ part: ResolvedFetch.Part) throws -> RecordCursor {
        try steadyRows(part.entry, part.request, part.options)
    }

    @usableFromInline
    final func startIteration(_ part: ResolvedFetch.Part, _ cursor: RecordCursor) -> BatchIteration {
        let iteration = BatchIteration(entries: [part.entry], close: cursor.close) { try cursor.next() ? (0, cursor.rowID) : nil }
        add(iteration)
        return iteration
    }

    @usableFromInline
    final func end(_ iteration: BatchIteration) {
        remove(iteration)
        iteration.close()
    }

    /// Reads the next objects of an iteration whose snapshots have ended.
    /// - Returns: the number of rows taken, including those of deleted objects.
    @usableFromInline
    final func collectRemaining<T: Model>(_ iteration: BatchIteration, into batch: inout [T], most: Int) throws -> Int {
        let rows = try iteration.takeRemaining(most)
        batch = try fetchExisting(rows.map { ObjectID<T>(entry: iteration.entries[$0.entry], rowID: $0.rowID) })
        return rows.count
    }

    /// Iterates over several stores in batches by merging their rows.
    @usableFromInline
    final func fetchMergedInBatches<T: Model>(_ fetch: ResolvedFetch, _ size: Int, _ body: ([T]) throws -> Void) throws {
        let rows = try MergedRows(fetch, self, openSteadily)
        let iteration = BatchIteration(entries: fetch.parts.map(\.entry), close: rows.close) {
            try rows.next().map { ($0, rows.cursor($0).rowID) }
        }
        add(iteration)
        defer { end(iteration) }
        var came = size
        while came == size {
            var batch: [T] = []
            try interruptAgain()
            if iteration.hasMoved {
                came = try collectRemaining(iteration, into: &batch, most: size)
            } else {
                while batch.count < size, let index = try rows.next() { batch.append(try object(fetch.parts[index], rows.cursor(index))) }
                came = batch.count
                batch.removeAll { $0.isDeleted }
            }
            iteration.isAtEnd = came < size
            if !batch.isEmpty { try body(batch) }
        }
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
    package final func walk(
        _ fetch: ResolvedFetch, _ open: (ResolvedFetch.Part) throws -> RecordCursor,
        _ visit: (ResolvedFetch.Part, RecordCursor) throws -> Void
    ) throws {
        let rows = try MergedRows(fetch, self, open)
        defer { rows.close() }
        while let index = try rows.next() { try visit(fetch.parts[index], rows.cursor(index)) }
    }

    /// Returns the object of the row that a cursor is positioned on.
    private func object<T: Model>(_ part: ResolvedFetch.Part, _ cursor: RecordCursor) throws -> T {
        guard let registered = registered(T.self, part.entityIndex, cursor.rowID) else {
            let map = identityMap(part.entityIndex)
            guard part.entry.isPolymorphic else { return try make(T.self, part.entry, map, cursor.rowID, cursor.record) }
            guard let object = try relative(T.self, part.entry, map, cursor.rowID, cursor.record) else {
                throw StoreError(
                    .corrupt, "\(part.entry.entity.name) \(cursor.rowID) is no \(T._$entityName).", entity: part.entry.entity.name,
                    rowID: cursor.rowID)
            }
            return object
        }
        if registered._$state.isFault { try fill(registered, part.entry, cursor.rowID, cursor.record) }
        return registered
    }
}
