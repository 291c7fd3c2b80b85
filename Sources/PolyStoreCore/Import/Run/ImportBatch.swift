import PolyStoreFormats

/// Where a record is in its source.
struct ImportPlace: Sendable, Hashable, Codable {
    /// The number of the record, from 1; 0 before the first.
    var record = 0
    /// The line in which it begins, from 1; 0 for a source without lines.
    var line = 0
    /// The offset of the first byte of the record; 0 for a source of values.
    var offset: Int64 = 0
    /// The length of the record in bytes.
    var count: Int64 = 0

    /// The offset of the first byte behind the record.
    var end: Int64 { offset + count }
}

extension ImportPlace {
    init(_ position: RecordPosition) {
        self.init(record: position.record, line: position.line, offset: position.byteOffset, count: position.byteCount)
    }

    func position(in source: String?) -> RecordPosition {
        RecordPosition(source: source, record: record, line: line, byteOffset: offset, byteCount: count)
    }
}

/// Records that are imported by one transaction.
final class ImportBatch<Source> {
    private(set) var sources: [Source] = []
    private(set) var places: [ImportPlace] = []
    /// By source: whether it is left out.
    private(set) var isRefused: [Bool] = []
    /// The records that were left out, those that could not be read included.
    private(set) var problems: [ImportProblem] = []
    /// The number of records, those that could not be read included.
    private(set) var count = 0
    /// The place of the last record.
    private(set) var last = ImportPlace()

    var isEmpty: Bool { count == 0 }

    func add(_ source: Source, at place: ImportPlace) {
        sources.append(source)
        places.append(place)
        isRefused.append(false)
        count += 1
        last = place
    }

    /// Adds a record that could not be read.
    func add(_ problem: ImportProblem, at place: ImportPlace) {
        problems.append(problem)
        count += 1
        last = place
    }

    /// Leaves a source out.
    func refuse(_ index: Int, _ problem: ImportProblem) {
        isRefused[index] = true
        problems.append(problem)
    }

    /// Empties the batch. `last` stays.
    func removeAll() {
        sources.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        isRefused.removeAll(keepingCapacity: true)
        problems = []
        count = 0
    }
}
