import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions over several stores, which are committed one after another.
@Suite struct StoresTogetherTests {
    /// Two stores with the same entities, and the faults of each.
    private struct Pair {
        let folder: Folder
        let stack: DataStack
        let first = Faults()
        let second = Faults()

        init(_ backend: Backend) throws {
            folder = try Folder()
            let models: [any Model.Type] = [Person.self, Department.self, Project.self]
            stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]), logger: SilentLogger())
            try stack.addStore(backend.store(in: folder, "a").wrapped(first), configuration: "A")
            try stack.addStore(backend.store(in: folder, "b").wrapped(second), configuration: "B")
        }

        func create(_ email: String, _ stores: String...) throws {
            try stack.performAndWait { transaction in
                for store in stores { try transaction.create(Into<Person>(store)).email = email }
            }
        }

        var emails: [[String]] {
            get throws {
                try stack.readAndWait { context in
                    try ["A", "B"].map { try context.fetchAll(From<Person>($0).orderBy(.ascending(\.email))).map(\.email) }
                }
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func aFailureBeforeTheFirstCommitLeavesNothing(_ backend: Backend) throws {
        let pair = try Pair(backend)
        try pair.create("1", "A", "B")
        pair.first.failCommits(1)
        let error = expectError(.io) { try pair.create("2", "A", "B") }
        #expect(error?.message.contains("Already committed") == false)
        #expect(try pair.emails == [["1"], ["1"]])
        // A violated rule of the second store is reported before any commit.
        try pair.create("3", "B")
        expectError(.constraint) { try pair.create("3", "A", "B") }
        #expect(try pair.emails == [["1"], ["1", "3"]])
    }

    @Test(arguments: Backend.allCases)
    func aFailureBetweenTwoCommitsKeepsTheFirstAndIsReported(_ backend: Backend) throws {
        let pair = try Pair(backend)
        try pair.create("1", "A", "B")
        pair.second.failCommits(1)
        // Stores are committed in the order in which they were added, whatever the order of the changes.
        let error = expectError(.io) { try pair.create("2", "B", "A") }
        let locations = pair.stack.stores.map(\.location)
        #expect(error?.message.contains("Already committed: \(locations[0]); not: \(locations[1]) and any after it.") == true)
        #expect(try pair.emails == [["1", "2"], ["1"]])
        // An idempotent transaction completes when it is repeated.
        try pair.stack.performAndWait { transaction in
            for store in ["A", "B"] { _ = try transaction.fetchOrCreate(From<Person>(store), Where(\.email == "2")) }
        }
        #expect(try pair.emails == [["1", "2"], ["1", "2"]])
    }

    @Test(arguments: Backend.allCases)
    @MainActor
    func theViewShowsCommittedValues(_ backend: Backend) async throws {
        let pair = try Pair(backend)
        let view = pair.stack.view
        #expect(try view.fetchCount(From<Person>()) == 0)
        pair.second.failCommits(1)
        let stack = pair.stack
        await #expect(throws: StoreError.self) {
            try await stack.perform { transaction in
                for store in ["A", "B"] { try transaction.create(Into<Person>(store)).email = "1" }
            }
        }
        // The failed commit does not update the view; the next commit does.
        try await stack.perform { transaction in try transaction.create(Into<Person>("A")).email = "2" }
        #expect(try view.fetchAll(From<Person>().orderBy(.ascending(\.email))).map(\.email) == ["1", "2"])
    }

    @Test(arguments: Backend.allCases)
    func anUnsafeTransactionCompletesAPartialCommit(_ backend: Backend) throws {
        let pair = try Pair(backend)
        try pair.create("old", "A", "B")
        let draft = pair.stack.beginUnsafe()
        for store in ["A", "B"] {
            let friend = try #require(try draft.fetchOne(From<Person>(store)))
            friend.age = 7
            let person = try draft.create(Into<Person>(store))
            let department = try draft.create(Into<Department>(store))
            (person.email, person.department, person.friends) = ("new", department, [friend])
            department.title = store
        }
        pair.second.failCommits(1)
        expectError(.io) { try draft.commit() }
        #expect(try pair.emails == [["new", "old"], ["old"]])
        #expect(draft.hasChanges)
        // Another transaction updates a row that is already committed.
        try pair.stack.performAndWait { try $0.fetchOne(From<Person>("A"), Where(\.email == "new"))?.nickname = "theirs" }
        for person in try draft.fetchAll(From<Person>(), Where(\.email == "new")) { person.age = 1 }
        try draft.commit()
        #expect(try pair.emails == [["new", "old"], ["new", "old"]])
        try pair.stack.readAndWait { context throws in
            for store in ["A", "B"] {
                let new = try #require(try context.fetchOne(From<Person>(store), Where(\.email == "new")))
                #expect(new.age == 1 && new.department?.title == store)
                #expect(new.friends.map(\.age) == [7])
            }
            #expect(try context.fetchCount(From<Department>()) == 2)
        }
        #expect(try pair.stack.stores.allSatisfy { try !$0.capabilities.has(.verification) || $0.verifyAndWait().isEmpty })
    }

    @Test(arguments: Backend.allCases)
    func changesOfOthersAfterAPartialCommitAreAConflict(_ backend: Backend) throws {
        let pair = try Pair(backend)
        try pair.create("old", "A", "B")
        let draft = pair.stack.beginUnsafe()
        for person in try draft.fetchAll(From<Person>()) { person.age = 7 }
        pair.second.failCommits(1)
        expectError(.io) { try draft.commit() }
        try pair.stack.performAndWait { try $0.fetchOne(From<Person>("A"))?.age = 8 }
        let error = expectError(.conflict) { try draft.commit() }
        #expect(error?.conflicts.count == 1)
        try draft.commit(mergePolicy: .storeWins)
        #expect(try pair.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) } == [8, 7])
    }
}
