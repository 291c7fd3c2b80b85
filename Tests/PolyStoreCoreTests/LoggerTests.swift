import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import TestModels
import TestSupport
import Testing

@Suite struct LoggerTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func stack(_ backend: Backend, _ logger: RecordingLogger) throws -> DataStack {
        let stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(backend.store(in: folder))
        return stack
    }

    @Test(arguments: Backend.forObjectLayer)
    func commitsAreLoggedWithTheirCountsAndTheCallersLine(_ backend: Backend) async throws {
        let logger = RecordingLogger(.debug)
        let stack = try stack(backend, logger)
        let line: UInt = #line + 1
        let id = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "a"
            _ = try transaction.create(Into<Department>())
            return person.objectID
        }
        try stack.performAndWait { try $0.edit(id).age = 3 }
        let waitingLine: UInt = #line - 1
        try await stack.perform { _ in }
        let commits = logger.entries(.debug, "Committed to")
        try #require(commits.count == 2)
        #expect(commits[0].message.hasSuffix("2 inserted, 0 updated, 0 deleted"))
        #expect(commits[0].line == line)
        #expect(commits[1].message.hasSuffix("0 inserted, 1 updated, 0 deleted"))
        #expect(commits[1].line == waitingLine)
        #expect(commits.allSatisfy { $0.file == #fileID })
        #expect(logger.entries(.info, "Opened").map(\.file) == [#fileID])
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyTransactionIsLogged(_ backend: Backend) async throws {
        let logger = RecordingLogger(.debug)
        let stack = try stack(backend, logger)
        for number in 0..<200 {
            // Every tenth transaction violates the unique constraint on `email`, and every tenth throws.
            try? await stack.perform { transaction in
                try transaction.create(Into<Person>()).email = number % 10 == 9 ? "0" : "\(number)"
                if number % 10 == 5 { throw CancellationError() }
            }
        }
        #expect(logger.entries(.debug, "Committed to").count == 160)
        let failures = logger.entries(.info, "transaction failed")
        #expect(failures.count == 40)
        #expect(failures.filter { $0.message.contains("email") }.count == 20)
        #expect(Set(failures.map(\.line)).count == 1)
        #expect(failures.allSatisfy { $0.file == #fileID })
        // Outcomes that a program has to expect do not appear at the default level.
        #expect(logger.entries.allSatisfy { $0.level < .warning })
    }

    @Test(arguments: Backend.forObjectLayer)
    func conflictsAreLoggedWhereTheTransactionBegan(_ backend: Backend) async throws {
        let logger = RecordingLogger(.debug)
        let stack = try stack(backend, logger)
        let id = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "a"
            return person.objectID
        }
        let draft = stack.beginUnsafe()
        let line: UInt = #line - 1
        try draft.edit(id).age = 1
        try await stack.perform { try $0.edit(id).age = 2 }
        #expect(throws: StoreError.self) { try draft.commit() }
        let conflicts = logger.entries(.info, "failed")
        #expect(conflicts.map(\.line) == [line])
        #expect(conflicts[0].message.contains("conflict"))
    }

    @Test(arguments: Backend.forObjectLayer)
    func requestsAndPlansAreTraced(_ backend: Backend) async throws {
        let logger = RecordingLogger(.trace)
        let stack = try stack(backend, logger)
        let line: UInt = #line + 1
        _ = try stack.readAndWait { context in
            _ = try context.fetchAll(From<Person>(), Where(\.age > 30))
            _ = try context.fetchCount(From<Person>(), Where(\.email == "a"))
            return try context.queryValue(From<Person>(), Select<Int>(.maximum(\.age))) ?? 0
        }
        let requests = logger.entries(.trace, "fetch Person")
        #expect(requests.count >= 3)
        #expect(requests.allSatisfy { $0.line == line && $0.file == #fileID && $0.message.contains("access: ") })
        #expect(requests.contains { $0.message.contains("Person_email") || $0.message.contains("email=?") })
        if backend == .sqlite { #expect(requests.contains { $0.message.contains("SELECT") }) }
    }

    @Test func nothingIsTracedUnlessTheLoggerAsksForIt() throws {
        let logger = RecordingLogger(.debug)
        let stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(.inMemory())
        _ = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
        #expect(logger.entries(.trace, "").isEmpty)
        let tracing = RecordingLogger(.trace)
        stack.logger = tracing
        _ = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
        #expect(!tracing.entries(.trace, "count: fetch Person").isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func slowQueriesAreLoggedWithTheirPlan(_ backend: Backend) async throws {
        let logger = RecordingLogger(.warning)
        let stack = try stack(backend, logger)
        _ = try stack.readAndWait { try $0.fetchAll(From<Person>()).count }
        #expect(stack.slowQueryThreshold == nil)
        #expect(logger.entries.isEmpty)
        stack.slowQueryThreshold = .zero
        let line: UInt = #line + 1
        _ = try stack.readAndWait { context in
            _ = try context.fetchAll(From<Person>(), Where(\.age > 30))
            _ = try context.fetchCount(From<Person>())
            _ = try context.fetchObjectIDs(From<Person>())
            return try context.queryValue(From<Person>(), Select<Int>(.count)) ?? 0
        }
        let slow = logger.entries(.warning, " ms: fetch Person")
        #expect(slow.count == 4)
        #expect(slow.allSatisfy { $0.line == line })
        stack.slowQueryThreshold = .seconds(3600)
        _ = try stack.readAndWait { try $0.fetchAll(From<Person>()).count }
        #expect(logger.entries.count == 4)
        #expect(stack.slowQueryThreshold == .seconds(3600))
    }

    @Test func aReadThatThrowsIsLogged() throws {
        let logger = RecordingLogger(.trace)
        let stack = try DataStack(companySchema, logger: logger)
        let line: UInt = #line + 1
        #expect(throws: StoreError.self) { try stack.readAndWait { try $0.fetchCount(From<Person>()) } }
        #expect(logger.entries(.info, "read failed").map(\.line) == [line])
    }
}
