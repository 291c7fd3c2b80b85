import Foundation
import PolyStore
import SeededRandom
import TestSupport
import Testing

/// Lists of many rows whose sort keys begin with the same bytes, or are equal.
@Suite struct LongListTests {
    private static let orders: [(name: String, source: FetchChain<Animal>)] = [
        ("name", From<Animal>().orderBy(.ascending(\.name))),
        ("name, descending", From<Animal>().orderBy(.descending(\.name), .descending(\.age))),
        ("city, name", From<Animal>().orderBy(.ascending(\.city), .ascending(\.name), .ascending(\.age))),
        ("age", From<Animal>().orderBy(.ascending(\.age))),
    ]

    private static let beginnings = [
        "", "a", String(repeating: "long beginning ", count: 5), String(repeating: "long beginning ", count: 5) + "and more",
        "Zürich, Bezirk ",
        String(repeating: "longer than what a block shares ", count: 20), "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    ]

    private static func fill(_ animal: Animal, _ random: inout SplitMix64) {
        animal.name = beginnings[Int.random(in: 0..<beginnings.count, using: &random)]
        // Many equal names, and names that are beginnings of others.
        if Int.random(in: 0..<4, using: &random) > 0 { animal.name += String(Int.random(in: 0..<500, using: &random)) }
        animal.age = Int.random(in: -1...300, using: &random)
        animal.city = Int.random(in: 0..<3, using: &random) == 0 ? nil : "The city of a long name, district \(animal.age % 3)"
    }

    /// Inserts, changes and deletes single rows, many in random order, and many that are neighbors, so that blocks of rows are split and joined.
    private static func change(_ transaction: Transaction, _ round: Int) throws {
        var random = SplitMix64(run: UInt64(round))
        let ids = try transaction.fetchObjectIDs(orders[round % orders.count].source)
        switch round % 6 {
        case 0: for _ in 0..<Int.random(in: 1...300, using: &random) { fill(try transaction.create(Into<Animal>()), &random) }
        case 1:
            let start = Int.random(in: 0..<max(1, ids.count - 200), using: &random)
            try transaction.delete(ids[start..<min(ids.count, start + Int.random(in: 1...300, using: &random))])
        case 2:
            for id in ids.shuffled(using: &random).prefix(100) { fill(try transaction.edit(id), &random) }
        case 3:
            // Neighbors get one beginning.
            let start = Int.random(in: 0..<max(1, ids.count - 200), using: &random)
            for id in ids[start..<min(ids.count, start + 150)] { try transaction.edit(id).name = beginnings[2] + "\(round)" }
        case 4: fill(try transaction.create(Into<Animal>()), &random)
        default: if let id = ids.randomElement(using: &random) { try transaction.edit(id).name += "x" }
        }
    }

    /// A list is updated from the changes of commits, in memory: the engine does not affect it.
    @MainActor @Test(arguments: Ring.size([Backend.memory], thorough: Backend.allCases), [0, 1_500])
    func listsEqualAFetchAfterEachCommit(backend: Backend, count: Int) async throws {
        let folder = try Folder()
        let stack = try DataStack(monitorSchema)
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction in
            var random = SplitMix64(run: UInt64(count))
            for _ in 0..<count { Self.fill(try transaction.create(Into<Animal>()), &random) }
        }
        let context = stack.newContext()
        let monitors = try Self.orders.map { ($0.name, $0.source, try context.monitorList($0.source)) }
        for round in 0..<60 {
            try stack.performAndWait { try Self.change($0, round) }
            try context.refresh()
            for (name, source, monitor) in monitors {
                let fetched = try stack.readAndWait { try $0.fetchObjectIDs(source) }
                let isEqual = monitor.objectIDs == fetched
                #expect(isEqual, "\(name), round \(round): \(monitor.count) and \(fetched.count) rows")
                let found = fetched.indices.filter { $0 % 37 == 0 }.allSatisfy { monitor.index(of: fetched[$0]) == $0 }
                #expect(found, "\(name), round \(round): positions")
                guard isEqual, found else { return }
            }
        }
    }
}
