import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions with an explicit `commit()`.
@Suite struct ExplicitCommitTests {
    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func asynchronousTransactionsReportTheirOutcome(_ backend: Backend) async throws {
        let company = try Company(backend)
        let view = company.stack.view
        #expect(try view.fetchCount(From<Person>()) == 0)
        let stack = company.stack
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            stack.beginAsynchronous { transaction in
                try transaction.create(Into<Person>()).email = "john"
                transaction.commit { result in
                    continuation.resume(with: Result { try result.get() ? try stack.view.fetchCount(From<Person>()) : -1 })
                }
            }
        }
        #expect(count == 1)
        let hadChanges = try await withCheckedThrowingContinuation { continuation in
            stack.beginAsynchronous { $0.commit { continuation.resume(with: $0) } }
        }
        #expect(!hadChanges)
    }

    /// An empty transaction returns after all transactions queued before it are committed.
    @Test(arguments: Backend.forObjectLayer)
    func anEmptyTransactionWaitsForThoseBeforeIt(_ backend: Backend) async throws {
        let company = try Company(backend)
        for number in 0..<20 {
            company.stack.beginAsynchronous { transaction in
                try transaction.create(Into<Person>()).email = "\(number)"
                transaction.commit()
            }
            try await company.stack.perform { _ in }
            #expect(try company.count() == number + 1)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func nothingIsKeptWithoutACommit(_ backend: Backend) async throws {
        let company = try Company(backend)
        company.stack.beginAsynchronous { try $0.create(Into<Person>()).email = "x" }
        let result = try company.stack.beginSynchronous { try $0.create(Into<Person>()).email = "y" }
        #expect(result == nil)
        #expect(try company.count() == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func synchronousTransactionsReturnTheirOutcome(_ backend: Backend) throws {
        let company = try Company(backend)
        let result = try company.stack.beginSynchronous { transaction in
            try transaction.create(Into<Person>()).email = "y"
            #expect(try transaction.commit())
        }
        #expect(result == true)
        #expect(try company.stack.beginSynchronous { try $0.commit() } == false)
        #expect(try company.count() == 1)
        expectError(.constraint) {
            try company.stack.beginSynchronous { transaction in
                try transaction.create(Into<Person>()).email = "y"
                try transaction.commit()
            }
        }
        #expect(try company.count() == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func aSecondCommitIsRefused(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        let stack = company.stack
        let (first, second): (Result<Bool, StoreError>, Result<Bool, StoreError>) = await withCheckedContinuation { continuation in
            let results = Results(continuation)
            stack.beginAsynchronous { transaction in
                try transaction.create(Into<Person>()).email = "x"
                transaction.commit { results.add($0, at: 0) }
                transaction.commit { results.add($0, at: 1) }
            }
        }
        #expect(first == .success(true))
        if case .failure(let error) = second { #expect(error.code == .misuse) } else { Issue.record("\(second)") }
        try company.stack.beginSynchronous { transaction in
            try transaction.commit()
            expectError(.misuse) { try transaction.commit() }
        }
    }

    @MainActor
    private final class Results {
        private var found: [Int: Result<Bool, StoreError>] = [:]
        private let continuation: CheckedContinuation<(Result<Bool, StoreError>, Result<Bool, StoreError>), Never>
        nonisolated init(_ continuation: CheckedContinuation<(Result<Bool, StoreError>, Result<Bool, StoreError>), Never>) {
            self.continuation = continuation
        }

        func add(_ result: Result<Bool, StoreError>, at place: Int) {
            found[place] = result
            if let first = found[0], let second = found[1] { continuation.resume(returning: (first, second)) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func changesAfterTheCommitAreRefusedOrLogged(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let ids = try company.people(2)
        try company.stack.beginSynchronous { transaction in
            try transaction.edit(ids[0]).age = 5
            try transaction.commit()
            expectError(.closed) { try transaction.create(Into<Person>()) }
            expectError(.closed) { try transaction.delete(ids[1]) }
            try transaction.fetchExisting(ids[1])?.age = 6
        }
        #expect(company.logger.lines.count == 1 && company.logger.lines[0].contains("is lost"))
        #expect(try company.ages() == [5, 10])
    }

    @Test func aThrowAfterTheCommitDoesNotUndoIt() throws {
        struct Stop: Error {}
        let company = try Company(.memory, expectsSilence: false)
        let id = try company.people(1)[0]
        let result = try company.stack.beginSynchronous { transaction in
            try transaction.edit(id).age = 5
            try transaction.commit()
            throw Stop()
        }
        #expect(result == true)
        #expect(try company.ages() == [5])
        #expect(company.logger.lines.count == 1)
        #expect(throws: Stop.self) { try company.stack.beginSynchronous { _ in throw Stop() } }
    }

    @Test func errorsOfUnawaitedTransactionsAreLogged() async throws {
        let company = try Company(.memory, expectsSilence: false)
        company.stack.beginAsynchronous { _ in throw StoreError(.io, "The server is gone.") }
        try await company.stack.perform { _ in }
        #expect(company.logger.lines.count == 1 && company.logger.lines[0].contains("The server is gone"))
    }
}
