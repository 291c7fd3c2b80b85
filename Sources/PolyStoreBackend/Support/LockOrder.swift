import PolyStorePlatform

/// The place of a lock in the order in which a thread takes locks. A thread that holds a lock takes only those after it. `docs/locks.md` lists the locks.
package enum LockRank: Int, Sendable {
    /// `MigrationLocks`: the lock of a store.
    case migration
    /// `WriteQueue`: state.
    case writeQueue
    /// `WaitForGraph`: waits.
    case waits
    /// `CommitSequencer`: state.
    case sequencer
    /// `StackCore`: table.
    case table
    /// `StoreWriteAccess`: byLocation.
    case locations
    /// `StoreWriteAccess`: state.
    case writeAccess
    /// `KeyValueBackend`: lock; `SQLiteIndexBuilder`: lock.
    case backend
    /// `EngineHandle`: the lock of an entry.
    case engineOpening
    /// `EngineHandle`: lock.
    case engine
    /// Every other lock. A thread that holds one takes no other.
    case leaf
}

/// The check of the order of locks in debug builds. A release build has neither the check nor what it stores.
@usableFromInline
package enum LockOrder {
    /// The locks that a thread holds, in the order in which it has taken them.
    private final class Held {
        var locks: [Unmanaged<Lock>] = []
        /// Receives the violations instead of a trap; for tests.
        var handler: ((String) -> Void)?
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            let pointer: UnsafeMutableRawPointer? = pointer
            if let pointer { Unmanaged<Held>.fromOpaque(pointer).release() }
        }
        return key
    }()

    private static var held: Held {
        if let pointer = pthread_getspecific(key) { return Unmanaged<Held>.fromOpaque(pointer).takeUnretainedValue() }
        let new = Held()
        pthread_setspecific(key, Unmanaged.passRetained(new).toOpaque())
        return new
    }

    /// Called before the calling thread takes a lock.
    /// - Returns: true, for use in an assertion. Traps if the thread holds a lock after which this one must not be taken.
    @usableFromInline
    static func willTake(_ lock: Lock) -> Bool {
        #if DEBUG
            let held = held
            if let last = held.locks.last?.takeUnretainedValue(), last.rank.rawValue >= lock.rank.rawValue {
                let message =
                    "A thread that holds the lock of \(last.origin) (\(last.rank)) takes the lock of \(lock.origin) (\(lock.rank)), against the order in docs/locks.md."
                guard let handler = held.handler else { preconditionFailure(message) }
                handler(message)
            }
            held.locks.append(Unmanaged.passUnretained(lock))
        #endif
        return true
    }

    /// Called after the calling thread has released a lock.
    @usableFromInline
    static func didRelease(_ lock: Lock) -> Bool {
        #if DEBUG
            let held = held
            if let index = held.locks.lastIndex(where: { $0.toOpaque() == Unmanaged.passUnretained(lock).toOpaque() }) {
                held.locks.remove(at: index)
            }
        #endif
        return true
    }

    /// Runs a body whose violations on the calling thread are passed to a handler instead of ending the process; for tests.
    package static func reporting<T>(to handler: @escaping (String) -> Void, _ body: () throws -> T) rethrows -> T {
        let held = held
        let before = held.handler
        held.handler = handler
        defer { held.handler = before }
        return try body()
    }
}
