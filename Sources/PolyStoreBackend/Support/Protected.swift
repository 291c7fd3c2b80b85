/// A value that is accessed only under a lock.
// Without `@usableFromInline`, the methods of a `package` class are not inlined into other modules.
@usableFromInline
package final class Protected<State>: @unchecked Sendable {  // every access to `state` is inside the lock
    // Accessed only under the lock, so exclusivity checks are redundant.
    @exclusivity(unchecked) @usableFromInline var state: State
    @usableFromInline let lock = Lock()

    package init(_ state: State) { self.state = state }

    @inlinable @inline(__always)
    package func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T { try lock.withLock { try body(&state) } }

    /// Waits until `ready` returns true, then calls `body`. Both run under the lock.
    package func wait<T>(until ready: (State) -> Bool, _ body: (inout State) throws -> T) rethrows -> T {
        try lock.withLock {
            while !ready(state) { lock.wait() }
            return try body(&state)
        }
    }

    /// Calls `body` under the lock, then wakes all waiting threads.
    package func signal<T>(_ body: (inout State) throws -> T) rethrows -> T {
        try lock.withLock {
            defer { lock.broadcast() }
            return try body(&state)
        }
    }
}
