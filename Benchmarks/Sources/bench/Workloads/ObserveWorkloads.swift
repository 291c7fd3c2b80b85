import PeerKit
import PolyStoreCore

/// W18: what a commit costs with an observed list beside it. The list is of all persons by age and name.
///
/// Each row is measured with the monitor and, as `… alone`, with a view that follows without one; the difference is what the monitor costs. `W18 memory` is what the
/// list itself takes, `W18 hundred` a commit with a hundred lists on one entity of which it concerns one.
@MainActor
struct ObserveWorkloads {
    private static let changes = 2_000

    private let store: BenchStore
    private let stack: DataStack
    private let departments: [ObjectID<Department>]
    private let ids: [ObjectID<Person>]
    private let source = From<Person>().orderBy(.ascending(\.age), .ascending(\.name))

    init(_ store: BenchStore) throws {
        self.store = store
        stack = try store.stack()
        (departments, ids) = try stack.readAndWait { context in
            (try context.fetchObjectIDs(From<Department>()), try context.fetchObjectIDs(From<Person>()))
        }
    }

    func all() throws {
        let view = stack.view
        // From here on the view follows the commits.
        _ = try view.fetchCount(From<Department>())
        try measure("alone", 0)
        let before = Memory().anonymous
        let start = Stamp()
        let monitor = try view.monitorList(source)
        let end = Stamp()
        store.out.emit(
            "W18 memory", monitor.count, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu,
            extra: [("bytes_a_row", (Memory().anonymous - before) * 1024 / max(1, monitor.count))])
        let observer = Counter()
        monitor.addObserver(observer)
        try measure("monitored", 1)
        precondition(observer.count >= 3 * Self.changes, "the monitor told of \(observer.count) changes")
        let isRight = try isCurrent(monitor)
        precondition(isRight, "the list is not what is fetched")
        try hundred()
    }

    private func isCurrent(_ monitor: ListMonitor<Person>) throws -> Bool {
        try monitor.objectIDs == stack.readAndWait { try $0.fetchObjectIDs(source) }
    }

    /// One update, move, insertion and deletion a commit.
    /// - Parameter turn: other values in each turn.
    private func measure(_ name: String, _ turn: Int) throws {
        var random = SplitMix64(workload: 18)
        let chosen = (0..<Self.changes).map { _ in ids[Int(random.next(below: UInt64(ids.count)))] }
        try time("update", name) { number in
            try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).score += 1 }
        }
        try time("move", name) { number in
            try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).age = (number * 7 + turn) % 90 }
        }
        let raw = RawPerson.make(from: PB.relaxedID + Int64(turn * Self.changes), count: Self.changes)
        var created: [ObjectID<Person>] = []
        try time("insert", name) { number in
            created.append(
                try stack.performAndWait(durability: .relaxed) { transaction in
                    let person = try transaction.create(Into<Person>())
                    person.fill(raw[number])
                    person.department = try transaction.object(with: departments[0])
                    return person.objectID
                })
        }
        try time("delete", name) { number in
            let id = created[number]
            try stack.performAndWait(durability: .relaxed) { try $0.delete([id]) }
        }
    }

    private func time(_ kind: String, _ name: String, _ body: @MainActor (Int) throws -> Void) throws {
        let start = Stamp()
        for number in 0..<Self.changes { try body(number) }
        store.out.emit("W18 \(kind) \(name)", Self.changes, start, Stamp())
    }

    /// A hundred lists, each of the persons of one age; every commit concerns one or two of them.
    private func hundred() throws {
        let monitors = try (0..<100).map { age in
            try stack.view.monitorList(From<Person>().where(\.age == age).orderBy(.ascending(\.name)))
        }
        var random = SplitMix64(workload: 180)
        let chosen = (0..<Self.changes).map { _ in ids[Int(random.next(below: UInt64(ids.count)))] }
        try time("move", "hundred lists") { number in
            try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).age = (number * 11) % 90 }
        }
        precondition(monitors.reduce(0) { $0 + $1.count } >= 0)
    }

    private final class Counter: ListObserver {
        typealias ListEntity = Person
        var count = 0

        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { count += 1 }
    }
}
