import PolyStoreBackend
import PolyStoreCore
import Testing

/// Transactions over several stores, which are committed one after another.
@Suite struct StoresTogetherTests {
    /// A first and a second store that hold the same entities, and what to do wrong in each.
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
        // A rule that is broken in the second store is found before any commit.
        try pair.create("3", "B")
        expectError(.constraint) { try pair.create("3", "A", "B") }
        #expect(try pair.emails == [["1"], ["1", "3"]])
    }

    @Test(arguments: Backend.allCases)
    func aFailureBetweenTwoCommitsLeavesTheFirstAndSaysSo(_ backend: Backend) throws {
        let pair = try Pair(backend)
        try pair.create("1", "A", "B")
        pair.second.failCommits(1)
        // In whichever order they were touched: they are committed in the order in which they were added.
        let error = expectError(.io) { try pair.create("2", "B", "A") }
        let urls = pair.stack.stores.map(\.url)
        #expect(error?.message.contains("Already committed: \(urls[0]); not: \(urls[1]) and any after it.") == true)
        #expect(try pair.emails == [["1", "2"], ["1"]])
        // Written so that it may be repeated, the transaction ends what it has begun.
        try pair.stack.performAndWait { transaction in
            for store in ["A", "B"] { _ = try transaction.fetchOrCreate(From<Person>(store), Where(\.email == "2")) }
        }
        #expect(try pair.emails == [["1", "2"], ["1", "2"]])
    }

    @Test(arguments: Backend.allCases)
    @MainActor
    func theViewShowsWhatWasCommitted(_ backend: Backend) async throws {
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
        // Nothing tells it to move at once; the next commit does.
        try await stack.perform { transaction in try transaction.create(Into<Person>("A")).email = "2" }
        #expect(try view.fetchAll(From<Person>().orderBy(.ascending(\.email))).map(\.email) == ["1", "2"])
    }

    @Test(arguments: Backend.allCases)
    func anUnsafeTransactionKeepsEverythingWhenOneStoreFails(_ backend: Backend) throws {
        let pair = try Pair(backend)
        let draft = pair.stack.beginUnsafe()
        for store in ["A", "B"] { try draft.create(Into<Person>(store)).email = "1" }
        pair.second.failCommits(1)
        expectError(.io) { try draft.commit() }
        #expect(try pair.emails == [["1"], []])
        #expect(draft.hasChanges)
    }
}
