import PolyStoreBackend
import Synchronization

/// An open engine and who uses it: stores and transactions. It is closed when the last of them is gone, and never opened twice in one process,
/// which several engines do not bear: their locks belong to the process.
public final class EngineHandle: @unchecked Sendable {  // everything mutable is touched under the lock only
    package let engine: any OrderedEngine
    public let isReadOnly: Bool
    let process = OwningProcess()
    private let identity: String?
    /// Whether only this process can empty the store.
    private let isOfOneProcess: Bool
    private let resets = Atomic<Int>(0)
    private let lock = Lock()
    private var users = 1
    private var isWriting = false
    /// Of whoever has the writer's turn; nil where other processes may write.
    private var notes: WriterNotes?

    /// An engine that nobody else can open: in memory.
    public convenience init(private engine: any OrderedEngine) { self.init(engine, isReadOnly: false, identity: nil) }

    private init(_ engine: any OrderedEngine, isReadOnly: Bool, identity: String?) {
        self.engine = engine
        self.isReadOnly = isReadOnly
        self.identity = identity
        isOfOneProcess = !engine.traits.features.contains(.multiProcess)
        notes = isOfOneProcess ? WriterNotes() : nil
    }

    /// The place of one engine in the process, open or not.
    private final class Slot {
        /// Held while the engine is opened or closed, so that nobody gets one that is half open; other engines are not concerned.
        let lock = Lock()
        /// Under the slot's lock.
        var handle: EngineHandle?
        /// Under the registry's lock: callers on their way in or out, and the open engine.
        var interest = 0
    }

    private static let registry = Protected<[String: Slot]>([:])

    /// Works on the slot of an engine, alone.
    private static func withSlot<Result>(_ identity: String, _ body: (Slot) throws -> Result) rethrows -> Result {
        let slot = registry.withLock { slots in
            let slot = slots[identity] ?? Slot()
            slots[identity] = slot
            slot.interest += 1
            return slot
        }
        defer {
            registry.withLock { slots in
                slot.interest -= 1
                if slot.interest == 0 { slots[identity] = nil }
            }
        }
        return try slot.lock.withLock {
            let wasOpen = slot.handle != nil
            defer {
                let isOpen = slot.handle != nil
                if isOpen != wasOpen { registry.withLock { _ in slot.interest += isOpen ? 1 : -1 } }
            }
            return try body(slot)
        }
    }

    /// The engine of a place, opened if this process has not got it open.
    /// - Parameters:
    ///   - identity: the same for every name of one place, as device and inode are, and unlike that of any other engine.
    ///   - isReadOnly: whether only reading is asked for. An engine that is open for writing serves readers too.
    /// - Throws: `busy` where it is open for reading only and writing is asked for; what `make` throws.
    public static func shared(_ identity: String, isReadOnly: Bool, make: () throws -> any OrderedEngine) throws -> EngineHandle {
        try withSlot(identity) { slot in
            if let handle = slot.handle {
                try handle.process.check(handle.engine.place)
                guard isReadOnly || !handle.isReadOnly else {
                    throw StoreError(
                        .busy, "\(handle.engine.place) is open for reading only in this process; close that store first.",
                        url: handle.engine.place)
                }
                handle.retain()
                return handle
            }
            let handle = EngineHandle(try make(), isReadOnly: isReadOnly, identity: identity)
            slot.handle = handle
            return handle
        }
    }

    /// How often the store was emptied through this handle to be made anew, the times that failed included.
    var resetCount: Int { resets.load(ordering: .acquiring) }

    /// To be called with the writer's turn, before the store is emptied.
    func countReset() { resets.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// Makes sure that a snapshot shows the store that was opened, and not one that was made in its place since. Costs a load where only this process
    /// can do that, and a `get` elsewhere.
    /// - Throws: `differentStoreAtURL`.
    func check(_ layout: StoreLayout, _ snapshot: any EngineSnapshot) throws {
        // The count goes up before the reset is committed: a snapshot that was taken before this shows nothing of it.
        if isOfOneProcess, resetCount == layout.resets { return }
        try layout.checkIdentity(snapshot)
    }

    func retain() { lock.withLock { users += 1 } }

    /// One user less; the last one closes the engine.
    public func release() {
        guard process.isCurrent else { return }
        let hasOthers = lock.withLock {
            if users > 1 { users -= 1 } else { return false }
            return true
        }
        if hasOthers { return }
        guard let identity else {
            if lock.withLock({ leave() }) { engine.close() }
            return
        }
        // Alone with the slot, so that nobody takes an engine that is being closed.
        Self.withSlot(identity) { slot in
            guard lock.withLock({ leave() }) else { return }
            slot.handle = nil
            engine.close()
        }
    }

    private func leave() -> Bool {
        users -= 1
        return users == 0
    }

    /// Waits for the one writer's turn. An engine with a writer's lock of its own needs it too: to make room it ends its transaction and begins
    /// another, and no other writer of this process may come in between.
    func takeTurn() {
        lock.withLock {
            while isWriting { lock.wait() }
            isWriting = true
        }
    }

    /// The notes of the writer before. They are gone unless they are handed back with the turn.
    func takeNotes() -> WriterNotes? {
        guard let found = notes else { return nil }
        notes = WriterNotes()
        return found
    }

    /// - Parameter notes: what is true of the last commit; nil: nothing is known.
    func giveTurn(_ notes: WriterNotes? = nil) {
        lock.withLock {
            if let notes { self.notes = notes }
            isWriting = false
            lock.signal()
        }
    }
}
