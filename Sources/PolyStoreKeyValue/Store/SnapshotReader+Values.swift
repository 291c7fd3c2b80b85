import PolyStoreBackend

extension SnapshotReader {
    /// Returns a named value; `nil` if there is none.
    func value(named name: String) throws -> [UInt8]? {
        try NamedValue.check(name: name)
        let key = Keyspace.Metadata.value.key(named: name)
        guard let stored = try snapshot.get(key) else { return nil }
        guard let bytes = SealedValue.opened(key, stored) else { throw corrupt("the value \"\(name)\"") }
        return bytes
    }

    /// Returns the names of the values that begin with a prefix, in ascending order of their bytes.
    func valueNames(prefix: String) throws -> [String] {
        guard prefix.utf8.count <= NamedValue.longestName else { return [] }
        var names: [String] = []
        try forEachValue(prefix: prefix) { key, _ in
            guard let name = String(validating: key.dropFirst(2), as: UTF8.self) else { throw corrupt("the name of a value") }
            names.append(name)
        }
        return names
    }

    func forEachValue(prefix: String = "", _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void) throws {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        try Keyspace.Metadata.value.key(named: prefix).withUnsafeBytes { prefix in
            var more = try cursor.seek(prefix)
            while more, cursor.key.starts(with: prefix) {
                try body(cursor.key, cursor.value)
                more = try cursor.next()
            }
        }
    }
}
