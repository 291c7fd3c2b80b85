import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// A format of an answer.
package enum AnswerFormat: String, Sendable, CaseIterable {
    case json, jsonl, csv

    /// The media type.
    package var mediaType: String {
        switch self {
        case .json: "application/json; charset=utf-8"
        case .jsonl: "application/jsonl; charset=utf-8"
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }

    var records: RecordFormat {
        switch self {
        case .json: .json
        case .jsonl: .jsonLines
        case .csv: .csv
        }
    }
}

/// All rows of a request as JSON, JSON Lines or CSV, in chunks of bytes.
///
/// A chunk is written when it is requested, from one batch of rows, so that an answer of any length takes the memory of a batch.
package struct RowBytes: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    fileprivate let rows: ExactRows
    fileprivate let format: AnswerFormat
    fileprivate let names: [String]
    /// The batch that was read before the iteration, and the batches after it; nil if none was.
    fileprivate var start: (first: [ExactRow]?, rest: ExactRows.Iterator)?

    package func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Returns the same bytes with their first batch read, so that a mistake of the request is an error before the first chunk.
    package func started() async throws -> RowBytes {
        var (rest, copy) = (rows.makeAsyncIterator(), self)
        let first = try await rest.next()
        copy.start = (first, rest)
        return copy
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let format: AnswerFormat
        private let (names, columns): ([String], [RowColumn])
        private var rows: ExactRows.Iterator
        /// A batch that was read before the iteration.
        private var first: [ExactRow]?
        private var output: Output?
        private var isFinished = false

        fileprivate init(_ bytes: RowBytes) {
            (format, names, columns) = (bytes.format, bytes.names, bytes.rows.columns)
            first = bytes.start?.first
            rows = bytes.start?.rest ?? bytes.rows.makeAsyncIterator()
        }

        /// Returns the next chunk, which is never empty; nil at the end.
        package mutating func next() async throws -> [UInt8]? {
            let output = try self.output ?? Output(format, names)
            self.output = output
            while !isFinished {
                if let batch = try await nextBatch() {
                    for row in batch { try output.write(record(row)) }
                } else {
                    try output.finish()
                    isFinished = true
                }
                let bytes = output.take()
                if !bytes.isEmpty { return bytes }
            }
            return nil
        }

        private mutating func nextBatch() async throws -> [ExactRow]? {
            guard let batch = first else { return try await rows.next() }
            first = nil
            return batch
        }

        private func record(_ row: ExactRow) -> JSONObject {
            let values = zip(columns, row.values).map { JSONValue($1, $0.type) }
            return JSONObject(zip(names, [JSONValue(row.object.entity), JSONValue(row.object.rowID)] + values))
        }
    }

    /// A writer of records, and the bytes that it has written.
    private final class Output {
        private let sink = MemoryChunks()
        private let writer: RecordWriter

        init(_ format: AnswerFormat, _ names: [String]) throws {
            writer = try RecordWriter(to: sink, format: format.records, columns: names)
        }

        func write(_ record: JSONObject) throws { try writer.write(record) }
        func finish() throws { try writer.finish() }
        func take() -> [UInt8] { sink.take() }
    }
}

/// Bytes in memory that are taken in chunks.
private final class MemoryChunks: ByteSink {
    private var bytes: [UInt8] = []

    func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
    func finish() {}
    func cancel() { bytes = [] }

    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

extension BrowserStore {
    /// Returns all rows of a request as bytes: the columns of the request, after the entity and the row id of each object, `_entity` and `_id`.
    /// - Throws: The errors of ``exactRows(_:)``.
    package func bytes(of request: RowsRequest, as format: AnswerFormat) throws -> RowBytes {
        var request = request
        request.size = RowsRequest.greatestSize
        let rows = try exactRows(request)
        return RowBytes(rows: rows, format: format, names: Self.distinct(["_entity", "_id"] + rows.columns.map(\.title)))
    }

    /// Returns the names with numbers where a name occurs again: `name`, `name 2`.
    static func distinct(_ names: [String]) -> [String] {
        var known: Set<String> = []
        return names.map { name in
            var (distinct, number) = (name, 2)
            while !known.insert(distinct).inserted {
                distinct = "\(name) \(number)"
                number += 1
            }
            return distinct
        }
    }
}
