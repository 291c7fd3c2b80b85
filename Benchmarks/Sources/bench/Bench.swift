import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// The workloads of the yardsticks through the public object API, in one process for one backend; prints a JSON line each.
///
///     bench sqlite load FOLDER      W1, reopen, W2, W3, W4, W5, W6, W10
///     bench sqlite read FOLDER      W2, W3, W4, W5, W6, W10, in a process that has not written
///     bench sqlite mutate FOLDER    W7, W9, W8
///     bench sqlite commits FOLDER   W8 alone, in an empty store
///     bench sqlite callers FOLDER   W8c: 64 tasks at once
///     bench sqlite upsert FOLDER    W13 with 10,000 and with 100,000 objects
///     bench sqlite records FOLDER   W1r to W6r: the same on records, without objects
@main
struct Bench: Sendable {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(
                Data("usage: bench sqlite|lmdb|leveldb|memory load|read|mutate|commits|callers|upsert|records FOLDER\n".utf8))
            exit(2)
        }
        let bench = Bench(backend: arguments[1], folder: arguments[3])
        switch arguments[2] {
        case "load": try bench.load()
        case "read": try bench.read(bench.open())
        case "mutate": try bench.mutate()
        case "commits": try ChangeWorkloads(stack: bench.open("commits"), out: bench.out).durable()
        case "callers": try await ChangeWorkloads(stack: bench.open("callers"), out: bench.out).concurrent()
        case "upsert":
            for count in [10_000, 100_000] {
                try ChangeWorkloads(stack: bench.open("upsert\(count)"), out: bench.out).findOrCreate(count)
            }
        case "records": try RecordWorkloads(bench.configuration("records"), bench.out).all()
        default: exit(2)
        }
    }

    let backend: String
    let folder: String
    let out: Reporter

    init(backend: String, folder: String) {
        self.backend = backend
        self.folder = folder
        out = Reporter("PolyStore-" + backend)
    }

    private func open(_ name: String = "polystore") throws -> DataStack {
        let stack = try DataStack(Schema("Peers", Person.self, Department.self))
        try stack.addStore(configuration(name))
        return stack
    }

    private func configuration(_ name: String) throws -> StoreConfiguration {
        let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .memory])
        return try engines.configuration(backend == "memory" ? "memory:" : "\(backend):\(folder)/\(name).\(backend)")
    }

    private func load() throws {
        let people = RawPerson.make(from: 1, count: PB.n)
        let stack = try write(people)
        // For profiles of one workload.
        if ProcessInfo.processInfo.environment["BENCH_ONLY"] == "W1" { return }
        // What the other yardsticks do too: close, and open again. A store in memory would be gone.
        try withExtendedLifetime(people) { try read(stack ?? open()) }
    }

    /// W1. Gives the stack back only where it has to live on.
    private func write(_ people: [RawPerson]) throws -> DataStack? {
        let stack = try open()
        let departments = try stack.performAndWait { transaction in
            try (1...PB.departments).map { number in
                let department = try transaction.create(Into<Department>())
                department.name = departmentName(Int64(number))
                return department.objectID
            }
        }
        try out.time("W1", PB.n) {
            try stack.performAndWait { transaction in
                let departments = try transaction.fetchExisting(departments)
                for raw in people {
                    let person = try transaction.create(Into<Person>())
                    fill(person, raw)
                    person.department = departments[Int(raw.departmentID) - 1]
                }
            }
            return 0
        }
        return backend == "memory" ? stack : nil
    }

    private func read(_ stack: DataStack) throws {
        let departments = try stack.readAndWait { try $0.fetchObjectIDs(From<Department>()) }
        try stack.readAndWait { context in
            var all: [Person] = []
            try out.time("W2", PB.n, verify: { all.reduce(0) { $0 &+ fullHash($1) } }) {
                all = try context.fetchAll(From<Person>())
                var sum: UInt64 = 0
                for person in all { sum &+= quickHash(person) }
                return sum
            }
        }
        try getByID(stack)
        try ranges(stack)
        try out.time("W5", PB.scans, always: true) {
            try stack.readAndWait { context in
                var sum: UInt64 = 0
                for _ in 0..<PB.scans { sum += UInt64(try context.fetchCount(From<Person>(), Where(\.score > 500 && \.isActive == true))) }
                return sum
            }
        }
        try groups(stack)
        try out.time("W10", PB.departments, always: true) {
            try stack.readAndWait { context in
                var ages: UInt64 = 0
                for id in departments {
                    guard let department = try context.fetchExisting(id) else { continue }
                    for person in department.people {
                        sink &+= quickHash(person)
                        ages += UInt64(person.age)
                    }
                }
                return ages
            }
        }
    }

    private func getByID(_ stack: DataStack) throws {
        let ids = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) }
        func run(_ full: Bool) throws -> UInt64 {
            try stack.readAndWait { context in
                var random = SplitMix64(workload: 3)
                var sum: UInt64 = 0
                for _ in 0..<PB.lookups {
                    guard let person = try context.fetchExisting(ids[Int(random.next(below: UInt64(PB.n)))]) else { continue }
                    sum &+= full ? fullHash(person) : quickHash(person)
                }
                return sum
            }
        }
        try out.time("W3", PB.lookups, verify: { try run(true) }, { try run(false) })
    }

    private func ranges(_ stack: DataStack) throws {
        func run(_ full: Bool) throws -> UInt64 {
            try stack.readAndWait { context in
                var random = SplitMix64(workload: 4)
                var sum: UInt64 = 0
                for _ in 0..<PB.ranges {
                    let age = Int(random.next(below: 100))
                    let found = try context.fetchAll(From<Person>().where(\.age >= age).orderBy(.ascending(\.age)).limit(PB.limit))
                    for person in found { sum = full ? mix(sum, fullHash(person)) : sum &+ quickHash(person) }
                }
                return sum
            }
        }
        try out.time("W4", PB.ranges, verify: { try run(true) }, { try run(false) })
    }

    private func groups(_ stack: DataStack) throws {
        try out.time("W6", PB.scans, always: true) {
            try stack.readAndWait { context in
                var hash: UInt64 = 0
                for _ in 0..<PB.scans {
                    let groups = try context.queryGroups(
                        From<Person>(), by: \.age, .count, .average(\.score), .minimum(\.score), .maximum(\.score))
                    for group in groups {
                        let (count, average, least, greatest) = group.values
                        hash = groupHash(hash, age: group.key, n: count, avg: average ?? 0, min: least ?? 0, max: greatest ?? 0)
                    }
                }
                return hash
            }
        }
    }

    private func mutate() throws {
        // A store in memory has nothing from an earlier process.
        let stack = try (backend == "memory" ? write(RawPerson.make(from: 1, count: PB.n)) : nil) ?? open()
        let order = permutation()
        let ids = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) }
        func check() throws -> UInt64 {
            try stack.readAndWait { context in try context.fetchAll(From<Person>()).reduce(0) { $0 &+ fullHash($1) } }
        }
        try out.time("W7", PB.updates, verify: check) {
            try stack.performAndWait { transaction in
                for number in 0..<PB.updates { try transaction.edit(ids[Int(order[PB.n - 1 - number]) - 1]).age += 1 }
            }
            return 0
        }
        try out.time("W9", PB.deletes, verify: check) {
            try stack.performAndWait { transaction in for number in 0..<PB.deletes { try transaction.delete(ids[Int(order[number]) - 1]) } }
            return 0
        }
        try ChangeWorkloads(stack: stack, out: out).durable()
    }
}
