import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import Synchronization
import TestModels
import TestSupport
import Testing

/// A stack while one of its stores is being opened, which can take as long as another process keeps the file busy.
@Suite struct StoreOpeningTests {
    /// The schema with two configurations of the same classes.
    private let split = Schema(
        "Split", [Person.self, Department.self, Project.self],
        configurations: ["A": [Person.self, Department.self, Project.self], "B": [Person.self, Department.self, Project.self]])

    /// The time after which work that must not wait counts as blocked. It passes only if the test fails.
    private static let blocked = DispatchTimeInterval.seconds(1800)

    /// Runs work on another thread, and returns its error or a message if it is blocked.
    private static func complaint(_ name: String, _ work: @escaping @Sendable () throws -> Void) -> String? {
        let (done, failure) = (DispatchSemaphore(value: 0), Protected<String?>(nil))
        Thread.detachNewThread {
            do { try work() } catch { failure.withLock { $0 = "\(name): \(error)" } }
            done.signal()
        }
        return done.wait(timeout: .now() + blocked) == .success ? failure.withLock { $0 } : "\(name) is blocked"
    }

    private static func create(_ number: Int, _ transaction: Transaction) throws {
        try transaction.create(Into<Person>("A")) { $0.email = "\(number)" }
    }

    /// Returns a store that runs a closure when it is opened.
    private func store(_ inner: StoreConfiguration, opening body: @escaping @Sendable () -> Void) -> StoreConfiguration {
        StoreConfiguration(engine: inner.engine, location: inner.location, isShared: inner.isShared) { request in
            body()
            return try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger)
        }
    }

    @Test(arguments: Backend.allCases)
    func readsAndCommitsOfOtherStoresContinueWhileAStoreIsOpened(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(split)
        try stack.addStore(backend.store(in: folder, "first"), configuration: "A")
        let complaints = Protected<[String]>([])
        let slow = store(backend.store(in: folder, "second")) {
            let found = [
                Self.complaint("a transaction") { try stack.performAndWait { try Self.create(1, $0) } },
                Self.complaint("a read") { _ = try stack.readAndWait { try $0.fetchCount(From<Person>()) } },
                Self.complaint("the list of stores") { _ = stack.stores },
                Self.complaint("an unqueued transaction") { _ = try stack.beginUnsafe().fetchCount(From<Person>()) },
                Self.complaint("a further store") { try stack.addStore(.inMemory(), configuration: "B") },
            ]
            complaints.withLock { $0 = found.compactMap { $0 } }
        }
        try stack.addStore(slow, configuration: "B")
        #expect(complaints.withLock { $0 } == [])
        #expect(stack.stores.count == 3)
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
    }

    @Test(arguments: Backend.allCases)
    @MainActor func theViewReadsWhileAStoreIsOpened(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try DataStack(split)
        try stack.addStore(backend.store(in: folder, "first"), configuration: "A")
        try await stack.perform { try Self.create(1, $0) }
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let slow = store(backend.store(in: folder, "second")) {
            begun.signal()
            // Ends when the view has read, or in the case of a failure.
            _ = mayEnd.wait(timeout: .now() + Self.blocked)
        }
        async let added = withCheckedThrowingContinuation { continuation in
            stack.addStore(slow, configuration: "B") { continuation.resume(with: $0) }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                begun.wait()
                continuation.resume()
            }
        }
        let people = try stack.view.fetchAll(From<Person>())
        try await stack.perform { try Self.create(2, $0) }
        #expect(people.count == 1)
        #expect(try stack.view.fetchCount(From<Person>()) == 2)
        #expect(stack.stores.count == 1, "the view waited until the store was open")
        mayEnd.signal()
        _ = try await added
        #expect(stack.stores.count == 2)
    }

    @Test(arguments: Backend.persistent)
    func concurrentAdditionsOfOneStoreAreOneStore(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let openings = Atomic(0)
        let configuration = store(backend.store(in: folder)) { openings.wrappingAdd(1, ordering: .relaxed) }
        let added = Protected<[PersistentStore]>([])
        onThreads(8) { _ in
            do {
                let store = try stack.addStore(configuration)
                added.withLock { $0.append(store) }
            } catch { Issue.record(error) }
        }
        let stores = added.withLock { $0 }
        #expect(stores.count == 8 && Set(stores).count == 1)
        #expect(stack.stores == [try #require(stores.first)])
        #expect(openings.load(ordering: .relaxed) == 1)
    }

    /// The file of an open store is the same store under its new name.
    @Test(arguments: Backend.shared)
    func openStoreIsKnownByTheNewNameOfItsFile(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(split)
        let store = try stack.addStore(backend.store(in: folder, "first"), configuration: "A")
        let (old, new) = (backend.store(in: folder, "first"), backend.store(in: folder, "second"))
        try FileManager.default.moveItem(atPath: old.location, toPath: new.location)
        #expect(try stack.addStore(new, configuration: "A") === store)
        expectError(.differentStoreAtURL) { try stack.addStore(new, configuration: "B") }
        #expect(stack.stores == [store])
    }

    /// A folder with the name of an open store that was deleted is another store, even if the file system gives it the same number.
    @Test(arguments: Backend.persistent)
    func storeAtAnotherPathIsOpenedAfterTheFilesOfAnOpenOneWereDeleted(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(split)
        let store = try stack.addStore(backend.store(in: folder, "first"), configuration: "A")
        try FileManager.default.removeItem(atPath: store.location)
        let other = try stack.addStore(backend.store(in: folder, "second"), configuration: "B")
        #expect(other !== store && stack.stores == [store, other])
    }

    /// Composed and decomposed characters are equal in Swift. They are two files in most file systems of Linux.
    @Test(arguments: Backend.persistent)
    func filesWhoseNamesDifferInTheCompositionOfACharacterAreTwoStores(_ backend: Backend) throws {
        let folder = try Folder()
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try Data().write(to: URL(fileURLWithPath: folder.file("probe" + composed)))
        let isOneFile = FileManager.default.fileExists(atPath: folder.file("probe" + decomposed))
        try FileManager.default.removeItem(atPath: folder.file("probe" + composed))
        let stack = try DataStack(split)
        let first = try stack.addStore(backend.store(in: folder, composed), configuration: "A")
        guard !isOneFile else { return }
        let second = try stack.addStore(backend.store(in: folder, decomposed), configuration: "B")
        #expect(first !== second && stack.stores.count == 2)
        // Each has its own write access and its own data.
        try stack.performAndWait { transaction throws in
            try transaction.create(Into<Person>("A")) { $0.email = "a" }
            try transaction.create(Into<Person>("B")) { $0.email = "b" }
        }
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>("A")).map(\.email) } == ["a"])
        #expect(try stack.addStore(backend.store(in: folder, composed), configuration: "A") === first)
        #expect(try stack.addStore(backend.store(in: folder, decomposed), configuration: "B") === second)
    }

    /// An addition that waits for another one of the same store opens the store itself if the other one fails.
    @Test func additionAfterAFailedOneOpensTheStore() throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let openings = Atomic(0)
        let inner = Backend.sqlite.store(in: folder)
        let configuration = StoreConfiguration(engine: inner.engine, location: inner.location) { request in
            if openings.wrappingAdd(1, ordering: .relaxed).newValue == 1 { throw StoreError(.busy, "The test refuses the first opening.") }
            return try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger)
        }
        let results = Protected<[Bool]>([])
        onThreads(3) { _ in
            let isAdded = (try? stack.addStore(configuration)) != nil
            results.withLock { $0.append(isAdded) }
        }
        #expect(results.withLock { $0 }.count { $0 } == 2)
        #expect(stack.stores.count == 1)
        #expect(openings.load(ordering: .relaxed) == 2)
    }

    /// A logger that uses the stack for each message.
    private final class ReadingLogger: StoreLogger {
        let stack = Protected<DataStack?>(nil)
        let complaints = Protected<[String]>([])
        let messages = Protected<[String]>([])

        func isEnabled(_ level: LogLevel) -> Bool { level >= .info }

        func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
            messages.withLock { $0.append(message) }
            guard let stack = stack.withLock({ $0 }) else { return }
            if let complaint = StoreOpeningTests.complaint("a read", { _ = stack.stores }) { complaints.withLock { $0.append(complaint) } }
        }
    }

    @Test(arguments: Backend.allCases)
    func handlersMayUseTheStackWhenAStoreIsAdded(_ backend: Backend) throws {
        let folder = try Folder()
        let logger = ReadingLogger()
        let stack = try DataStack(split, logger: logger)
        logger.stack.withLock { $0 = stack }
        defer { logger.stack.withLock { $0 = nil } }
        for name in ["A", "B"] { try stack.addStore(backend.store(in: folder, name), configuration: name) }
        #expect(logger.messages.withLock { $0 }.count { $0.hasPrefix("Opened ") } == 2)
        #expect(logger.complaints.withLock { $0 } == [])
    }

    /// A refused history closes the store that was opened for it.
    @Test func storeWithoutALogIsClosedAgain() throws {
        let isClosed = Atomic(false)
        let stack = try DataStack(companySchema)
        let inner = StoreConfiguration.inMemory()
        let configuration = StoreConfiguration(engine: "test", location: "test", isShared: false) { request in
            Unlogged(try inner.open(schema: request.schema, configurationName: nil, logger: request.logger)) {
                isClosed.store(true, ordering: .relaxed)
            }
        }
        expectError(.unsupported) { try stack.addStore(configuration, history: HistoryOptions()) }
        let wasClosed = isClosed.load(ordering: .relaxed)
        #expect(wasClosed)
        #expect(stack.stores.isEmpty)
    }
}

/// A backend without a change log.
private final class Unlogged: StorageBackend {
    private let inner: any StorageBackend
    private let didClose: @Sendable () -> Void

    init(_ inner: any StorageBackend, didClose: @escaping @Sendable () -> Void) {
        self.inner = inner
        self.didClose = didClose
    }

    var capabilities: Capabilities {
        var claims = inner.capabilities
        claims.features.remove(.changeLog)
        return claims
    }
    var metadata: StoreMetadata { inner.metadata }
    func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
    func close() throws {
        try inner.close()
        didClose()
    }
}
