import PolyStoreBackend
import SeededRandom

/// Snapshots beside a writer, compared with the recorded state of each version.
let versionCases: [ConformanceCase] = [7, 42, 2026].map { seed in
    ConformanceCase(
        "isolation.versions.seed-\(seed)",
        "Beside a random writer, each snapshot is exactly one version, no older than the last commit acknowledged before it began.",
        requires: [.concurrentReaders]
    ) { run in
        let store = try run.open(Fixtures.company)
        let history = try VersionHistory(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await onThread { try history.write(UInt64(seed), commits: 120) } }
            for reader in 0..<4 { group.addTask { try await onThread { try history.read(UInt64(seed + reader)) } } }
            try await group.waitForAll()
        }
        try history.check()
    }
}

/// One writer that numbers its commits consecutively, and the state of the store after each.
private final class VersionHistory: Sendable {
    private struct State: Equatable {
        var people: [Int64: [Value]] = [:]
        var friends: [Int64: Set<Int64>] = [:]
    }

    private struct Kept {
        /// The states, by number; recorded before the commit, because a reader may see a commit before it is acknowledged.
        var states: [State]
        /// The versions of acknowledged commits, by number.
        var versions: [UInt64]
        var isDone = false
    }

    private let store: TestStore
    private let person: Entity
    private let counter: Entity
    private let friends: Relationship
    private let table: Int
    private let kept: Protected<Kept>

    init(_ store: TestStore) throws {
        self.store = store
        person = try store.entity("Person")
        counter = try store.entity("Department")
        friends = try store.relationship("Person", "friends")
        guard case .link(let table, _) = friends.storage else { throw store.run.fail("the case is about a link") }
        self.table = table
        try store.insert("Department", [[.text("0")]])
        kept = Protected(Kept(states: [State()], versions: [try store.read { try $0.version }]))
    }

    // MARK: Writing

    func write(_ seed: UInt64, commits: Int) throws {
        defer { kept.withLock { $0.isDone = true } }
        var random = SplitMix64(seed: seed)
        var state = State()
        var nextID: Int64 = 1
        for number in 1...commits {
            var next = state
            let changes = ChangeSet(store.schema)
            try changes.update(counter, rowID: 1, ["title": .text("\(number)")])
            try draw(&random, &next, state, changes, &nextID)
            let isKept = !random.once(in: 5)
            if isKept { kept.withLock { $0.states.append(next) } }
            let writer = try store.backend.beginWrite()
            do {
                try writer.apply(changes)
                guard isKept else {
                    writer.rollback()
                    // Another commit has the number then.
                    try writeAgain(number, &state)
                    continue
                }
                let version = try writer.commit(.relaxed)
                kept.withLock { $0.versions.append(version) }
                state = next
            } catch {
                writer.rollback()
                throw error
            }
        }
    }

    /// Commits only a new number.
    private func writeAgain(_ number: Int, _ state: inout State) throws {
        kept.withLock { [state] in $0.states.append(state) }
        let writer = try store.backend.beginWrite()
        do {
            let changes = ChangeSet(store.schema)
            try changes.update(counter, rowID: 1, ["title": .text("\(number)")])
            try writer.apply(changes)
            let version = try writer.commit(.relaxed)
            kept.withLock { $0.versions.append(version) }
        } catch {
            writer.rollback()
            throw error
        }
    }

    private func draw(_ random: inout SplitMix64, _ next: inout State, _ state: State, _ changes: ChangeSet, _ nextID: inout Int64) throws {
        for _ in 0..<random.below(4) {
            let row = Fixtures.person("p\(nextID)", Int64(random.below(20)))
            try changes.insert(person, rowID: nextID, row)
            next.people[nextID] = row
            nextID += 1
        }
        let ids = state.people.keys.sorted()
        for id in random.pick(4, of: ids) {
            if random.once(in: 3) {
                changes.delete(person, rowID: id)
                next.people[id] = nil
                for friend in next.friends[id, default: []] { link(changes, id, friend, false, &next) }
            } else {
                let age = Value.integer(Int64(random.below(20)))
                try changes.update(person, rowID: id, ["age": age])
                next.people[id]?[1] = age
            }
        }
        let left = next.people.keys.sorted()
        if left.count > 2 {
            let pair = random.pick(2, of: left)
            link(changes, pair[0], pair[1], !next.friends[pair[0], default: []].contains(pair[1]), &next)
        }
    }

    /// Links both directions, because the relationship is its own inverse.
    private func link(_ changes: ChangeSet, _ first: Int64, _ second: Int64, _ isAddition: Bool, _ next: inout State) {
        for (source, target) in [(first, second), (second, first)] {
            changes.link(ChangeSet.LinkChange(table: table, source: source, target: target, isAddition: isAddition))
            if isAddition { next.friends[source, default: []].insert(target) } else { next.friends[source]?.remove(target) }
        }
    }

    // MARK: Reading

    func read(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed &* 31 &+ 1)
        var last = 0
        var isDone = false
        while !isDone {
            let acknowledged: Int
            (acknowledged, isDone) = kept.withLock { ($0.versions.count - 1, $0.isDone) }
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            let number = try self.number(reader)
            try store.run.expect(number >= acknowledged, "version \(number) after \(acknowledged) was acknowledged")
            try store.run.expect(number >= last, "version \(number) after \(last) was seen")
            last = number
            // Occasionally lets the writer continue between the checks.
            for _ in 0..<1 + random.below(3) { try check(reader, number, &random) }
        }
    }

    private func number(_ reader: any ReadTransaction) throws -> Int {
        guard case .text(let text)? = try reader.row(counter, 1)?[0], let number = Int(text) else {
            throw store.run.fail("the number is missing")
        }
        return number
    }

    private func check(_ reader: any ReadTransaction, _ number: Int, _ random: inout SplitMix64) throws {
        let (state, version) = kept.withLock { kept in
            (kept.states[number], kept.versions.indices.contains(number) ? kept.versions[number] : nil)
        }
        if let version { try store.run.expect(reader.version, equals: version, "the version of number \(number)") }
        let ids = state.people.keys.sorted()
        switch random.below(4) {
        case 0:
            let rows = try reader.rows(FetchRequest(person))
            try store.run.expect(rows, equals: ids.compactMap { state.people[$0] }, "the rows of number \(number)")
        case 1:
            let age = Value.integer(Int64(random.below(20)))
            let found = try reader.ids(FetchRequest(person, predicate: .compare(try store.field("Person", "age"), .equal, age)))
            try store.run.expect(found, equals: ids.filter { state.people[$0]?[1] == age }, "those of an age in number \(number)")
        case 2:
            try store.run.expect(try reader.count(FetchRequest(person)), equals: ids.count, "how many in number \(number)")
            for id in random.pick(3, of: ids) {
                try store.run.expect(try reader.row(person, id), equals: state.people[id], "\(id) in number \(number)")
            }
        default:
            let related = try reader.related(friends, of: ids)
            for id in ids {
                try store.run.expect(related[id], equals: state.friends[id, default: []].sorted(), "friends of \(id) in number \(number)")
            }
        }
        try store.run.expect(try self.number(reader), equals: number, "the number, read again")
    }

    /// Checks that the store has the state of the last commit.
    func check() throws {
        try store.read { reader in
            let last = kept.withLock { $0.versions.count - 1 }
            try store.run.expect(try number(reader), equals: last)
            var random = SplitMix64(seed: 1)
            for _ in 0..<20 { try check(reader, last, &random) }
        }
    }
}
