import PolyStoreBackend
import PolyStoreKeyValue

typealias Bytes = [UInt8]

/// What an engine case works with: engines in a scratch folder, and expectations.
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

    func place(_ name: String) -> ConformancePlace { folder.place(name) }

    /// Opens the engine of a place, making it if need be.
    func open(_ name: String = "engine") throws -> OpenEngine { OpenEngine(try target.open(folder.place(name))) }

    /// Opens an engine with one byte as the value of each key.
    func open(keys: [Bytes]) throws -> OpenEngine {
        let engine = try open()
        try engine.apply(keys.map { EngineChange($0, [UInt8(truncatingIfNeeded: $0.count)]) })
        return engine
    }
}

/// A key, and what becomes of it.
struct EngineChange: Sendable {
    let key: Bytes
    /// nil: the key is removed.
    let value: Bytes?

    init(_ key: Bytes, _ value: Bytes?) {
        self.key = key
        self.value = value
    }
}

/// A key with its value. Long values are told by their beginning.
struct EngineEntry: Equatable, Sendable, CustomStringConvertible {
    let key: Bytes
    let value: Bytes

    var description: String { "\(hex(key))=\(hex(value))" }
}

/// Bytes for a message.
func hex(_ bytes: Bytes) -> String {
    let digits = bytes.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return bytes.isEmpty ? "empty" : bytes.count > 12 ? "\(digits)… (\(bytes.count) bytes)" : digits
}

/// An engine that a case has open.
final class OpenEngine: Sendable {
    let handle: EngineHandle
    private let isOpen = Protected(true)

    init(_ handle: EngineHandle) { self.handle = handle }

    deinit { close() }

    var engine: any OrderedEngine { handle.engine }

    /// The strongest durability that the engine tells apart.
    var strongest: Durability { engine.traits.durabilities.contains(.full) ? .full : .relaxed }

    /// Releases the engine. The last release closes it.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { handle.release() }
    }

    func batch(_ changes: [EngineChange]) -> WriteBatch {
        var tree = OrderedTree()
        for change in changes {
            change.key.withUnsafeBytes { key in
                guard let value = change.value else { return tree.set(key, nil) }
                value.withUnsafeBytes { tree.set(key, UnsafeRawBufferPointer(start: $0.baseAddress, count: $0.count)) }
            }
        }
        return WriteBatch(tree)
    }

    func apply(_ changes: [EngineChange], _ durability: Durability? = nil) throws {
        try engine.apply(batch(changes), durability ?? strongest)
    }

    func snapshot() throws -> TestSnapshot { TestSnapshot(try engine.snapshot()) }

    /// Everything in the engine, by a walk of its own snapshot.
    func contents() throws -> [EngineEntry] {
        let snapshot = try snapshot()
        defer { snapshot.end() }
        return try snapshot.contents()
    }
}

/// A snapshot with what cases do to it.
final class TestSnapshot {
    let inner: any EngineSnapshot

    init(_ inner: any EngineSnapshot) { self.inner = inner }

    func end() { inner.end() }
    func cursor() throws -> EngineCursor { try inner.cursor() }

    /// A copy of a value.
    subscript(_ key: Bytes) -> Bytes? {
        get throws { try key.withUnsafeBytes { key in try inner.get(key).map { Bytes($0) } } }
    }

    /// Every entry from the first key to the last.
    func contents() throws -> [EngineEntry] {
        let cursor = try inner.cursor()
        defer { cursor.close() }
        var entries: [EngineEntry] = []
        var more = try cursor.seek([])
        while more {
            entries.append(cursor.entry)
            more = try cursor.next()
        }
        return entries
    }
}

extension EngineCursor {
    func seek(_ key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seek($0) } }
    func seek(before key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seek(before: $0) } }
    /// A copy of what it stands on.
    var entry: EngineEntry { EngineEntry(key: Bytes(key), value: Bytes(value)) }
}

extension [EngineEntry] {
    /// In the order of the keys' bytes.
    var sorted: [EngineEntry] { sorted { $0.key.lexicographicallyPrecedes($1.key) } }
}

/// A thread of its own for something that may block. It is waited for with ``value()``.
final class OnThread<Value: Sendable>: Sendable {
    private let result = Protected<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Value) {
        CaseThread.start { [result] in
            let value = Result { try body() }
            result.signal { $0 = value }
        }
    }

    /// Waits for the end, for as long as it takes: a case that hangs here is named by its time limit.
    func value() throws -> Value { try result.wait(until: { $0 != nil }) { $0 }!.get() }
}
