import PeerKit
import PolyStoreCore

/// W18: the cost of a commit with an observed list of all persons by age and name.
///
/// Each row is measured alternately with the monitor and, as `… alone`, with an automatic view only; the difference is the cost of the monitor. `W18 memory`
/// is the memory of the list, `W18 hundred` a commit with a hundred lists on one entity that affects one of them.
@MainActor
struct ObserveWorkloads {
    private static let changes = 2_000
    private static var rounds: Int { PB.n > 100_000 ? 2 : 5 }

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
        // The first read begins the snapshot; the view follows commits afterwards.
        _ = try view.fetchCount(From<Department>())
        try change(0..<Self.changes / Self.rounds, 0) { _, body in try body() }
        var costs: [String: (wall: Double, cpu: Double)] = [:]
        // Alternating, because checkpoints and other load vary over time.
        for round in 0..<Self.rounds {
            let part = Self.changes / Self.rounds
            let numbers = round * part..<(round + 1) * part
            try change(numbers, 2 * round + 1) { kind, body in try Self.time("\(kind) alone", &costs, body) }
            Memory.trim()
            let before = Memory().anonymous
            let start = Stamp()
            let monitor = try view.monitorList(source)
            let end = Stamp()
            if round == 0 {
                Memory.trim()
                store.out.emit(
                    "W18 memory", monitor.count, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu,
                    extra: [("bytes_a_row", (Memory().anonymous - before) * 1024 / max(1, monitor.count))])
            }
            let observer = Counter()
            monitor.addObserver(observer)
            try change(numbers, 2 * round + 2) { kind, body in try Self.time("\(kind) monitored", &costs, body) }
            precondition(observer.count >= 3 * part, "the monitor reported \(observer.count) changes")
            let isRight = try isCurrent(monitor)
            precondition(isRight, "the list is not what is fetched")
        }
        for (name, cost) in costs.sorted(by: { $0.key < $1.key }) {
            store.out.emit("W18 \(name)", Self.changes, seconds: cost.wall, cpu: cost.cpu)
        }
        try hundred()
    }

    private func isCurrent(_ monitor: ListMonitor<Person>) throws -> Bool {
        try monitor.objectIDs == stack.readAndWait { try $0.fetchObjectIDs(source) }
    }

    /// Commits one update, move, insertion and deletion at a time.
    /// - Parameters:
    ///   - numbers: The numbers of the changes.
    ///   - turn: The number of the turn, which determines the values.
    ///   - measure: Runs one kind of change.
    private func change(_ numbers: Range<Int>, _ turn: Int, _ measure: (String, () throws -> Void) throws -> Void) throws {
        var random = SplitMix64(workload: 18)
        let chosen = (0..<Self.changes).map { _ in ids[Int(random.next(below: UInt64(ids.count)))] }
        try measure("update") {
            for number in numbers { try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).score += 1 } }
        }
        try measure("move") {
            for number in numbers {
                try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).age = (number * 7 + turn) % 90 }
            }
        }
        let raw = RawPerson.make(from: PB.relaxedID + Int64(turn * numbers.count), count: numbers.count)
        var created: [ObjectID<Person>] = []
        try measure("insert") {
            for person in raw {
                created.append(
                    try stack.performAndWait(durability: .relaxed) { transaction in
                        let new = try transaction.create(Into<Person>())
                        new.fill(person)
                        new.department = try transaction.object(with: departments[0])
                        return new.objectID
                    })
            }
        }
        try measure("delete") {
            for id in created { try stack.performAndWait(durability: .relaxed) { try $0.delete([id]) } }
        }
    }

    private static func time(_ name: String, _ costs: inout [String: (wall: Double, cpu: Double)], _ body: () throws -> Void) rethrows {
        let start = Stamp()
        try body()
        let end = Stamp()
        costs[name, default: (0, 0)].wall += end.wall - start.wall
        costs[name, default: (0, 0)].cpu += end.cpu - start.cpu
    }

    /// Monitors a hundred lists, each of the persons of one age; every commit affects one or two of them.
    private func hundred() throws {
        let monitors = try (0..<100).map { age in
            try stack.view.monitorList(From<Person>().where(\.age == age).orderBy(.ascending(\.name)))
        }
        var random = SplitMix64(workload: 180)
        let chosen = (0..<Self.changes).map { _ in ids[Int(random.next(below: UInt64(ids.count)))] }
        let start = Stamp()
        for number in 0..<Self.changes {
            try stack.performAndWait(durability: .relaxed) { try $0.edit(chosen[number]).age = (number * 11) % 90 }
        }
        store.out.emit("W18 move hundred lists", Self.changes, start, Stamp())
        precondition(monitors.reduce(0) { $0 + $1.count } >= 0)
    }

    private final class Counter: ListObserver {
        typealias ListEntity = Person
        var count = 0

        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { count += 1 }
    }
}
