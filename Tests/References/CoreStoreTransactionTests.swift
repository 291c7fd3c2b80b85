import Dispatch
import PolyStore
import TestSupport
import Testing

/// Tests the examples of CoreStore 1.6, README, "TL;DR" and "Saving and processing transactions": the three kinds of transactions.
@MainActor @Suite struct CoreStoreTransactionTests {
    @Test(arguments: Backend.forObjectLayer)
    func anAsynchronousTransactionReportsWhetherItHadChanges(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // CoreStore.beginAsynchronous, transaction.create, transaction.commit with .Success(hasChanges) and .Failure(error)
        let hasChanges = try await withCheckedThrowingContinuation { continuation in
            stack.beginAsynchronous { transaction in
                let person = try transaction.create(Into<MyPerson>())
                person.name = "Mary Major"
                person.age = 43
                transaction.commit { result in
                    switch result {
                    case .success(let hasChanges): continuation.resume(returning: hasChanges)
                    case .failure(let error): continuation.resume(throwing: error)
                    }
                }
            }
        }
        #expect(hasChanges)
        #expect(try stack.view.fetchOne(From<MyPerson>(), Where("name == %@", "Mary Major"))?.age == 43)
    }

    @Test(arguments: Backend.forObjectLayer)
    func anAsynchronousTransactionReportsItsError(_ backend: Backend) async throws {
        let people = try People(backend)
        let (stack, gone) = (people.stack, try people.id("Jane Doe"))
        try stack.performAndWait { try $0.delete(gone) }
        let error: StoreError? = await withCheckedContinuation { continuation in
            stack.beginAsynchronous { transaction in
                // `object(with:)` does not read the store; the commit reports the deleted object.
                try transaction.create(Into<MyPerson>()).friend = try transaction.object(with: gone)
                transaction.commit { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: error)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        #expect(error?.code == .constraint)
        #expect(try stack.view.fetchCount(From<MyPerson>()) == 5)
    }

    @Test(arguments: Backend.forObjectLayer)
    func asynchronousTransactionsReturnImmediatelyAndRunInOrder(_ backend: Backend) async throws {
        let people = try People(backend)
        let (stack, gate) = (people.stack, DispatchSemaphore(value: 0))
        stack.beginAsynchronous { transaction in
            gate.wait()
            try transaction.create(Into<MyPerson>()).name = "first"
            transaction.commit()
        }
        stack.beginAsynchronous { transaction in
            try transaction.fetchOne(From<MyPerson>(), Where("name == %@", "first"))?.surname = "seen by the second"
            transaction.commit()
        }
        // Both calls have returned, and neither has run.
        #expect(try stack.view.fetchCount(From<MyPerson>(), Where("name == %@", "first")) == 0)
        gate.signal()
        try await stack.perform { _ in }
        #expect(try stack.view.fetchOne(From<MyPerson>(), Where("name == %@", "first"))?.surname == "seen by the second")
    }

    @Test(arguments: Backend.forObjectLayer)
    func withoutACommitEverythingIsDiscarded(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        stack.beginAsynchronous { transaction in try transaction.create(Into<MyPerson>()).age = 60 }
        let outcome = try stack.beginSynchronous { transaction in try transaction.create(Into<MyPerson>()).age = 61 }
        #expect(outcome == nil)
        let unsafe = stack.beginUnsafe()
        try unsafe.create(Into<MyPerson>()).age = 62
        try await stack.perform { _ in }
        #expect(try people.ages == [16, 17, 22, 30, 35, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSynchronousTransactionHasEndedWhenItReturns(_ backend: Backend) throws {
        let people = try People(backend)
        // CoreStore.beginSynchronous, transaction.commit()
        let hasChanges = try people.stack.beginSynchronous { transaction in
            try transaction.create(Into<MyPerson>()).age = 60
            try transaction.commit()
        }
        #expect(hasChanges == true)
        #expect(try people.stack.view.fetchCount(From<MyPerson>(), Where("age == %d", 60)) == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSynchronousTransactionInsideAnotherIsRefusedAndDoesNotHang(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let error = #expect(throws: StoreError.self) {
            try stack.beginSynchronous { _ in try stack.beginSynchronous { transaction in try transaction.commit() } }
        }
        #expect(error?.code == .misuse)
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUnsafeTransactionIsCommittedByEachOfSeveralCallbacks(_ backend: Backend) async throws {
        let people = try People(backend)
        let (stack, server) = (people.stack, Server())
        // CoreStore.beginUnsafe, transaction.commit() in two completions
        let transaction = stack.beginUnsafe()
        let john = try #require(try transaction.fetchOne(From<MyPerson>(), Where("name == %@", "John Smith")))
        john.rating = 1
        let first = try await withCheckedThrowingContinuation { continuation in
            server.download(["location": "Kyoto"]) { json in
                john.location = json["location"]
                continuation.resume(with: Result { try transaction.commit() })
            }
        }
        #expect(first)
        #expect(try stack.view.fetchOne(From<MyPerson>(), Where("name == %@", "John Smith"))?.location == "Kyoto")
        let second = try await withCheckedThrowingContinuation { continuation in
            server.download(["surname": "Smythe"]) { json in
                john.surname = json["surname"] ?? ""
                continuation.resume(with: Result { try transaction.commit() })
            }
        }
        #expect(second)
        let shown = try #require(try stack.view.fetchOne(From<MyPerson>(), Where("name == %@", "John Smith")))
        #expect((shown.rating, shown.location, shown.surname) == (1, "Kyoto", "Smythe"))
    }

    @Test(arguments: Backend.forObjectLayer)
    func onlyAnUnsafeTransactionIsCommittedMoreThanOnce(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        try stack.beginSynchronous { transaction in
            try transaction.create(Into<MyPerson>()).age = 60
            try transaction.commit()
            let error = #expect(throws: StoreError.self) { try transaction.commit() }
            #expect(error?.code == .misuse)
        }
        let error: StoreError? = await withCheckedContinuation { continuation in
            stack.beginAsynchronous { transaction in
                transaction.commit()
                transaction.commit { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: error)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        #expect(error?.code == .misuse)
        #expect(try people.ages.last == 60)
    }

    @Test(arguments: Backend.forObjectLayer)
    func uncommittedChangesAreInvisibleToOtherContexts(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        #expect(try stack.view.fetchCount(From<MyPerson>()) == 6)
        try stack.performAndWait { transaction in
            try transaction.create(Into<MyPerson>()).age = 60
            #expect(try transaction.fetchCount(From<MyPerson>()) == 7)
            #expect(try stack.readAndWait { try $0.fetchCount(From<MyPerson>()) } == 6)
        }
        #expect(try stack.view.fetchCount(From<MyPerson>()) == 7)
    }

    /// A server stub that calls its completion handler asynchronously on the main actor.
    private struct Server {
        func download(_ json: [String: String], _ completion: @escaping @MainActor ([String: String]) -> Void) {
            Task { @MainActor in completion(json) }
        }
    }
}
