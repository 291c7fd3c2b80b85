import PolyStoreBackend

extension Transaction {
    /// Rows of a request with this transaction's own changes: those of the store without what was changed or deleted here, merged, in
    /// the request's order, with what was created or changed.
    func mergedRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        let storage = try storage(entry.store)
        let own = pending[Int(entry.slot)]
        guard options.includesPendingChanges, !own.isEmpty else { return try storage.fetch(request) }
        try request.validate()
        var wider = request
        wider.offset = 0
        wider.onlyIDs = false  // the order needs the values
        // So many of the store's rows may fall away.
        let hidden = own.updated.count + own.deleted.count
        wider.limit = request.limit.map { Int(clamping: $0.magnitude + request.offset.magnitude + hidden.magnitude) }
        let arena = RecordArena()
        let mine = try matching(own, entry, request, arena)
        return PendingCursor(
            store: try storage.fetch(wider), mine: mine, arena: arena, request: request,
            isHidden: hidden == 0 ? nil : { [unowned self] key in isPending(entry, key) })
    }

    func mergedCount(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        guard options.includesPendingChanges, !pending[Int(entry.slot)].isEmpty else { return try storage(entry.store).count(request) }
        let cursor = try mergedRows(entry, request, options)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }

    /// Whether this transaction changed or deleted an object, so that the store's row is out of date.
    private func isPending(_ entry: StoreEntity, _ key: Int64) -> Bool {
        func open<T: Model>(_ type: T.Type) -> Bool { living(type, entry.slot, key)?.hasChanges ?? false }
        return open(entry.type)
    }

    /// The created and changed objects that a request selects, as records, in its order.
    private func matching(
        _ own: Pending, _ entry: StoreEntity, _ request: FetchRequest, _ arena: RecordArena
    ) throws -> [MaterializedCursor.Row] {
        let evaluator = PredicateEvaluator(request.predicate)
        let layout = entry.entity.layout
        var builder = RecordBuilder(arena)
        var rows: [MaterializedCursor.Row] = []
        for object in [own.inserted, own.updated].joined() where !object.isDeleted {
            builder.begin(layout)
            try object._$encode(into: &builder)
            let place = try builder.finish()
            if evaluator.matches(id: object._$state.key, arena.view(place.offset, place.count, layout)) {
                rows.append(MaterializedCursor.Row(id: object._$state.key, offset: place.offset, count: place.count))
            } else {
                arena.truncate(place.offset)
            }
        }
        arena.sort(&rows, by: RecordOrder(request.sortKeys), layout: layout)
        return rows
    }
}

/// Merges the store's rows with a transaction's own, both in the request's order.
private final class PendingCursor: RecordCursor {
    private let store: RecordCursor
    private let mine: [MaterializedCursor.Row]
    private let arena: RecordArena
    private let layout: RecordLayout
    private let order: RecordOrder
    private let isHidden: ((Int64) -> Bool)?
    private var position = 0
    private var hasStoreRow = false
    private var storeEnded = false
    private var skip: Int
    private var left: Int

    init(
        store: RecordCursor, mine: [MaterializedCursor.Row], arena: RecordArena, request: FetchRequest, isHidden: ((Int64) -> Bool)?
    ) {
        self.store = store
        self.mine = mine
        self.arena = arena
        self.isHidden = isHidden
        layout = request.entity.layout
        order = RecordOrder(request.sortKeys)
        skip = request.offset
        left = request.limit ?? .max
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while left > 0, try advance() {
            if skip > 0 {
                skip -= 1
                continue
            }
            left -= 1
            return true
        }
        return false
    }

    private func advance() throws -> Bool {
        while !hasStoreRow, !storeEnded {
            if try !store.next() {
                storeEnded = true
            } else if !(isHidden?(store.id) ?? false) {
                hasStoreRow = true
            }
        }
        guard position < mine.count else {
            guard hasStoreRow else { return false }
            takeStoreRow()
            return true
        }
        let row = mine[position]
        let view = arena.view(row.offset, row.count, layout)
        if hasStoreRow, order.compare(store.id, store.record, row.id, view) < 0 {
            takeStoreRow()
        } else {
            position += 1
            stand(on: row.id, view)
        }
        return true
    }

    private func takeStoreRow() {
        hasStoreRow = false
        stand(on: store.id, store.record)
    }

    override func close() { store.close() }
}
