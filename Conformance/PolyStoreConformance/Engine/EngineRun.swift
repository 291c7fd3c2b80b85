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

    func place(_ name: String) -> ConformancePlace { folder.place(name) }

    /// Opens an engine by name, and creates it if necessary.
    func open(_ name: String = "engine") throws -> OpenEngine { OpenEngine(try target.open(folder.place(name))) }

    /// Opens an engine in which the value of each key is one byte.
    func open(keys: [Bytes]) throws -> OpenEngine {
        let engine = try open()
        try engine.apply(keys.map { EngineChange($0, [UInt8(truncatingIfNeeded: $0.count)]) })
        return engine
    }
}

/// A key and its new value or removal.
struct EngineChange: Sendable {
    let key: Bytes
    /// The new value; `nil` removes the key.
    let value: Bytes?

    init(_ key: Bytes, _ value: Bytes?) {
        self.key = key
        self.value = value
    }
}

/// A key and its value. Descriptions abbreviate long values.
struct EngineEntry: Equatable, Sendable, CustomStringConvertible {
    let key: Bytes
    let value: Bytes

    var description: String { "\(hex(key))=\(hex(value))" }
}

/// Returns bytes as text for a message.
func hex(_ bytes: Bytes) -> String {
    let digits = bytes.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return bytes.isEmpty ? "empty" : bytes.count > 12 ? "\(digits)… (\(bytes.count) bytes)" : digits
}

/// An engine that a case has opened.
final class OpenEngine: Sendable {
    let handle: EngineHandle
    private let isOpen = Protected(true)

    init(_ handle: EngineHandle) { self.handle = handle }

    deinit { close() }

    var engine: any OrderedEngine { handle.engine }

    /// The strongest durability that the engine distinguishes.
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

    /// Returns all entries of the engine, read through a separate snapshot.
    func contents() throws -> [EngineEntry] {
        let snapshot = try snapshot()
        defer { snapshot.end() }
        return try snapshot.contents()
    }
}

/// A snapshot with convenience methods for cases.
final class TestSnapshot {
    let inner: any EngineSnapshot

    init(_ inner: any EngineSnapshot) { self.inner = inner }

    func end() { inner.end() }
    func cursor() throws -> EngineCursor { try inner.cursor() }

    /// Returns a copy of a value.
    subscript(_ key: Bytes) -> Bytes? {
        get throws { try key.withUnsafeBytes { key in try inner.get(key).map { Bytes($0) } } }
    }

    /// Returns all entries in key order.
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
    /// A copy of the current entry.
    var entry: EngineEntry { EngineEntry(key: Bytes(key), value: Bytes(value)) }
}

extension [EngineEntry] {
    /// The entries in byte order of their keys.
    var sorted: [EngineEntry] { sorted { $0.key.lexicographicallyPrecedes($1.key) } }
}

/// A separate thread for work that may block. ``value()`` waits for it.
final class OnThread<Value: Sendable>: Sendable {
    private let result = Protected<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Value) {
        CaseThread.start { [result] in
            let value = Result { try body() }
            result.signal { $0 = value }
        }
    }

    /// Waits for the result without a time limit: a case that hangs here fails by its own time limit.
    func value() throws -> Value { try result.wait(until: { $0 != nil }) { $0 }!.get() }
}
