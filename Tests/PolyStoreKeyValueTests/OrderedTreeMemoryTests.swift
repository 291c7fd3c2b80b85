import EngineTestSupport
import PolyStoreBackend
import SeededRandom
import Testing

@testable import PolyStoreKeyValue

/// The memory layout of keys and values: those of a node are contiguous, long ones are allocated separately, and none is freed while it is visible to a reader.
@Suite struct OrderedTreeMemoryTests {
    private typealias Model = [[UInt8]: [UInt8]]

    /// Lengths around the limit for separate allocation, empty values, and many short ones.
    private func value(_ random: inout SplitMix64) -> [UInt8] {
        let lengths = [0, 1, 8, 8, 30, 180, 180, 700, TreeBytes.smallestOwned - 5, TreeBytes.smallestOwned - 4, 3000]
        return random.bytes(lengths[random.below(lengths.count)])
    }

    private func key(_ random: inout SplitMix64) -> [UInt8] {
        let number = random.below(3000)
        return [0x10, 0, 0, 0, 1, UInt8(number >> 8), UInt8(number & 255)] + (number % 5 == 0 ? [0, 0] : [])
    }

    private func contents(_ tree: OrderedTree) -> [[[UInt8]]] {
        var found: [[[UInt8]]] = []
        var cursor = tree.cursor()
        var more = cursor.first()
        while more, let entry = cursor.entry {
            found.append([[UInt8](entry.key), entry.value.map { [UInt8]($0) } ?? []])
            more = cursor.next()
        }
        return found
    }

    private func sorted(_ model: Model) -> [[[UInt8]]] {
        model.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { [$0.key, $0.value] }
    }

    /// Checks that all nodes but the root and the last ones are at least half full, that all leaves have the same depth, and that keys are within the bounds of
    /// their parents.
    /// - Returns: The depth.
    @discardableResult
    private func check(_ node: OrderedTree.Node, from low: [UInt8]? = nil, to high: [UInt8]? = nil, isRoot: Bool = true) -> Int {
        #expect(node.size <= OrderedTree.width)
        // Ascending insertions do not split a leaf in the middle.
        #expect(isRoot || node.size >= OrderedTree.width / (node.isLeaf ? 8 : 2))
        var last = low
        var isOrdered = true
        for (position, entry) in node.entries.enumerated() {
            let key = [UInt8](entry.key)
            if let last, !last.lexicographicallyPrecedes(key), position > 0 || !node.isLeaf || last != key { isOrdered = false }
            if let high, !key.lexicographicallyPrecedes(high) { isOrdered = false }
            last = key
        }
        #expect(isOrdered)
        guard !node.isLeaf else { return 0 }
        #expect(node.children.count == node.entries.count + 1)
        let bounds = [low] + node.entries.map { [UInt8]($0.key) } + [high]
        let depths = node.children.indices.map { check(node.children[$0], from: bounds[$0], to: bounds[$0 + 1], isRoot: false) }
        #expect(Set(depths).count == 1)
        return depths[0] + 1
    }

    /// A cursor, the entries that it must find, and its current position.
    private struct Scan {
        var cursor: OrderedTree.Cursor
        let expected: [[[UInt8]]]
        var position = 0
        /// Its entry before the last changes.
        var entry: TreeEntry?
    }

    @Test(arguments: [1, 2] as [UInt64])
    func entriesOfAVersionAreUnchangedByLaterWrites(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tree = OrderedTree()
        var model: Model = [:]
        var scans: [Scan] = []
        var snapshots: [(tree: OrderedTree, expected: [[[UInt8]]])] = []
        for round in 0..<80 {
            // Grows, shrinks to empty, and repeats.
            let removals = [1, 1, 5, 9][round / 5 % 4]
            if random.below(2) == 0 {
                var list = WriteList()
                var seen: Set<[UInt8]> = []
                for _ in 0..<[1, 20, 300, 2000][random.below(4)] {
                    let key = key(&random)
                    if !seen.insert(key).inserted { continue }
                    let value = random.below(10) < removals ? nil : value(&random)
                    key.withUnsafeBytes { key in
                        if let value { value.withUnsafeBytes { list.add(key, $0) } } else { list.add(key, nil) }
                    }
                    model[key] = value
                }
                list.sort()
                tree.write(WriteRun(list))
            } else {
                for _ in 0..<random.below(200) {
                    let key = key(&random)
                    let choice = random.below(10)
                    if choice < removals {
                        let wasThere = key.withUnsafeBytes { tree.remove($0) }
                        #expect(wasThere == (model.removeValue(forKey: key) != nil))
                    } else if choice == 9, let other = model.keys.first {
                        // A value inside the tree itself.
                        key.withUnsafeBytes { key in other.withUnsafeBytes { tree.set(key, tree.value(of: $0)) } }
                        model[key] = model[other]
                    } else {
                        let value = value(&random)
                        key.withUnsafeBytes { key in value.withUnsafeBytes { tree.set(key, $0) } }
                        model[key] = value
                    }
                }
            }
            #expect(tree.count == model.count)
            if let root = tree.root { check(root) } else { #expect(model.isEmpty) }
            let expected = round % 4 == 0 || round % 3 == 0 || round % 7 == 0 ? sorted(model) : []
            if round % 4 == 0 { #expect(contents(tree) == expected) }
            for scan in scans.indices {
                if let entry = scans[scan].entry {
                    #expect([UInt8](entry.key) == scans[scan].expected[scans[scan].position][0])
                    #expect(entry.value.map { [UInt8]($0) } == scans[scan].expected[scans[scan].position][1])
                }
                var isRight = true
                for _ in 0..<random.below(200) {
                    guard scans[scan].position < scans[scan].expected.count else { break }
                    let found = scans[scan].cursor.entry.map { [[UInt8]($0.key), $0.value.map { [UInt8]($0) } ?? []] }
                    if found != scans[scan].expected[scans[scan].position] { isRight = false }
                    scans[scan].position += 1
                    if scans[scan].cursor.next() != (scans[scan].position < scans[scan].expected.count) { isRight = false }
                }
                #expect(isRight)
                scans[scan].entry = scans[scan].cursor.entry
            }
            scans.removeAll { $0.position >= $0.expected.count }
            if round % 3 == 0 {
                var scan = Scan(cursor: tree.cursor(), expected: expected)
                if scan.cursor.first() { scans.append(scan) }
            }
            if round % 7 == 0 { snapshots.append((tree, expected)) }
            if snapshots.count > 6 {
                let snapshot = snapshots.remove(at: random.below(snapshots.count))
                #expect(contents(snapshot.tree) == snapshot.expected)
            }
        }
        for snapshot in snapshots { #expect(contents(snapshot.tree) == snapshot.expected) }
    }

    /// The memory of a leaf does not grow with the number of changes.
    @Test(arguments: [8, 180, TreeBytes.smallestOwned + 10])
    func memoryOfReplacedValuesIsFreed(size: Int) throws {
        var random = SplitMix64(seed: UInt64(size))
        var tree = OrderedTree()
        for number in 0..<40 { [UInt8(number)].withUnsafeBytes { key in random.bytes(size).withUnsafeBytes { tree.set(key, $0) } } }
        for _ in 0..<2000 {
            // The nodes are sometimes shared, as they are after a commit.
            let before = random.below(2) == 0 ? tree : nil
            [UInt8(random.below(40))].withUnsafeBytes { key in random.bytes(size).withUnsafeBytes { tree.set(key, $0) } }
            let root = try #require(tree.root)
            #expect(root.isLeaf && root.allocatedBytes <= 2 * 40 * (size + 1) + 1024)
            #expect(before.map { $0.count } ?? 40 == 40)
        }
    }

    @Test func aRunThatRemovesNearlyAllLeavesASoundTree() throws {
        let keys = (0..<20_000).map { [0x10, 0, 0, 0, 1] + BigEndianInteger.bytes(UInt64($0)) }
        for kept in [0, 1, 3, 700, 6000] {
            var tree = OrderedTree()
            var list = WriteList()
            for key in keys { key.withUnsafeBytes { list.add($0, $0) } }
            tree.write(WriteRun(list))
            let before = tree
            var removals = WriteList()
            let step = kept == 0 ? keys.count + 1 : keys.count / kept
            var left: [[UInt8]] = []
            for (position, key) in keys.enumerated() {
                if (position + 1) % step == 0 { left.append(key) } else { key.withUnsafeBytes { removals.add($0, nil) } }
            }
            tree.write(WriteRun(removals))
            #expect(contents(tree).map(\.[0]) == left)
            if let root = tree.root { check(root) }
            #expect((tree.root == nil) == left.isEmpty)
            #expect(before.count == keys.count && contents(before).map(\.[1]) == keys)
        }
    }
}
