import Dispatch
import Foundation
import PeerKit
import PolyStoreCore

/// W18f: the cost of 10,000 commits (or `W18F_COMMITS`) for the writer with many observers, and the memory of the observers: `… memory` rows have the
/// anonymous memory in KiB after each fifth of the commits.
///
/// - `alone`: with an automatic view
/// - `monitors`: with a hundred monitors of lists of one entity; each commit affects one list
/// - `blocked`: the same, committed on another thread while the main actor is blocked
/// - `stalled`: with ten sequences of snapshots and ten of changes of one list, whose consumers read only the first element
///
/// Each commit changes the age of one person. The writer's time is elapsed time, because observers use other threads.
@MainActor
struct FollowerWorkloads {
    private nonisolated static let commits = ProcessInfo.processInfo.environment["W18F_COMMITS"].flatMap { Int($0) } ?? 10_000

    private let store: BenchStore
    private let stack: DataStack
    private let ids: [ObjectID<Person>]

    init(_ store: BenchStore) throws {
        self.store = store
        stack = try store.stack()
        ids = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) }
    }

    func all() throws {
        let (stack, ids, out) = (self.stack, self.ids, store.out)
        // The first read begins the snapshot; the view follows commits afterwards.
        _ = try stack.view.fetchCount(From<Department>())
        try change("warm-up", 1)
        try change("alone", 2)
        let monitors = try (0..<100).map { age in
            try stack.view.monitorList(From<Person>().where(\.age == age).orderBy(.ascending(\.name)))
        }
        try change("monitors", 3)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "writer").async {
            do { try Self.change("blocked", 4, stack, ids, out) } catch { fatalError("\(error)") }
            done.signal()
        }
        done.wait()
        try stack.view.refresh()
        let count = monitors.reduce(0) { $0 + $1.count }
        let isComplete = try count == stack.view.fetchCount(From<Person>())
        precondition(isComplete, "the monitors have \(count) objects")
        try stalled()
        withExtendedLifetime(monitors) {}
    }

    private func stalled() throws {
        let source = From<Person>().where(\.age < 10).orderBy(.ascending(\.name))
        let begun = DispatchSemaphore(value: 0)
        let stack = stack
        let tasks = (0..<10).map { _ in
            Task.detached {
                var snapshots = stack.snapshots(of: source).makeAsyncIterator()
                var changes = stack.changes(of: source).makeAsyncIterator()
                _ = try await snapshots.next()
                _ = try await changes.next()
                begun.signal()
                try? await Task.sleep(for: .seconds(100_000))
                withExtendedLifetime((snapshots, changes)) {}
            }
        }
        for _ in tasks { begun.wait() }
        try change("stalled", 5)
        for task in tasks { task.cancel() }
    }

    /// - Parameter turn: The number of the turn, which determines the values.
    private func change(_ name: String, _ turn: Int) throws {
        try Self.change(name, turn, stack, ids, store.out)
    }

    /// - Parameter actor: On the main actor each transaction updates the view before it returns.
    private static func change(
        _ name: String, _ turn: Int, _ stack: DataStack, _ ids: [ObjectID<Person>], _ out: Reporter,
        isolation actor: isolated (any Actor)? = #isolation
    ) throws {
        let start = Stamp()
        var memory: [Int] = []
        for number in 1...commits {
            try stack.performAndWait(durability: .relaxed) { try $0.edit(ids[number * 7 % ids.count]).age = (number * 11 + turn) % 90 }
            if number % (commits / 5) == 0 { memory.append(Memory().anonymous) }
        }
        emit(name, start, memory, out)
    }

    private nonisolated static func emit(_ name: String, _ start: Stamp, _ memory: [Int], _ out: Reporter) {
        let end = Stamp()
        out.emit("W18f \(name)", commits, start, end)
        out.emit(
            "W18f \(name) memory", commits, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu,
            extra: memory.enumerated().map { ("kib_after_\($0.offset + 1)_of_5", $0.element) })
    }
}
