import Foundation

/// A description of a source of records and their format. Each reader opens the source.
///
///     for try await record in RecordSource.file(path: "cities.csv").records { … }
///     let reader = try RecordSource.text(#"{"a": 1}"#, format: .jsonLines).makeReader()
public struct RecordSource: Sendable {
    /// The name in positions and errors, such as a file name.
    public var name: String?
    /// The format; nil if the file name does not determine one.
    public var format: RecordFormat?
    private let openSource: @Sendable () throws -> any ByteSource

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - name: The name of the source in positions and errors; nil if it has none.
    ///   - format: The format of the bytes; nil chooses it by the name.
    ///   - open: Returns the bytes from the beginning. Called on any thread.
    public init(name: String?, format: RecordFormat?, open: @escaping @Sendable () throws -> any ByteSource) {
        self.name = name
        self.format = format
        openSource = open
    }

    /// Returns a file as a source. Without a format, the file extension determines it: see ``RecordFormat/init(fileName:)``.
    ///
    /// For a gzip file, import PolyStoreGzip and use `RecordSource.gzip(path:)`.
    public static func file(path: String, format: RecordFormat? = nil) -> RecordSource {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return RecordSource(name: name, format: format ?? RecordFormat(fileName: name)) { try FileByteSource(path: path) }
    }

    /// Returns a file as a source. Without a format, the file extension determines it: see ``RecordFormat/init(fileName:)``.
    public static func file(_ url: URL, format: RecordFormat? = nil) -> RecordSource { file(path: url.path, format: format) }

    /// Returns bytes in memory as a source.
    public static func bytes(_ bytes: [UInt8], format: RecordFormat, name: String? = nil) -> RecordSource {
        RecordSource(name: name, format: format) { MemoryByteSource(bytes) }
    }

    /// Returns bytes in memory as a source.
    public static func bytes(_ data: Data, format: RecordFormat, name: String? = nil) -> RecordSource {
        RecordSource(name: name, format: format) { MemoryByteSource([UInt8](data)) }
    }

    /// Returns text in memory as a source.
    public static func text(_ text: String, format: RecordFormat, name: String? = nil) -> RecordSource {
        RecordSource(name: name, format: format) { MemoryByteSource([UInt8](text.utf8)) }
    }

    /// Returns an open file handle as a source, from its current position. It can be read once.
    public static func handle(_ handle: FileHandle, format: RecordFormat, name: String? = nil) -> RecordSource {
        RecordSource(name: name, format: format) { FileByteSource(handle) }
    }

    /// Returns the standard input of the process as a source. It can be read once.
    public static func standardInput(format: RecordFormat) -> RecordSource {
        RecordSource(name: "standard input", format: format) { FileByteSource(descriptor: 0, name: "standard input") }
    }

    /// Returns an asynchronous sequence of chunks of bytes as a source, such as the body of a network response. It can be read once.
    ///
    /// A task awaits the chunks, and a reader blocks its thread until one is available: use ``records``, or use a reader only on a thread that no
    /// task needs. The task waits while 4 chunks are unread.
    public static func chunks<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, format: RecordFormat, name: String? = nil) -> RecordSource
    where Chunks.Element: Sequence<UInt8> & Sendable {
        RecordSource(name: name, format: format) { ChunkByteSource(chunks) }
    }

    /// Opens the bytes of the source.
    ///
    /// - Throws: ``RecordError`` if the source cannot be opened.
    public func open() throws -> any ByteSource { try openSource() }

    /// Opens the source and returns a reader of its records.
    ///
    /// - Throws: ``RecordError`` if the source cannot be opened, or if its format is unknown.
    public func makeReader() throws -> RecordReader {
        guard let format else {
            throw RecordError(
                .unsupported,
                "The format of '\(name ?? "the source")' is unknown: its extension is none of json, jsonl, ndjson, csv, tsv. Pass a format.",
                isRecoverable: false)
        }
        return try RecordReader(open(), format: format, name: name)
    }
}
