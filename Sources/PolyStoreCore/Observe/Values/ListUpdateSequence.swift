/// The changes of a list: the whole list first, then each change with the list that it leads to.
///
/// Each iteration observes the list on its own, from its first `next()` until it ends. A consumer that is slower than the commits gets one change that
/// leads from the state that it saw last to the newest one. The sequence ends when the task is cancelled or the stack is released, and throws what fetching
/// the list throws.
public struct ListUpdateSequence<T: Model>: AsyncSequence, Sendable {
    let observation: ListObservation

    public func makeAsyncIterator() -> Iterator { Iterator(steps: ListSteps(observation)) }

    public struct Iterator: AsyncIteratorProtocol {
        var steps: ListSteps

        /// The change from the state before to the newest one; nil at the end.
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

/// A state of an observed list and how it differs from the one before.
public struct ListUpdate<T: Model>: Sendable {
    /// The list after the change.
    public let snapshot: ListSnapshot<T>
    /// The change; nil for the first state, which is the whole list.
    public let changes: ListChanges<T>?
}
