import EngineTestSupport
import PolyStoreBackend
import SeededRandom
import Testing

@testable import PolyStoreKeyValue

/// Writing runs of keys to a tree, compared with writing single keys and with a dictionary.
@Suite struct WriteRunTests {
    /// Returns a key of a write list, which shares a prefix of five bytes with the others: dense, sparse, with long common prefixes, or short and ending in
    /// zeros.
    private func key(_ kind: Int, _ random: inout SplitMix64) -> [UInt8] {
        let start: [UInt8] = [UInt8(0x10 + kind), 0, 0, 0, 1]
        switch kind {
        case 0: return start + BigEndianInteger.bytes(UInt64(random.below(3000)) ^ 1 << 63)
        case 1: return start + BigEndianInteger.bytes(UInt64(random.below(300)) * 7919)
        case 2: return start + [UInt8](repeating: 7, count: 20) + random.bytes(random.below(3)).map { $0 & 3 }
        default: return start + [UInt8](repeating: 0, count: random.below(12)) + [UInt8(random.below(3))]
        }
    }

    private func contents(_ tree: OrderedTree) -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        var cursor = tree.cursor()
        var more = cursor.first()
        var last: [UInt8] = []
        while more, let entry = cursor.entry {
            let key = [UInt8](entry.key)
            #expect(last.lexicographicallyPrecedes(key))
            last = key
            if let value = entry.value { found[key] = [UInt8](value) }
            more = cursor.next()
        }
        return found
    }

    @Test(arguments: [false, true], [1, 2, 3, 4])
    func writeRunEqualsSingleWrites(keepsRemoved: Bool, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tree = OrderedTree()
        var model: [[UInt8]: [UInt8]] = [:]
        var removed: Set<[UInt8]> = []
        for round in 0..<60 {
            let (before, was) = (tree, model)
            let kind = round % 4
            var list = WriteList()
            var seen: Set<[UInt8]> = []
            let count = [1, 3, 70, 1500][random.below(4)]
            for _ in 0..<count {
                let key = key(kind, &random)
                let value = random.below(4) == 0 ? nil : random.bytes(random.below(20))
                if !seen.insert(key).inserted { continue }
                key.withUnsafeBytes { key in
                    if let value { value.withUnsafeBytes { list.add(key, $0) } } else { list.add(key, nil) }
                    // A removal too, as of a unique value that moves to another object.
                    if value != nil, random.below(5) == 0 { list.add(key, nil) }
                }
                model[key] = value
                if value == nil { removed.insert(key) } else { removed.remove(key) }
            }
            list.sort()
            tree.write(WriteRun(list), keepsRemoved: keepsRemoved)
            #expect(contents(tree) == model)
            #expect(tree.count == model.count + (keepsRemoved ? removed.count : 0))
            for key in model.keys { #expect(key.withUnsafeBytes { tree.value(of: $0).map { [UInt8]($0) } } == model[key]) }
            for _ in 0..<50 {
                let key = key(kind, &random)
                #expect(key.withUnsafeBytes { tree.value(of: $0).map { [UInt8]($0) } } == model[key])
            }
            // A copy is unchanged.
            if round % 10 == 0 { #expect(contents(before) == was) }
            // Single changes follow.
            for _ in 0..<20 {
                let key = key(kind, &random)
                key.withUnsafeBytes { key in [UInt8(round)].withUnsafeBytes { tree.set(key, $0) } }
                model[key] = [UInt8(round)]
                removed.remove(key)
                let other = self.key(kind, &random)
                let isThere = model.removeValue(forKey: other) != nil
                if isThere || !keepsRemoved { other.withUnsafeBytes { _ = tree.remove($0) } }
            }
        }
    }

    @Test func cursorsReturnTheSameEntriesInBatches() throws {
        var random = SplitMix64(seed: 9)
        for size in [0, 1, 63, 64, 65, 128, 129, 1000] {
            var tree = OrderedTree()
            for number in 0..<size {
                BigEndianInteger.bytes(UInt64(number * 3)).withUnsafeBytes { key in random.bytes(3).withUnsafeBytes { tree.set(key, $0) } }
            }
            let (single, batched) = (tree.makeCursor(), tree.makeCursor())
            let start = BigEndianInteger.bytes(UInt64(random.below(size + 1)))
            let isThere = try start.withUnsafeBytes { try single.seek($0) }
            #expect(try start.withUnsafeBytes { try batched.seek($0) } == isThere)
            guard isThere else { continue }
            let batch = EntryBatch()
            while let count = try batched.next(into: batch) {
                for position in 0..<count {
                    #expect(try single.next())
                    #expect(Order.of(single.key, batch.key(position)) == 0 && Order.of(single.value, batch.value(position)) == 0)
                }
                if count < EntryBatch.capacity { break }
            }
            #expect(try !single.next())
        }
    }
}
