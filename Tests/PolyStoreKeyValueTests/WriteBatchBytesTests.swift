import PolyStoreKeyValue
import Testing

/// The serialized form of batches, which engines keep in logs.
@Suite struct WriteBatchBytesTests {
    private func tree(_ entries: [(String, String?)]) -> OrderedTree {
        var tree = OrderedTree()
        for (key, value) in entries {
            Array(key.utf8).withUnsafeBytes { key in
                if let value { Array(value.utf8).withUnsafeBytes { tree.set(key, $0) } } else { tree.set(key, nil) }
            }
        }
        return tree
    }

    private func contents(_ tree: OrderedTree) -> [String] {
        var lines: [String] = []
        let cursor = tree.makeCursor()
        var more = cursor.first()
        while more {
            lines.append(String(decoding: cursor.key, as: UTF8.self) + "=" + String(decoding: cursor.value, as: UTF8.self))
            more = cursor.following()
        }
        return lines
    }

    @Test func batchIsDecodedFromItsBytes() {
        let batch = WriteBatch(tree([("a", ""), ("b", nil), ("c", String(repeating: "x", count: 300)), ("\0", "y")]))
        var bytes: [UInt8] = [1, 2, 3]
        batch.encode(into: &bytes)
        #expect(bytes.count == 3 + batch.encodedCount)
        var found = tree([("b", "old"), ("d", "stays")])
        #expect(bytes[3...].withUnsafeBytes { found.apply(encoded: $0) })
        var expected = tree([("b", "old"), ("d", "stays")])
        expected.apply(batch)
        #expect(contents(found) == contents(expected))
        #expect(contents(found) == ["\0=y", "a=", "c=" + String(repeating: "x", count: 300), "d=stays"])
    }

    @Test func invalidBatchBytesAreRefused() {
        var bytes: [UInt8] = []
        WriteBatch(tree([("key", "value"), ("none", nil)])).encode(into: &bytes)
        for count in 1..<bytes.count where count != 16 {
            var found = OrderedTree()
            #expect(!bytes[..<count].withUnsafeBytes { found.apply(encoded: $0) }, "\(count) bytes")
        }
        var found = OrderedTree()
        #expect(![UInt8](repeating: 255, count: 64).withUnsafeBytes { found.apply(encoded: $0) })
    }
}

// The tree's cursor never throws.
extension EngineCursor {
    fileprivate func first() -> Bool { (try? [UInt8]().withUnsafeBytes { try seek($0) }) ?? false }
    fileprivate func following() -> Bool { (try? next()) ?? false }
}
