import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder of a case, and the paths in it that the case has used.
final class ScratchFolder: Sendable {
    let path: String
    private let used = Protected<[String]>([])

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/polystore-conformance-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Registers a path that a target is about to use.
    func location(_ name: String) -> ConformanceLocation {
        let location = ConformanceLocation(path: path + "/" + name)
        used.withLock { if !$0.contains(where: { $0.utf8.elementsEqual(location.path.utf8) }) { $0.append(location.path) } }
        return location
    }

    /// Runs the target's teardown for each used path, then removes the folder.
    func cleanUp(_ teardown: (ConformanceLocation) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        var failure: (any Error)?
        for location in used.withLock({ $0 }) {
            do { try teardown(ConformanceLocation(path: location)) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
