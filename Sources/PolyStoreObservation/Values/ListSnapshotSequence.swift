import PolyStoreKernel

/// The states of a list: the current one first, then one after each commit that changes it.
///
/// Each iteration observes the list independently, from its first `next()` until it ends. A slow consumer receives only the latest state.
/// Equal consecutive states are delivered once. The sequence ends when the task is cancelled or the stack is released, and throws errors of fetching the
/// list.
public struct ListSnapshotSequence<T: Model>: AsyncSequence, Sendable {
    let observation: ListObservation

    public func makeAsyncIterator() -> Iterator { Iterator(steps: ListSteps(observation)) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var steps: ListSteps

        /// Returns the latest state that differs from the previous one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListSnapshot<T>? {
            while let (old, step) = try await steps.next(isolation: actor) {
                if step.contents != old { return ListSnapshot(step.contents) }
            }
            return nil
        }
    }
}
