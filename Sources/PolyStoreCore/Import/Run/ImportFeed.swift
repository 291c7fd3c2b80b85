import PolyStoreBackend
import PolyStoreFormats

/// The sources of an import run, one after another. Used by one thread at a time.
protocol ImportFeed<Source>: AnyObject {
    associatedtype Source
    /// The size of the source in bytes; nil where it is not known.
    var totalBytes: Int64? { get }
    /// The place of the record that ``next()`` returned last, or threw for.
    var place: ImportPlace { get }
    /// Reads the next record.
    /// - Returns: nil at the end.
    /// - Throws: an ``ImportProblem`` for a record that cannot be read; ``place`` is its place. After a recoverable one the next call reads on behind it.
    func next() throws -> Source?
    /// Continues behind the last record of an earlier run.
    /// - Throws: ``ImportSourceChanged`` where the source is another one.
    func skip(to mark: ImportMark) throws
    /// The record that was read last, as a later run finds it again.
    var mark: ImportMark { get }
    /// Releases the source.
    func close()
}

/// The last record that an import has committed, with what tells whether a source still has it.
struct ImportMark: Codable, Equatable {
    var place = ImportPlace()
    /// The place of the record before it; nil where it is the first, or has no place in bytes.
    var previous: ImportPlace?
    /// A checksum of its fields; nil where it has none that could be read.
    var checksum: UInt32?
}

/// The source of a resumable import is not the one that the earlier run has read.
struct ImportSourceChanged: Error {
    /// What is different.
    let difference: String
}

/// The elements of a sequence.
final class SequenceFeed<S: Sequence>: ImportFeed {
    private var iterator: S.Iterator
    private let position: ((S.Element) -> RecordPosition?)?
    private(set) var place = ImportPlace()
    var totalBytes: Int64? { nil }

    /// - Parameter position: the position that an element has in a source of its own.
    init(_ sequence: S, position: ((S.Element) -> RecordPosition?)?) {
        iterator = sequence.makeIterator()
        self.position = position
    }

    func next() throws -> S.Element? {
        guard let element = iterator.next() else { return nil }
        place = position?(element).map { ImportPlace($0) } ?? ImportPlace(record: place.record + 1)
        return element
    }

    var mark: ImportMark { ImportMark(place: place) }

    func skip(to mark: ImportMark) throws {
        while place.record < mark.place.record {
            guard try next() != nil else { throw ImportSourceChanged.shorter(place.record) }
        }
    }

    func close() {}
}

extension ImportSourceChanged {
    static func shorter(_ count: Int) -> ImportSourceChanged { ImportSourceChanged(difference: "the source has only \(count) records now") }
}
