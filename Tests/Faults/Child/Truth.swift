import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreSearch
import SeededRandom

/// The schema of the stores under test, and the expected contents after each commit.
///
/// The contents of a commit follow from its number. A store with exactly commits 1…n equals the truth after n; any other contents are a loss or an error.
struct Truth {
    struct Item: Equatable {
        var size: Int64
        var revision: Int64
        var length: Int
    }

    enum Change {
        case insert(Int64, Item)
        case update(Int64, Item)
        case delete(Int64)
    }

    static let none = Item(size: 0, revision: 0, length: 10)
    static let tags: ClosedRange<Int64> = 1...5
    private static let mostItems = 400
    /// Multiplies the size of large values, to make files grow often.
    private static let scale = ProcessInfo.processInfo.environment["FAULTS_SCALE"].flatMap { Int($0) } ?? 1

    private(set) var number = 0
    private(set) var items: [Int64: Item] = [:]
    /// In ascending order, as ids only grow.
    private(set) var ids: [Int64] = []
    private var lastID: Int64 = 0

    /// Returns the expected contents after a number of commits.
    static func after(_ number: Int) -> Truth {
        var truth = Truth()
        for _ in 0..<number { _ = truth.advance() }
        return truth
    }

    /// Returns the durability of a commit: relaxed for a fifth of the runs of ten commits and for a third of the remaining commits.
    static func durability(_ number: Int) -> Durability {
        var block = SplitMix64(number: UInt64(number / 10) &+ 77)
        var random = SplitMix64(number: UInt64(number) &+ 7777)
        return block.below(5) == 0 || random.below(3) == 0 ? .relaxed : .full
    }

    static func tag(_ id: Int64) -> Int64 { id % 5 + 1 }

    /// Executes the next commit.
    /// - Returns: The change sets of the commit.
    mutating func advance() -> [[Change]] {
        number += 1
        var random = SplitMix64(number: UInt64(number))
        var sets: [[Change]] = []
        switch random.below(12) {
        case 0...3: sets = [insertions(1 + random.below(8), 50...600, &random)]
        case 4: sets = [insertions(40, 50...900, &random)]
        case 5, 6: sets = [insertions(1, 60_000...300_000 * Self.scale, &random)]
        case 7: sets = [updates(1 + random.below(6), &random)]
        case 8, 9: sets = [deletions(1 + random.below(5), &random)]
        default: sets = (0..<3).map { _ in insertions(2, 50...600, &random) } + [updates(2, &random)]
        }
        if ids.count > Self.mostItems { sets.append(removeOldest(150)) }
        return sets
    }

    private mutating func insertions(_ count: Int, _ lengths: ClosedRange<Int>, _ random: inout SplitMix64) -> [Change] {
        (0..<count).map { _ in
            lastID += 1
            let length = lengths.lowerBound + random.below(lengths.count)
            let item = Item(size: Int64(random.below(1000)), revision: Int64(number), length: length)
            items[lastID] = item
            ids.append(lastID)
            return .insert(lastID, item)
        }
    }

    private mutating func updates(_ count: Int, _ random: inout SplitMix64) -> [Change] {
        choose(count, &random).map { id in
            let item = Item(size: Int64(random.below(1000)), revision: Int64(number), length: 50 + random.below(2000))
            items[id] = item
            return .update(id, item)
        }
    }

    private mutating func deletions(_ count: Int, _ random: inout SplitMix64) -> [Change] { remove(choose(count, &random)) }

    private mutating func removeOldest(_ count: Int) -> [Change] { remove(Array(ids.prefix(count))) }

    private mutating func remove(_ gone: [Int64]) -> [Change] {
        let set = Set(gone)
        ids.removeAll { set.contains($0) }
        for id in gone { items[id] = nil }
        return gone.map { .delete($0) }
    }

    private func choose(_ count: Int, _ random: inout SplitMix64) -> [Int64] {
        var chosen: Set<Int64> = []
        for _ in 0..<count where !ids.isEmpty { chosen.insert(ids[random.below(ids.count)]) }
        return chosen.sorted()
    }
}

extension Truth {
    /// - Parameter isSearched: Whether the items have their full-text indexes.
    static func schema(isSearched: Bool = true) throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "faults",
                entities: [
                    EntityDescription(
                        name: "Head", properties: [.attribute(AttributeDescription(name: "number", type: .int64))]),
                    EntityDescription(
                        name: "Item",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "size", type: .int64, isIndexed: true)),
                            .attribute(AttributeDescription(name: "revision", type: .int64)),
                            .attribute(AttributeDescription(name: "body", type: .data)),
                            .attribute(AttributeDescription(name: "text", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, inverse: "items")),
                        ], searchIndexes: isSearched ? searchIndexes : []),
                    EntityDescription(
                        name: "Tag",
                        properties: [.relationship(RelationshipDescription(name: "items", destination: "Item", isToMany: true))]),
                ]))
    }

    /// One index over the title and the text, and one over the text alone, which does not contain items without a text.
    private static let searchIndexes = [
        SearchIndexDescription(fields: ["title", "text"], weights: [2, 1]),
        SearchIndexDescription(name: "texts", fields: ["text"], options: SearchOptions(stemming: .english)),
    ]

    static func title(_ id: Int64) -> String { "item \(id)" }

    /// Returns the text of an item, whose words follow from its id and its revision.
    static func text(_ id: Int64, _ item: Item) -> String? {
        let draw = id &* 31 &+ item.revision
        if draw % 9 == 0 { return nil }
        var words = ["revision\(item.revision)"]
        if draw % 5 > 0 { words.append("common") }
        words += draw % 3 == 0 ? ["quick", "brown"] : ["brown", "quick"]
        words += (0..<draw % 50).map { "word\($0)" }
        return words.joined(separator: " ")
    }

    /// Returns the values of an item. A value that is missing is null.
    static func values(_ id: Int64, _ item: Item) -> [String: Value] {
        var values: [String: Value] = [
            "title": .text(title(id)), "size": .integer(item.size), "revision": .integer(item.revision),
            "body": .blob(Notes.body(id &* 1_000_003 &+ item.revision, size: item.length)),
        ]
        if let text = text(id, item) { values["text"] = .text(text) }
        return values
    }

    /// Executes the next commit on a store.
    /// - Parameter willCommit: Called between the last change and the commit.
    static func commit(_ store: Store, _ truth: Truth, willCommit: () throws -> Void = {}) throws -> Truth {
        var next = truth
        let sets = next.advance()
        let transaction = try store.backend.beginWrite()
        defer { transaction.rollback() }
        for (position, set) in sets.enumerated() {
            let changes = Changes(store.schema)
            if position == 0 {
                if next.number == 1 {
                    try changes.insert("Head", 1, ["number": .integer(1)])
                    for tag in tags { try changes.insert("Tag", tag) }
                } else {
                    try changes.update("Head", 1, ["number": .integer(Int64(next.number))])
                }
            }
            for change in set {
                switch change {
                case .insert(let id, let item):
                    try changes.insert("Item", id, values(id, item))
                    link(changes, store, id, isAddition: true)
                case .update(let id, let item):
                    try changes.update("Item", id, values(id, item).merging(["text": .null]) { value, _ in value })
                case .delete(let id):
                    try changes.delete("Item", id)
                    link(changes, store, id, isAddition: false)
                }
            }
            try transaction.apply(changes.set)
        }
        try willCommit()
        _ = try transaction.commit(durability(next.number))
        return next
    }

    private static func link(_ changes: Changes, _ store: Store, _ id: Int64, isAddition: Bool) {
        let table = store.schema.links[0]
        let isItemSource = store.schema.entities[table.source].name == "Item"
        changes.link(table.index, isItemSource ? id : tag(id), isItemSource ? tag(id) : id, isAddition: isAddition)
    }
}

extension SplitMix64 {
    /// Creates the generator of a numbered change set. Consecutive numbers give unrelated sequences.
    fileprivate init(number: UInt64) { self.init(seed: number &* 0x9e37_79b9_7f4a_7c15) }
}
