import PolyStoreFormats
import SeededRandom

/// A source that delivers bytes in chunks of random sizes.
final class RandomChunks: ByteSource {
    private let bytes: [UInt8]
    private var random: SplitMix64
    private let largest: Int
    private var offset = 0

    init(_ bytes: [UInt8], _ random: SplitMix64, largest: Int) {
        self.bytes = bytes
        self.random = random
        self.largest = largest
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(1 + random.below(largest), buffer.count, bytes.count - offset)
        buffer.copyBytes(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

/// A record or an error.
enum Outcome: Equatable {
    case record(SourceRecord)
    case error(RecordError)

    /// Compares the texts of numbers and the order of fields too.
    static func == (left: Outcome, right: Outcome) -> Bool {
        switch (left, right) {
        case (.record(let left), .record(let right)): left.position == right.position && left.fields.description == right.fields.description
        case (.error(let left), .error(let right)): left == right
        default: false
        }
    }
}

/// Reads up to the end, or to an error that ends reading.
func readAll(_ source: any ByteSource, _ format: RecordFormat, after position: RecordPosition? = nil) -> [Outcome] {
    var outcomes: [Outcome] = []
    do {
        let reader = try RecordReader(source, format: format, name: "fuzz")
        if let position { try reader.resume(after: position) }
        while true {
            do {
                guard let record = try reader.next() else { return outcomes }
                outcomes.append(.record(record))
            } catch let error as RecordError where error.isRecoverable {
                outcomes.append(.error(error))
            }
        }
    } catch let error as RecordError {
        outcomes.append(.error(error))
    } catch {
        outcomes.append(.error(RecordError(.unsupported, "\(error)")))
    }
    return outcomes
}
