import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// Contexts of every kind, whose objects are released on other threads while the contexts are in use: the last reference to an object, or to a container of
/// objects, can be dropped on any thread. Every lookup by id must return the one registered object, with its values.
struct ReleaseStress: Sendable {
    private static let rows = 200

    private enum Kind: Int, CaseIterable {
        case context, transaction, draft, child
    }

    private final class Cargo: @unchecked Sendable {  // emptied by the one block that has it
        var objects: [AnyObject]
        init(_ objects: [AnyObject]) { self.objects = objects }
    }

    private let stack: DataStack
    private let crew: Crew
    private let seed: UInt64
    private let engine: String
    private let releases = DispatchQueue(label: "releases", attributes: .concurrent)
    private let rounds = Protected(0)

    init(_ engine: Engine, _ crew: Crew, _ seed: UInt64) throws {
        self.crew = crew
        self.seed = seed
        self.engine = engine.name
        stack = try engine.stack([nil])
        try stack.performAndWait { transaction throws in
            for number in 0..<Self.rows {
                let tally = try transaction.create(Into<Tally>())
                (tally.name, tally.group, tally.value) = ("tally \(number)", number, number)
            }
        }
    }

    func run(owners: Int) async throws {
        var workers: [Task<Void, Never>] = []
        for number in 0..<owners {
            let random = Protected(SplitMix64(seed, number))
            workers.append(
                crew.thread("owner \(number)") { worker in
                    crew.watchdog.begins(worker, "a context")
                    try work(random)
                    crew.watchdog.ends(worker)
                })
        }
        workers.append(crew.task("view") { _ in try await MainActor.run { try use(stack.view, rounds: 5) } })
        // Commits give the view changes to apply.
        workers.append(
            crew.task("writer") { _ in
                try await stack.perform(durability: .relaxed) { transaction throws in
                    for tally in try transaction.fetchAll(From<Tally>(), Where(\.group < 20)) { tally.name += "" }
                }
                try await Task.sleep(for: .milliseconds(5))
            })
        for worker in workers { await worker.value }
        releases.sync(flags: .barrier) {}
        try expect(stack.openSnapshots.count <= 1, "\(stack.openSnapshots.count) snapshots are open, and only the view is there")
        say("release \(engine): \(rounds.withLock { $0 }) rounds of \(Self.rows) objects by \(owners) owners and the view, seed \(seed)")
    }

    private func work(_ random: Protected<SplitMix64>) throws {
        switch random.withLock({ Kind(rawValue: $0.below(Kind.allCases.count)) }) ?? .context {
        case .context:
            let context = stack.newContext()
            try use(context, rounds: 10)
            release([context])
        case .transaction:
            _ = try stack.beginSynchronous(durability: .relaxed, isolation: nil) { try use($0, rounds: 3) }
        case .draft:
            let draft = stack.beginUnsafe()
            try use(draft, rounds: 5)
            for tally in try draft.fetchAll(From<Tally>(), Where(\.group < 10)) { tally.name += "!" }
            let tallies = try draft.fetchAll(From<Tally>())
            // The unqueued transaction is released on another thread while its objects are in use here.
            release([draft])
            for tally in tallies { try expect(tally.value == tally.group, "\(tally.name) has \(tally.value)") }
            release(tallies)
        case .child:
            let draft = stack.beginUnsafe()
            let child = draft.beginUnsafe()
            try use(child, rounds: 5)
            release([child])
            release([draft])
        }
    }

    /// Fetches and looks up objects, and releases them on other threads.
    private func use(_ context: Context, rounds: Int) throws {
        for _ in 0..<rounds {
            let all = try context.fetchAll(From<Tally>())
            try expect(all.count == Self.rows, "\(all.count) objects were fetched")
            for tally in all { try expect(tally.value == tally.group, "\(tally.name) has \(tally.value)") }
            let ids = all.map(\.objectID)
            release(all)
            // Other threads are releasing some of these objects.
            for id in ids {
                guard let tally = try context.fetchExisting(id) else { throw Wrong("\(id) is not found") }
                let again = try context.fetchExisting(id)
                try expect(tally === again, "\(id) is two objects")
                try expect(tally.objectID == id && tally.value == tally.group, "\(id) is \(tally.name)")
            }
        }
        self.rounds.withLock { $0 += rounds }
    }

    private func release(_ objects: [AnyObject]) {
        let parts = min(4, objects.count)
        for part in 0..<parts {
            let cargo = Cargo(stride(from: part, to: objects.count, by: parts).map { objects[$0] })
            releases.async { cargo.objects = [] }
        }
    }
}
