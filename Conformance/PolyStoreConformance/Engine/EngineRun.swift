import PolyStoreBackend
import PolyStoreKeyValue

typealias Bytes = [UInt8]

/// The context of a running engine case: engines in a scratch folder, and expectations.
final class EngineRun: CaseExpectations, Sendable {
    let target: EngineTarget
    let caseID: String
    private let folder: ScratchFolder

    init(_ target: EngineTarget, _ caseID: String, _ folder: ScratchFolder) {
        self.target = target
        self.caseID = caseID
        self.folder = folder
    }

    func cleanUp() throws { try folder.cleanUp(target.teardown) }

    func location(_ name: String) -> ConformanceLocation { folder.location(name) }

    /// Opens an engine by name, and creates it if necessary.
    func open(_ name: String = "engine") throws -> OpenEngine { OpenEngine(try target.open(folder.location(name))) }

    /// Opens an engine in which the value of each key is one byte.
    func open(keys: [Bytes]) throws -> OpenEngine {
        let engine = try open()
        try engine.apply(keys.map { EngineChange($0, [UInt8(truncatingIfNeeded: $0.count)]) })
        return engine
    }
}

/// Returns bytes as text for a message.
func hex(_ bytes: Bytes) -> String {
    let digits = bytes.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return bytes.isEmpty ? "empty" : bytes.count > 12 ? "\(digits)… (\(bytes.count) bytes)" : digits
}

extension EngineCursor {
    func seek(_ key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seek($0) } }
    func seek(before key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seek(before: $0) } }
    /// A copy of the current entry.
    var entry: EngineEntry { EngineEntry(key: Bytes(key), value: Bytes(value)) }
}

extension [EngineEntry] {
    /// The entries in byte order of their keys.
    var sorted: [EngineEntry] { sorted { $0.key.lexicographicallyPrecedes($1.key) } }
}
