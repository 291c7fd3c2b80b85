import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

/// The sequence of sources of an import run. Used by one thread at a time.
protocol ImportFeed<Source>: AnyObject {
    associatedtype Source
    /// The size of the source in bytes; `nil` if it is unknown.
    var totalBytes: Int64? { get }
    /// The position of the record that ``next()`` returned last or threw an error for.
    var recordPosition: ImportRecordPosition { get }
    /// Reads the next record.
    /// - Returns: `nil` at the end.
    /// - Throws: An ``ImportProblem`` for a record that cannot be read; ``recordPosition`` is its position. After a recoverable problem the next call reads the
    ///   following record.
    func next() throws -> Source?
    /// Skips to the record after the last one of an earlier run.
    /// - Throws: ``ImportSourceChanged`` if the source has changed.
    func skip(to mark: ImportMark) throws
    /// The last record that was read, in a form that a later run can locate.
    var mark: ImportMark { get }
    /// Releases the source.
    func close()
}

/// The last record that an import has committed, with the data to verify that a source still contains it.
struct ImportMark: Codable, Equatable {
    var recordPosition = ImportRecordPosition()
    /// The position of the previous record; `nil` for the first record and for sources without byte offsets.
    var previous: ImportRecordPosition?
    /// A checksum of the fields; `nil` for a record that could not be read and for an element of a sequence.
    var checksum: UInt32?

    /// The names in stored marks.
    private enum CodingKeys: String, CodingKey {
        case recordPosition = "place"
        case previous, checksum
    }
}

/// An error for a resumable import whose source differs from that of the earlier run.
struct ImportSourceChanged: Error {
    /// A description of the difference, which names the source.
    let difference: String
}

/// A feed of the elements of a sequence.
final class SequenceFeed<S: Sequence>: ImportFeed {
    private var iterator: S.Iterator
    private let position: ((S.Element) -> RecordPosition?)?
    private(set) var recordPosition = ImportRecordPosition()
    var totalBytes: Int64? { nil }

    /// - Parameter position: Returns the position of an element in its own source.
    init(_ sequence: S, position: ((S.Element) -> RecordPosition?)?) {
        iterator = sequence.makeIterator()
        self.position = position
    }

    func next() throws -> S.Element? {
        guard let element = iterator.next() else { return nil }
        recordPosition = position?(element).map { ImportRecordPosition($0) } ?? ImportRecordPosition(record: recordPosition.record + 1)
        return element
    }

    var mark: ImportMark { ImportMark(recordPosition: recordPosition) }

    func skip(to mark: ImportMark) throws {
        while recordPosition.record < mark.recordPosition.record {
            guard try next() != nil else { throw ImportSourceChanged.shorter(recordPosition.record) }
        }
    }

    func close() {}
}

extension ImportSourceChanged {
    static func shorter(_ count: Int) -> ImportSourceChanged {
        ImportSourceChanged(difference: "the source has only \(count) \(count == 1 ? "record" : "records") now")
    }
}
