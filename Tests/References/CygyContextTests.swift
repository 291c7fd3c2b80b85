import PolyStore
import TestSupport
import Testing

/// cygy's CoreDataStack, README, "Execute operations", "Execute a batch of operations" and "Save the contexts".
@MainActor @Suite struct CygyContextTests {
    @Test(arguments: Backend.forObjectLayer)
    func performInAContextSavesAndThenUpdatesTheMainThread(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // myStack.perform(inContext:) with a second closure on the main thread: here the code after the await
        try await stack.perform { context in
            let person = try context.create(Into<MyPerson>())
            person.name = "John"
            person.surname = "Doe"
        }
        #expect(try stack.view.fetchOne(From<MyPerson>(), Where(\.surname == "Doe" && \.name == "John")) != nil)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aNewContextIsSavedToItsParent(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let shown = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "John Smith")))
        // myStack.newContext(), context.saveToParent()
        let context = stack.beginUnsafe()
        let john = try context.edit(shown)
        john.age = 31
        try context.delete(try #require(try context.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe"))))
        #expect(shown.age == 30)
        #expect(try context.commit())
        #expect(shown.age == 31)
        #expect(try people.ages == [16, 17, 31, 35, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aContextWhoseParentIsNotTheStoreHandsItsChangesOver(_ backend: Backend) throws {
        let people = try People(backend)
        let parent = people.stack.beginUnsafe()
        let child = parent.beginUnsafe()
        try child.create(Into<MyPerson>()).age = 60
        // saveToParent: saves to the parent only
        try child.commit()
        #expect(try parent.fetchCount(From<MyPerson>(), Where(\.age == 60)) == 1)
        #expect(try people.ages.last == 42)
        try parent.commit()
        #expect(try people.ages.last == 60)
    }

    @Test(arguments: Backend.forObjectLayer)
    func anErrorOfASaveIsHandledAndNothingIsLost(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let context = stack.beginUnsafe()
        try context.edit(try people.id("John Smith")).age = 31
        try stack.performAndWait { transaction in
            for person in try transaction.fetchAll(From<MyPerson>(), Where(\.name == "John Smith")) { person.age = 99 }
        }
        // if let error = context.saveToParent()
        let error = #expect(throws: StoreError.self) { try context.commit() }
        #expect(error?.code == .conflict && error?.conflicts.count == 1)
        try context.commit(mergePolicy: .attributesMineWins)
        #expect(try people.ages == [16, 17, 22, 31, 35, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aContextForABackgroundTaskDoesNotBlockTransactions(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // myStack.newContextForBackgroundTask(), context.perform, context.saveToParent()
        let context = stack.beginTransaction()
        try await context.perform { context in
            try context.create(Into<MyPerson>()).age = 60
            try context.commit()
        }
        // fetchedResultsController.performFetch() on the main thread
        #expect(try stack.view.fetchCount(From<MyPerson>(), Where(\.age == 60)) == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aBackgroundTaskSavesRepeatedly(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // myStack.performBackgroundTask(inContext: { context, saveBlock in … }), saveBlock(false)
        let seen = try await stack.performBatch { context in
            try context.create(Into<MyPerson>()).age = 60
            try context.commit()
            let seen = try stack.readAndWait { try $0.fetchCount(From<MyPerson>()) }
            // Saved when the closure ends.
            try context.create(Into<MyPerson>()).age = 61
            return seen
        }
        #expect(seen == 7)
        #expect(try stack.view.fetchCount(From<MyPerson>()) == 8)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aBatchTaskImportsAndIsFetchedAgainInTheMainContext(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let request = From<MyPerson>().where(\.age >= 100).orderBy(.ascending(\.age))
        let shown = stack.newView(.manual)
        #expect(try shown.fetchCount(request) == 0)
        // myStack.performBatchTask(inContext: { context, saveBlock in … }), saveBlock()
        try await stack.performBatch { context in
            for number in 0..<500 {
                try context.create(Into<MyPerson>()).age = 100 + number
                if number % 100 == 99 { try context.commit() }
            }
        }
        // The reference fetches again from the default context: here the view updates automatically, a context after `refresh`.
        #expect(try stack.view.fetchCount(request) == 500)
        #expect(try shown.fetchCount(request) == 0)
        try shown.refresh()
        #expect(try shown.fetchAll(request).map(\.age) == Array(100..<600))
    }

    @Test(arguments: Backend.forObjectLayer)
    func aFailingBatchTaskKeepsItsEarlierCommits(_ backend: Backend) async throws {
        struct Stop: Error {}
        let people = try People(backend)
        await #expect(throws: Stop.self) {
            try await people.stack.performBatch { context in
                try context.deleteAll(From<MyPerson>(), Where(\.age > 30))
                try context.commit()
                try context.deleteAll(From<MyPerson>())
                throw Stop()
            }
        }
        #expect(try people.ages == [16, 17, 22, 30])
    }

    @Test(arguments: Backend.forObjectLayer)
    func allContextsAreSavedBeforeTheProgramEnds(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let (john, jane) = (try people.id("John Smith"), try people.id("Jane Doe"))
        let (first, second) = (stack.beginTransaction(), stack.beginTransaction())
        try await first.perform { context in try context.edit(john).age = 31 }
        try await second.perform { context in try context.edit(jane).age = 23 }
        stack.beginAsynchronous { context in
            try context.create(Into<MyPerson>()).age = 60
            context.commit()
        }
        // myStack.saveContexts()
        try stack.saveAllAndWait()
        #expect(try people.ages == [16, 17, 23, 31, 35, 42, 60])
        try await first.perform { context in try context.edit(john).age = 32 }
        try await stack.saveAll()
        #expect(try people.ages == [16, 17, 23, 32, 35, 42, 60])
    }
}
