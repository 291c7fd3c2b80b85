import Foundation
import PolyStoreFormats

extension RecordSource {
    /// A file in gzip. Without a format, the extension before `.gz` determines it: `cities.csv.gz` is CSV.
    ///
    /// Positions count the decompressed bytes. To continue after a position, everything before it is decompressed again.
    public static func gzip(path: String, format: RecordFormat? = nil) -> RecordSource { file(path: path, format: format).decompressed }

    /// A file in gzip. Without a format, the extension before `.gz` determines it: `cities.csv.gz` is CSV.
    public static func gzip(_ url: URL, format: RecordFormat? = nil) -> RecordSource { gzip(path: url.path, format: format) }

    /// The same source, whose bytes are in the format of gzip.
    public var decompressed: RecordSource {
        RecordSource(name: name, format: format) { [self] in try GzipByteSource(open(), name: name.map { "'\($0)'" } ?? "the source") }
    }
}
