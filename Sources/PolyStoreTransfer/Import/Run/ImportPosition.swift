import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// The position of a resumable import, committed with each batch under the resume name.
struct ImportPosition: Codable, Equatable {
    /// The properties of an import that must be equal to resume it.
    struct Fingerprint: Codable, Equatable {
        let source: String
        let format: String
        let entity: String
        let configuration: String?
    }

    let fingerprint: Fingerprint
    /// The last committed record.
    var mark = ImportMark()
    var inserted = 0
    var updated = 0
    var skipped = 0
    /// The number of excluded records. The name is part of the stored form.
    var refused = 0
    var batches = 0
    /// The number of values with problems; `nil` in a position of an earlier release.
    var problemValues: Int?
    /// A Boolean value that indicates whether the source was read completely.
    var isComplete = false

    /// - Throws: `corrupt` if the bytes are not a valid position.
    init(stored bytes: [UInt8], _ resumeName: String) throws {
        do {
            self = try JSONDecoder().decode(ImportPosition.self, from: Data(bytes))
        } catch {
            throw StoreError(
                .corrupt, "The stored position of the import \"\(resumeName)\" cannot be read. Import with startsOver: true to start over.",
                underlying: "\(error)")
        }
    }

    init(_ fingerprint: Fingerprint) { self.fingerprint = fingerprint }

    func stored() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return [UInt8](try encoder.encode(self))
    }

    /// - Throws: `invalidValue` if the position belongs to another source.
    func check(_ other: Fingerprint, _ resumeName: String) throws {
        guard fingerprint != other else { return }
        var differences: [String] = []
        if fingerprint.source != other.source { differences.append("the source was \"\(fingerprint.source)\" and is \"\(other.source)\"") }
        if fingerprint.format != other.format { differences.append("the format was \(fingerprint.format) and is \(other.format)") }
        if fingerprint.entity != other.entity { differences.append("the entity was \(fingerprint.entity) and is \(other.entity)") }
        if fingerprint.configuration != other.configuration { differences.append("the objects are in another configuration") }
        throw changed(resumeName, differences.joined(separator: ", "))
    }

    /// Returns the error for a source that differs from that of the earlier run.
    func changed(_ resumeName: String, _ difference: String) -> StoreError {
        let source = fingerprint.source.isEmpty ? "" : " of \(fingerprint.source)"
        return StoreError(
            .invalidValue,
            "The import \"\(resumeName)\"\(source) cannot continue after record \(mark.recordPosition.record): \(difference). "
                + "Import the source of the earlier run, or pass startsOver: true to import from the first record.")
    }
}
