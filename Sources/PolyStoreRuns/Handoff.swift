import PolyStoreBackend

/// Passes the latest state from a producer to one consumer that awaits it. A slow consumer receives one element that combines
/// the missed ones.
package final class Handoff<Element: Sendable>: Sendable {
    private struct State {
        var pending: Element?
        var isFinished = false
        var error: (any Error)?
        var waiter: CheckedContinuation<Element?, any Error>?
    }

    private let state = Protected(State())

    package init() {}

    /// Updates the next element for the consumer.
    /// - Parameter merge: Receives the pending element, if there is one.
    package func update(_ merge: (inout Element?) -> Void) {
        let resumption: (CheckedContinuation<Element?, any Error>, Element)? = state.withLock { state in
            guard !state.isFinished else { return nil }
            merge(&state.pending)
            guard let waiter = state.waiter, let element = state.pending else { return nil }
            (state.pending, state.waiter) = (nil, nil)
            return (waiter, element)
        }
        resumption?.0.resume(returning: resumption?.1)
    }

    /// Replaces the next element for the consumer. The pending element, if there is one, is released after the lock.
    package func replace(with element: Element) {
        var missed: Element?
        update { pending in
            missed = pending
            pending = element
        }
        withExtendedLifetime(missed) {}
    }

    /// Ends the sequence after the pending element. Later calls have no effect.
    package func finish(throwing error: (any Error)? = nil) {
        let waiter: CheckedContinuation<Element?, any Error>? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            guard let waiter = state.waiter else {
                state.error = error
                return nil
            }
            state.waiter = nil
            return waiter
        }
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: nil) }
    }

    /// A Boolean value that indicates whether no more elements are accepted.
    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Returns the next element; `nil` at the end, and if the calling task is cancelled, which ends the sequence.
    package func next() async throws -> Element? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in take(continuation) }
        } onCancel: {
            discard()
        }
    }

    private func take(_ continuation: CheckedContinuation<Element?, any Error>) {
        let outcome: Result<Element?, any Error>? = state.withLock { state in
            if let element = state.pending {
                state.pending = nil
                return .success(element)
            }
            if let error = state.error {
                state.error = nil
                return .failure(error)
            }
            if state.isFinished || state.waiter != nil { return .success(nil) }
            state.waiter = continuation
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Ends the sequence immediately, discarding the pending element.
    package func discard() {
        let dropped = state.withLock { state in
            defer { (state.pending, state.error) = (nil, nil) }
            return (state.pending, state.error)
        }
        withExtendedLifetime(dropped) {}
        finish()
    }
}
