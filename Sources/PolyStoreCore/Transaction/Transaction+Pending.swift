import PolyStoreBackend

extension Transaction {
    /// Rows of a request with this transaction's own changes: those of the store without what was changed or deleted here, merged, in
    /// the request's order, with what was created or changed.
    /// - Parameter isSteady: whether objects may be changed during the walk. Which of the store's rows are out of date is then settled now.
    func mergedRows(
        _ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions, isSteady: Bool = false
    ) throws -> RecordCursor {
        let storage = try storage(entry.store)
        return try differingRows(entry, request, options, storage, isSteady: isSteady) ?? storage.fetch(request)
    }

    func mergedCount(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        let storage = try storage(entry.store)
        if options.includesPendingChanges, !pending[Int(entry.slot)].isEmpty, !(request.looksAround && hasPending(in: entry.store)) {
            return try countRows(entry, request, storage)
        }
        guard let cursor = try differingRows(entry, request, options, storage, isSteady: false) else { return try storage.count(request) }
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }

    /// - Returns: nil where the store's answer is the answer.
    private func differingRows(
        _ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions, _ storage: any ReadTransaction, isSteady: Bool
    ) throws -> RecordCursor? {
        guard options.includesPendingChanges else { return nil }
        if request.looksAround, hasPending(in: entry.store) { return try surveyedRows(entry, request, storage) }
        return try own(entry, request).map { own in
            try merged(entry, request, own, storage, hidden: isSteady && own.hidden > 0 ? changedKeys(entry) : nil)
        }
    }

    /// Counts without going over the rows: those of the store, without what was changed or deleted here, and those that were created or changed here.
    private func countRows(_ entry: StoreEntity, _ request: FetchRequest, _ storage: any ReadTransaction) throws -> Int {
        try request.validate()
        let slot = Int(entry.slot)
        let records = records(slot)
        try records.catchUp(pending[slot])
        let all = FetchRequest(entry.entity, predicate: request.predicate)
        let total = try records.count(request.predicate) { watch in
            try watch.untouched(
                pending[slot], isFixed: showsOneVersion, count: { try storage.count(all) },
                record: { try storage.record(entry.entity, id: $0) })
        }
        return max(0, min(request.limit ?? .max, total - request.offset))
    }

    /// What a request's answer gains and loses by this transaction.
    private struct Own {
        let arena: RecordArena
        let rows: [MaterializedCursor.Row]
        /// So many of the store's rows may fall away.
        let hidden: Int
    }

    /// - Returns: nil where the store's answer is the answer.
    private func own(_ entry: StoreEntity, _ request: FetchRequest) throws -> Own? {
        let slot = Int(entry.slot)
        guard !pending[slot].isEmpty else { return nil }
        try request.validate()
        let records = records(slot)
        try records.catchUp(pending[slot])
        let arena = RecordArena()
        let rows = try records.matching(request, arena)
        let hidden = pending[slot].updated.count + pending[slot].deleted.count
        return rows.isEmpty && hidden == 0 ? nil : Own(arena: arena, rows: rows, hidden: hidden)
    }

    func relatedRecords(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords {
        let storage = try storage(store)
        return options.includesPendingChanges && hasPending(in: store) ? PendingRelated(self, store, storage) : storage
    }

    /// Whether the answer to anything about a store may differ from the store's.
    private func hasPending(in store: PersistentStore) -> Bool {
        !memberLog.isEmpty || store.slots.contains { !pending[Int($0)].isEmpty }
    }

    /// Rows of a request that looks at other objects too, any of which may have been changed here: the store says which rows can match by
    /// themselves, and everything else is decided on what this transaction sees.
    private func surveyedRows(_ entry: StoreEntity, _ request: FetchRequest, _ storage: any ReadTransaction) throws -> RecordCursor {
        try request.validate()
        var wider = request
        wider.predicate = .and(request.predicate.conjuncts.filter { !$0.needsRelated })
        (wider.sortKeys, wider.limit, wider.offset, wider.onlyIDs, wider.fields) = ([], nil, 0, false, nil)
        let all = try own(entry, wider).map { try merged(entry, wider, $0, storage) } ?? storage.fetch(wider)
        return try MaterializedCursor.sorted(all, request, predicate: request.predicate, PendingRelated(self, entry.store, storage))
    }

    func records(_ slot: Int) -> PendingRecords {
        if let records = pending[slot].records { return records }
        let records = PendingRecords(table.entries[slot])
        pending[slot].records = records
        return records
    }

    /// What was done to find pending objects of a class; for tests.
    package func pendingStatistics<T: Model>(_ type: T.Type) -> (encoded: Int, evaluated: Int) {
        var sum = (encoded: 0, evaluated: 0)
        for entry in table.byType[ObjectIdentifier(type)] ?? [] {
            guard let statistics = pending[Int(entry.slot)].records?.statistics else { continue }
            sum = (sum.encoded + statistics.encoded, sum.evaluated + statistics.evaluated)
        }
        return sum
    }

    /// - Parameter hidden: rows of the store that are out of date; nil: those that are when they are come to.
    private func merged(
        _ entry: StoreEntity, _ request: FetchRequest, _ own: Own, _ storage: any ReadTransaction, hidden: Set<Int64>? = nil
    ) throws -> RecordCursor {
        var wider = request
        wider.onlyIDs = false  // the order needs the values
        let prefix = showsOneVersion && own.hidden > 0 ? records(Int(entry.slot)).prefix(of: request) : nil
        let start = prefix?.start
        let prefixCount = start == nil ? 0 : prefix?.count ?? 0
        // As many rows as are wanted may be behind some that fall away: a few more are asked for, and all only if those do not do.
        let wanted = request.limit.map { Int(clamping: $0.magnitude + request.offset.magnitude) }
        func page(_ offset: Int) throws -> (RecordCursor, count: Int) {
            wider.offset = offset
            let left = wanted.map { Int(clamping: $0.magnitude + own.hidden.magnitude) - offset }
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
            page, mine: own.rows, arena: own.arena, request: request,
            isHidden: own.hidden == 0 ? nil : hidden.map { hidden in hidden.contains } ?? { [unowned self] key in isPending(entry, key) },
            prefix: prefix, prefixCount: prefixCount)
    }

    /// The stored objects that this transaction has changed or deleted so far.
    private func changedKeys(_ entry: StoreEntity) -> Set<Int64> {
        let own = pending[Int(entry.slot)]
        return Set([own.updated, own.deleted].joined().lazy.map { $0._$state.key })
    }

    /// Whether this transaction changed or deleted an object, so that the store's row is out of date.
    private func isPending(_ entry: StoreEntity, _ key: Int64) -> Bool {
        func open<T: Model>(_ type: T.Type) -> Bool { living(type, entry.slot, key)?.isEdited ?? false }
        return open(entry.type)
    }
}
