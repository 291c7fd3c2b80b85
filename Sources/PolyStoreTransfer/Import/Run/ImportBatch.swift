import PolyStoreFormats
import PolyStoreKernel

/// The position of a record in its source.
struct ImportRecordPosition: Sendable, Hashable, Codable {
    /// The number of the record, from 1; 0 before the first.
    var record = 0
    /// The number of the record's first line, from 1; 0 for a source without lines.
    var line = 0
    /// The offset of the first byte of the record; 0 for a source of values.
    var offset: Int64 = 0
    /// The length of the record in bytes.
    var count: Int64 = 0

    /// The offset of the first byte after the record.
    var end: Int64 { offset + count }
}

extension ImportRecordPosition {
    init(_ position: RecordPosition) {
        self.init(record: position.record, line: position.line, offset: position.byteOffset, count: position.byteCount)
    }

    func position(in source: String?) -> RecordPosition {
        RecordPosition(source: source, record: record, line: line, byteOffset: offset, byteCount: count)
    }
}

/// The records that one transaction imports.
final class ImportBatch<Source> {
    private(set) var sources: [Source] = []
    private(set) var recordPositions: [ImportRecordPosition] = []
    /// A Boolean value for each source that indicates whether it is excluded.
    private(set) var isRefused: [Bool] = []
    /// The excluded records, including unreadable ones, in the order in which they were found.
    private(set) var problems: [ImportProblem] = []
    /// The number of records, including unreadable ones.
    private(set) var count = 0
    /// The position of the last record.
    private(set) var last = ImportRecordPosition()

    var isEmpty: Bool { count == 0 }

    /// The excluded records, in the order of the source.
    var problemsInOrder: [ImportProblem] { problems.sorted { $0.record < $1.record } }

    func add(_ source: Source, at recordPosition: ImportRecordPosition) {
        sources.append(source)
        recordPositions.append(recordPosition)
        isRefused.append(false)
        count += 1
        last = recordPosition
    }

    /// Adds a record that could not be read.
    func add(_ problem: ImportProblem, at recordPosition: ImportRecordPosition) {
        problems.append(problem)
        count += 1
        last = recordPosition
    }

    /// Excludes a source.
    func refuse(_ index: Int, _ problem: ImportProblem) {
        isRefused[index] = true
        problems.append(problem)
    }

    /// Removes all records. `last` is kept.
    func removeAll() {
        sources.removeAll(keepingCapacity: true)
        recordPositions.removeAll(keepingCapacity: true)
        isRefused.removeAll(keepingCapacity: true)
        problems = []
        count = 0
    }
}
