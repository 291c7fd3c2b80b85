import Foundation
import PolyStoreFormats

extension RecordSource {
    /// Returns a gzip file as a source. Without a format, the extension before `.gz` determines it: `cities.csv.gz` is CSV.
    ///
    /// Positions refer to the decompressed bytes. Continuing after a position decompresses everything before it again.
    public static func gzip(path: String, format: RecordFormat? = nil) -> RecordSource { file(path: path, format: format).decompressed }

    /// Returns a gzip file as a source. Without a format, the extension before `.gz` determines it: `cities.csv.gz` is CSV.
    public static func gzip(_ url: URL, format: RecordFormat? = nil) -> RecordSource { gzip(path: url.path, format: format) }

    /// The source with its bytes decompressed from the gzip format.
    public var decompressed: RecordSource {
        RecordSource(name: name, format: format) { [self] in try GzipByteSource(open(), name: name.map { "'\($0)'" } ?? "the source") }
    }
}
