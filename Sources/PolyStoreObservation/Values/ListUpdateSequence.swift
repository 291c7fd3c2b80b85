import PolyStoreKernel

/// The changes of a list: the whole list first, then each change with the resulting list.
///
/// Each iteration observes the list independently, from its first `next()` until it ends. A slow consumer receives one change
/// from its last state to the latest one. The sequence ends when the task is cancelled or the stack is released, and throws errors of fetching
/// the list.
public struct ListUpdateSequence<T: Model>: AsyncSequence, Sendable {
    let observation: ListObservation

    public func makeAsyncIterator() -> Iterator { Iterator(steps: ListSteps(observation)) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var steps: ListSteps

        /// Returns the change from the previous state to the latest one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListUpdate<T>? {
            while let (old, step) = try await steps.next(isolation: actor) {
                let snapshot = ListSnapshot<T>(step.contents)
                guard let old else { return ListUpdate(snapshot: snapshot, changes: nil) }
                let delta = step.change(from: old)
                if !delta.isEmpty { return ListUpdate(snapshot: snapshot, changes: ListChanges(delta: delta, new: step.contents)) }
            }
            return nil
        }
    }
}
