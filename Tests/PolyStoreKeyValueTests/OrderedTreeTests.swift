import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// The same operations with arrays.
extension OrderedTree {
    fileprivate mutating func set(_ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { set(key, $0) } }
    }
    @discardableResult
    fileprivate mutating func remove(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { remove($0) } }
    fileprivate subscript(_ key: [UInt8]) -> [UInt8]? { key.withUnsafeBytes { value(of: $0).map { [UInt8]($0) } } }
}

extension OrderedTree.Cursor {
    fileprivate mutating func seek(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { seek($0) } }
    fileprivate var key: [UInt8] { entry.map { [UInt8]($0.key) } ?? [] }
    fileprivate var value: [UInt8] { entry?.value.map { [UInt8]($0) } ?? [] }
}

/// A sorted array with the same operations.
private struct Model {
    var entries: [(key: [UInt8], value: [UInt8])] = []

    private func index(_ key: [UInt8]) -> Int { entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? entries.count }
    mutating func set(_ key: [UInt8], _ value: [UInt8]) {
        let index = index(key)
        if index < entries.count, entries[index].key == key {
            entries[index].value = value
        } else {
            entries.insert((key, value), at: index)
        }
    }
    mutating func remove(_ key: [UInt8]) -> Bool {
        let index = index(key)
        guard index < entries.count, entries[index].key == key else { return false }
        entries.remove(at: index)
        return true
    }
    func position(notBelow key: [UInt8]) -> Int { index(key) }
}

private struct Random {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
    mutating func key(_ range: Int) -> [UInt8] {
        let number = next(range)
        return [UInt8(number >> 8), UInt8(number & 255)] + (number % 3 == 0 ? [0] : [])
    }
}

private func contents(_ tree: OrderedTree) -> [[UInt8]] {
    var cursor = tree.cursor()
    var found: [[UInt8]] = []
    var isThere = cursor.first()
    while isThere {
        found.append(cursor.key + cursor.value)
        isThere = cursor.next()
    }
    return found
}

private func reversedContents(_ tree: OrderedTree) -> [[UInt8]] {
    var cursor = tree.cursor()
    var found: [[UInt8]] = []
    var isThere = cursor.last()
    while isThere {
        found.append(cursor.key + cursor.value)
        isThere = cursor.previous()
    }
    return found
}

@Suite struct OrderedTreeTests {
    /// Random changes, with copies kept in between: no copy changes.
    @Test(arguments: 1...4)
    func agreesWithASortedArrayAndSnapshotsAreUnchanged(_ seed: Int) {
        var random = Random(UInt64(seed))
        var tree = OrderedTree()
        var model = Model()
        var snapshots: [(tree: OrderedTree, model: Model)] = []
        // Grows, shrinks to empty, and grows again.
        for round in 0..<12_000 {
            let isGrowing = round % 6000 < 3500
            let key = random.key(4000)
            if random.next(10) < (isGrowing ? 8 : 1) {
                let value = [UInt8(round & 255)]
                tree.set(key, value)
                model.set(key, value)
            } else {
                let removed = (tree.remove(key), model.remove(key))
                #expect(removed.0 == removed.1)
            }
            #expect(tree.count == model.entries.count)
            if round % 1500 == 0 { snapshots.append((tree, model)) }
        }
        snapshots.append((tree, model))
        for (tree, model) in snapshots {
            let expected = model.entries.map { $0.key + $0.value }
            #expect(contents(tree) == expected)
            #expect(reversedContents(tree) == expected.reversed())
            for _ in 0..<200 {
                let key = random.key(4200)
                let position = model.position(notBelow: key)
                var cursor = tree.cursor()
                let isFound = cursor.seek(key)
                #expect(isFound == (position < model.entries.count))
                if position < model.entries.count {
                    #expect(cursor.key == model.entries[position].key)
                    let hasEarlier = cursor.previous()
                    #expect(hasEarlier == (position > 0))
                }
                #expect(
                    tree[key]
                        == (position < model.entries.count && model.entries[position].key == key ? model.entries[position].value : nil))
            }
        }
    }

    @Test func anEmptyTreeHasNoPlaces() {
        var tree = OrderedTree()
        var cursor = tree.cursor()
        let moves = [cursor.first(), cursor.last(), cursor.seek([1]), cursor.next(), cursor.previous(), cursor.isValid]
        #expect(moves.allSatisfy { !$0 })
        tree.set([], [1])
        #expect(tree[[]] == [1])
        let removals = [tree.remove([]), tree.remove([])]
        #expect(removals == [true, false])
        #expect(tree.isEmpty)
    }

    @Test func ascendingAndDescendingLoadsStayInOrder() {
        let keys: [[UInt8]] = (0..<20_000).map { (number: Int) -> [UInt8] in
            [UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
        }
        for order in [keys, keys.reversed()] {
            var tree = OrderedTree()
            for key in order { tree.set(key, []) }
            #expect(contents(tree) == keys)
            for key in order.prefix(19_990) { tree.remove(key) }
            #expect(tree.count == 10)
            #expect(contents(tree) == Array(order == keys ? keys.suffix(10) : keys.prefix(10)))
        }
    }
}
