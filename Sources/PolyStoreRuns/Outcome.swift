import PolyStoreBackend

/// A result that is set once, and awaited by any number of tasks.
package final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Protected(State())

    var result: Result<Value, any Error>? { state.withLock { $0.result } }

    func set(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    package var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiting.append(continuation) }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}
