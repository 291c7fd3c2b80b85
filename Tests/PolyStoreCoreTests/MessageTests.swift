import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

/// What errors and log messages say, and who receives them.
@Suite struct MessageTests {
    private static func opened(_ backend: Backend, _ folder: Folder, _ logger: any StoreLogger = SilentLogger()) throws -> DataStack {
        let stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(backend.store(in: folder))
        return stack
    }

    // MARK: New objects

    /// The ids of objects that a failed transaction created are in no store, and the caller does not know them.
    @Test(arguments: Backend.allCases)
    func errorsAboutNewObjectsNameNoID(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.opened(backend, folder)
        let first = try stack.performAndWait { transaction in try transaction.create(Person.self) { $0.email = "a" }.objectID }
        func check(_ code: StoreError.Code, _ says: [String], _ body: @escaping @Sendable (Transaction) throws -> [Int64]) {
            let ids = Protected<[Int64]>([])
            let error = expectError(code) {
                try stack.performAndWait { transaction in
                    let made = try body(transaction)
                    ids.withLock { $0 = made }
                }
            }
            let message = error?.message ?? ""
            let made = ids.withLock { $0 }
            #expect(!made.isEmpty)
            for id in made {
                for words in ["object \(id)", "Person \(id)", "Department \(id)"] {
                    #expect(!message.contains(words), "\(backend): \(message)")
                }
            }
            for words in says { #expect(message.contains(words), "\(backend): \(message)") }
        }
        // A value of an object of the store, which the message names.
        check(.constraint, ["Person.email", "of a new object", "object \(first.rowID)"]) { transaction in
            try (0..<7).map { number in try transaction.create(Person.self) { $0.email = number == 6 ? "a" : "x\(number)" }.objectID.rowID }
        }
        // A value of another new object.
        check(.constraint, ["Person.email", "of a new object"]) { transaction in
            try (0..<7).map { number in try transaction.create(Person.self) { $0.email = number == 6 ? "x3" : "x\(number)" }.objectID.rowID
            }
        }
        // A required value.
        check(.constraint, ["email of a new object is required"]) { transaction in [try transaction.create(Person.self).objectID.rowID] }
        // A relationship to a deleted object.
        check(.constraint, ["of a new object"]) { transaction in
            let department = try transaction.create(Department.self)
            try transaction.delete(department)
            let person = try transaction.create(Person.self) { $0.email = "b" }
            person.department = department
            return [person.objectID.rowID]
        }
        // An object that was created and deleted, by its name.
        check(.constraint, ["Person.department of object \(first.rowID)", "a new Dept, which is deleted"]) { transaction in
            let department = try transaction.create(Department.self)
            try transaction.delete(department)
            try transaction.edit(first).department = department
            return [department.objectID.rowID + 1_000_000]
        }
        // An object of the store is named.
        let second = try stack.performAndWait { transaction in try transaction.create(Person.self) { $0.email = "b" }.objectID }
        let error = expectError(.constraint) { try stack.performAndWait { try $0.edit(second).email = "a" } }
        #expect(error?.message.contains("object \(second.rowID)") == true, "\(String(describing: error))")
        #expect(error?.rowID == second.rowID)
    }

    // MARK: Loggers

    /// An engine writes messages long after its store was opened: they go to the logger that is installed then.
    @Test func loggerThatIsInstalledLaterGetsMessagesOfTheEngine() throws {
        let kept = Protected<(any StoreLogger)?>(nil)
        let (first, second) = (RecordingLogger(.info), RecordingLogger(.trace))
        let stack = try DataStack(companySchema, logger: first)
        try stack.addStore(
            StoreConfiguration(engine: "noisy", location: "noisy", isShared: false) { request in
                kept.withLock { $0 = request.logger }
                return try StoreConfiguration.inMemory().open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
            })
        let engine = try #require(kept.withLock { $0 })
        engine.write(.warning, "early")
        #expect(!engine.isEnabled(.trace))
        stack.logger = second
        engine.write(.warning, "late")
        engine.write(.trace, "detail")
        #expect(engine.isEnabled(.trace))
        engine.log(StoreError(.io, "The disk fails."), "Flushing", file: "engine.swift", line: 7, function: "flush")
        #expect(first.entries(.warning, "early").count == 1)
        #expect(first.entries.allSatisfy { !$0.message.contains("late") && !$0.message.contains("Flushing") })
        #expect(second.entries(.warning, "late").count == 1 && second.entries(.trace, "detail").count == 1)
        #expect(second.entries(.error, "Flushing").map(\.line) == [7])
    }

    /// The same with a message of an engine, which states a size below 1 MiB too.
    @Test func sizeOfALogIsStatedInItsUnit() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.logWarningSize = 100_000
        let stack = try DataStack(companySchema, logger: SilentLogger())
        try stack.addStore(.sqlite(file: folder.file("test.sqlite"), options: options))
        let logger = RecordingLogger()
        stack.logger = logger
        try stack.readAndWait { context in
            _ = try context.fetchCount(From<Person>())
            for number in 0..<60 {
                try stack.performAndWait { transaction in
                    _ = try transaction.create(Person.self) { $0.email = String(repeating: "x", count: 3000) + "\(number)" }
                }
            }
        }
        let found = logger.entries(.warning, "write-ahead log")
        #expect(found.count == 1)
        #expect(found.first?.message.contains(" KiB.") == true, "\(found)")
        #expect(logger.messages.allSatisfy { !$0.contains("0 MiB") })
    }

    // MARK: Counts

    /// A count is logged with the statement that counts, and not with one that fetches.
    @Test(arguments: Backend.allCases)
    func countIsLoggedWithTheStatementThatRuns(_ backend: Backend) throws {
        let folder = try Folder()
        let logger = RecordingLogger(.trace)
        let stack = try Self.opened(backend, folder, logger)
        try stack.performAndWait { transaction in
            for number in 0..<3 { _ = try transaction.create(Person.self) { ($0.email, $0.age) = ("\(number)", number) } }
        }
        stack.slowQueryThreshold = .zero
        let found = try stack.readAndWait { context in
            [
                try context.fetchCount(From<Person>()),
                try context.fetchCount(From<Person>().where(\.age > 0).orderBy(.ascending(\.email))),
                try context.fetchCount(From<Person>(), Where("email MATCHES %@", "[12]")),
            ]
        }
        #expect(found == [3, 2, 2])
        let counts = logger.entries(.trace, "count: fetch Person").map(\.message)
        try #require(counts.count == 3)
        let slow = logger.entries(.warning, "Count took").map(\.message)
        #expect(slow.count == 3)
        for (position, message) in (counts + slow).enumerated() {
            #expect(!message.contains("ORDER BY") || position % 3 == 2, "\(message)")
            #expect(!message.contains("order by email"), "\(message)")
            // The third has a condition that SQL does not evaluate: its rows are read.
            if backend == .sqlite { #expect(message.contains("SELECT count(") == (position % 3 != 2), "\(message)") }
        }
        if backend != .sqlite { #expect(counts[0].contains("access: statistics"), "\(counts[0])") }
    }

    // MARK: Erasing

    private static func erasable(_ erased: Protected<Int>, failing: Protected<Bool> = Protected(false)) -> StoreConfiguration {
        let erase: @Sendable () throws -> Void = { erased.withLock { $0 += 1 } }
        return StoreConfiguration(engine: "own", location: "own-\(UUID())", erase: erase) { request in
            let fails = failing.withLock { fails in
                defer { fails = false }
                return fails
            }
            if fails { throw StoreError(.corrupt, "The store is damaged.") }
            return try StoreConfiguration.inMemory().open(
                schema: request.schema, configurationName: request.configurationName, logger: request.logger)
        }
    }

    /// A store without files, on a server for example, is erased by its configuration.
    @Test func storeWithoutFilesIsErasedByItsConfiguration() throws {
        let erased = Protected(0)
        let stack = try DataStack(companySchema, logger: SilentLogger())
        let store = try stack.addStore(Self.erasable(erased))
        try stack.eraseStoreAndWait(store)
        #expect(erased.withLock { $0 } == 1)
        #expect(stack.stores.isEmpty)
        let failing = Protected(true)
        try stack.addStore(Self.erasable(erased, failing: failing).resettingOnFailure())
        #expect(erased.withLock { $0 } == 2)
        // An unknown store that others can open is not erased.
        let unknown = try stack.addStore(
            StoreConfiguration(engine: "own", location: "unknown-\(UUID())") { request in
                try StoreConfiguration.inMemory().open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
            })
        expectError(.unsupported) { try stack.eraseStoreAndWait(unknown) }
    }
}
