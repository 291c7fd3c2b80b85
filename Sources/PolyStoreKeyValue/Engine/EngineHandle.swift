import PolyStoreBackend
import Synchronization

/// An open engine that is shared by stores and transactions. It is closed when its last user releases it. A process never opens an engine twice, because
/// several engines do not support that: their locks belong to the process.
public final class EngineHandle: @unchecked Sendable {  // All mutable state is accessed under the lock.
    package let engine: any OrderedEngine
    /// A Boolean value that indicates whether the engine was opened read-only.
    public let isReadOnly: Bool
    let process = OwningProcess()
    /// The name in the registry; `nil` for an engine that no other code can open.
    private let identity: Protected<String?>
    /// A Boolean value that indicates whether only this process can reset the store.
    private let isOfOneProcess: Bool
    private let resets = Atomic<Int>(0)
    private let lock = Lock(.engine)
    private var users = 1
    private var isWriting = false
    /// A Boolean value that indicates whether a migration holds the write lock.
    private var isMigrating = false
    /// A Boolean value that indicates whether the journal of an unfinished migration was found and has not been removed since.
    private let hasJournal = Atomic<Bool>(false)
    /// The cache of the current writer; `nil` if other processes may write.
    private var cache: WriterCache?

    /// Creates a handle for an engine that no other code can open: an in-memory engine.
    public convenience init(private engine: any OrderedEngine) { self.init(engine, isReadOnly: false, identity: nil) }

    private init(_ engine: any OrderedEngine, isReadOnly: Bool, identity: String?) {
        self.engine = engine
        self.isReadOnly = isReadOnly
        self.identity = Protected(identity)
        isOfOneProcess = !engine.traits.features.contains(.multiProcess)
        cache = isOfOneProcess ? WriterCache() : nil
    }

    /// The registry entry of an engine, open or not.
    private final class RegistryEntry {
        /// Held while the engine is opened or closed, so that callers never receive a half-open engine. Other engines are not affected.
        let lock = Lock(.engineOpening)
        /// Guarded by the entry's lock.
        var handle: EngineHandle?
        /// The number of callers that open or release the engine, and the open engine. Guarded by the registry's lock.
        var userCount = 0
    }

    /// An identity, compared by its bytes: two paths that differ only in the composition of a character can be two files.
    private struct RegistryKey: Hashable {
        private let bytes: [UInt8]
        init(_ identity: String) { bytes = Array(identity.utf8) }
    }

    private static let registry = Protected<[RegistryKey: RegistryEntry]>([:])

    /// Runs a closure with exclusive access to the registry entry of an engine.
    private static func withEntry<Result>(_ identity: String, _ body: (RegistryEntry) throws -> Result) rethrows -> Result {
        let key = RegistryKey(identity)
        let entry = registry.withLock { entries in
            let entry = entries[key] ?? RegistryEntry()
            entries[key] = entry
            entry.userCount += 1
            return entry
        }
        defer {
            registry.withLock { entries in
                entry.userCount -= 1
                if entry.userCount == 0 { entries[key] = nil }
            }
        }
        return try entry.lock.withLock {
            let wasOpen = entry.handle != nil
            defer {
                let isOpen = entry.handle != nil
                if isOpen != wasOpen { registry.withLock { _ in entry.userCount += isOpen ? 1 : -1 } }
            }
            return try body(entry)
        }
    }

    /// Returns the engine with an identity, and opens it if this process has not.
    /// - Parameters:
    ///   - identity: A value that is equal for all paths of one store, such as device and inode, and differs from that of every other engine.
    ///   - isReadOnly: Whether the caller only reads. An engine that is open for writing also serves readers.
    ///   - make: Opens the engine. Called only if this process has not opened it.
    /// - Throws: `busy` if the engine is open read-only and the caller writes; the errors of `make`.
    public static func shared(_ identity: String, isReadOnly: Bool, make: () throws -> any OrderedEngine) throws -> EngineHandle {
        try withEntry(identity) { entry in
            if let handle = entry.handle {
                try handle.process.check(handle.engine.location)
                guard isReadOnly || !handle.isReadOnly else {
                    throw StoreError(
                        .busy, "\(handle.engine.location) is open for reading only in this process; close that store first.",
                        location: handle.engine.location)
                }
                handle.retain()
                return handle
            }
            let handle = EngineHandle(try make(), isReadOnly: isReadOnly, identity: identity)
            entry.handle = handle
            return handle
        }
    }

    /// The number of resets of the store through this handle, including failed ones.
    var resetCount: Int { resets.load(ordering: .acquiring) }

    /// Counts a reset. Call it with the write lock held, before the store is emptied.
    func countReset() { resets.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// Checks that a snapshot shows the store that was opened, and not one that has replaced it. Costs a load if only this process can reset the store, and a
    /// `get` otherwise.
    /// - Throws: `differentStoreAtURL`.
    func check(_ layout: StoreLayout, _ snapshot: any EngineSnapshot) throws {
        // The count is incremented before the reset is committed, so a snapshot taken before this check cannot show the reset.
        if isOfOneProcess, resetCount == layout.resets { return }
        try layout.checkIdentity(snapshot)
    }

    /// Records whether the store has the journal of an unfinished migration. Call it with the write lock held, or before the store is used.
    func setHasJournal(_ value: Bool) { hasJournal.store(value, ordering: .releasing) }

    /// Checks that a writer shows the store that was opened, and that the store has no unfinished migration.
    /// - Throws: ``UnfinishedMigration``; the errors of ``check(_:_:)``.
    func checkMayWrite(_ layout: StoreLayout, _ writer: any EngineWriter) throws {
        try check(layout, writer)
        if isOfOneProcess, !hasJournal.load(ordering: .acquiring) { return }
        if try writer.get(MigrationJournal.key) != nil { throw UnfinishedMigration() }
    }

    /// A Boolean value that indicates whether other stores or transactions of this process use the engine.
    var hasOtherUsers: Bool { lock.withLock { users > 1 } }

    func retain() { lock.withLock { users += 1 } }

    /// Releases one use of the engine. The last release closes it.
    public func release() {
        guard process.isCurrent else { return }
        let hasOthers = lock.withLock {
            if users > 1 { users -= 1 } else { return false }
            return true
        }
        if hasOthers { return }
        guard let identity = identity.withLock({ $0 }) else {
            if lock.withLock({ leave() }) { engine.close() }
            return
        }
        // With exclusive access to the registry entry, so that no caller receives an engine that is being closed.
        Self.withEntry(identity) { entry in
            guard lock.withLock({ leave() }) else { return }
            entry.handle = nil
            engine.close()
        }
    }

    /// Compacts the store; see ``OrderedEngine/compact()``. Other writers of this process wait only if the engine replaces its file.
    func compact() throws {
        guard let engine = engine as? any FileReplacingEngine, let old = identity.withLock({ $0 }) else { return try engine.compact() }
        try lockWriting()
        defer { unlockWriting() }
        try engine.compact { new, replace in
            // Both names lead to this engine while the file is being replaced, so that the process does not open it again.
            Self.registry.withLock { $0[RegistryKey(new)] = $0[RegistryKey(old)] }
            do { try replace() } catch {
                Self.registry.withLock { $0[RegistryKey(new)] = nil }
                throw error
            }
            identity.withLock { $0 = new }
            Self.registry.withLock { $0[RegistryKey(old)] = nil }
        }
    }

    private func leave() -> Bool {
        users -= 1
        return users == 0
    }

    /// Waits for the write lock, which one writer of this process at a time holds. An engine with a write lock of its own needs it too: to make room, it ends
    /// its transaction and begins another, and no other writer of this process may run in between.
    /// - Parameters:
    ///   - isMigration: Whether the lock is for a migration, for which other writers wait only for a limited time.
    ///   - isCancelled: Asked at the beginning and polled during the wait.
    /// - Throws: `busy` if a migration takes too long, `cancelled`.
    func lockWriting(isMigration: Bool = false, isCancelled: (() -> Bool)? = nil) throws {
        func check() throws {
            if let isCancelled, isCancelled() { throw StoreError(.cancelled, "The work was cancelled.", location: engine.location) }
        }
        try lock.withLock {
            try check()
            var deadline: Deadline?
            while isWriting {
                try check()
                guard isMigrating || isCancelled != nil else {
                    lock.wait()
                    continue
                }
                if isMigrating {
                    let end = deadline ?? Deadline(after: engine.traits.migrationTimeout)
                    if end.isPast { throw EngineHandle.isBeingMigrated(engine.location) }
                    deadline = end
                }
                _ = lock.wait(until: Deadline(milliseconds: 20))
            }
            isWriting = true
            isMigrating = isMigration
        }
    }

    /// A Boolean value that indicates whether a store of this process is being migrated.
    var isBeingMigrated: Bool { lock.withLock { isMigrating } }

    static func isBeingMigrated(_ location: String) -> StoreError {
        StoreError(
            .busy, "A migration of \(location) is in progress. Try again when it has ended.", location: location)
    }

    /// Takes the cache of the previous writer. It is discarded unless it is passed to ``unlockWriting(_:)``.
    func takeCache() -> WriterCache? {
        guard let found = cache else { return nil }
        cache = WriterCache()
        return found
    }

    /// Releases the write lock.
    /// - Parameter cache: Facts about the last commit; `nil` if nothing is known.
    func unlockWriting(_ cache: WriterCache? = nil) {
        lock.withLock {
            if let cache { self.cache = cache }
            isWriting = false
            isMigrating = false
            lock.signal()
        }
    }
}
