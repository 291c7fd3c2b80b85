public import Foundation
import PolyStoreBackend
public import PolyStoreFormats

/// The destination of an export.
///
///     try await stack.export(From<City>(), to: .file(path: "cities.csv"))
public struct ExportDestination: Sendable {
    /// The name of the destination, for progress and errors.
    public let name: String
    /// The format; `nil` if the file name does not determine one.
    public let format: RecordFormat?
    private let openSink: @Sendable () throws -> any ByteSink

    /// Creates a destination.
    /// - Parameters:
    ///   - name: The name of the destination in errors.
    ///   - format: The format of the records; nil chooses it by the name.
    ///   - open: Returns the sink for the bytes. Called once for each export, on any thread.
    public init(name: String, format: RecordFormat?, open: @escaping @Sendable () throws -> any ByteSink) {
        self.name = name
        self.format = format
        openSink = open
    }

    /// Returns a file as a destination. The file is created or replaced atomically when the export is complete. Without a format, the file extension determines
    /// it; see `RecordFormat.init(fileName:)`.
    public static func file(path: String, format: RecordFormat? = nil) -> ExportDestination {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ExportDestination(name: name, format: format ?? RecordFormat(fileName: name)) { try FileByteSink(path: path) }
    }

    /// Returns a file as a destination; see ``file(path:format:)``.
    public static func file(_ url: URL, format: RecordFormat? = nil) -> ExportDestination { file(path: url.path, format: format) }

    /// Returns an open file handle as a destination. The export does not close the handle.
    public static func handle(_ handle: FileHandle, format: RecordFormat, name: String = "file handle") -> ExportDestination {
        ExportDestination(name: name, format: format) { DescriptorByteSink(handle) }
    }

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
