import PolyStoreBackend

extension Context {
    /// Goes over all objects that match, in order, a batch at a time: for more objects than should be in memory together.
    ///
    ///     try context.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 1000) { people in
    ///         for person in people { total += person.age }
    ///     }
    ///
    /// The objects of a batch go when `body` returns, unless something else holds them; a transaction holds those that it changed. The batches are what
    /// ``fetchAll(_:)-(S)`` would have given at the start. Whatever the body does with the context, in a transaction changing objects included, changes
    /// neither which objects come nor their order; only those that were deleted meanwhile are left out. An order that no index gives is worked out first, which
    /// takes memory for all the records.
    ///
    /// The view must not move forward in the middle: a commit in the body, on the main actor, ends the walk with `closed`.
    /// - Parameters:
    ///   - source: what to fetch, limit and offset included. Objects of several stores come in one order.
    ///   - size: how many objects at once, at most.
    ///   - body: gets each batch, none of them empty. What it throws ends the walk.
    /// - Throws: `misuse` for a size below 1, and what `body` throws.
    @inlinable
    public func fetchInBatches<S: FetchSource>(_ source: S, size: Int = 500, _ body: ([S.Entity]) throws -> Void) throws {
        let fetch = try resolve(source.chain)
        try checkBatch(size, S.Entity.self)
        if fetch.isMerged { return try fetchMergedInBatches(fetch, size, body) }
        for part in fetch.parts {
            let cursor = try openSteadily(part)
            defer { cursor.close() }
            var came = size
            // Let go before the next batch is read, not only when it is full.
            while came == size {
                var batch: [S.Entity] = []
                batch.reserveCapacity(min(size, 4096))
                try collect(S.Entity.self, part.entry, part.slot, cursor, into: &batch, most: size)
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

    /// The same from several stores, whose walks go side by side.
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

    /// All objects of several stores, in one order.
    @usableFromInline
    final func fetchMerged<T: Model>(_ fetch: ResolvedFetch) throws -> [T] {
        var found: [T] = []
        try walk(fetch, open) { found.append(try object($0, $1)) }
        return found
    }

    /// Walks over several stores at once, cut to limit and offset.
    /// - Parameter visit: gets the cursor that stands on the next row.
    final func walk(
        _ fetch: ResolvedFetch, _ open: (ResolvedFetch.Part) throws -> RecordCursor,
        _ visit: (ResolvedFetch.Part, RecordCursor) throws -> Void
    ) throws {
        let walk = MergedWalk(fetch.parts[0].request.sortKeys)
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

    /// The object of the row that a walk stands on.
    private func object<T: Model>(_ part: ResolvedFetch.Part, _ cursor: RecordCursor) throws -> T {
        guard let living = living(T.self, part.slot, cursor.id) else {
            let map = maps[Int(part.slot)]
            guard part.entry.isPolymorphic else { return try make(T.self, part.entry, map, cursor.id, cursor.record) }
            guard let object = try relative(T.self, part.entry, map, cursor.id, cursor.record) else {
                throw StoreError(
                    .corrupt, "\(part.entry.entity.name) \(cursor.id) is no \(T._$entityName).", entity: part.entry.entity.name,
                    objectID: cursor.id)
            }
            return object
        }
        if living._$state.isFault { try fill(living, part.entry, cursor.id, cursor.record) }
        return living
    }
}

extension Context {
    /// Goes over all objects that match, in order, a batch at a time; see ``fetchInBatches(_:size:_:)-(S,_,_)``.
    public func fetchInBatches<T>(_ from: From<T>, _ first: any FetchClause<T>, size: Int = 500, _ body: ([T]) throws -> Void) throws {
        try fetchInBatches(from.chain(first), size: size, body)
    }
    public func fetchInBatches<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, size: Int = 500, _ body: ([T]) throws -> Void
    ) throws {
        try fetchInBatches(from.chain(first, second), size: size, body)
    }
    public func fetchInBatches<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>, size: Int = 500,
        _ body: ([T]) throws -> Void
    ) throws {
        try fetchInBatches(from.chain(first, second, third), size: size, body)
    }
}

/// Walks over several stores side by side, each in one order, that come out as one.
final class MergedWalk {
    private(set) var cursors: [RecordCursor] = []
    /// Whether a walk stands on a row that has not been given out.
    private var stands: [Bool] = []
    private let order: RecordOrder
    /// Where the order is by more than fields: what works it out, by walk, and what it is of the rows that walks stand on.
    private var sources: [SortValues] = []
    private var values: [[Value]] = []
    /// The walk that gave the last row, and moves before the next.
    private var last: Int?

    init(_ sortKeys: [SortKey]) { order = RecordOrder(sortKeys) }

    func add(_ cursor: RecordCursor, _ source: SortValues?) throws {
        cursors.append(cursor)
        stands.append(false)
        if let source {
            sources.append(source)
            values.append([])
        }
        try move(cursors.count - 1)
    }

    private func move(_ index: Int) throws {
        stands[index] = try cursors[index].next()
        guard stands[index], !sources.isEmpty else { return }
        values[index] = try sources[index].values(cursors[index].id, cursors[index].record)
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let order =
            sources.isEmpty
            ? order.compare(cursors[left].id, cursors[left].record, cursors[right].id, cursors[right].record)
            : order.compare(cursors[left].id, values[left], cursors[right].id, values[right])
        return order < 0
    }

    /// - Returns: which walk stands on the next row; nil at the end. Of equal rows that of the first store comes first.
    func next() throws -> Int? {
        if let last { try move(last) }
        var best: Int?
        for index in cursors.indices where stands[index] {
            guard let least = best else {
                best = index
                continue
            }
            if precedes(index, least) { best = index }
        }
        last = best
        return best
    }

    func close() { for cursor in cursors { cursor.close() } }
}
