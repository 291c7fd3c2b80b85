import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

/// Removing, closing, erasing, copying and measuring stores, and stores that cannot be opened.
@Suite struct StoreLifeTests {
    @Test(arguments: Backend.allCases)
    @MainActor func aRemovedStoreIsClosedAndCanBeAddedAgain(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try DataStack(Person.self, Department.self, Project.self)
        let configuration = backend.store(in: folder)
        let store = try stack.addStore(configuration)
        let id = try await stack.perform { transaction in
            try transaction.create(Person.self) { ($0.email, $0.age) = ("a", 7) }.objectID
        }
        let person = try #require(try stack.fetchExisting(id))
        let fault = try stack.view.fetchAll(From<Person>().tweak { $0.includesPropertyValues = false })
        #expect(fault.count == 1)
        try stack.removeStoreAndWait(store)
        #expect(stack.stores.isEmpty)
        #expect(person.age == 7)
        let missing = expectError(.storeNotFound) { try stack.fetchAll(From<Person>()) }
        #expect(missing?.message.contains("no store") == true, "\(String(describing: missing))")
        await #expect(throws: StoreError.self) { try await stack.perform { _ = try $0.create(Person.self) } }
        expectError(.misuse) { try stack.removeStoreAndWait(store) }
        let again = try stack.addStore(configuration)
        #expect(again !== store)
        let found = try stack.fetchAll(From<Person>())
        guard backend != .memory else {
            #expect(found.isEmpty)
            return
        }
        #expect(found.map(\.age) == [7])
        #expect(try stack.fetchExisting(id)?.age == 7)
        try await stack.perform(editing: id) { _, person in person.age = 8 }
        #expect(try stack.fetchAll(From<Person>()).map(\.age) == [8])
    }

    @Test(arguments: Backend.allCases)
    func closingWaitsForTransactionsAndRefusesReaders(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        let stack = company.stack
        try company.people(1)
        let draft = stack.beginUnsafe()
        #expect(try draft.fetchCount(From<Person>()) == 1)
        let error = expectError(.busy) { try stack.closeAndWait() }
        #expect(
            error?.message.contains("unsafe transaction at PolyStoreCoreTests/StoreLifeTests.swift:") == true,
            "\(String(describing: error))")
        async let written: Void = stack.perform { transaction in for number in 0..<20 { _ = try transaction.createPerson(number) } }
        try await written
        try stack.closeAndWait(evenIfInUse: true)
        expectError(.storeNotFound) { try draft.fetchAll(From<Department>()) }
        expectError(.storeNotFound) { try stack.readAndWait { try $0.fetchCount(From<Person>()) } }
        // Closing a closed store has no effect.
        try stack.closeAndWait()
        expectError(.misuse) { try Company(backend, expectsSilence: false).closeInside() }
    }

    @Test(arguments: Backend.allCases)
    @MainActor func listsFollowTheStoresThatAreRemovedAndAdded(_ backend: Backend) async throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        let stack = gadgets.stack
        try stack.performAndWait { transaction throws in
            for name in ["a", "b"] { try transaction.create(Into<Gadget>("Shop")) { $0.label = name } }
            try transaction.create(Into<Gadget>("Store")) { $0.label = "c" }
        }
        let monitor = try stack.monitorList(From<Gadget>().orderBy(.ascending(\.label)))
        #expect(monitor.map(\.label) == ["a", "b", "c"])
        let shop = try #require(stack.stores.first { $0.configurationName == "Shop" })
        try stack.removeStoreAndWait(shop)
        // The view knows the stores before its lists have moved.
        #expect(try stack.fetchAll(From<Gadget>()).map(\.label) == ["c"])
        for _ in 0..<1000 where monitor.count != 1 { await Task.yield() }
        #expect(monitor.map(\.label) == ["c"])
        #expect(try stack.fetchAll(From<Gadget>()).map(\.label) == ["c"])
    }

    /// Looking for deleted objects that exist again leaves no snapshot behind, which would keep the disk space of its version.
    @Test(arguments: Backend.allCases, [MergePolicy.error, .storeWins])
    func aCommitOfADeletionReadsNothingAfterwards(_ backend: Backend, _ policy: MergePolicy) throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { for number in 1...3 { _ = try $0.createPerson(number) } }
        let draft = stack.beginUnsafe()
        let people = try draft.fetchAll(From<Person>())
        for person in people {
            try draft.delete(person)
            try draft.commit(mergePolicy: policy)
        }
        #expect(people.allSatisfy { $0.isDeleted })
        try stack.removeStoreAndWait(store)
        withExtendedLifetime(draft) {}
    }

    @Test(arguments: Backend.allCases)
    func anErasedStoreLeavesNothing(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { _ = try $0.createPerson(1) }
        let other = try DataStack(companySchema)
        if backend != .memory {
            // A compaction can replace the file.
            try store.compactAndWait()
            try other.addStore(backend.store(in: folder))
            expectError(.busy) { try stack.eraseStoreAndWait(store) }
            expectError(.busy) { try other.eraseStoreAndWait(other.stores[0]) }
            // Neither wait would end.
            expectError(.misuse) {
                try stack.performAndWait {
                    _ = try $0.createPerson(2)
                    try other.performAndWait { _ = try $0.createPerson(3) }
                }
            }
            try other.closeAndWait()
        }
        try stack.eraseStoreAndWait(store)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try stack.addStore(backend.store(in: folder))
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: [Backend.sqlite, .lmdb, .levelDB])
    func aStoreThatCannotBeOpenedIsResetOnRequestOnly(_ backend: Backend) throws {
        let folder = try Folder()
        let configuration = backend.store(in: folder)
        do {
            let stack = try DataStack(companySchema)
            try stack.addStore(configuration)
            try stack.performAndWait { _ = try $0.createPerson(1) }
            try stack.closeAndWait()
        }
        let damaged = backend == .levelDB ? configuration.location + "/CURRENT" : configuration.location
        try Data(repeating: 0x5a, count: 4096).write(to: URL(fileURLWithPath: damaged))
        let logger = RecordingLogger()
        let stack = try DataStack(companySchema, logger: logger)
        #expect(throws: StoreError.self) { try stack.addStore(configuration) }
        #expect(FileManager.default.fileExists(atPath: damaged))
        // LevelDB does not support read-only stores.
        expectError(backend == .levelDB ? .unsupported : .readOnly) { try stack.addStore(configuration.resettingOnFailure().readOnly()) }
        try stack.addStore(configuration.resettingOnFailure())
        #expect(logger.lines.contains { $0.contains("is deleted, as asked") }, "\(logger.lines)")
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    /// A folder that is not a LevelDB database is never deleted, regardless of the options.
    @Test func foldersOfOthersAreNotErased() throws {
        let folder = try Folder()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.path + "/letter.txt"))
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        expectError(.notAStore) { try stack.addStore(.levelDB(directory: folder.path).resettingOnFailure()) }
        expectError(.notAStore) { try stack.addStore(.sqlite(file: folder.path).resettingOnFailure()) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["letter.txt"])
    }

    @Test(arguments: Backend.allCases)
    func storesAreCountedCopiedAndCompacted(_ backend: Backend) async throws {
        let company = try Company(backend)
        try company.people(300)
        let store = company.stack.stores[0]
        let statistics = try store.statisticsAndWait()
        #expect(statistics.objectCounts == ["Person": 300, "Dept": 0, "Project": 0])
        #expect(statistics.objectCount == 300)
        #expect((statistics.fileSize > 0) == (backend != .memory))
        let copy = company.folder.path + "/copy"
        guard store.capabilities.has(.copying) else {
            expectError(.unsupported) { try store.backUpAndWait(to: copy) }
            try store.compactAndWait()
            return
        }
        #expect(try await company.stack.backUp(to: copy) == [copy])
        let configuration: StoreConfiguration =
            switch backend {
            case .sqlite: .sqlite(file: copy)
            case .lmdb: .lmdb(file: copy)
            default: .levelDB(directory: copy)
            }
        let other = try DataStack(companySchema)
        #expect(try other.addStore(configuration).statisticsAndWait().objectCounts == statistics.objectCounts)
        try company.stack.performAndWait { _ = try $0.deleteAll(From<Person>(), Where(\.age > 10)) }
        if store.capabilities.has(.compaction) {
            try store.compactAndWait()
        } else {
            expectError(.unsupported) { try store.compactAndWait() }
        }
        #expect(try store.statisticsAndWait().objectCounts["Person"] == 2)
        #expect(try store.verifyAndWait() == [])
    }

    @Test(arguments: Backend.allCases)
    @MainActor func verificationsAndCopiesReportProgressAndAreCancelled(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(4000)
        let store = company.stack.stores[0]
        let run = store.startVerification()
        var fractions: [Double] = []
        for await progress in run.updates { progress.fractionCompleted.map { fractions.append($0) } }
        #expect(try await run.value == [])
        #expect(fractions == fractions.sorted() && fractions.last == 1, "\(fractions)")
        #expect(run.progress.isFinished && run.progress.localizedDescription.contains("Verifying"))

        var reports: [MaintenanceProgress] = []
        #expect(try store.backend.verify { reports.append($0) } == [])
        #expect(reports.count > 1 && reports.allSatisfy { $0.total != nil && $0.completed <= $0.total ?? 0 }, "\(reports)")
        #expect(reports.map(\.completed) == reports.map(\.completed).sorted(), "\(reports)")
        for last in [0, reports.count / 2, reports.count - 1] {
            var count = 0
            expectError(.cancelled) {
                try store.backend.verify { _ in
                    if count == last { throw StoreError(.cancelled, "enough") }
                    count += 1
                }
            }
        }
        #expect(try store.verifyAndWait() == [])

        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.verify()
        }
        await expectAwaitedError(.cancelled) { _ = try await cancelled.value }
        guard store.capabilities.has(.copying) else { return }
        let copy = company.folder.path + "/copy"
        expectError(.cancelled) { try store.backend.copy(to: copy) { _ in throw StoreError(.cancelled, "enough") } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: company.folder.path).allSatisfy { !$0.hasPrefix("copy") })
        let copying = store.startBackUp(to: copy)
        try await copying.value
        #expect(copying.progress.fractionCompleted == 1)
        await expectAwaitedError(.io) { try await store.startBackUp(to: copy).value }
    }

    @Test(arguments: Backend.allCases)
    @MainActor func maintenanceIsAwaited(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(10)
        let (stack, store) = (company.stack, company.stack.stores[0])
        let (awaited, waited) = (try await store.statistics(), try store.statisticsAndWait())
        #expect((awaited.version, awaited.fileSize) == (waited.version, waited.fileSize))
        #expect(awaited.objectCounts == waited.objectCounts)
        #expect(try await store.verify() == [])
        let copy = company.folder.path + "/copy"
        if store.capabilities.has(.copying) {
            try await store.backUp(to: copy)
            await expectAwaitedError(.io) { try await store.backUp(to: copy) }
            #expect(try stack.backUpAndWait(to: copy + "2") == [copy + "2"])
        } else {
            await expectAwaitedError(.unsupported) { try await store.backUp(to: copy) }
            expectError(.unsupported) { try stack.backUpAndWait(to: copy) }
        }
        try await store.compact()
        do {
            let draft = stack.beginUnsafe()
            #expect(try draft.fetchCount(From<Person>()) == 10)
            await expectAwaitedError(.busy) { try await stack.close() }
            try await stack.removeStore(store, evenIfInUse: true)
            withExtendedLifetime(draft) {}
        }
        #expect(stack.stores.isEmpty)
        await expectAwaitedError(.misuse) { try await stack.removeStore(store) }
        try await stack.close()
        let folder = try Folder()
        let again = try stack.addStore(backend.store(in: folder))
        try await stack.perform { _ = try $0.createPerson(1) }
        #expect(try stack.view.fetchCount(From<Person>()) == 1)
        try await stack.eraseStore(again)
        // The view has moved when the call returns.
        expectError(.storeNotFound) { try stack.view.fetchCount(From<Person>()) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    /// The caller of an asynchronous form waits for the write queue without blocking its thread, so the main actor can end what the queue waits for. The limit ends
    /// a test that hangs; the main actor also runs other tests.
    @Test(.timeLimit(.minutes(15)), arguments: Backend.allCases)
    @MainActor func closingDoesNotBlockTheMainActor(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        let stack = company.stack
        let (gate, isRunning) = (DispatchSemaphore(value: 0), Protected(false))
        let written = Task {
            try await stack.perform { transaction in
                isRunning.withLock { $0 = true }
                gate.wait()
                _ = try transaction.createPerson(1)
            }
        }
        while !isRunning.withLock({ $0 }) { await Task.yield() }
        let closed = Task { @MainActor in try await stack.close() }
        for _ in 0..<100 { await Task.yield() }
        #expect(!stack.stores.isEmpty)
        gate.signal()
        try await written.value
        try await closed.value
        #expect(company.stack.stores.isEmpty)
    }

    @Test func hierarchiesAreCountedByClass() throws {
        let parties = try Parties(.memory)
        let counts = try parties.stack.stores[0].statisticsAndWait().objectCounts
        #expect(counts["Human"] == 1 && counts["Worker"] == 2, "\(counts)")
    }

    @Test func theDefaultLocationIsThatOfThePlatform() {
        let store = StoreConfiguration.sqlite()
        let name = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
        #expect(store.location.hasSuffix("/\(name)/\(name).sqlite"), "\(store.location)")
        #expect(StoreConfiguration.lmdb().location.hasSuffix("/\(name)/\(name).lmdb"))
        #expect(StoreConfiguration.levelDB().location.hasSuffix("/\(name)/\(name).leveldb"))
    }

    @Test(arguments: Backend.allCases)
    func aFolderIsMadeOnRequest(_ backend: Backend) throws {
        let folder = try Folder()
        let place = Folder.nested(in: folder)
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        if backend != .memory { expectError(.io) { try stack.addStore(backend.store(in: place)) } }
        if backend != .memory { try stack.addStore(backend.store(in: place).creatingFolder()) }
    }

    @Test func theDefaultStackIsTheOneThatWasSet() throws {
        // The first one is closed when it is replaced.
        DataStack.default = try DataStack(companySchema)
        let stack = try DataStack(companySchema)
        DataStack.default = stack
        #expect(DataStack.default === stack)
    }

    @Test func aLoggerThatIsReplacedMayUseItsStack() throws {
        final class Owner: StoreLogger {
            let stack: DataStack
            let released: Protected<Bool>

            init(_ stack: DataStack, _ released: Protected<Bool>) { (self.stack, self.released) = (stack, released) }

            func isEnabled(_ level: LogLevel) -> Bool { false }
            func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {}

            deinit {
                _ = stack.logger
                released.withLock { $0 = true }
            }
        }
        let released = Protected(false)
        let stack = try DataStack(companySchema)
        stack.logger = Owner(stack, released)
        stack.logger = RecordingLogger()
        #expect(released.withLock { $0 })
    }

    @MainActor @Test func storesAreAddedWithACompletion() async throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        let added = await withCheckedContinuation { continuation in
            stack.addStore(.sqlite(file: folder.path + "/a.sqlite")) { continuation.resume(returning: $0) }
        }
        #expect(try added.get() === stack.stores[0])
        let refused = await withCheckedContinuation { continuation in
            stack.addStore(.sqlite(file: folder.path + "/missing/a.sqlite")) { continuation.resume(returning: $0) }
        }
        #expect(throws: StoreError.self) { try refused.get() }
    }
}

/// Expects that an awaited call throws an error with a code.
@MainActor private func expectAwaitedError<T>(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: @MainActor () async throws -> T
) async {
    do {
        _ = try await body()
        Issue.record("expected \(code), but nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? StoreError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}

extension Folder {
    /// Returns a nonexistent folder inside another nonexistent folder.
    fileprivate static func nested(in folder: Folder) -> Folder { Folder(path: folder.path + "/one/two") }
}

extension Company {
    fileprivate func closeInside() throws { try stack.performAndWait { [stack] _ in try stack.closeAndWait() } }
}
