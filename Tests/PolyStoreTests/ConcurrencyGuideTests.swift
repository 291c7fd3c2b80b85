import Foundation
import PolyStore
import PolyStoreMemory
import PolyStoreSQLite
import Testing

@Model
final class Account {
    var owner: String = ""
    var balance: Int = 0
    var note: String?
    @Relationship(inverse: "accounts") var branch: Branch?
}

@Model
final class Branch {
    var town: String = ""
    @Relationship var accounts: Set<Account>
}

/// The programs of docs/guides/concurrency.md, with checks of their results.
@MainActor @Suite struct ConcurrencyGuideTests {
    private let stack: DataStack
    private let (jane, john): (ObjectID<Account>, ObjectID<Account>)

    init() throws {
        stack = try DataStack(Schema("Bank", Account.self, Branch.self))
        try stack.addStore(.inMemory())
        (jane, john) = try stack.performAndWait { transaction in
            let accounts = [try transaction.create(Into<Account>()), try transaction.create(Into<Account>())]
            (accounts[0].owner, accounts[0].balance) = ("Jane", 100)
            (accounts[1].owner, accounts[1].balance) = ("John", 100)
            return (accounts[0].objectID, accounts[1].objectID)
        }
    }

    private func balance(_ id: ObjectID<Account>) throws -> Int? { try stack.readAndWait { try $0.fetchExisting(id)?.balance } }

    private func set(_ balance: Int, _ id: ObjectID<Account>) throws { try stack.performAndWait { try $0.edit(id).balance = balance } }

    @Test func idsGoWhereObjectsCannot() async throws {
        let id = try await stack.perform { transaction in
            let account = try transaction.create(Into<Account>())
            account.owner = "Mary"
            return account.objectID
        }
        try await stack.perform(editing: id) { _, account in account.balance += 10 }
        let shown = try stack.view.fetchExisting(id)
        #expect(shown?.balance == 10)
    }

    @Test func transactionsAndFetchesHaveLimits() async throws {
        let stack = stack
        try await stack.perform(timeLimit: .seconds(100_000)) { transaction in
            let accounts = try transaction.fetchAll(From<Account>().where(\.balance >= 100).timeLimit(.seconds(50_000)))
            for account in accounts { account.balance += 1 }
        }
        #expect(try balance(jane) == 101)
        var code: StoreError.Code?
        do { try await stack.perform(timeLimit: .zero) { _ in } } catch let error as StoreError { code = error.code }
        #expect(code == .timedOut)
    }

    @Test func aConflictNamesItsObjects() throws {
        let (stack, jane) = (stack, jane)
        let draft = stack.beginUnsafe()
        try draft.edit(jane).note = "closed on Friday"
        try set(70, jane)
        var descriptions: [String] = []
        do {
            try draft.commit()
        } catch let error as StoreError where error.code == .conflict {
            descriptions = error.conflicts.map(\.description)
            try draft.commit(mergePolicy: .attributesMineWins)
        }
        #expect(descriptions.count == 1 && descriptions[0].contains("balance"))
        let kept = try stack.readAndWait { try $0.fetchExisting(jane).map { "\($0.balance) \($0.note ?? "")" } }
        #expect(kept == "70 closed on Friday")
    }

    @Test func draftsWithWriteSkewBothCommit() throws {
        let (first, second) = (stack.beginUnsafe(), stack.beginUnsafe())
        // Together the accounts must not fall below zero. Each draft looks at both, and takes from one.
        if try first.edit(jane).balance + first.edit(john).balance >= 150 { try first.edit(jane).balance -= 150 }
        if try second.edit(jane).balance + second.edit(john).balance >= 150 { try second.edit(john).balance -= 150 }
        try first.commit()
        try second.commit()
        #expect(try balance(jane) == -50 && balance(john) == -50)
    }

    @Test func theSecondQueuedTransactionSeesTheFirst() async throws {
        let (stack, jane, john) = (stack, jane, john)
        for id in [jane, john] {
            try await stack.perform { transaction in
                let accounts = try transaction.fetchExisting([jane, john])
                if accounts.reduce(0, { $0 + $1.balance }) >= 150 { try transaction.edit(id).balance -= 150 }
            }
        }
        #expect(try balance(jane) == -50 && balance(john) == 100)
    }

    @Test func aChangeThatWasRevertedDoesNotConflict() throws {
        let draft = stack.beginUnsafe()
        try draft.edit(jane).note = "seen 100"
        try set(70, jane)
        try set(100, jane)
        try draft.commit()
        #expect(try balance(jane) == 100)
        // A change of another attribute of the same object conflicts.
        try draft.edit(jane).note = "seen 100 again"
        try set(70, jane)
        #expect(throws: StoreError.self) { try draft.commit() }
    }

    @Test func aLosingDeletionKeepsItsChangesOfOtherObjects() throws {
        let (stack, jane) = (stack, jane)
        let branch = try stack.performAndWait { transaction in
            let branch = try transaction.create(Into<Branch>())
            branch.accounts = [try transaction.edit(jane)]
            return branch.objectID
        }
        let draft = stack.beginUnsafe()
        try draft.delete(branch)
        try stack.performAndWait { try $0.edit(branch).town = "Taipei" }
        try draft.commit(mergePolicy: .storeWins)
        // The branch is kept, because another transaction changed it. Jane's account, which no other transaction changed, has left it nevertheless.
        try stack.readAndWait { context throws in
            #expect(try context.fetchExisting(branch)?.town == "Taipei")
            #expect(try context.fetchExisting(jane)?.branch == nil)
        }
    }

    @Test func aMemberOfAToManyRelationshipIsChangedItself() throws {
        let (stack, jane) = (stack, jane)
        let branch = try stack.performAndWait { try $0.create(Into<Branch>()).objectID }
        let draft = stack.beginUnsafe()
        try draft.edit(branch).accounts.insert(try draft.edit(jane))
        try set(70, jane)
        let error = #expect(throws: StoreError.self) { try draft.commit() }
        #expect(error?.conflicts.map(\.rowID) == [jane.rowID])
        try draft.commit(mergePolicy: .attributesStoreWins)
        try stack.readAndWait { context in
            let account = try context.fetchExisting(jane)
            #expect(account?.balance == 70 && account?.branch != nil)
        }
    }

    @Test func aNestedTransactionIsCommittedOrDiscarded() async throws {
        let jane = jane
        try await stack.perform { transaction in
            let account = try transaction.edit(jane)
            account.balance += 1
            let child = transaction.beginUnsafe()
            try child.edit(account).balance = -1
            // Without a commit, the changes of the child are discarded.
            if try child.edit(account).balance >= 0 { try child.commit() }
        }
        #expect(try balance(jane) == 101)
    }

    @Test func stepsAwaitOtherWorkWithoutBlockingTransactions() async throws {
        let (stack, jane) = (stack, jane)
        let transaction = stack.beginTransaction()
        let owner = try await transaction.perform { step in try step.edit(jane).owner }
        let note = await lookUp(owner)
        try await transaction.perform { step in try step.edit(jane).note = note }
        try await transaction.commit(mergePolicy: .attributesMineWins)
        #expect(try stack.view.fetchExisting(jane)?.note == "Jane is known")
    }

    private func lookUp(_ name: String) async -> String {
        await Task.yield()
        return "\(name) is known"
    }

    @Test func batchesCommitRepeatedly() async throws {
        let (stack, names) = (stack, (0..<2500).map { "number \($0)" })
        try await stack.performBatch { batch in
            for (number, name) in names.enumerated() {
                try batch.checkCancellation()
                try batch.create(Into<Account>()).owner = name
                if number % 1000 == 999 { try batch.commit() }
            }
        }
        #expect(try stack.view.fetchCount(From<Account>()) == 2502)
    }

    @Test func batchesOfObjectsAreCommitted() async throws {
        let (stack, ids) = (stack, [jane, john])
        try stack.performAndWait { transaction throws in for id in ids { try transaction.edit(id).balance = -1 } }
        try await stack.performBatch { batch in
            try batch.fetchInBatches(From<Account>().where { $0.balance < 0 }, size: 1000) { accounts in
                try batch.checkCancellation()
                for account in accounts { account.balance = 0 }
                try batch.commit()
            }
        }
        #expect(try ids.map { try balance($0) } == [0, 0])
    }

    @Test func stepsAreUndone() throws {
        let draft = stack.beginUnsafe(supportsUndo: true)
        let account = try draft.edit(jane)
        account.balance = 1
        draft.flush()
        account.balance = 2
        draft.flush()
        try draft.undo()
        #expect(account.balance == 1 && draft.canRedo)
        try draft.redo()
        #expect(account.balance == 2)
        try draft.commit()
        #expect(!draft.canUndo)
    }

    @Test func ownersOfOpenSnapshotsAreNamed() throws {
        let draft = stack.beginUnsafe()
        _ = try draft.edit(jane)
        let kept = stack.openSnapshots.map { "\($0.kind), open for \($0.age), from \($0.origin)" }
        #expect(kept.count == 1 && kept[0].hasPrefix("unsafe transaction"))
        draft.rollback()
        #expect(stack.openSnapshots.isEmpty)
    }

    @Test func readsOnThreadsAreCounted() async throws {
        let stack = stack
        stack.maximumConcurrentReads = 16
        let reads = stack.statistics
        print("\(reads.runningReads) of \(reads.maximumConcurrentReads) reads running, \(reads.waitingReads) waiting")
        #expect((reads.runningReads, reads.maximumConcurrentReads, reads.waitingReads) == (0, 16, 0))
        #expect(try await stack.read { _ in stack.statistics.runningReads } == 1)
    }

    @Test func everythingIsSavedAtTheEnd() async throws {
        let (stack, jane) = (stack, jane)
        let transaction = stack.beginTransaction()
        try await transaction.perform { step in try step.edit(jane).balance = 7 }
        try stack.saveAllAndWait()
        #expect(try balance(jane) == 7)
    }

    @Test func anImportThatMayBeRepeated() async throws {
        let split = try DataStack(
            Schema(
                "Bank", [Account.self, Branch.self],
                configurations: ["Main": [Account.self, Branch.self], "Copies": [Account.self, Branch.self]])
        )
        try split.addStore(.inMemory(), configuration: "Main")
        try split.addStore(.inMemory(), configuration: "Copies")
        for _ in 1...2 {
            try await split.perform { transaction in
                for store in ["Main", "Copies"] {
                    let account = try transaction.fetchOrCreate(From<Account>(store).where { $0.owner == "Jane" })
                    account.balance = 100
                }
            }
        }
        #expect(try split.view.fetchCount(From<Account>()) == 2)
    }
}
