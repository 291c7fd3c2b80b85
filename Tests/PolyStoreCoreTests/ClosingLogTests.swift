import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The log of a stack whose stores are closed while it reads them on other threads.
@Suite struct ClosingLogTests {
    /// Holds back the reads of a store.
    private final class Gate: Sendable {
        private struct State {
            var isArmed = false
            var hasEntered = false
            var isOpen = false
        }

        private let state = Protected(State())

        /// Holds back the next read until ``open()`` is called.
        func arm() { state.withLock { $0.isArmed = true } }

        /// Lets all reads continue.
        func open() { state.signal { $0.isOpen = true } }

        /// Called by a read.
        func pass() {
            let isHeld = state.withLock { state in
                defer { state.isArmed = false }
                if state.isArmed { state.hasEntered = true }
                return state.isArmed
            }
            if isHeld { state.wait(until: \.isOpen) { _ in } }
        }

        /// Waits until a read is held back.
        func waitForRead() async throws {
            while !state.withLock({ $0.hasEntered }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// A store that other processes could write to, whose reads pass a gate.
    private final class GatedBackend: StorageBackend {
        private let inner: any StorageBackend
        private let gate: Gate
        private let didClose: @Sendable () -> Void

        init(_ inner: any StorageBackend, _ gate: Gate, didClose: @escaping @Sendable () -> Void) {
            self.inner = inner
            self.gate = gate
            self.didClose = didClose
        }

        var capabilities: Capabilities {
            var claims = inner.capabilities
            claims.features.insert(.multiProcess)
            return claims
        }
        var metadata: StoreMetadata { inner.metadata }
        func beginRead() throws -> any ReadTransaction {
            gate.pass()
            return try inner.beginRead()
        }
        func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
        func verify(reporting report: MaintenanceReport) throws -> [String] { try inner.verify(reporting: report) }
        func close() throws {
            try inner.close()
            didClose()
        }
    }

    private final class Weak<Object: AnyObject> {
        weak var object: Object?
        init(_ object: Object?) { self.object = object }
    }

    private static func store(
        _ inner: StoreConfiguration, _ gate: Gate, didClose: @escaping @Sendable () -> Void = {}
    ) -> StoreConfiguration {
        StoreConfiguration(engine: inner.engine, location: inner.location, isShared: inner.isShared) { request in
            GatedBackend(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), gate,
                didClose: didClose)
        }
    }

    /// The stack is released while it looks for commits of other processes. The same happens at the end of a process that releases its stack.
    @Test(arguments: Backend.allCases)
    @MainActor func releasedStackLogsNothing(_ backend: Backend) async throws {
        let (folder, logger, gate) = (try Folder(), RecordingLogger(), Gate())
        var stack: DataStack? = try DataStack(companySchema, logger: logger)
        let store = Weak(try stack?.addStore(Self.store(backend.store(in: folder), gate) { gate.open() }))
        #expect(try stack?.view.fetchCount(From<Person>()) == 0)
        gate.arm()
        try await gate.waitForRead()
        stack = nil
        // The read that was held back retains the store until it has ended.
        while store.object != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(logger.lines == [])
    }

    /// The view and a list move to a commit while their store is closed on another thread.
    @Test(arguments: Backend.allCases)
    func readsOfObserversThatMeetTheClosingOfTheirStoreLogNothing(_ backend: Backend) async throws {
        let (folder, logger, gate) = (try Folder(), RecordingLogger(), Gate())
        let stack = try DataStack(companySchema, logger: logger)
        let store = try stack.addStore(Self.store(backend.store(in: folder), gate))
        var lists = stack.snapshots(of: From<Person>().orderBy(.ascending(\.age))).makeAsyncIterator()
        #expect(try await lists.next()?.count == 0)
        gate.arm()
        // The next check for commits of other processes is held back, and the store is removed meanwhile.
        try await gate.waitForRead()
        async let removed: Void = stack.removeStore(store)
        while !stack.stores.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        gate.open()
        try await removed
        let other = try stack.addStore(backend.store(in: folder, "other"))
        try await stack.perform { _ = try $0.createPerson(1) }
        while let list = try await lists.next(), list.count != 1 {}
        #expect(logger.lines == [])
        try await stack.removeStore(other)
        while let list = try await lists.next(), !list.isEmpty {}
        try await stack.close()
        #expect(logger.lines == [])
    }
}
