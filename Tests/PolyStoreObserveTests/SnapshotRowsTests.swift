import SeededRandom
import Testing

@testable import PolyStoreKernel
@testable import PolyStoreObservation

/// Rows in chunks, compared with an array.
@Suite struct SnapshotRowsTests {
    private func row(_ id: Int) -> SnapshotRow {
        SnapshotRow(row: RowReference(entityIndex: 0, rowID: Int64(id)), record: [UInt8(id % 256)])
    }

    @Test(arguments: [0, 1, 255, 256, 257, 700, 2_000, 40_000, 100_001]) func rowsAreThoseOfAnArray(count: Int) {
        let array = (0..<count).map(row)
        let rows = SnapshotRows(array)
        #expect(rows.count == count && Array(rows) == array && rows.indices.map { rows[$0] } == array)
    }

    @Test(arguments: 0..<30) func replacingRowsGivesTheSameAsInAnArray(seed: UInt64) {
        var random = SplitMix64(run: seed)
        var array = (0..<Int.random(in: 0...(seed % 10 == 0 ? 60_000 : 1_500), using: &random)).map(row)
        var rows = SnapshotRows(array)
        var nextID = 10_000
        for _ in 0..<40 {
            let most = Int.random(in: 0...[2, 40, 600][Int.random(in: 0...2, using: &random)], using: &random)
            let removed = Set((0..<most).compactMap { _ in array.indices.randomElement(using: &random) }).sorted()
            for index in removed.reversed() { array.remove(at: index) }
            var inserted: [(index: Int, row: SnapshotRow)] = []
            for _ in 0..<Int.random(in: 0...most + 1, using: &random) {
                let index = Int.random(in: (inserted.last?.index ?? -1) + 1...array.count + 1, using: &random)
                guard index <= array.count else { break }
                nextID += 1
                array.insert(row(nextID), at: index)
                inserted.append((index, row(nextID)))
            }
            guard let replaced = rows.replacing(removed, inserted) else {
                Issue.record("seed \(seed): \(removed) and \(inserted.map(\.index)) were refused")
                return
            }
            rows = replaced
            if let index = array.indices.randomElement(using: &random) {
                array[index].record = [1, 2, 3]
                rows.setRecord([1, 2, 3], at: index)
            }
            #expect(rows.count == array.count && Array(rows) == array && rows == SnapshotRows(array), "seed \(seed)")
        }
    }

    @Test func indexesThatDoNotFitAreRefused() {
        let rows = SnapshotRows((0..<3).map(row))
        #expect(rows.replacing([3], []) == nil)
        #expect(rows.replacing([], [(5, row(9))]) == nil)
        #expect(rows.replacing([0, 1, 2], []).map(Array.init) == [])
        #expect(rows.replacing([], [(3, row(9))])?.count == 4)
    }
}
