import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// Sequences of lists and values, started and ended by many tasks while others write. Every delivered state must be one snapshot of the store, and every change
/// must transform the previous state into the state delivered with it.
struct ObserveStress: Sendable {
    private static let tallies = 40
    private static let total = 4_000

    private let stack: DataStack
    private let crew: Crew
    private let seed: UInt64
    private let engine: String
    private let counts = Protected((commits: 0, states: 0, observations: 0))

    init(_ engine: Engine, _ crew: Crew, _ seed: UInt64) throws {
        self.crew = crew
        self.seed = seed
        self.engine = engine.name
        stack = try engine.stack([nil])
        try stack.performAndWait { transaction throws in
            for number in 0..<Self.tallies {
                let tally = try transaction.create(Into<Tally>())
                (tally.name, tally.group, tally.value) = ("tally \(number)", number % 5, Self.total / Self.tallies)
            }
        }
    }

    func run(writers: Int, observers: Int) async throws {
        var tasks: [Task<Void, Never>] = []
        for number in 0..<writers {
            let random = Protected(SplitMix64(seed, number))
            tasks.append(
                crew.thread("writer \(number)") { worker in
                    crew.watchdog.begins(worker, "a transfer")
                    try transfer(random)
                    crew.watchdog.ends(worker)
                })
        }
        for number in writers..<writers + observers {
            let random = Protected(SplitMix64(seed, number))
            tasks.append(
                crew.task("observer \(number)") { worker in
                    crew.watchdog.begins(worker, "an observation")
                    try await observe(random)
                })
        }
        // Commits until all observers have ended: an observer may still wait for a change when no writer is left.
        let pulse = Task.detached { [stack] in
            while !Task.isCancelled {
                try await stack.perform(durability: .relaxed) { try $0.fetchOne(From<Tally>(), Where(\.name == "tally 0"))?.group += 1 }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        for task in tasks { await task.value }
        pulse.cancel()
        _ = await pulse.result
        try await settle()
        let counts = counts.withLock { $0 }
        say("observe \(engine): \(counts.observations) observations of \(counts.states) states, \(counts.commits) transfers, seed \(seed)")
    }

    /// Moves an amount from one tally to another, which keeps the total. Some turns replace a tally or change its group.
    private func transfer(_ random: Protected<SplitMix64>) throws {
        let (from, to, amount, kind) = random.withLock { random in
            (random.below(Self.tallies), random.below(Self.tallies), random.below(20), random.below(8))
        }
        try stack.performAndWait(durability: .relaxed) { transaction throws in
            guard let source = try transaction.fetchOne(From<Tally>(), Where(\.name == "tally \(from)")) else { return }
            switch kind {
            case 0: source.group = amount % 7
            case 1:
                let (name, value) = (source.name, source.value)
                try transaction.delete(source)
                let new = try transaction.create(Into<Tally>())
                (new.name, new.group, new.value) = (name, amount % 7, value)
            default:
                guard let target = try transaction.fetchOne(From<Tally>(), Where(\.name == "tally \(to)")) else { return }
                source.value -= amount
                target.value += amount
            }
        }
        counts.withLock { $0.commits += 1 }
    }

    private func observe(_ random: Protected<SplitMix64>) async throws {
        let (kind, length, pause) = random.withLock { ($0.below(5), 1 + $0.below(30), $0.below(4)) }
        counts.withLock { $0.observations += 1 }
        switch kind {
        case 0: try await follow(stack.changes(of: Self.byValue), length, pause)
        case 1: try await follow(stack.changes(of: Self.byValue, sectionBy: SectionBy(\.group)), length, pause)
        case 2: try await follow(await MainActor.run { stack.view.changes(of: Self.byValue) }, length, pause)
        case 3: try await followValues(length)
        default: try await cancel(after: pause)
        }
    }

    private static var byValue: FetchChain<Tally> { From<Tally>().orderBy(.ascending(\.value)) }

    private func follow(_ updates: ListUpdateSequence<Tally>, _ length: Int, _ pause: Int) async throws {
        var last: ListSnapshot<Tally>?
        var count = 0
        for try await update in updates {
            try check(update.snapshot)
            if let last {
                guard let changes = update.changes else { throw Wrong("a whole list came after another one") }
                try expect(changes.applied(to: last) == update.snapshot, "a change does not lead from the state before to the new one")
            }
            last = update.snapshot
            count += 1
            if count >= length || crew.isOver { break }
            if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
        }
        try expect(last != nil, "a sequence ended without a state")
        counts.withLock { $0.states += count }
    }

    private func check(_ snapshot: ListSnapshot<Tally>) throws {
        try expect(snapshot.count == Self.tallies, "\(snapshot.count) tallies")
        try expect(
            snapshot.reduce(0) { $0 + $1.value } == Self.total, "the tallies of a state make \(snapshot.reduce(0) { $0 + $1.value })")
        for section in snapshot.sections {
            try expect(zip(section, section.dropFirst()).allSatisfy { $0.value <= $1.value }, "a state is out of order")
            try expect(!snapshot.isSectioned || section.allSatisfy { "\($0.group)" == section.name }, "a tally is in another section")
        }
    }

    /// The total never changes, so its sequence must deliver one value only; the distribution of the values changes.
    private func followValues(_ length: Int) async throws {
        var totals = stack.values(of: From<Tally>(), .sum(\.value)).makeAsyncIterator()
        try expect(try await totals.next() == Self.total, "the first total is wrong")
        var seen = 0
        for try await values in stack.values(of: { try $0.fetchAll(From<Tally>()).map(\.value) }) {
            try expect(values.reduce(0, +) == Self.total, "the values of a result make \(values.reduce(0, +))")
            seen += 1
            if seen >= length || crew.isOver { break }
        }
        counts.withLock { $0.states += seen }
    }

    private func cancel(after pause: Int) async throws {
        let task = Task {
            for try await snapshot in stack.snapshots(of: Self.byValue) { try check(snapshot) }
        }
        try await Task.sleep(for: .milliseconds(pause))
        task.cancel()
        try await task.value
    }

    /// Checks that the last delivered state equals the store, and that ended subscriptions hold no resources.
    private func settle() async throws {
        let wanted = try await stack.read { context in try context.fetchSnapshots(context.fetchObjectIDs(Self.byValue)) }
        for try await snapshot in stack.snapshots(of: Self.byValue) {
            try expect(Array(snapshot) == wanted, "the last state is not that of the store")
            break
        }
        // The view may hold a snapshot, and the observer queue holds one until the last subscription has ended.
        let end = ContinuousClock.now + .seconds(30)
        while stack.openSnapshots.count > 1, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
        try expect(stack.openSnapshots.count <= 1, "\(stack.openSnapshots.count) snapshots are open, and only the view is there")
    }
}
