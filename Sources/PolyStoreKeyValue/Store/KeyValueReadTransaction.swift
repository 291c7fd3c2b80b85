import PolyStoreBackend
import PolyStoreSearch

/// A read transaction over one snapshot of the engine.
final class KeyValueReadTransaction: OrdersByIndexedJSON {
    let version: UInt64
    private let reader: SnapshotReader
    private let handle: EngineHandle

    /// Takes ownership of a retained handle, unless it throws.
    init(_ handle: EngineHandle, _ layout: StoreLayout) throws {
        self.handle = handle
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        self.reader = reader
        do {
            try handle.check(layout, reader.snapshot)
            version = try reader.version()
        } catch {
            reader.end()
            throw error
        }
    }

    deinit { end() }

    /// Returns the reader after checking that the transaction is open and the entity belongs to the store.
    func reading(_ entity: Entity) throws -> SnapshotReader {
        try reader.check()
        try reader.layout.check(entity)
        return reader
    }

    var interruption: Interruption? {
        get { reader.interruption }
        set { reader.interruption = newValue }
    }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try reading(entity).record(entity, rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try reading(request.entity).scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try reading(request.entity).count(request) }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try reading(request.entity).scanGroups(request) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try reading(request.entity).plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try reading(request.entity).explain(request) }

    func search(_ request: SearchRequest) throws -> SearchHits? { try reading(request.condition.entity).search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try reading(condition.entity).searchStatistics(condition)
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try reader.check()
        try reader.layout.check(relationship)
        return try reader.related(relationship, of: sources)
    }

    func value(named name: String) throws -> [UInt8]? {
        try reader.check()
        return try reader.value(named: name)
    }

    func valueNames(prefix: String) throws -> [String] {
        try reader.check()
        return try reader.valueNames(prefix: prefix)
    }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try reader.check()
        return try reader.logEntries(after: position, limit: limit)
    }

    func logBounds() throws -> LogBounds {
        try reader.check()
        return try reader.logBounds()
    }

    func end() {
        guard !reader.isEnded else { return }
        reader.end()
        handle.release()
    }
}

extension StoreLayout {
    /// Throws an error unless a relationship, or its inverse, is declared by this store's schema.
    func check(_ relationship: Relationship) throws {
        func declares(_ relationship: Relationship) -> Bool {
            guard schema.entities.indices.contains(relationship.source) else { return false }
            let declared = schema.entities[relationship.source].relationships
            return declared.indices.contains(relationship.index) && declared[relationship.index] == relationship
        }
        if declares(relationship) { return }
        if schema.entities.indices.contains(relationship.destination),
            schema.entities[relationship.destination].relationships.contains(where: { $0.reversed == relationship })
        {
            return
        }
        throw StoreError(
            .misuse, "The relationship \(relationship.name) is not of the schema that \(location) was opened with.", location: location)
    }
}
