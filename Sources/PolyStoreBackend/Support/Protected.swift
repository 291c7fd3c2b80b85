/// A value that is accessed only under a lock.
// Without `@usableFromInline`, the methods of a `package` class are not inlined into other modules.
@usableFromInline
package final class Protected<State>: @unchecked Sendable {  // every access to `state` is inside the lock
    // Accessed only under the lock, so exclusivity checks are redundant.
    @exclusivity(unchecked) @usableFromInline var state: State
    @usableFromInline let lock: Lock

    /// - Parameters:
    ///   - state: The value.
    ///   - rank: The place of the lock in the order of locks; see ``Lock/init(_:file:line:)``.
    ///   - file: The source file of the call, for the message about a violation.
    ///   - line: The source line of the call.
    package init(_ state: State, _ rank: LockRank = .leaf, file: StaticString = #fileID, line: UInt = #line) {
        self.state = state
        lock = Lock(rank, file: file, line: line)
    }

    @inlinable @inline(__always)
    package func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T { try lock.withLock { try body(&state) } }

    /// Replaces the value and returns the previous one, which is released after the lock.
    @discardableResult
    package func exchange(_ value: State) -> State {
        withLock { state in
            defer { state = value }
            return state
        }
    }

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
