import PolyStoreBackend

/// A read transaction that exposes the reader to the shared executor, which evaluates residual predicates and sorts. It counts the rows of related objects that
/// are read for a request that is being explained.
final class ScanTransaction: OrdersByIndexedJSON {
    private let reader: SnapshotReader
    init(_ reader: SnapshotReader) { self.reader = reader }
    var version: UInt64 { 0 }
    var interruption: Interruption? {
        get { reader.interruption }
        set { reader.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        let record = try reader.record(entity, rowID)
        reader.countRelatedRows(record == nil ? 0 : 1)
        return record
    }
    func scan(_ request: FetchRequest) throws -> Scan { try reader.scan(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        let found = try reader.related(relationship, of: sources)
        reader.countRelatedRows(sources.reduce(0) { $0 + found[$1].count })
        return found
    }
    func value(named name: String) throws -> [UInt8]? { try reader.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try reader.valueNames(prefix: prefix) }
    func end() {}
}
