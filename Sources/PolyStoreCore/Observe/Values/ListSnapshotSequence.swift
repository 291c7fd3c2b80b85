/// The states of a list: the current one first, then one after each commit that changes it.
///
/// Each iteration observes the list on its own, from its first `next()` until it ends. A consumer that is slower than the commits gets the newest state.
/// Equal states are not delivered twice in a row. The sequence ends when the task is cancelled or the stack is released, and throws what fetching the list
/// throws.
public struct ListSnapshotSequence<T: Model>: AsyncSequence, Sendable {
    let observation: ListObservation

    public func makeAsyncIterator() -> Iterator { Iterator(steps: ListSteps(observation)) }

    public struct Iterator: AsyncIteratorProtocol {
        var steps: ListSteps

        /// The newest state that differs from the one before; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListSnapshot<T>? {
            while let (old, step) = try await steps.next(isolation: actor) {
                if step.contents != old { return ListSnapshot(step.contents) }
            }
            return nil
        }
    }
}
