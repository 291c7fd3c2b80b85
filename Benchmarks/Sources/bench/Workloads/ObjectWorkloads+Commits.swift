import PeerKit
import PolyStoreBackend
import PolyStoreCore

extension ObjectWorkloads {
    /// W8: one person per transaction, each durable before the next begins.
    func commitDurably() throws {
        try commit("W8", RawPerson.make(from: PB.durableID, count: PB.durable), .full)
    }

    /// W8b: the same with relaxed durability.
    func commitRelaxed() throws {
        try commit("W8b", RawPerson.make(from: PB.relaxedID, count: PB.relaxed), .relaxed)
    }

    private func commit(_ name: String, _ people: [RawPerson], _ durability: Durability) throws {
        let stack = try store.stack()
        let departments = try departments(stack)
        try out.time(name, people.count) {
            for raw in people {
                try stack.performAndWait(durability: durability) { transaction in try Self.add(raw, departments, transaction) }
            }
            return 0
        }
    }

    /// - Parameter departments: The departments; empty for a person without one.
    private static func add(_ raw: RawPerson, _ departments: [ObjectID<Department>], _ transaction: Transaction) throws {
        let person = try transaction.create(Into<Person>())
        person.fill(raw)
        if departments.isEmpty { return }
        person.department = try transaction.object(with: departments[Int(raw.departmentID) - 1])
    }

    /// W8c: 64 tasks, each with one durable commit at a time.
    /// - Parameters:
    ///   - first: The first person.
    ///   - isInDepartment: Whether each transaction reads the department of its person.
    func commitConcurrently(_ name: String = "W8c", from first: Int64 = PB.concurrentID, isInDepartment: Bool = true) throws {
        let stack = try store.stack()
        let departments = isInDepartment ? try departments(stack) : []
        let people = RawPerson.make(from: first, count: PB.concurrent)
        let before = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
        let start = Stamp()
        try wait {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<PB.callers {
                    group.addTask {
                        for number in stride(from: caller, to: people.count, by: PB.callers) {
                            try await stack.perform(durability: .full) { transaction in
                                try Self.add(people[number], departments, transaction)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let end = Stamp()
        let after = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
        out.emit(name, people.count, start, end, check: UInt64(after - before))
    }
}
