import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

/// A feed of the records of a source, converted to the model's import source.
final class RecordFeed<Source>: ImportFeed {
    private let source: RecordSource
    private let reader: RecordReader
    private let convert: (SourceRecord) throws -> Source
    private(set) var recordPosition = ImportRecordPosition()
    private var previous: ImportRecordPosition?
    /// The last record; `nil` if it could not be read.
    private var last: SourceRecord?

    /// - Parameter convert: Creates the import source of an object from a record; throws for an invalid record.
    init(_ source: RecordSource, convert: @escaping (SourceRecord) throws -> Source) throws {
        self.source = source
        self.convert = convert
        reader = try source.makeReader()
    }

    var totalBytes: Int64? { reader.totalBytes }

    func next() throws -> Source? {
        do {
            guard let record = try reader.next() else { return nil }
            move(to: record.position, record)
            return try convert(record)
        } catch let error as RecordError {
            // An error that concerns the whole source has no position.
            guard isRecordError(error), let position = error.position ?? last?.position else { throw error }
            if position.record > recordPosition.record { move(to: position, nil) }
            throw ImportProblem(source: source.name, recordPosition, error)
        } catch {
            guard isRecordError(error) else { throw error }
            throw ImportProblem(source: source.name, recordPosition, error)
        }
    }

    private func move(to position: RecordPosition, _ record: SourceRecord?) {
        previous = recordPosition.record > 0 ? recordPosition : nil
        recordPosition = ImportRecordPosition(position)
        last = record
    }

    // MARK: Resuming

    var mark: ImportMark { ImportMark(recordPosition: recordPosition, previous: previous, checksum: last.map(Self.checksum)) }

    /// Reads the last record of the earlier run again to verify that the source still contains it.
    func skip(to mark: ImportMark) throws {
        if let previous = mark.previous {
            recordPosition = previous
            do {
                try reader.resume(after: previous.position(in: source.name))
            } catch let error as RecordError where error.code != .compression {
                throw changed("\(name) no longer has record \(previous.record) at byte \(previous.offset)")
            }
        }
        // If the record could not be read, only its position can be verified.
        do { _ = try next() } catch is ImportProblem {}
        guard recordPosition == mark.recordPosition, last.map(Self.checksum) == mark.checksum else {
            let position = mark.recordPosition
            throw changed("record \(position.record) (line \(position.line)) is not the one that the earlier run imported")
        }
    }

    private var name: String { source.name ?? "the source" }

    private func changed(_ difference: String) -> ImportSourceChanged {
        ImportSourceChanged(difference: "\(difference), so \(name) has changed since")
    }

    /// Returns the FNV-1a hash of the fields of a record.
    private static func checksum(_ record: SourceRecord) -> UInt32 {
        JSONValue.object(record.fields).description.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    func close() {}
}
