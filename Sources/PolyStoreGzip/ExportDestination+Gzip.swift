import Foundation
import PolyStoreFormats

extension ExportDestination {
    /// Returns a gzip file as a destination. The file is created or replaced atomically when the export is complete. Without a format, the extension before
    /// `.gz` determines it: `cities.csv.gz` is CSV.
    ///
    ///     try await stack.export(From<City>(), to: .gzip(path: "cities.csv.gz"))
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - format: The format of the records; `nil` to take it from the name.
    ///   - level: The compression level, from 1 (fastest) to 9 (smallest).
    public static func gzip(path: String, format: RecordFormat? = nil, level: Int = 6) -> ExportDestination {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ExportDestination(name: name, format: format ?? RecordFormat(fileName: name)) {
            try GzipByteSink.gzip(path: path, level: level)
        }
    }

    /// Returns a gzip file as a destination; see ``gzip(path:format:level:)``.
    public static func gzip(_ url: URL, format: RecordFormat? = nil, level: Int = 6) -> ExportDestination {
        gzip(path: url.path, format: format, level: level)
    }
}
