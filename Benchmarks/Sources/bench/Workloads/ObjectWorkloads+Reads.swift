import PeerKit
import PolyStoreCore

extension ObjectWorkloads {
    /// W2: fetches every person as an object and reads every field; the array is released after the measurement.
    func fetchAll() throws {
        try store.stack().readAndWait { context in
            var all: [Person] = []
            func total() -> UInt64 { all.reduce(0) { $0 &+ fullHash($1) } }
            try out.time("W2", PB.n, verify: total) {
                all = try context.fetchAll(From<Person>())
                var sum: UInt64 = 0
                for person in all { sum &+= quickHash(person) }
                return sum
            }
        }
    }

    /// W2t: the same with `read`, which runs on a thread of the stack with a separate allocator arena.
    func fetchAllElsewhere() throws {
        let stack = try store.stack()
        let start = Stamp()
        try wait {
            sink &+= try await stack.read { context in
                let all = try context.fetchAll(From<Person>())
                return all.reduce(0) { $0 &+ quickHash($1) }
            }
        }
        out.emit("W2t", PB.n, start, Stamp())
    }

    /// W3: fetches persons by random ids; each object is released before the next is created.
    func getByID() throws {
        let stack = try store.stack()
        let ids = try people(stack)
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

    /// W3r: fetches persons by random ids, each in a read of its own.
    func getByIDInReads() throws {
        let stack = try store.stack()
        let ids = try people(stack)
        try out.time("W3r", PB.lookups) {
            var random = SplitMix64(workload: 3)
            var sum: UInt64 = 0
            for _ in 0..<PB.lookups {
                let id = ids[Int(random.next(below: UInt64(PB.n)))]
                sum &+= try stack.readAndWait { context in try context.fetchExisting(id).map(quickHash) ?? 0 }
            }
            return sum
        }
    }

    /// W4: fetches a hundred persons from a given age, in the order of the index.
    func ranges() throws {
        let stack = try store.stack()
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

    /// W5: counts by a condition without an index.
    func countByFilter() throws {
        let stack = try store.stack()
        try out.time("W5", PB.scans, always: true) {
            try stack.readAndWait { context in
                var sum: UInt64 = 0
                for _ in 0..<PB.scans { sum += UInt64(try context.fetchCount(From<Person>(), Where(\.score > 500 && \.isActive == true))) }
                return sum
            }
        }
    }

    /// W6: computes count, average, minimum and maximum score of each age.
    func group() throws {
        let stack = try store.stack()
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

    /// W10: reads the persons of each department. The departments of a server are fetched together, as P8 does, because each request costs a round trip.
    func traverse() throws {
        let stack = try store.stack()
        let departments = try departments(stack)
        try out.time("W10", PB.departments, always: true) {
            try stack.readAndWait { context in
                var ages: UInt64 = 0
                func visit(_ department: Department) {
                    for person in department.people {
                        sink &+= quickHash(person)
                        ages += UInt64(person.age)
                    }
                }
                if store.isRemote {
                    for department in try context.fetchAll(From<Department>()) { visit(department) }
                    return ages
                }
                for id in departments {
                    if let department = try context.fetchExisting(id) { visit(department) }
                }
                return ages
            }
        }
    }

    /// W12: measures from the start of `main` to the first person's values.
    func openAndFetch(_ started: Stamp) throws {
        // An in-memory store cannot be opened again.
        guard !store.isInMemory else { return }
        // The store exists. Asking a server whether it does would cost a request.
        let stack = try store.isRemote ? store.open() : store.stack()
        let check = try stack.readAndWait { context in try context.fetchOne(From<Person>()).map { fullHash($0) } ?? 0 }
        out.emit("W12", 1, started, Stamp(), check: check)
    }
}
