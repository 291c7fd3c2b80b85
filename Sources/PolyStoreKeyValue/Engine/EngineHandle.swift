import PolyStoreBackend

/// An open engine and who uses it: stores and transactions. It is closed when the last of them is gone, and never opened twice in one process,
/// which several engines do not bear: their locks belong to the process.
public final class EngineHandle: @unchecked Sendable {  // everything mutable is touched under the lock only
    let engine: any OrderedEngine
    public let isReadOnly: Bool
    private let identity: String?
    private let lock = Lock()
    private var users = 1
    private var isWriting = false

    /// An engine that nobody else can open: in memory.
    public convenience init(private engine: any OrderedEngine) { self.init(engine, isReadOnly: false, identity: nil) }

    private init(_ engine: any OrderedEngine, isReadOnly: Bool, identity: String?) {
        self.engine = engine
        self.isReadOnly = isReadOnly
        self.identity = identity
    }

    private static let registry = Protected<[String: EngineHandle]>([:])

    /// The engine of a place, opened if this process has not got it open.
    /// - Parameters:
    ///   - identity: the same for every name of one place, as device and inode are, and unlike that of any other engine.
    ///   - isReadOnly: whether only reading is asked for. An engine that is open for writing serves readers too.
    /// - Throws: `busy` where it is open for reading only and writing is asked for; what `make` throws.
    public static func shared(_ identity: String, isReadOnly: Bool, make: () throws -> any OrderedEngine) throws -> EngineHandle {
        try registry.withLock { open in
            if let handle = open[identity] {
                guard isReadOnly || !handle.isReadOnly else {
                    throw StoreError(
                        .busy, "\(handle.engine.place) is open for reading only in this process; close that store first.",
                        url: handle.engine.place)
                }
                handle.retain()
                return handle
            }
            let handle = EngineHandle(try make(), isReadOnly: isReadOnly, identity: identity)
            open[identity] = handle
            return handle
        }
    }

    func retain() { lock.withLock { users += 1 } }

    /// One user less; the last one closes the engine.
    public func release() {
        guard let identity else {
            if lock.withLock({ leave() }) { engine.close() }
            return
        }
        // Under the registry's lock, so that nobody takes an engine that is being closed.
        Self.registry.withLock { open in
            guard lock.withLock({ leave() }) else { return }
            open[identity] = nil
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

    func giveTurn() {
        lock.withLock {
            isWriting = false
            lock.signal()
        }
    }
}
