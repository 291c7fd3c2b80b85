import PolyStoreBackend
import SeededRandom
import Testing

@testable import PolyStoreKeyValue

/// The expected contents of a transaction of a tier A engine: a sorted array.
private struct SortedModel {
    var entries: [(key: [UInt8], value: [UInt8])] = []

    func index(_ key: [UInt8]) -> Int { entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? entries.count }

    subscript(_ key: [UInt8]) -> [UInt8]? {
        get {
            let index = index(key)
            return index < entries.count && entries[index].key == key ? entries[index].value : nil
        }
        set {
            let index = index(key)
            if index < entries.count, entries[index].key == key { entries.remove(at: index) }
            if let newValue { entries.insert((key, newValue), at: index) }
        }
    }
}

@Suite struct OverlayTests {
    private static func key(_ random: inout SplitMix64) -> [UInt8] {
        let number = random.below(300)
        return [UInt8(number >> 4), UInt8(number & 15)] + (number % 5 == 0 ? [0] : [])
    }

    /// Moves a cursor at random in both directions, and compares it with the array.
    private func moveRandomly(_ cursor: EngineCursor, _ model: SortedModel, _ random: inout SplitMix64, _ steps: Int) throws {
        var index = -1
        for step in 0..<steps {
            let isThere: Bool
            var what: String
            if index < 0 || index >= model.entries.count || random.below(8) == 0 {
                let key = Self.key(&random)
                switch random.below(3) {
                case 0:
                    what = "last"
                    index = model.entries.count - 1
                    isThere = try cursor.last()
                case 1:
                    what = "seek \(key)"
                    index = model.index(key)
                    isThere = try key.withUnsafeBytes { try cursor.seek($0) }
                default:
                    what = "seek before \(key)"
                    index = model.index(key) - 1
                    isThere = try key.withUnsafeBytes { try cursor.seek(before: $0) }
                }
            } else if random.below(2) == 0 {
                what = "next"
                index += 1
                isThere = try cursor.next()
            } else {
                what = "previous"
                index -= 1
                isThere = try cursor.previous()
            }
            what += " at step \(step)"
            try #require(isThere == model.entries.indices.contains(index), "\(what)")
            guard isThere else { continue }
            try #require([UInt8](cursor.key) == model.entries[index].key, "\(what)")
            try #require([UInt8](cursor.value) == model.entries[index].value, "\(what)")
        }
    }

    @Test(arguments: 1...12)
    func transactionBehavesLikeASortedArray(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let engine = TestEngine()
        var committed = SortedModel()
        // An empty engine, then one with more and more entries.
        for round in 0..<8 {
            let transaction = try OverlayTransaction(engine)
            defer { transaction.end() }
            var model = committed
            var savepoints: [(OverlayTransaction.Savepoint, SortedModel)] = []
            for step in 0..<250 {
                let key = Self.key(&random)
                switch random.below(10) {
                case 0...3:
                    let value = random.bytes(random.below(4))
                    try transaction.put(key, value)
                    model[key] = value
                case 4...6:
                    try transaction.remove(key)
                    model[key] = nil
                case 7: #expect(try transaction.get(key).map { [UInt8]($0) } == model[key])
                case 8: savepoints.append((transaction.savepoint(), model))
                default:
                    guard let (savepoint, then) = savepoints.last, random.below(2) == 0 else { continue }
                    transaction.rollBack(to: savepoint)
                    model = then
                    if random.below(2) == 0 { savepoints.removeLast() }
                }
                if step % 25 == 0 {
                    let cursor = try transaction.cursor()
                    try moveRandomly(cursor, model, &random, 60)
                    cursor.close()
                }
            }
            if round % 3 == 2 { continue }  // the transaction is dropped without a commit
            try transaction.commit(.full)
            committed = model
            #expect(engine.keys() == committed.entries.map(\.key))
        }
        let snapshot = engine.snapshot()
        for entry in committed.entries { #expect(try snapshot.get(entry.key).map { [UInt8]($0) } == entry.value) }
        try moveRandomly(try snapshot.cursor(), committed, &random, 300)
    }

    @Test func aCursorDoesNotReturnLaterWrites() throws {
        let engine = TestEngine()
        engine[[1]] = [1]
        engine[[3]] = [3]
        let transaction = try OverlayTransaction(engine)
        try transaction.put([2], [2])
        let cursor = try transaction.cursor()
        try transaction.remove([3])
        try transaction.put([4], [4])
        #expect(try cursor.last())
        #expect([UInt8](cursor.key) == [3])
        #expect(try transaction.get([3]) == nil)
        cursor.close()
        transaction.end()
    }

    @Test func transactionAboveTheLimitIsFullAndOtherDataRemains() throws {
        let engine = TestEngine(maximumTransactionSize: 1000)
        let transaction = try OverlayTransaction(engine)
        try transaction.put([1], [UInt8](repeating: 1, count: 500))
        let savepoint = transaction.savepoint()
        do {
            try transaction.put([2], [UInt8](repeating: 1, count: 600))
            Issue.record("1100 of 1000 bytes were taken")
        } catch let error as StoreError { #expect(error.code == .full) }
        transaction.rollBack(to: savepoint)
        try transaction.put([2], [UInt8](repeating: 1, count: 400))
        try transaction.commit(.full)
        #expect(engine.keys() == [[1], [2]])
    }
}
