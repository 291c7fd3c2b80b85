import PolyStoreBackend

/// An asynchronous transaction that waits in the write queue.
struct QueuedTransaction: Sendable {
    let durability: Durability?
    /// Identifies the transaction in order to remove it from the queue.
    let interruption: Interruption?
    /// Called exactly once: with the commit group when the transaction reaches the head of the queue, or with nil if it was removed from the queue.
    /// Retains the stack, so that its stores stay open until the transaction is committed.
    let run: @Sendable (CommitGroup?) -> Void
}
