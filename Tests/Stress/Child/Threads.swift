import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// Writers that increment shared counters and own one row each, and readers that check the sums. Half of each run on threads with the blocking methods, half as
/// tasks with the asynchronous ones.
struct ThreadStress: Sendable {
    private static let counters = 8
    /// A reader pauses for this multiple of its reading time, to leave processor time to the writers.
    private static let rest = 15.0
    /// Groups of tallies.
    private enum Group {
        static let counter = 0
        static let row = 1
        static let sum = 2
    }

    private struct Refused: Error {}

    private let engine: Engine
    private let stack: DataStack
    private let crew: Crew
    private let seed: UInt64
    private let counters: [ObjectID<Tally>]
    /// "version" counts commits, "total" is the sum of all rows.
    private let version: ObjectID<Tally>
    private let total: ObjectID<Tally>

    private struct Acknowledged {
        var counters = Array(repeating: 0, count: ThreadStress.counters)
        var commits = 0
        var refused = 0
        var rows = 0
        var reads = 0
    }
    private let acknowledged = Protected(Acknowledged())

    init(_ engine: Engine, _ crew: Crew, _ seed: UInt64) throws {
        self.engine = engine
        self.crew = crew
        self.seed = seed
        stack = try engine.stack([nil])
        let ids = try stack.performAndWait { transaction throws in
            try ((0..<Self.counters).map { ("counter \($0)", Group.counter) } + [("version", Group.sum), ("total", Group.sum)]).map {
                name, group in
                let tally = try transaction.create(Into<Tally>())
                (tally.name, tally.group) = (name, group)
                return tally.objectID
            }
        }
        counters = Array(ids.prefix(Self.counters))
        (version, total) = (ids[Self.counters], ids[Self.counters + 1])
    }

    func run(writers: Int, readers: Int) async throws {
        var workers: [Task<Void, Never>] = []
        for number in 0..<writers {
            let random = Protected(SplitMix64(seed, number))
            let name = "writer \(number)"
            if number % 2 == 0 {
                workers.append(crew.thread(name) { worker in try self.write(name, worker, random) })
            } else {
                workers.append(crew.task(name) { worker in try await self.write(name, worker, random) })
            }
        }
        for number in 0..<readers {
            let last = Protected(0)
            let name = "reader \(number)"
            if number % 2 == 0 {
                workers.append(
                    crew.thread(name) { worker in
                        crew.watchdog.begins(worker, "readAndWait")
                        let start = ContinuousClock.now
                        let least = acknowledged.withLock { $0.commits }
                        try stack.readAndWait { try check($0, least, last, number) }
                        crew.watchdog.ends(worker)
                        Thread.sleep(forTimeInterval: pause(after: start) / .seconds(1))
                    })
            } else {
                workers.append(
                    crew.task(name) { worker in
                        crew.watchdog.begins(worker, "read")
                        let start = ContinuousClock.now
                        let least = acknowledged.withLock { $0.commits }
                        try await stack.read { try check($0, least, last, number) }
                        try await Task.sleep(for: pause(after: start))
                    })
            }
        }
        for worker in workers { await worker.value }
        try finish(workers.count)
    }

    /// Returns the pause of a reader after a read. It ends with the run: on a loaded machine a read can take seconds, and the watchdog counts a pause as standing
    /// still.
    private func pause(after start: ContinuousClock.Instant) -> Duration {
        let now = ContinuousClock.now
        return max(.zero, min((now - start) * Self.rest, crew.end - now))
    }

    // MARK: Writers

    /// The changes of a transaction, drawn before it runs.
    private struct Plan {
        let counter: Int
        let delta: Int
        let name: String
        let deletes: Bool
        let isRefused: Bool
        let durability: Durability
    }

    private func plan(_ name: String, _ random: Protected<SplitMix64>) -> Plan {
        random.withLock { random in
            Plan(
                counter: random.below(Self.counters), delta: random.below(21) - 10, name: "\(name) row \(random.below(4))",
                deletes: random.once(in: 5), isRefused: random.once(in: 9), durability: random.once(in: 4) ? .full : .relaxed)
        }
    }

    private func write(_ name: String, _ worker: Int, _ random: Protected<SplitMix64>) throws {
        let plan = plan(name, random)
        crew.watchdog.begins(worker, "performAndWait")
        try acknowledge(plan) { try stack.performAndWait(durability: plan.durability) { try carryOut(plan, $0) } }
        crew.watchdog.ends(worker)
    }

    private func write(_ name: String, _ worker: Int, _ random: Protected<SplitMix64>) async throws {
        let plan = plan(name, random)
        crew.watchdog.begins(worker, "perform")
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await stack.perform(durability: plan.durability) { try carryOut(plan, $0) }) } catch {
            outcome = .failure(error)
        }
        try acknowledge(plan) { try outcome.get() }
    }

    private func acknowledge(_ plan: Plan, _ body: () throws -> Void) throws {
        do {
            try body()
            try expect(!plan.isRefused, "a body threw, and the transaction did not")
            acknowledged.withLock {
                $0.counters[plan.counter] += 1
                $0.commits += 1
            }
        } catch is Refused {
            acknowledged.withLock { $0.refused += 1 }
        }
    }

    private func carryOut(_ plan: Plan, _ transaction: Transaction) throws {
        try transaction.edit(counters[plan.counter]).value += 1
        let row = try transaction.fetchOne(From<Tally>(), Where(\.name == plan.name))
        var change = plan.delta
        if let row, plan.deletes {
            change = -row.value
            try transaction.delete(row)
        } else if let row {
            row.value += plan.delta
        } else {
            let row = try transaction.create(Into<Tally>())
            (row.name, row.group, row.value) = (plan.name, Group.row, plan.delta)
        }
        try transaction.edit(version).value += 1
        try transaction.edit(total).value += change
        if plan.isRefused { throw Refused() }
    }

    // MARK: Readers

    private func check(_ context: Context, _ least: Int, _ last: Protected<Int>, _ way: Int) throws {
        func value(_ id: ObjectID<Tally>) throws -> Int {
            guard let tally = try context.fetchExisting(id) else { throw Wrong("\(id) is gone") }
            return tally.value
        }
        let number = try value(version)
        try expect(number >= least, "a snapshot of version \(number), begun after \(least) was acknowledged")
        let before = last.withLock { last in
            defer { last = number }
            return last
        }
        try expect(number >= before, "a snapshot of version \(number) after one of \(before)")
        let rows = From<Tally>().where(\.group == Group.row)
        let sum =
            way % 4 < 2
            ? try context.queryValue(rows, .sum(\.value))
            : try context.fetchAll(rows.orderBy(.ascending(\.name))).reduce(0) { $0 + $1.value }
        let totals = try value(total)
        try expect(sum == totals, "in version \(number) the rows make \(sum), not \(totals)")
        let raised = try counters.reduce(0) { try $0 + value($1) }
        try expect(raised == number, "in version \(number) the counters make \(raised)")
        acknowledged.withLock { $0.reads += 1 }
    }

    // MARK: Final checks

    private func finish(_ workers: Int) throws {
        try check(stack)
        let findings = try stack.stores[0].verifyAndWait()
        try expect(findings.isEmpty, "the store is damaged: \(findings)")
        let totals = acknowledged.withLock { $0 }
        say(
            "threads on \(engine.name): \(totals.commits) commits, \(totals.refused) refused, \(totals.reads) reads by \(workers) workers "
                + "(\(crew.watchdog.idle) of them idle), nothing lost, seed \(seed)")
        try expect(totals.commits > 0 && totals.reads > 0, "no commits or no reads")
    }

    private func check(_ stack: DataStack) throws {
        let totals = acknowledged.withLock { $0 }
        try stack.readAndWait { context throws in
            for (number, id) in counters.enumerated() {
                let value = try context.fetchExisting(id)?.value
                try expect(
                    value == totals.counters[number],
                    "counter \(number) is \(value ?? -1), and \(totals.counters[number]) were acknowledged")
            }
            try check(context, totals.commits, Protected(0), 2)
            let number = try context.fetchExisting(version)?.value
            try expect(number == totals.commits, "\(number ?? -1) commits, and \(totals.commits) were acknowledged")
        }
    }
}
