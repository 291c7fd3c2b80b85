import PolyStoreBackend
import PolyStoreMemory
import PolyStoreSearch

/// A store in memory with full-text indexes of its own, which have one defect or none. For cases on one thread.
final class DefectiveSearchStore: StorageBackend, @unchecked Sendable {  // used by one case on one thread at a time
    private let inner: any StorageBackend
    fileprivate var indexes: [SearchIndexKey: DefectiveSearchIndex] = [:]

    init(_ inner: any StorageBackend, _ schema: ResolvedSchema, _ defect: SearchDefect?) {
        self.inner = inner
        for entity in schema.entities {
            for index in entity.searchIndexes {
                indexes[SearchIndexKey(entity: entity.index, index: index.index)] = DefectiveSearchIndex(index, defect)
            }
        }
    }

    var capabilities: Capabilities { Capabilities(features: [.concurrentReaders, .searchIndexes], durabilities: [.relaxed]) }
    var metadata: StoreMetadata { inner.metadata }
    func close() throws { try inner.close() }
    func beginRead() throws -> any ReadTransaction { DefectiveSearchReader(try inner.beginRead(), indexes) }
    func beginWrite() throws -> any WriteTransaction { DefectiveSearchWriter(try inner.beginWrite(), self) }
}

/// A full-text index of a schema.
struct SearchIndexKey: Hashable {
    let entity: Int
    let index: Int
}

/// A snapshot of the records and the indexes.
private class DefectiveSearchReader: ReadTransaction {
    private let reader: any ReadTransaction
    var indexes: [SearchIndexKey: DefectiveSearchIndex]

    init(_ reader: any ReadTransaction, _ indexes: [SearchIndexKey: DefectiveSearchIndex]) {
        self.reader = reader
        self.indexes = indexes
    }

    var interruption: Interruption? {
        get { reader.interruption }
        set { reader.interruption = newValue }
    }
    var version: UInt64 { get throws { try reader.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try reader.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try reader.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try reader.count(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try reader.related(relationship, of: sources) }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try reader.scanGroups(request) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try reader.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try reader.explain(request) }
    func search(_ request: SearchRequest) throws -> SearchHits? { index(request.condition)?.hits(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { index(condition)?.statistics(condition.search) }
    func end() { reader.end() }

    private func index(_ condition: SearchCondition) -> DefectiveSearchIndex? {
        indexes[SearchIndexKey(entity: condition.entity.index, index: condition.index.index)]
    }
}

private final class DefectiveSearchWriter: DefectiveSearchReader, WriteTransaction {
    private let writer: any WriteTransaction
    private let store: DefectiveSearchStore

    init(_ writer: any WriteTransaction, _ store: DefectiveSearchStore) {
        self.writer = writer
        self.store = store
        super.init(writer, store.indexes)
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try writer.reserveIDs(entity, count: count) }

    func apply(_ changes: ChangeSet) throws {
        let old = try texts(changes)
        try writer.apply(changes)
        let new = try texts(changes)
        for key in indexes.keys {
            let changed = (old[key] ?? [:]).map { id, texts in (id: id, old: texts, new: new[key]?[id] ?? nil) }.filter { $0.old != $0.new }
            indexes[key]?.add(changed)
        }
    }

    /// Returns the current texts of the objects that a change set changes; nil for an object that is not a document.
    private func texts(_ changes: ChangeSet) throws -> [SearchIndexKey: [Int64: [String?]?]] {
        var found: [SearchIndexKey: [Int64: [String?]?]] = [:]
        for change in changes.changes {
            let entity = changes.schema.entities[change.entity]
            for index in entity.searchIndexes {
                let texts = try writer.record(entity, rowID: change.rowID).flatMap { index.texts(of: $0) }
                found[SearchIndexKey(entity: entity.index, index: index.index), default: [:]].updateValue(texts, forKey: change.rowID)
            }
        }
        return found
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        let version = try writer.commit(durability)
        store.indexes = indexes
        return version
    }

    func rollback() { writer.rollback() }
    override func end() { rollback() }
}

/// Backends whose full-text indexes have one defect each, which prove that the suite detects it.
public struct DefectiveSearch: Sendable, CustomStringConvertible {
    /// The description of the defect.
    public let description: String
    /// The ids of cases that must fail.
    public let caughtBy: [String]
    /// The defective backend.
    public let target: ConformanceTarget

    private init(_ defect: SearchDefect?, caughtBy: String...) {
        description = defect?.rawValue ?? "has no defect"
        self.caughtBy = caughtBy
        target = ConformanceTarget(name: description, capabilities: [.concurrentReaders, .searchIndexes]) { location in
            StoreConfiguration(engine: "defective", location: location.path, isShared: false) { request in
                let store = try StoreConfiguration.inMemory().open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                return DefectiveSearchStore(store, request.schema, defect)
            }
        }
    }

    /// All defective backends.
    public static let all = [
        DefectiveSearch(.losesAPosting, caughtBy: "search.objects.common-word", "search.commits.many"),
        DefectiveSearch(.keepsFrequencies, caughtBy: "search.statistics.follow-changes"),
        DefectiveSearch(.shiftsPositions, caughtBy: "search.phrase.repeated-words", "search.near.counts-what-is-near"),
        DefectiveSearch(.resurrectsDeletions, caughtBy: "search.delete.and-insert-again"),
        DefectiveSearch(.dropsInAMerge, caughtBy: "search.commits.many"),
        DefectiveSearch(.keepsLengths, caughtBy: "search.statistics.follow-changes"),
    ]

    /// The backend without a defect, which passes every case about searches.
    public static let sound = DefectiveSearch(nil)
}
