import SeededRandom
import Testing

@testable import PolyStoreKernel
@testable import PolyStoreObservation

/// The difference between two lists, checked by applying it.
@Suite struct ListDiffTests {
    typealias Sections = [ListDiff.Section]

    @Test(arguments: 0..<40) func applyingTheDifferenceGivesTheNewList(seed: UInt64) {
        var random = SplitMix64(run: seed)
        for _ in 0..<200 {
            let old = Self.list(&random, sections: 6, rows: 30)
            let new = random.next() % 3 == 0 ? Self.list(&random, sections: 6, rows: 30) : Self.edited(old, &random)
            let updated = Set((0..<30).filter { _ in random.next() % 4 == 0 }.map(Self.row))
            let delta = ListDiff.delta(from: old, to: new, updated: updated.contains)
            #expect(Self.isSame(Self.applying(delta, to: old), new), "seed \(seed): \(old) to \(new) by \(delta)")
            Self.check(delta, old, new, updated, seed)
        }
    }

    @Test(arguments: 0..<20) func flatListsMoveAsFewRowsAsPossible(seed: UInt64) {
        var random = SplitMix64(run: seed)
        for _ in 0..<100 {
            let old = (0..<9).shuffled(using: &random).prefix(Int(random.next() % 10))
            let new = (0..<9).shuffled(using: &random).prefix(Int(random.next() % 10))
            let delta = ListDiff.delta(from: [("", old.map(Self.row))], to: [("", new.map(Self.row))]) { _ in false }
            let kept = new.filter(old.contains)
            let order = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
            #expect(delta.moved.count == kept.count - Self.longest(kept.compactMap { order[$0] }), "seed \(seed): \(old) to \(new)")
        }
    }

    @Test func oneChangeOfALongListIsOneChange() {
        let old = (0..<10_000).map(Self.row)
        var moved = old
        moved.insert(moved.remove(at: 9_000), at: 10)
        let move = ListDiff.delta(from: [("", old)], to: [("", moved)]) { _ in false }
        let positions = (ListPosition(section: 0, item: 9_000), ListPosition(section: 0, item: 10))
        #expect(move.moved == [.init(row: old[9_000], from: positions.0, to: positions.1, isUpdated: false)])
        #expect(move.inserted.isEmpty && move.deleted.isEmpty && move.updated.isEmpty)
        let unchanged = ListDiff.delta(from: [("", old)], to: [("", old)]) { $0 == old[5] }
        #expect(unchanged.updated == [.init(row: old[5], position: .init(section: 0, item: 5))])
        #expect(ListDiff.delta(from: [("", old)], to: [("", old)]) { _ in false }.isEmpty)
    }

    @Test func aRowOfADeletedSectionThatStaysIsAMove() {
        let old: Sections = [("a", [Self.row(1), Self.row(2)]), ("b", [Self.row(3)])]
        let new: Sections = [("b", [Self.row(3), Self.row(1)])]
        let delta = ListDiff.delta(from: old, to: new) { $0 == Self.row(1) }
        #expect(delta.deletedSections == [.init(index: 0, name: "a")])
        #expect(delta.deleted == [.init(row: Self.row(2), position: .init(section: 0, item: 1))])
        #expect(delta.moved == [.init(row: Self.row(1), from: .init(section: 0, item: 0), to: .init(section: 0, item: 1), isUpdated: true)])
        #expect(delta.updated.isEmpty && delta.inserted.isEmpty)
    }

    // MARK: -

    static func row(_ id: Int) -> RowReference { RowReference(entityIndex: Int32(id % 2), rowID: Int64(id)) }

    private static func list(_ random: inout SplitMix64, sections: Int, rows: Int) -> Sections {
        let names = (0..<sections).map { "\($0)" }.shuffled(using: &random).prefix(Int(random.next() % UInt64(sections + 1)))
        var list: Sections = names.map { ($0, []) }
        guard !list.isEmpty else { return [] }
        for row in (0..<rows).shuffled(using: &random).prefix(Int(random.next() % UInt64(rows + 1))) {
            list[Int(random.next() % UInt64(list.count))].rows.append(Self.row(row))
        }
        return list
    }

    /// Returns a list with a few of its rows and sections in other positions.
    private static func edited(_ list: Sections, _ random: inout SplitMix64) -> Sections {
        var list = list
        for _ in 0..<random.next() % 4 where !list.isEmpty {
            let from = Int.random(in: list.indices, using: &random)
            let to = Int.random(in: list.indices, using: &random)
            guard let index = list[from].rows.indices.randomElement(using: &random) else { continue }
            let row = list[from].rows.remove(at: index)
            if random.next() % 4 > 0 { list[to].rows.insert(row, at: Int.random(in: 0...list[to].rows.count, using: &random)) }
        }
        if list.count > 1, random.next() % 4 == 0 { list.swapAt(0, Int.random(in: list.indices, using: &random)) }
        return list
    }

    /// Applies a delta in the documented order.
    private static func applying(_ delta: ListDelta, to old: Sections) -> Sections {
        let removed = Set(delta.deleted.map(\.position) + delta.moved.map(\.from))
        var list: [(name: String, rows: [RowReference])?] = old.enumerated().map { section, content in
            let kept = content.rows.enumerated().filter { !removed.contains(ListPosition(section: section, item: $0.offset)) }
            return (content.name, kept.map(\.element))
        }
        for section in delta.deletedSections {
            #expect(list[section.index]?.rows.isEmpty == true, "a deleted section is empty")
            list[section.index] = nil
        }
        var sections = list.compactMap(\.self)
        for section in delta.insertedSections { sections.insert((section.name, []), at: section.index) }
        let added = (delta.inserted.map { ($0.position, $0.row) } + delta.moved.map { ($0.to, $0.row) }).sorted { $0.0 < $1.0 }
        for (position, row) in added { sections[position.section].rows.insert(row, at: position.item) }
        return sections
    }

    private static func isSame(_ left: Sections, _ right: Sections) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.name == $1.name && $0.rows == $1.rows }
    }

    private static func check(_ delta: ListDelta, _ old: Sections, _ new: Sections, _ updated: Set<RowReference>, _ seed: UInt64) {
        let lists = delta.deleted.map(\.row) + delta.inserted.map(\.row) + delta.updated.map(\.row) + delta.moved.map(\.row)
        #expect(lists.count == Set(lists).count, "seed \(seed): a row is in one list only")
        for move in delta.moved {
            #expect(old[move.from.section].rows[move.from.item] == move.row && new[move.to.section].rows[move.to.item] == move.row)
            #expect(move.isUpdated == updated.contains(move.row))
        }
        for change in delta.deleted { #expect(old[change.position.section].rows[change.position.item] == change.row) }
        for change in delta.updated + delta.inserted { #expect(new[change.position.section].rows[change.position.item] == change.row) }
        let before = Set(old.flatMap(\.rows))
        let expected = Set(new.flatMap(\.rows)).filter { before.contains($0) && updated.contains($0) }
        #expect(Set(delta.updated.map(\.row) + delta.moved.filter(\.isUpdated).map(\.row)) == expected, "seed \(seed)")
        #expect(delta.deleted.map(\.position) == delta.deleted.map(\.position).sorted())
        #expect(delta.inserted.map(\.position) == delta.inserted.map(\.position).sorted())
        #expect(delta.updated.map(\.position) == delta.updated.map(\.position).sorted())
        #expect(delta.moved.map(\.to) == delta.moved.map(\.to).sorted())
    }

    /// Returns the length of the longest increasing subsequence, by exhaustive search.
    private static func longest(_ values: [Int], above last: Int = -1) -> Int {
        guard let first = values.first else { return 0 }
        let rest = Array(values.dropFirst())
        let without = longest(rest, above: last)
        return first > last ? max(without, 1 + longest(rest, above: first)) : without
    }
}
