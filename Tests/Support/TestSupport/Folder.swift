package import Foundation

/// A temporary folder that is removed with its last reference.
package final class Folder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// A folder at a path, which need not exist.
    package init(path: String) { self.path = path }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file in the folder, which need not exist.
    package func file(_ name: String = "store") -> String { path + "/" + name }

    /// The names of the files in the folder, sorted.
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    /// Returns the permissions of a file, or nil if they are unknown.
    package func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    package func bytes(_ name: String = "store") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
    package func write(_ bytes: Data, to name: String = "store") throws { try bytes.write(to: URL(fileURLWithPath: file(name))) }
}
