import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

extension ExportDestination {
    /// Opens a writer that counts the bytes it writes.
    func open(columns: [String]) throws -> (writer: RecordWriter, counter: CountingByteSink) {
        guard let format else {
            throw StoreError(
                .misuse, "The format of \"\(name)\" is unknown: its extension is none of json, jsonl, ndjson, csv, tsv. Pass a format.")
        }
        let counter = CountingByteSink(try openSink())
        return (try RecordWriter(to: counter, format: format, columns: columns), counter)
    }
}

/// A sink that forwards and counts bytes.
final class CountingByteSink: ByteSink {
    private let sink: any ByteSink
    private(set) var count: Int64 = 0

    init(_ sink: any ByteSink) { self.sink = sink }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(bytes)
        count += Int64(bytes.count)
    }

    func finish() throws { try sink.finish() }
    func cancel() { sink.cancel() }
}
