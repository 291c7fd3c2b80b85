import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// Random transactions of every kind over two stores, from threads, tasks and the main actor.
///
/// Each turn has a unique number that determines its changes: an entry with the number in a store, and the tally of the number. The set of acknowledged turns
/// therefore determines the final contents of the stores, in any order; turns that failed or were rolled back must leave no changes.
struct MixedStress: Sendable {
    static let configurations = ["A", "B"]
    static let tallies = 16

    let engine: Engine
    let stack: DataStack
    private let crew: Crew
    private let seed: UInt64

    /// The acknowledged changes.
    private struct Oracle {
        var next = 1
        /// The delta of each entry, by configuration and turn number.
        var entries: [String: [Int: Int]] = ["A": [:], "B": [:]]
        /// Entries that another turn may retract.
        var recent: [(configuration: String, number: Int)] = []
        var outcomes: [String: Int] = [:]
    }
    private let oracle = Protected(Oracle())

    init(_ engine: Engine, _ crew: Crew, _ seed: UInt64) throws {
        self.engine = engine
        self.crew = crew
        self.seed = seed
        stack = try engine.stack(Self.configurations)
        try stack.performAndWait { transaction throws in
            for name in Self.configurations {
                for number in 0..<Self.tallies { try transaction.create(Into<Tally>(name)).name = "tally \(number)" }
                let total = try transaction.create(Into<Tally>(name))
                (total.name, total.group) = ("total", 1)
            }
        }
    }

    func run() async throws {
        var workers: [Task<Void, Never>] = []
        let (waiting, asynchronous) = (Operation.waiting, Operation.asynchronous)
        for number in 0..<24 {
            let random = Protected(SplitMix64(seed, number))
            workers.append(
                crew.thread("thread \(number)") { worker in
                    let (operation, turn) = draw(waiting, random)
                    crew.watchdog.begins(worker, "\(operation.name) (turn \(turn.number))")
                    try named(operation, turn) { try operation.body(self, turn) }
                    crew.watchdog.ends(worker)
                })
        }
        for number in 24..<64 {
            let random = Protected(SplitMix64(seed, number))
            workers.append(
                crew.task("task \(number)") { worker in
                    let (operation, turn) = draw(asynchronous, random)
                    crew.watchdog.begins(worker, "\(operation.name) (turn \(turn.number))")
                    do { try await operation.body(self, turn) } catch { throw Wrong("\(operation.name), turn \(turn.number): \(error)") }
                    note(operation.name)
                })
        }
        for worker in workers { await worker.value }
        try finish()
    }

    private func draw<Body>(_ table: [Operation.Kind<Body>], _ random: Protected<SplitMix64>) -> (Operation.Kind<Body>, Turn) {
        let number = oracle.withLock { oracle in
            defer { oracle.next += 1 }
            return oracle.next
        }
        return random.withLock { random in
            var remaining = random.below(table.reduce(0) { $0 + $1.weight })
            let kind = table.first { kind in
                remaining -= kind.weight
                return remaining < 0
            }
            return (
                kind ?? table[0],
                Turn(
                    number: number, configuration: Self.configurations[random.below(2)], delta: random.below(199) - 99,
                    durability: random.once(in: 8) ? .full : .relaxed)
            )
        }
    }

    private func named<Body>(_ operation: Operation.Kind<Body>, _ turn: Turn, _ body: () throws -> Void) throws {
        do { try body() } catch { throw Wrong("\(operation.name), turn \(turn.number): \(error)") }
        note(operation.name)
    }

    private func note(_ name: String) { oracle.withLock { $0.outcomes[name, default: 0] += 1 } }

    // MARK: Results of operations

    /// Records that the turn's entry was acknowledged in one or more configurations.
    func acknowledge(_ turn: Turn, in configurations: [String]) {
        oracle.withLock { oracle in
            for name in configurations { oracle.entries[name]?[turn.number] = turn.delta }
            if configurations.count == 1, oracle.recent.count < 500 { oracle.recent.append((configurations[0], turn.number)) }
        }
    }

    /// Returns an acknowledged entry for the caller to retract, or nil. No other turn gets the same entry.
    func takeRecent() -> (configuration: String, number: Int)? { oracle.withLock { $0.recent.popLast() } }

    func acknowledgeRetraction(_ configuration: String, _ number: Int) { oracle.withLock { $0.entries[configuration]?[number] = nil } }

    /// Returns whether the entry of a turn is acknowledged and not retracted.
    func isAcknowledged(_ configuration: String, _ number: Int) -> Bool { oracle.withLock { $0.entries[configuration]?[number] != nil } }

    // MARK: Invariants of every snapshot

    /// Checks that the tallies of a store sum to its total.
    func check(_ context: Context, _ configuration: String) throws {
        let tallies = try context.fetchAll(From<Tally>(configuration))
        let sum = tallies.reduce(0) { $0 + ($1.group == 0 ? $1.value : 0) }
        let total = tallies.first { $0.group == 1 }?.value
        try expect(tallies.count == Self.tallies + 1, "\(tallies.count) tallies in \(configuration)")
        try expect(sum == total, "the tallies of \(configuration) make \(sum), not \(total ?? -1)")
    }

    private func finish() throws {
        let recorded = oracle.withLock { $0 }
        for name in Self.configurations {
            let found = try stack.readAndWait { context throws in
                try check(context, name)
                let entries = try context.fetchAll(From<Entry>(name)).map { ($0.operation, $0.delta) }
                let total = try context.fetchOne(From<Tally>(name), Where(\.group == 1))?.value
                return (entries, total)
            }
            let entries = Dictionary(found.0, uniquingKeysWith: { first, _ in first })
            let expected = recorded.entries[name] ?? [:]
            if entries != expected {
                let lost = expected.keys.filter { entries[$0] == nil }.sorted().prefix(5)
                let left = entries.keys.filter { expected[$0] == nil }.sorted().prefix(5)
                throw Wrong("store \(name): lost \(lost), left behind \(left), of \(expected.count)")
            }
            try expect(found.1 == expected.values.reduce(0, +), "store \(name): the total is \(found.1 ?? -1)")
            for number in 0..<Self.tallies {
                let value = try stack.readAndWait { try $0.fetchOne(From<Tally>(name), Where(\.name == "tally \(number)"))?.value }
                let wanted = expected.reduce(0) { $0 + ($1.key % Self.tallies == number ? $1.value : 0) }
                try expect(value == wanted, "store \(name): tally \(number) is \(value ?? -1), not \(wanted)")
            }
        }
        for store in stack.stores {
            let findings = try store.verifyAndWait()
            try expect(findings.isEmpty, "the store is damaged: \(findings)")
        }
        let kinds = recorded.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        say("mixed on \(engine.name): \(crew.watchdog.done) turns (\(kinds)), as the oracle says, seed \(seed)")
        let silent = Operation.names.filter { recorded.outcomes[$0] == nil }
        if !silent.isEmpty { say("  never drawn: \(silent.joined(separator: ", "))") }
    }
}

/// One operation of one worker.
struct Turn: Sendable {
    /// A number that no other turn has.
    let number: Int
    let configuration: String
    let delta: Int
    let durability: Durability

    var tally: String { "tally \(number % MixedStress.tallies)" }

    /// Writes the changes of the turn to a store.
    func write(_ transaction: Transaction, in configuration: String) throws {
        let entry = try transaction.create(Into<Entry>(configuration))
        (entry.operation, entry.delta) = (number, delta)
        try transaction.fetchOrCreate(From<Tally>(configuration), Where(\.name == tally)).value += delta
        try Self.raiseTotal(transaction, configuration, delta)
    }

    static func raiseTotal(_ transaction: Transaction, _ configuration: String, _ delta: Int) throws {
        let count = try transaction.batchUpdate(From<Tally>(configuration), Where(\.group == 1)) { $0.increment(\.value, by: delta) }
        try expect(count == 1, "\(count) totals in \(configuration)")
    }
}
