import PolyStoreBackend

/// The closures that are called for an event of a stack.
package final class HandlerList: Sendable {
    package init() {}

    private struct State {
        var handlers: [Int: @Sendable () -> Void] = [:]
        var last = 0
        var isFinished = false
    }

    private let state = Protected(State())

    /// Adds a closure. After ``finish()`` it is called immediately.
    /// - Returns: The identifier for ``remove(_:)``.
    package func add(_ handler: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.last += 1
            state.handlers[state.last] = handler
            return state.last
        }
        if id == nil { handler() }
        return id ?? 0
    }

    package func remove(_ id: Int) { state.withLock { _ = $0.handlers.removeValue(forKey: id) } }

    /// Calls all closures, in the order in which they were added.
    package func call() { for handler in inOrder(state.withLock { $0.handlers }) { handler() } }

    /// Calls all closures for the last time.
    package func finish() {
        let handlers = state.withLock { state in
            defer { state.handlers = [:] }
            state.isFinished = true
            return state.handlers
        }
        for handler in inOrder(handlers) { handler() }
    }

    private func inOrder(_ handlers: [Int: @Sendable () -> Void]) -> [@Sendable () -> Void] {
        handlers.sorted { $0.key < $1.key }.map(\.value)
    }
}
