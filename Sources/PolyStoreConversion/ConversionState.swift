import Foundation
import PolyStoreBackend

/// The state of a conversion in its incomplete target: a named value that is written with each batch and removed with the last one.
struct ConversionState: Codable, Equatable {
    /// The store id of the source.
    let source: String
    /// The version of the source that is copied.
    let version: UInt64
    /// The position of the part among those of the source.
    var part = 0
    /// The row id or the position of the last unit of the part that was written completely; nil for none.
    var last: Int64?
    /// The sum of the hashes of all units up to that one.
    var low: UInt64 = 0
    var high: UInt64 = 0

    init(source: String, version: UInt64) { (self.source, self.version) = (source, version) }

    /// Reads the state that a target keeps; nil if it has none.
    /// - Throws: `corrupt`.
    init?(_ bytes: [UInt8]?, location: String) throws {
        guard let bytes else { return nil }
        guard let state = try? JSONDecoder().decode(ConversionState.self, from: Data(bytes)) else {
            throw StoreError(
                .corrupt, "The state of the conversion to \(location) cannot be read. Start the conversion over.", location: location)
        }
        self = state
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Integers and a text of hexadecimal digits always have a form in JSON.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// Returns whether a unit is written already.
    func includes(_ part: Int, _ position: Int64) -> Bool {
        part < self.part || part == self.part && last.map { position <= $0 } ?? false
    }
}
