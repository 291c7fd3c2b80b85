import PolyStoreBackend

/// Reads one value of the state.
class MemoryReadTransaction: ReadTransaction {
    fileprivate let backend: MemoryBackend
    fileprivate var state: MemoryState
    fileprivate var hasEnded = false

    init(_ backend: MemoryBackend, _ state: MemoryState) {
        self.backend = backend
        self.state = state
    }

    var version: UInt64 { state.version }

    fileprivate func check() throws {
        if hasEnded { throw StoreError(.closed, "The transaction has ended.") }
        if !backend.isOpen { throw StoreError(.closed, "The store in memory was closed.") }
    }

    func record(_ entity: Entity, id: Int64) throws -> RecordView? {
        try check()
        try backend.check(entity)
        return state.records[entity.index][id]?.view(entity.layout)
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try check()
        try backend.check(request.entity)
        let records = state.records[request.entity.index]
        let candidates = candidates(request)
        let ids = (candidates.map { $0.filter { records[$0] != nil } } ?? Array(records.keys)).sorted()
        // By id is the order without keys; what the look-up promised is tested again, which costs next to nothing.
        let remainder = Scan.Remainder(
            predicate: request.predicate == .all ? nil : request.predicate, sort: !request.sortKeys.isEmpty, slice: true)
        return Scan(MemoryCursor(records, ids, request.entity.layout), remainder: remainder)
    }

    /// The only ids that can match, where the condition says so: by id, or by a unique attribute.
    private func candidates(_ request: FetchRequest) -> [Int64]? {
        let entity = request.entity
        for part in request.predicate.conjuncts {
            switch part.node {
            case .compare(.objectID, .equal, .integer(let id)): return [id]
            case .oneOf(.objectID, let values):
                return Array(Set(values.compactMap { if case .integer(let id) = $0 { id } else { nil } }))
            case .compare(let field, .equal, let value) where !value.isNull && !request.ignoresIndexes:
                var position = backend.schema.entities[..<entity.index].reduce(0) { $0 + $1.uniqueIndexes.count }
                for index in entity.uniqueIndexes {
                    if index.fields == [field.ordinal] { return state.uniques[position][[value]].map { [$0] } ?? [] }
                    position += 1
                }
            default: continue
            }
        }
        return nil
    }

    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        let scan = try scan(request)
        return QueryPlan(
            entity: request.entity.name, accesses: [QueryPlan.Access(candidates(request) == nil ? .scan : .primaryKey)],
            remainder: scan.remainder.described(for: request))
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        try backend.check(relationship)
        var found = RelatedIDs()
        switch relationship.storage {
        case .foreignKey(let field):
            let entity = backend.schema.entities[relationship.source]
            for source in sources {
                guard let record = state.records[entity.index][source]?.view(entity.layout), !record.isNull(field) else { continue }
                found.add(source: source, target: record.integer(field))
            }
        case .inverse(let field):
            let entity = backend.schema.entities[relationship.destination]
            let wanted = Set(sources)
            for (id, record) in state.records[entity.index] {
                let view = record.view(entity.layout)
                if !view.isNull(field), wanted.contains(view.integer(field)) { found.add(source: view.integer(field), target: id) }
            }
        case .link(let table, let isReversed):
            let pairs = isReversed ? state.links[table].sources : state.links[table].targets
            for source in sources { for target in pairs[source] ?? [] { found.add(source: source, target: target) } }
        }
        found.sort()
        return found
    }

    func end() { hasEnded = true }
}

/// Walks over ids in their order; the records stay as they were when the walk began.
private final class MemoryCursor: RecordCursor {
    private let records: [Int64: StoredRecord]
    private let ids: [Int64]
    private let layout: RecordLayout
    private var position = 0

    init(_ records: [Int64: StoredRecord], _ ids: [Int64], _ layout: RecordLayout) {
        self.records = records
        self.ids = ids
        self.layout = layout
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while position < ids.count {
            let id = ids[position]
            position += 1
            guard let stored = records[id] else { continue }
            stand(on: id, stored.view(layout))
            return true
        }
        return false
    }
}

/// Writes into a copy of the state, which the commit makes the state.
final class MemoryWriteTransaction: MemoryReadTransaction, WriteTransaction {
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        try check()
        try backend.check(entity)
        return try backend.reserveIDs(entity, count)
    }

    func apply(_ changes: ChangeSet) throws {
        try check()
        guard changes.schema === backend.schema || changes.schema.description == backend.schema.description else {
            throw StoreError(.misuse, "The change set was made for another schema than the store was opened with.")
        }
        let before = state
        do {
            try state.apply(changes)
        } catch {
            state = before
            throw error
        }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        try check()
        hasEnded = true
        state.version += 1
        try backend.finishWriting(state)
        return state.version
    }

    func rollback() {
        guard !hasEnded else { return }
        hasEnded = true
        // Giving the turn back cannot fail.
        try? backend.finishWriting(nil)
    }

    override func end() { rollback() }

    deinit { rollback() }
}
