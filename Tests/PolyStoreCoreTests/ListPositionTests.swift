import PolyStoreCollections
import PolyStoreCore
import Testing

/// The position values that store the order of a list.
@Suite struct ListPositionTests {
    /// Applies changes.
    private func apply(_ changes: [(rowID: Int64, position: Int64)], _ stored: [Int64: Int64]) -> [Int64: Int64] {
        stored.merging(changes.map { ($0.rowID, $0.position) }) { $1 }
    }

    private func order(_ places: [Int64: Int64]) -> [Int64] { places.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) }

    @Test func appendingAndPrependingWritesOneEach() {
        var places: [Int64: Int64] = [:]
        var list: [Int64] = []
        for key in 1...1000 as ClosedRange<Int64> {
            if key % 3 == 0 { list.insert(key, at: 0) } else { list.append(key) }
            let changes = ListPositions.changes(list, places)
            #expect(changes.count == 1)
            places = apply(changes, places)
        }
        #expect(order(places) == list)
    }

    /// A gap between two positions has room for 32 insertions. Then some neighbors are moved, and the cost of each insertion stays low.
    @Test func insertingAtOnePlaceStaysCheap() {
        var list: [Int64] = Array(1...400)
        var places = apply(ListPositions.changes(list, [:]), [:])
        var written = 0
        for key in 401...1400 as ClosedRange<Int64> {
            list.insert(key, at: 200)
            let changes = ListPositions.changes(list, places)
            written += changes.count
            places = apply(changes, places)
            if key % 500 == 0 { #expect(order(places) == list) }
        }
        #expect(written < 1000 * 8, "\(written)")
    }

    @Test func atTheEndsOfTheNumbersAllBegin() {
        let edges: [[Int64: Int64]] = [
            [1: .max], [1: .max - 1, 2: .max], [1: .min], [1: .min, 2: .min + 1], [1: .min, 2: .max], [1: .min, 2: 0, 3: .max],
        ]
        for stored in edges {
            let list = order(stored)
            for place in 0...list.count {
                var wanted = list
                wanted.insert(contentsOf: [10, 11, 12], at: place)
                #expect(order(apply(ListPositions.changes(wanted, stored), stored)) == wanted, "\(stored) \(place)")
            }
        }
        #expect(ListPositions.after(.max - 5, count: 1) == nil)
        #expect(ListPositions.after(nil, count: 2) == [0, ListPositions.step])
    }

    @Test(arguments: 1...20)
    func everyOrderIsReached(_ seed: Int) {
        var random = GraphTests.Random(seed)
        var places: [Int64: Int64] = [:]
        for round in 0..<60 {
            var wanted: [Int64] = []
            for key in 0..<20 as Range<Int64> where random.next(5) > 0 { wanted.insert(key, at: random.next(wanted.count + 1)) }
            // Equal and adjacent positions too.
            if round % 7 == 3 { for key in places.keys.sorted() { places[key] = Int64(random.next(6)) } }
            places = places.filter { wanted.contains($0.key) }
            let changes = ListPositions.changes(wanted, places)
            places = apply(changes, places)
            #expect(order(places) == wanted, "seed \(seed), round \(round)")
            #expect(Set(places.values).count == wanted.count, "seed \(seed), round \(round)")
            #expect(ListPositions.changes(wanted, places).isEmpty)
        }
    }
}
