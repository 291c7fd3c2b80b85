import Foundation

/// The destination of an export.
///
///     try await stack.export(From<City>(), to: .file(path: "cities.csv"))
public struct ExportDestination: Sendable {
    /// The name of the destination, for progress and errors.
    public let name: String
    /// The format; `nil` if the file name does not determine one.
    public let format: RecordFormat?
    package let openSink: @Sendable () throws -> any ByteSink

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
    ///
    /// The bytes are not compressed. An export to a path that ends in `.gz` is therefore an error: for a gzip file, import PolyStoreGzip and use
    /// `ExportDestination.gzip(path:)`.
    public static func file(path: String, format: RecordFormat? = nil) -> ExportDestination {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ExportDestination(name: name, format: format ?? RecordFormat(fileName: name)) {
            guard !name.lowercased().hasSuffix(".gz") else {
                throw RecordError(
                    .unsupported,
                    "Cannot export to '\(path)' with ExportDestination.file: its name is that of a gzip file, and the bytes would not be "
                        + "compressed. Import PolyStoreGzip and use ExportDestination.gzip, or choose another name.",
                    isRecoverable: false)
            }
            return try FileByteSink(path: path)
        }
    }

    /// Returns a file as a destination; see ``file(path:format:)``.
    public static func file(_ url: URL, format: RecordFormat? = nil) -> ExportDestination { file(path: url.path, format: format) }

    /// Returns an open file handle as a destination. The export does not close the handle.
    public static func handle(_ handle: FileHandle, format: RecordFormat, name: String = "file handle") -> ExportDestination {
        ExportDestination(name: name, format: format) { DescriptorByteSink(handle) }
    }
}
