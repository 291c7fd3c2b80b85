import PolyStoreBackend

/// A value that changes until it is finished, and sequences of its values. A slow consumer receives only the latest value.
package final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var isFinished = false
        var followers: [Int: AsyncStream<Value>.Continuation] = [:]
        var lastFollower = 0
    }

    private let state: Protected<State>

    init(_ value: Value) { state = Protected(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    /// The current value, then each later one until the last.
    package var values: AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id: Int? = state.withLock { state in
                continuation.yield(state.value)
                guard !state.isFinished else { return nil }
                state.lastFollower += 1
                state.followers[state.lastFollower] = continuation
                return state.lastFollower
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        }
    }

    private func remove(_ id: Int) { state.withLock { _ = $0.followers.removeValue(forKey: id) } }

    func set(_ value: Value) {
        let followers = state.withLock { state in
            state.value = value
            return Array(state.followers.values)
        }
        for follower in followers { follower.yield(value) }
    }

    /// Sets the last value and ends all sequences.
    func finish(_ value: Value) {
        let followers = state.withLock { state in
            state.value = value
            state.isFinished = true
            defer { state.followers = [:] }
            return Array(state.followers.values)
        }
        for follower in followers {
            follower.yield(value)
            follower.finish()
        }
    }
}
