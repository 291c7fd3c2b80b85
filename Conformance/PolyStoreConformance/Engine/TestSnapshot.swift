import PolyStoreBackend
import PolyStoreKeyValue

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
