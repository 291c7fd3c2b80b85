import Foundation

/// A folder that is removed when it is released.
package final class TemporaryFolder: Sendable {
    package let path: String
    /// A number that no other folder of a run has.
    package let number: String

    package init() throws {
        number = UUID().uuidString.prefix(8).lowercased()
        path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/tool-\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
