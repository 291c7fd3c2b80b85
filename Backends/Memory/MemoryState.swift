import PolyStoreBackend

/// One record, immutable: versions of the store share it.
final class StoredRecord: Sendable {
    // Written in init, read until deinit.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawPointer
    private let count: Int

    init(_ record: RecordView) {
        count = record.count
        bytes = .allocate(byteCount: max(count, 1), alignment: 8)
        if let source = record.bytes.baseAddress { bytes.copyMemory(from: source, byteCount: count) }
    }

    deinit { bytes.deallocate() }

    /// Valid as long as the record is.
    func view(_ layout: RecordLayout) -> RecordView { RecordView(trusting: bytes, count: count, layout: layout) }
}

/// The pairs of one link table, both ways.
struct LinkPairs: Sendable {
    private(set) var targets: [Int64: Set<Int64>] = [:]
    private(set) var sources: [Int64: Set<Int64>] = [:]

    /// The pairs, as each end tells them.
    var forward: Set<[Int64]> { Set(targets.flatMap { source, targets in targets.map { [source, $0] } }) }
    var backward: Set<[Int64]> { Set(sources.flatMap { target, sources in sources.map { [$0, target] } }) }

    mutating func add(_ source: Int64, _ target: Int64) {
        targets[source, default: []].insert(target)
        sources[target, default: []].insert(source)
    }

    mutating func remove(_ source: Int64, _ target: Int64) {
        targets[source]?.remove(target)
        sources[target]?.remove(source)
        if targets[source]?.isEmpty ?? false { targets[source] = nil }
        if sources[target]?.isEmpty ?? false { sources[target] = nil }
    }
}

/// Everything in the store at one version. A value: a snapshot is a copy, and copies share what neither has changed.
struct MemoryState: Sendable {
    var version: UInt64 = 0
    /// By entity and id.
    var records: [[Int64: StoredRecord]]
    /// By link table.
    var links: [LinkPairs]
    /// By entity and unique index: which object holds a value.
    var uniques: [[[Value]: Int64]]

    init(_ schema: ResolvedSchema) {
        records = schema.entities.map { _ in [:] }
        links = schema.links.map { _ in LinkPairs() }
        uniques = schema.entities.flatMap(\.uniqueIndexes).map { _ in [:] }
    }
}

extension Entity {
    var uniqueIndexes: [Index] { indexes.filter(\.isUnique) }

    /// The value of an index; nil where a part of it is null, as then it need not be unique.
    func key(_ index: Index, _ record: RecordView) -> [Value]? {
        var key: [Value] = []
        for ordinal in index.fields {
            if record.isNull(ordinal) { return nil }
            key.append(record.value(fields[ordinal]))
        }
        return key
    }
}
