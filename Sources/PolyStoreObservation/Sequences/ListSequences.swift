import PolyStoreKernel

/// The states of a list: the current one first, then one after each commit that changes it.
///
/// Each iteration observes the list independently, from its first `next()` until it ends. A slow consumer receives only the latest state.
/// Equal consecutive states are delivered once. The sequence ends when the task is cancelled or the stack is released, and throws errors of fetching the
/// list.
public struct ListSnapshotSequence<T: Model>: AsyncSequence, Sendable {
    let start: ObservationStart<ListStep>

    public func makeAsyncIterator() -> Iterator {
        var last: ListContents?
        return Iterator(
            elements: ObservedElements(start) { step in
                defer { last = step.contents }
                return step.contents == last ? nil : ListSnapshot(step.contents)
            })
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var elements: ObservedElements<ListStep, ListSnapshot<T>>

        /// Returns the latest state that differs from the previous one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListSnapshot<T>? {
            try await elements.next(isolation: actor)
        }
    }
}

/// The changes of a list: the whole list first, then each change with the resulting list.
///
/// Each iteration observes the list independently, from its first `next()` until it ends. A slow consumer receives one change
/// from its last state to the latest one. The sequence ends when the task is cancelled or the stack is released, and throws errors of fetching
/// the list.
public struct ListUpdateSequence<T: Model>: AsyncSequence, Sendable {
    let start: ObservationStart<ListStep>

    public func makeAsyncIterator() -> Iterator {
        var last: ListContents?
        return Iterator(
            elements: ObservedElements(start) { step in
                defer { last = step.contents }
                let delta = last.map(step.change)
                if delta?.isEmpty == true { return nil }
                return ListUpdate(
                    snapshot: ListSnapshot(step.contents), changes: delta.map { ListChanges(delta: $0, new: step.contents) })
            })
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var elements: ObservedElements<ListStep, ListUpdate<T>>

        /// Returns the change from the previous state to the latest one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListUpdate<T>? {
            try await elements.next(isolation: actor)
        }
    }
}

/// A state of an observed list and its difference from the previous one.
public struct ListUpdate<T: Model>: Sendable, Equatable {
    /// The list after the change.
    public let snapshot: ListSnapshot<T>
    /// The change; nil for the first state, which is the whole list.
    public let changes: ListChanges<T>?
}
