import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions that are checked and discarded.
@Suite struct DynamicDryRunTests {
    @Test(arguments: Engine.all)
    func acceptedChangesAreNotWritten(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true, history: HistoryOptions()) { stack in
            let before = try await stack.historyToken()
            let (deleted, refusal) = try await stack.performDryRun { transaction in
                let bob = try #require(try transaction.fetchOne(EntityQuery("Person").where("email == 'bob'")))
                try bob.set("age", to: 99)
                try transaction.create("Person", ["email": "eve", "age": 5])
                try transaction.delete(transaction.fetchAll(EntityQuery("Person").where("email == 'ann'")))
                return transaction.deletedObjectIDs().count
            }
            #expect(deleted == 1 && refusal == nil)
            let people = try await stack.read { context in
                try context.fetchAll(EntityQuery("Person").orderBy("email")).map { try $0.value("age") }
            }
            #expect(people == [20, 30, 40, 50])
            #expect(try await stack.historyToken() == before)
            // The next transaction commits nothing of it.
            try await stack.perform { _ = try $0.create("Person", ["email": "fay", "age": 6]) }
            #expect(try await stack.read { try $0.fetchCount(EntityQuery("Person")) } == 5)
            #expect(try await stack.historyToken() != before)
        }
    }

    @Test(arguments: Engine.all)
    func refusalsOfTheModelAndTheStoreAreReturned(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let unique = try await stack.performDryRun { transaction in
                try transaction.fetchOne(EntityQuery("Person").where("email == 'bob'"))?.set("email", to: "ann")
                return "changed"
            }
            #expect(unique.result == "changed" && unique.refusal?.code == .constraint && unique.refusal?.attribute == "email")
            let required = try await stack.performDryRun { transaction in try transaction.create("Person").id }
            #expect(required.refusal?.code == .constraint, "\(String(describing: required.refusal))")
            let failure = try await requireFailure {
                _ = try await stack.performDryRun { _ in throw StoreError(.constraint, "The body ends.") }
            }
            #expect(failure.message == "The body ends.")
            #expect(try await stack.read { try $0.fetchCount(EntityQuery("Person").where("email == 'bob'")) } == 1)
        }
    }

    @Test(arguments: Engine.all)
    func dryRunsEndWithTheirTaskAndTheirTime(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let timedOut = try await requireFailure {
                _ = try await stack.performDryRun(timeLimit: .zero) { try $0.fetchCount(EntityQuery("Person")) }
            }
            #expect(timedOut.code == .timedOut)
            let task = Task { try await stack.performDryRun { try $0.fetchCount(EntityQuery("Person")) }.result }
            task.cancel()
            // It can have ended before.
            if case .failure(let error) = await task.result { #expect((error as? StoreError)?.code == .cancelled, "\(error)") }
            #expect(try await stack.performDryRun { try $0.fetchCount(EntityQuery("Person")) }.result == 4)
        }
        try await Stored.opened(stored.configuration) { stack in
            let readOnly = try await requireFailure {
                _ = try await stack.performDryRun { _ = try $0.create("Person", ["email": "eve", "age": 5]) }
            }
            #expect(readOnly.code == .readOnly)
        }
    }

    @Test(arguments: Engine.all)
    func bodyIsRunAtMostSixTimes(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            for failures in [0, 1, 5, 6] {
                let runs = Protected(0)
                let body: @Sendable (Transaction) throws -> Int = { transaction in
                    let run = runs.withLock { count in
                        count += 1
                        return count
                    }
                    try transaction.create("Person", ["email": "eve", "age": .integer(Int64(run))])
                    guard run > failures else {
                        throw StoreError(.conflict, "The test lets the dry run be repeated.", recovery: .retryable)
                    }
                    return run
                }
                if failures < 6 {
                    let (run, refusal) = try await stack.performDryRun(body)
                    #expect(run == failures + 1 && refusal == nil)
                } else {
                    #expect(try await requireFailure { _ = try await stack.performDryRun(body) }.recovery == .retryable)
                }
                #expect(runs.withLock { $0 } == min(failures + 1, 6))
            }
            #expect(try await stack.read { try $0.fetchCount(EntityQuery("Person")) } == 4)
        }
    }
}
