import Dispatch
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import TestModels
import TestSupport
import Testing

/// Interactions between kinds of transactions.
@Suite struct TransactionEdgeTests {
    private struct Stop: Error {}

    @Test(arguments: Backend.forObjectLayer, [false, true])
    func aStepThatThrowsIsUndoneAfterAnyChanges(_ backend: Backend, _ supportsUndo: Bool) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let steps = company.stack.beginTransaction(supportsUndo: supportsUndo)
        try await steps.perform { try $0.edit(id).nickname = "kept" }
        await #expect(throws: Stop.self) {
            try await steps.perform { step in
                try step.edit(id).age = 5
                step.flush()
                let child = step.beginUnsafe()
                try child.edit(id).age = 6
                try child.commit()
                try step.edit(id).nickname = "lost"
                throw Stop()
            }
        }
        try await steps.commit()
        #expect(try company.ages() == [0] && company.nicknames() == ["kept"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aStepWithAConflictCanBeRepeated(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let (stack, steps) = (company.stack, company.stack.beginTransaction())
        for expected in [true, false] {
            do {
                try await steps.perform { step in
                    try step.edit(id).age += 1
                    if expected { try stack.performAndWait { try $0.edit(id).age = 10 } }
                    try step.commit()
                }
                #expect(!expected)
            } catch let error as StoreError where error.code == .conflict {
                #expect(expected)
            }
        }
        #expect(try company.ages() == [11])
    }

    @Test(arguments: Backend.forObjectLayer)
    func undoAfterOthersHaveWritten(_ backend: Backend) throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let person = try draft.edit(id)
        person.nickname = "mine"
        try company.stack.performAndWait { try $0.edit(id).age = 7 }
        draft.refresh()
        try draft.undo()
        #expect(person.age == 7 && person.nickname == nil)
        person.age += 1
        try draft.commit()
        #expect(try company.ages() == [8])
        person.age = 9
        draft.flush()
        try draft.undo()
        try draft.redo()
        try draft.commit()
        #expect(try company.ages() == [9])
    }

    @Test func undoKeepsErrorsOfUnawaitedSteps() async throws {
        let company = try Company(.memory, expectsSilence: false)
        let id = try company.people(1)[0]
        let steps = company.stack.beginTransaction(supportsUndo: true)
        func begin() { steps.perform { _ in throw StoreError(.io, "The server is gone.") } }
        begin()
        await #expect(throws: Stop.self) {
            try await steps.perform { step in
                try step.edit(id).age = 5
                throw Stop()
            }
        }
        try await steps.perform { try $0.edit(id).age = 6 }
        try await steps.perform { try $0.undo() }
        await #expect(throws: StoreError.self) { try await steps.commit() }
        try await steps.perform { try $0.edit(id).age = 7 }
        await #expect(throws: StoreError.self) { try await steps.commit() }
        #expect(try company.ages() == [0])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func restoredObjectsReappearInContextsThatSawTheirDeletion(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let (view, context) = (company.stack.view, company.stack.newContext())
        let seen = [try view.fetchExisting(id), try context.fetchExisting(id)].compactMap { $0 }
        let draft = company.stack.beginUnsafe()
        try draft.edit(id).age = 5
        try company.stack.performAndWait { try $0.delete(id) }
        try context.refresh()
        #expect(try context.fetchExisting(id) == nil && view.fetchExisting(id) == nil)
        #expect(seen.map(\.isDeleted) == [true, true])
        try await draft.commit(mergePolicy: .mineWins)
        try context.refresh()
        #expect(seen.map(\.isDeleted) == [false, false])
        #expect(seen.map(\.age) == [5, 5])
        #expect(try view.fetchExisting(id) === seen[0])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aDeletionThatLosesTheConflictHasNoEffect(_ backend: Backend) throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let draft = company.stack.beginUnsafe()
        let person = try draft.edit(id)
        try draft.delete(person)
        try company.stack.performAndWait { try $0.edit(id).age = 5 }
        try draft.commit(mergePolicy: .storeWins)
        #expect(!person.isDeleted && person.age == 5)
        try draft.edit(id).age = 6
        try draft.commit()
        #expect(try company.ages() == [6])
    }

    @Test func observersAreNotifiedOfUndoneChanges() throws {
        let company = try Company(.memory)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let person = try draft.edit(ids[0])
        var seen: [Int] = []
        var observation: PendingChangesObservation? = draft.observe { changes in
            seen += (changes.updated + changes.inserted).compactMap { ($0 as? Person)?.age }
        }
        _ = observation
        person.age = 5
        draft.flush()
        try draft.undo()
        try draft.redo()
        draft.rollback()
        #expect(seen == [5, 0, 5, 0])
        observation = nil
        person.age = 6
        draft.flush()
        #expect(seen == [5, 0, 5, 0])
    }

    @Test(arguments: [false, true])
    func batchUpdateIsAtomic(_ supportsUndo: Bool) throws {
        let company = try Company(.memory)
        try company.people(3)
        try company.stack.performAndWait { try $0.fetchAll(From<Person>())[1].age = .max }
        let draft = company.stack.beginUnsafe(supportsUndo: supportsUndo)
        let people = try draft.fetchAll(From<Person>())
        people[2].nickname = "before"
        expectError(.invalidValue) { try draft.batchUpdate(From<Person>()) { $0.increment(\.age, by: 1) } }
        #expect(people.map(\.age) == [0, .max, 20] && people[2].nickname == "before")
        people[1].age = 1
        try draft.batchUpdate(From<Person>()) { $0.increment(\.age, by: 1) }
        #expect(people.map(\.age) == [1, 2, 21])
        guard supportsUndo else { return }
        // Undoes the earlier changes of the same step too.
        try draft.undo()
        #expect(people.map(\.age) == [0, .max, 20] && people[2].nickname == nil)
        try draft.redo()
        #expect(people.map(\.age) == [1, 2, 21] && people[2].nickname == "before")
    }

    @Test func linksAfterTheCommitAreDiscardedAndLogged() throws {
        let company = try Company(.memory, expectsSilence: false)
        let ids = try company.people(2)
        try company.stack.beginSynchronous { transaction in
            let people = try transaction.fetchExisting(ids)
            people[0].age = 1
            try transaction.commit()
            people[0].friends = [people[1]]
        }
        #expect(company.logger.lines.count == 1)
        #expect(try company.stack.readAndWait { try $0.fetchExisting(ids[0])?.friends.count } == 0)
    }

    @Test func aMoveInAListNotifiesOnlyTheListsOwner() async throws {
        let music = try OrderedTests.Music(.memory)
        try music.change { _, lists, tracks in lists[0].tracks = [tracks[0], tracks[1]] }
        let commits = music.stack.commits
        let (list, track) = try music.stack.readAndWait { context throws in
            (try context.fetchAll(From<Playlist>())[0].objectID, try context.fetchAll(From<Track>())[0].objectID)
        }
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[1], tracks[0]]
            tracks[0].title = "renamed"
        }
        for await commit in commits {
            #expect(commit.changedKeys(of: list) == ["tracks"])
            #expect(commit.changedKeys(of: track) == ["title"])
            break
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func contextsReadStoresThatAreAddedLater(_ backend: Backend) async throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]), logger: RecordingLogger())
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        let (view, context) = (stack.newView(), stack.newContext())
        #expect(try view.fetchCount(From<Person>()) + context.fetchCount(From<Person>()) == 0)
        try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        try await stack.perform { try $0.create(Into<Person>("B")).email = "later" }
        try context.refresh()
        #expect(try view.fetchCount(From<Person>("B")) == 1)
        #expect(try context.fetchCount(From<Person>("B")) == 1)
    }

    /// When the call returns, every queued transaction is durable or has failed.
    @Test func savingAllWaitsForTheQueuedCommits() async throws {
        let faults = Faults()
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        try stack.addStore(StoreConfiguration.inMemory().wrapped(faults))
        let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        stack.beginAsynchronous { _ in
            entered.signal()
            opened.wait()
        }
        entered.wait()
        stack.beginAsynchronous { transaction in
            try transaction.create(Into<Person>()).email = "x"
            transaction.commit()
        }
        faults.failCommits(1)
        let save = Task { try await stack.saveAll() }
        while stack.queuedTransactionCount < 2 { await Task.yield() }
        opened.signal()
        await #expect(throws: StoreError.self) { try await save.value }
    }
}
