import PeerKit
import PolyStoreCore

/// W21: single operations of a client of a server, each in a read or a transaction of its own. Prints the median of the elapsed times of each.
struct ClientWorkloads {
    let objects: ObjectWorkloads
    /// The number of repetitions. The first one is not measured.
    private static let repetitions = 16

    init(_ store: BenchStore) { objects = ObjectWorkloads(store) }

    func all() throws {
        let stack = try objects.store.stack()
        let people = try objects.people(stack)
        let departments = try objects.departments(stack)
        // Persons of no other workload and no other process.
        var next = 1000 * Int64(PB.n) + Int64(PB.process) * 1_000_000
        func raw(_ count: Int) -> [RawPerson] {
            defer { next += Int64(count) }
            return RawPerson.make(from: next, count: count)
        }
        try measure("get", 1) { repetition in
            try stack.readAndWait { context in try context.fetchExisting(people[repetition * 37 % people.count]).map(quickHash) ?? 0 }
        }
        try measure("fetch", 1000) { _ in
            try stack.readAndWait { context in
                try context.fetchAll(From<Person>().orderBy(.ascending(\.age)).limit(1000)).reduce(0) { $0 &+ quickHash($1) }
            }
        }
        try measure("related", 100) { _ in
            try stack.readAndWait { context in
                try context.fetchAll(From<Person>().orderBy(.ascending(\.age)).limit(100)).reduce(0) {
                    $0 &+ quickHash($1) &+ UInt64($1.department?.name.utf8.count ?? 0)
                }
            }
        }
        try measure("insert", 1000) { _ in
            let people = raw(1000)
            return try stack.performAndWait(durability: .full) { transaction in
                let departments = try transaction.fetchExisting(departments)
                for raw in people {
                    let person = try transaction.create(Into<Person>())
                    person.fill(raw)
                    person.department = departments[Int(raw.departmentID) - 1]
                }
                return 0
            }
        }
        try measure("update", 1000) { _ in
            try stack.performAndWait(durability: .full) { transaction in
                for person in try transaction.fetchExisting(Array(people.prefix(1000))) { person.score += 1 }
                return 0
            }
        }
        try measure("commit", 1) { _ in
            let raw = raw(1)[0]
            return try stack.performAndWait(durability: .full) { transaction in
                let person = try transaction.create(Into<Person>())
                person.fill(raw)
                person.department = try transaction.object(with: departments[Int(raw.departmentID) - 1])
                return 0
            }
        }
        try measure("commitAlone", 1) { _ in
            let raw = raw(1)[0]
            return try stack.performAndWait(durability: .full) { transaction in
                try transaction.create(Into<Person>()).fill(raw)
                return 0
            }
        }
        try objects.commitConcurrently("W21-callers")
        try objects.commitConcurrently("W21-callersAlone", from: next, isInDepartment: false)
    }

    private func measure(_ name: String, _ count: Int, _ body: (Int) throws -> UInt64) throws {
        var times: [Double] = []
        for repetition in 0..<Self.repetitions {
            let start = Stamp()
            sink &+= try body(repetition)
            times.append(Stamp().wall - start.wall)
        }
        let sorted = times.dropFirst().sorted()
        objects.out.emit(
            "W21-" + name, count, seconds: sorted[sorted.count / 2], cpu: 0, extra: [("leastNanoseconds", Int(sorted[0] * 1e9))])
    }
}
