import Dispatch
import Foundation
import PolyStore
import TestSupport
import Testing

/// ashevin's CoreDataStack, README, "Working with managed objects" and "Contexts".
@MainActor @Suite struct AshevinPerformTests {
    @Test(arguments: Backend.forObjectLayer, [true, false])
    func aPerformSavesUnlessItIsDiscarded(_ backend: Backend, shouldSave: Bool) async throws {
        let people = try People(backend)
        let stack = people.stack
        // manager.perform { context, shouldSave in … }, where shouldSave may be set to false
        stack.beginAsynchronous { context in
            try context.create(Into<MyPerson>()).age = 60
            if shouldSave { context.commit() }
        }
        try await stack.perform { _ in }
        #expect(try people.ages.last == (shouldSave ? 60 : 42))
        // The inverse default: saved when the closure returns, unless it cancels.
        do {
            try await stack.perform { context in
                try context.create(Into<MyPerson>()).age = 70
                if !shouldSave { try context.cancel() }
            }
            #expect(shouldSave)
        } catch let error as StoreError {
            #expect(error.code == .cancelled && !shouldSave)
        }
        #expect(try people.ages.last == (shouldSave ? 70 : 42))
    }

    @Test(arguments: Backend.forObjectLayer)
    func theCompletionComesAfterTheSave(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // manager.perform(_:completion:)
        let shown = try await withCheckedThrowingContinuation { continuation in
            stack.beginAsynchronous { context in
                try context.create(Into<MyPerson>()).age = 60
                context.commit { result in
                    continuation.resume(
                        with: Result { try result.get() && stack.view.fetchCount(From<MyPerson>(), Where(\.age == 60)) == 1 })
                }
            }
        }
        #expect(shown)
        // Code after the await replaces the completion.
        try await stack.perform { context in try context.create(Into<MyPerson>()).age = 61 }
        #expect(try stack.view.fetchCount(From<MyPerson>(), Where(\.age == 61)) == 1)
    }

    @Test(arguments: Backend.allCases)
    func aQueryRunsInParallelToAPerform(_ backend: Backend) async throws {
        let people = try People(backend)
        let (stack, changed, queried) = (people.stack, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let done: Void = stack.perform { context in
            try context.create(Into<MyPerson>()).age = 60
            changed.signal()
            // The transaction cannot end before the query has returned.
            queried.wait()
        }
        // manager.query { context in … }
        let count = try await stack.read { context in
            changed.wait()
            defer { queried.signal() }
            return try context.fetchCount(From<MyPerson>())
        }
        try await done
        #expect(count == 6)
        #expect(try await stack.read { try $0.fetchCount(From<MyPerson>()) } == 7)
    }

    @Test(arguments: Backend.allCases)
    func aQuerySeesOneVersionToItsEnd(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let counts = try await stack.read { context in
            let before = try context.fetchCount(From<MyPerson>())
            try stack.performAndWait { _ = try $0.create(Into<MyPerson>()) }
            return [before, try context.fetchCount(From<MyPerson>())]
        }
        #expect(counts == [6, 6])
        #expect(try people.ages.count == 7)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aViewQuerySeesEverySaveOfAPerform(_ backend: Backend) async throws {
        let people = try People(backend)
        let view = people.stack.view
        // manager.viewQuery { context in … }
        let jane = try #require(try view.fetchOne(From<MyPerson>(), Where(["name": "Jane Doe"])))
        try await people.stack.perform(editing: jane.objectID) { _, jane in jane.age = 23 }
        #expect(jane.age == 23)
        #expect(try view.fetchCount(From<MyPerson>(), Where(["age": 23])) == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aQueryThatChangesAnObjectIsStopped(_ backend: Backend) async throws {
        // A reading context cannot create or delete; changing a fetched object stops the program.
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            let people = try People(backend)
            try people.stack.readAndWait { context in try context.fetchOne(From<MyPerson>(), Where(["name": "Jane Doe"]))?.age += 1 }
        }
        #expect(Self.said(result, "MyPersonEntity 2 was changed outside a transaction"))
    }

    @Test(arguments: Backend.forObjectLayer)
    func aViewQueryThatChangesARelationshipIsStopped(_ backend: Backend) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor [backend] in
            let people = try People(backend)
            try people.stack.view.fetchOne(From<MyPerson>(), Where(["name": "Jane Doe"]))?.friends = []
        }
        #expect(Self.said(result, "MyPersonEntity 2 was changed outside a transaction"))
    }

    private static func said(_ result: ExitTest.Result?, _ words: String) -> Bool {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(words)
    }
}
