import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The isolation of transactions, snapshots and the view from each other.
@Suite struct IsolationTests {
    private static func total(_ context: Context) throws -> Int { try context.fetchAll(From<Person>()).reduce(0) { $0 + $1.age } }

    /// Write skew: two people are on call, and at least one must remain. Each checks the other before leaving.
    @Test(arguments: Backend.allCases)
    func writeSkewIsImpossible(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let stack = company.stack
        for round in 0..<15 {
            try await stack.perform(durability: .relaxed) { transaction in for id in ids { try transaction.edit(id).age = 1 } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (mine, other) in [(0, 1), (1, 0)] {
                    group.addTask {
                        try await stack.perform(durability: .relaxed) { transaction in
                            if try transaction.edit(ids[other]).age == 1 { try transaction.edit(ids[mine]).age = 0 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await stack.read { try Self.total($0) } == 1, "round \(round)")
        }
    }

    /// Write skew without a changed row that others read: each transaction inserts if nothing matches.
    @Test(arguments: Backend.allCases)
    func onlyOneOfSeveralConditionalInsertsSucceeds(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        for round in 1...10 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<4 {
                    group.addTask {
                        try await stack.perform(durability: .relaxed) { transaction in
                            guard try transaction.fetchCount(From<Person>(), Where(\.age == round)) == 0 else { return }
                            let person = try transaction.create(Into<Person>())
                            (person.email, person.age) = ("\(round) \(caller)", round)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await stack.read { try $0.fetchCount(From<Person>(), Where(\.age == round)) } == 1, "round \(round)")
        }
    }

    /// Eight callers, half of them blocking, increment one value 200 times each.
    @Test(arguments: Backend.allCases)
    func noUpdateIsLost(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let stack = company.stack
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    guard caller % 2 == 0 else {
                        for _ in 0..<200 { try await stack.perform(editing: id, durability: .relaxed) { _, person in person.age += 1 } }
                        return
                    }
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        DispatchQueue.global().async {
                            continuation.resume(
                                with: Result {
                                    for _ in 0..<200 {
                                        try stack.performAndWait(editing: id, durability: .relaxed) { _, person in person.age += 1 }
                                    }
                                })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stack.read { try $0.fetchExisting(id)?.age } == 1600)
    }

    @Test(arguments: Backend.allCases)
    func aSnapshotStays(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        try stack.readAndWait { context throws in
            func answers() throws -> [String] {
                let people = try context.fetchAll(From<Person>().orderBy(.descending(\.age)))
                return [
                    people.map { "\($0.email) \($0.age) \($0.department?.title ?? "-") \($0.friends.count)" }.joined(separator: ", "),
                    "\(try context.fetchCount(From<Person>(), Where(\.age > 15)))",
                    "\(try context.queryValue(From<Person>(), .sum(\.age)))",
                    "\(try context.fetchAll(From<Person>(), Where(\.department?.title == "Research")).count)",
                    try context.fetchAll(From<Department>().orderBy(.ascending(\.title))).map { "\($0.title) \($0.people.count)" }.joined(),
                ]
            }
            let before = try answers()
            for round in 0..<5 {
                try stack.performAndWait { transaction throws in
                    try transaction.batchUpdate(From<Person>()) { $0.increment(\.age, by: 7) }
                    try transaction.fetchOne(From<Person>(), Where(\.email == "p\(round)@example.com")).map(transaction.delete)
                    try transaction.create(Into<Person>()).email = "new \(round)"
                    try transaction.fetchOne(From<Department>(), Where(\.title == "Research"))?.title = "Research"
                }
                #expect(try answers() == before, "round \(round)")
            }
        }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>(), Where("email BEGINSWITH 'new'")) } == 5)
    }

    /// A snapshot shows all stores at the time of its first read of the stack; it has no later commits.
    @Test(arguments: Backend.allCases)
    func aSnapshotOfSeveralStoresStays(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        let stack = gadgets.stack
        try stack.performAndWait { transaction throws in
            for name in ["Shop", "Store"] { try transaction.create(Into<Gadget>(name)).level = 1 }
        }
        try stack.readAndWait { context throws in
            #expect(try context.fetchOne(From<Gadget>("Shop"))?.level == 1)
            try stack.performAndWait { try $0.batchUpdate(From<Gadget>()) { $0.set(\.level, to: 2) } }
            #expect(try context.fetchAll(From<Gadget>()).map(\.level) == [1, 1])
            #expect(try context.fetchCount(From<Gadget>(), Where(\.level == 2)) == 0)
        }
    }

    /// The sum of two objects is 100 in every snapshot, and in the objects of the view, whatever amounts move between them.
    @Test(arguments: Backend.allCases)
    @MainActor func theViewMovesAtomically(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let stack = company.stack
        try stack.performAndWait { transaction in for id in ids { try transaction.edit(id).age = 50 } }
        let held = try stack.view.fetchExisting(ids)
        let writers = Task.detached {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<4 {
                    group.addTask {
                        for round in 0..<40 {
                            try await stack.perform(durability: .relaxed) { transaction in
                                try transaction.edit(ids[0]).age += caller - round % 7
                                try transaction.edit(ids[1]).age -= caller - round % 7
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var looks = 0
        let done = Ending()
        Task.detached {
            _ = await writers.result
            done.set()
        }
        while !done.isSet {
            #expect(held[0].age + held[1].age == 100)
            #expect(try stack.view.fetchAll(From<Person>()).reduce(0) { $0 + $1.age } == 100)
            #expect(try await stack.read { try Self.total($0) } == 100)
            looks += 1
            await Task.yield()
        }
        try await writers.value
        #expect(looks > 0)
        #expect(held.map(\.age) == (try await stack.read { try $0.fetchExisting(ids).map(\.age) }))
    }

    /// With two stores, the view advances each store atomically, after one transaction or two.
    @Test(arguments: Backend.allCases)
    @MainActor func theViewOfSeveralStoresMovesAtomicallyPerStore(_ backend: Backend) async throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        let stack = gadgets.stack
        let names = ["Shop", "Store"]
        let ids = try stack.performAndWait { transaction throws in
            try names.map { name in
                try (0..<2).map { _ in
                    let gadget = try transaction.create(Into<Gadget>(name))
                    gadget.bonus = 50
                    return gadget.objectID
                }
            }
        }
        let held = try ids.map { try stack.view.fetchExisting($0) }
        let done = Ending()
        let writer = Task.detached {
            defer { done.set() }
            for round in 0..<60 {
                try await stack.perform(durability: .relaxed) { transaction in
                    for (number, pair) in ids.enumerated() where round % 3 != number {
                        try transaction.edit(pair[0]).bonus = 50 + round
                        try transaction.edit(pair[1]).bonus = 50 - round
                    }
                }
            }
        }
        while !done.isSet {
            for pair in held { #expect((pair[0].bonus ?? 0) + (pair[1].bonus ?? 0) == 100) }
            for name in names {
                let sum: Int = try stack.view.fetchAll(From<Gadget>(name)).reduce(0) { $0 + ($1.bonus ?? 0) }
                #expect(sum == 100)
            }
            await Task.yield()
        }
        try await writer.value
        #expect(held.map { $0.map(\.bonus) } == [[109, -9], [109, -9]])
    }

    /// Changes of a running transaction are invisible to other snapshots and to the view, whether it commits in the end or not.
    @Test(arguments: Backend.allCases, [true, false])
    @MainActor func uncommittedChangesAreInvisible(_ backend: Backend, _ commits: Bool) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let stack = company.stack
        let person = try #require(try stack.view.fetchExisting(ids[1]))
        let outcome = Result {
            try stack.performAndWait { transaction throws in
                try transaction.edit(ids[1]).age = 77
                try transaction.delete(ids[0])
                let seen = try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) }
                #expect(seen == [0, 10])
                let viewed = try MainActor.assumeIsolated { try stack.view.fetchExisting(ids[1])?.age }
                #expect(viewed == 10)
                if !commits { try transaction.cancel() }
            }
        }
        #expect((try? outcome.get()) != nil || !commits)
        #expect(person.age == (commits ? 77 : 10))
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) } == (commits ? [77] : [0, 10]))
    }
}

/// A flag that is set once, from any thread.
private final class Ending: Sendable {
    private let state = Protected(false)
    func set() { state.withLock { $0 = true } }
    var isSet: Bool { state.withLock { $0 } }
}
