import Foundation
import PolyStoreFormats

/// A source that delivers bytes in chunks of the given sizes, in rotation.
final class ChunkedSource: ByteSource {
    private let bytes: [UInt8]
    private let sizes: [Int]
    private var offset = 0
    private var reads = 0

    init(_ bytes: [UInt8], sizes: [Int]) {
        self.bytes = bytes
        self.sizes = sizes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(sizes[reads % sizes.count], buffer.count, bytes.count - offset)
        reads += 1
        buffer.copyBytes(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

/// A record or an error, for comparison.
enum Outcome: Equatable {
    case record(SourceRecord)
    case error(RecordError)
}

/// Reads all records, recoverable errors and the final error.
func outcomes(_ bytes: [UInt8], _ format: RecordFormat, chunks: [Int] = [1 << 20]) -> [Outcome] {
    var result: [Outcome] = []
    do {
        let reader = try RecordReader(ChunkedSource(bytes, sizes: chunks), format: format, name: "test")
        while true {
            do {
                guard let record = try reader.next() else { return result }
                result.append(.record(record))
            } catch let error as RecordError {
                result.append(.error(error))
                if !error.isRecoverable { return result }
            }
        }
    } catch {
        result.append(.error(RecordError(.unsupported, "\(error)")))
    }
    return result
}

/// Returns the fields of the records, which must be free of errors.
func records(_ text: String, _ format: RecordFormat, chunks: [Int] = [1 << 20]) throws -> [JSONObject] {
    try outcomes(Array(text.utf8), format, chunks: chunks).map {
        switch $0 {
        case .record(let record): record.fields
        case .error(let error): throw error
        }
    }
}

/// Returns every error of a source.
func errors(_ text: String, _ format: RecordFormat) -> [RecordError] {
    outcomes(Array(text.utf8), format).compactMap { if case .error(let error) = $0 { error } else { nil } }
}

/// Returns the code of every error, and nil for every record.
func codes(_ outcomes: [Outcome]) -> [RecordError.Code?] {
    outcomes.map { if case .error(let error) = $0 { error.code } else { nil } }
}
