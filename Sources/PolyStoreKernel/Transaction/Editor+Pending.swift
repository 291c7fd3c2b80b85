import PolyStoreBackend
import PolyStoreQuery

extension Editor {
    /// Returns the rows of a request including pending changes: the store's rows without those changed or deleted here, merged in the order of the
    /// request with those inserted or changed here.
    /// - Parameter isSteady: whether objects may be changed during the iteration. The outdated rows of the store are then determined in advance.
    func mergedRows(
        _ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions, isSteady: Bool = false
    ) throws -> RecordCursor {
        context.settleMembers(before: entry.entityIndex, request)
        let storage = try context.storage(entry.store)
        return try differingRows(entry, request, options, storage, isSteady: isSteady) ?? storage.fetch(request)
    }

    func mergedCount(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        context.settleMembers(before: entry.entityIndex, request)
        let storage = try context.storage(entry.store)
        if options.includesPendingChanges, buffer.hasChanges(of: Int(entry.entityIndex)), !request.predicate.needsRelated {
            return try countRows(entry, storage.scored(request), storage)
        }
        guard let cursor = try differingRows(entry, request, options, storage, isSteady: false) else { return try storage.counted(request) }
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }

    /// - Returns: nil if the store's result is not affected by pending changes.
    private func differingRows(
        _ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions, _ storage: any ReadTransaction, isSteady: Bool
    ) throws -> RecordCursor? {
        let isAffected = buffer.hasChanges(of: Int(entry.entityIndex)) || (request.needsRelated && hasPending(in: entry.store))
        guard options.includesPendingChanges, isAffected else { return nil }
        let request = try storage.scored(request)
        if request.looksAround { return try surveyedRows(entry, request, storage) }
        return try pendingRows(entry, request).map { pendingRows in
            try merged(entry, request, pendingRows, storage, hidden: isSteady && pendingRows.hidden > 0 ? changedRowIDs(entry) : nil)
        }
    }

    /// Returns the count without iterating over the rows: the store's count, minus the rows changed or deleted here, plus the matching rows inserted
    /// or changed here.
    private func countRows(_ entry: StoreEntity, _ request: FetchRequest, _ storage: any ReadTransaction) throws -> Int {
        try request.validate()
        let entityIndex = Int(entry.entityIndex)
        let records = records(entityIndex)
        try records.catchUp(buffer.changes(of: entityIndex))
        let all = FetchRequest(entry.entity, predicate: request.predicate)
        let total = try records.count(request.predicate) { watch in
            try watch.untouched(
                buffer.changes(of: entityIndex), isFixed: showsOneVersion, count: { try storage.counted(all) },
                record: { try storage.record(entry.entity, rowID: $0) })
        }
        return max(0, min(request.limit ?? .max, total - request.offset))
    }

    /// The rows this transaction adds to and removes from a fetch result.
    private struct PendingRows {
        let arena: RecordArena
        let rows: [MaterializedCursor.Row]
        /// The maximum number of the store's rows that may be removed.
        let hidden: Int
    }

    /// - Returns: nil if the store's result is not affected by pending changes.
    private func pendingRows(_ entry: StoreEntity, _ request: FetchRequest) throws -> PendingRows? {
        let entityIndex = Int(entry.entityIndex)
        guard buffer.hasChanges(of: entityIndex) else { return nil }
        try request.validate()
        let records = records(entityIndex)
        try records.catchUp(buffer.changes(of: entityIndex))
        let arena = RecordArena()
        let rows = try records.matching(request, arena)
        let entityChanges = buffer.changes(of: entityIndex)
        let hidden = entityChanges.updated.count + entityChanges.deleted.count
        return rows.isEmpty && hidden == 0 ? nil : PendingRows(arena: arena, rows: rows, hidden: hidden)
    }

    func relatedRecords(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords {
        context.settleMembers()
        let storage = try context.storage(store)
        return options.includesPendingChanges && hasPending(in: store) ? PendingRelated(self, store, storage) : storage
    }

    /// A Boolean value that indicates whether the transaction reads the same version of the stores until it is refreshed explicitly. A parent may be changed
    /// at any time.
    private var showsOneVersion: Bool { !context.readsPending }

    /// A Boolean value that indicates whether pending changes may affect requests to a store.
    private func hasPending(in store: PersistentStore) -> Bool {
        !buffer.relationshipChanges.isEmpty || !buffer.changedEntities(of: store).isEmpty
    }

    /// Returns the rows of a request that reads related objects, which may have pending changes. The store evaluates the part of the predicate
    /// that does not read related objects; the residual predicate is evaluated with pending changes.
    private func surveyedRows(_ entry: StoreEntity, _ request: FetchRequest, _ storage: any ReadTransaction) throws -> RecordCursor {
        try request.validate()
        var wider = request
        wider.predicate = .and(request.predicate.conjuncts.filter { !$0.needsRelated })
        (wider.sortKeys, wider.limit, wider.offset, wider.onlyIDs, wider.fields) = ([], nil, 0, false, nil)
        let all = try pendingRows(entry, wider).map { try merged(entry, wider, $0, storage) } ?? storage.fetch(wider)
        let residual = QueryPredicate.and(request.predicate.conjuncts.filter(\.needsRelated))
        return try MaterializedCursor.sorted(all, request, predicate: residual, PendingRelated(self, entry.store, storage))
    }

    func records(_ entityIndex: Int) -> PendingRecords {
        if let records = buffer.changes(of: entityIndex).records { return records }
        let records = PendingRecords(context.table.entries[entityIndex])
        buffer.changes(of: entityIndex).records = records
        return records
    }

    /// - Parameter hidden: the outdated rows of the store; nil to check each row when it is reached.
    private func merged(
        _ entry: StoreEntity, _ request: FetchRequest, _ pendingRows: PendingRows, _ storage: any ReadTransaction, hidden: Set<Int64>? = nil
    ) throws -> RecordCursor {
        var wider = request
        wider.onlyIDs = false  // sorting reads the values
        let prefix = showsOneVersion && pendingRows.hidden > 0 ? records(Int(entry.entityIndex)).prefix(of: request) : nil
        let start = prefix?.start
        let prefixCount = start == nil ? 0 : prefix?.count ?? 0
        // Some rows of the first page may be outdated, so a few more are requested. Further pages are fetched only if those do not suffice.
        let wanted = request.limit.map { Int(clamping: $0.magnitude + request.offset.magnitude) }
        func page(_ offset: Int) throws -> (RecordCursor, count: Int) {
            wider.offset = offset
            let left = wanted.map { Int(clamping: $0.magnitude + pendingRows.hidden.magnitude) - offset }
            wider.limit = left.map { min($0, offset == 0 ? Int(clamping: (wanted ?? 0).magnitude + 16) : 4 * offset) }
            if let limit = wider.limit, limit <= 0 { return (RecordCursor(layout: entry.entity.layout), 0) }
            if let prefix, let start {
                let cursor = try SequentialCursor(
                    storage, prefix.requests(wider, behind: start), limit: wider.limit, offset: offset, layout: entry.entity.layout)
                return (cursor, wider.limit ?? .max)
            }
            return (try storage.fetch(wider), wider.limit ?? .max)
        }
        return try PendingCursor(
            page, mine: pendingRows.rows, arena: pendingRows.arena, request: request,
            isHidden: pendingRows.hidden == 0
                ? nil : hidden.map { hidden in hidden.contains } ?? { [unowned context] rowID in Self.isPending(context, entry, rowID) },
            prefix: prefix, prefixCount: prefixCount)
    }

    /// Returns the row ids of the stored objects that this transaction has changed or deleted so far.
    private func changedRowIDs(_ entry: StoreEntity) -> Set<Int64> {
        let entityChanges = buffer.changes(of: Int(entry.entityIndex))
        return Set([entityChanges.updated, entityChanges.deleted].joined().lazy.map { $0._$state.rowID })
    }

    /// Returns whether this transaction changed or deleted an object, so that the store's row is outdated.
    private static func isPending(_ context: Context, _ entry: StoreEntity, _ rowID: Int64) -> Bool {
        func open<T: Model>(_ type: T.Type) -> Bool { context.registered(type, entry.entityIndex, rowID)?.isEdited ?? false }
        return open(entry.type)
    }
}

extension Transaction {
    /// Returns the work done to find pending objects of a class; for tests.
    package func pendingStatistics<T: Model>(_ type: T.Type) -> (encoded: Int, evaluated: Int) {
        var sum = (encoded: 0, evaluated: 0)
        for entry in table.byType[ObjectIdentifier(type)] ?? [] {
            guard let statistics = buffer[Int(entry.entityIndex)]?.records?.statistics else { continue }
            sum = (sum.encoded + statistics.encoded, sum.evaluated + statistics.evaluated)
        }
        return sum
    }
}
