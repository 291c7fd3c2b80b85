package import Foundation

/// A temporary folder that is removed when the test ends.
package final class Folder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String = "store") -> String { path + "/" + name }
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    package func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    package func bytes(_ name: String = "store") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
    package func write(_ bytes: Data, to name: String = "store") throws { try bytes.write(to: URL(fileURLWithPath: file(name))) }
}
