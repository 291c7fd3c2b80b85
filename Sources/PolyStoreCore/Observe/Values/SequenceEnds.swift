import PolyStoreBackend

/// What ends the sequences that keep a context of the stack alive when the stack is released.
final class SequenceEnds: Sendable {
    private struct State {
        var handlers: [Int: @Sendable () -> Void] = [:]
        var last = 0
        var isFinished = false
    }

    private let state = Protected(State())

    /// - Returns: what ``remove(_:)`` takes.
    func add(_ end: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.last += 1
            state.handlers[state.last] = end
            return state.last
        }
        if id == nil { end() }
        return id ?? 0
    }

    func remove(_ id: Int) { state.withLock { _ = $0.handlers.removeValue(forKey: id) } }

    /// Ends all of them, and those that are added later.
    func finish() {
        let handlers = state.withLock { state in
            defer { state.handlers = [:] }
            state.isFinished = true
            return state.handlers
        }
        for (_, end) in handlers.sorted(by: { $0.key < $1.key }) { end() }
    }
}
