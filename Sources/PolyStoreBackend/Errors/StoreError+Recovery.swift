extension StoreError {
    /// The possible response of a caller to an error. Nothing was written, except after ``commitOutcomeUnknown``, if the message says so, and after `io` or `full` in the commit
    /// of an engine in the process: its changes can be visible although they were not flushed.
    public enum Recovery: String, Sendable, Hashable, CaseIterable {
        /// The same operation fails again until the caller, the data or the environment changes.
        case permanent
        /// The store rolled the transaction back because it conflicts with a concurrent one: it is not serializable, or it was part of a deadlock. Run the whole
        /// transaction again, with its reads. The object layer does that itself for the transactions of `perform` and `performAndWait`.
        case retryable
        /// The connection ended before the commit was sent. The next transaction uses another connection.
        case connectionLost
        /// The connection ended after the commit was sent and before its response. The changes are in the store, or none of them is. Read the store before
        /// you write them again.
        case commitOutcomeUnknown
        /// A wait for a lock, for another process or for a server reached its time limit, or an operation reached the limit of its caller. The same operation may succeed later.
        case timedOut
        /// The caller cancelled the operation.
        case cancelled
    }

    /// The possible response of a caller to the error. A backend assigns it; otherwise ``code`` determines it: ``Recovery/timedOut`` for `busy` and `timedOut`,
    /// ``Recovery/cancelled`` for `cancelled`, and ``Recovery/permanent`` for every other code. A `conflict` of a backend whose transaction can be run again is
    /// ``Recovery/retryable``.
    public var recovery: Recovery {
        get { assignedRecovery ?? codeRecovery }
        set { assignedRecovery = newValue == codeRecovery ? nil : newValue }
    }

    private var codeRecovery: Recovery {
        switch code {
        case .busy, .timedOut: .timedOut
        case .cancelled: .cancelled
        default: .permanent
        }
    }

    /// A Boolean value that indicates whether the write transaction of a server in which the error occurred can have ended.
    package var canEndTransaction: Bool { [.retryable, .connectionLost, .commitOutcomeUnknown, .timedOut].contains(recovery) }

    /// Returns the error with another recovery.
    package func withRecovery(_ recovery: Recovery) -> StoreError {
        var error = self
        error.recovery = recovery
        return error
    }

    /// The error of a transaction whose changes were not applied, because the commit of those before it failed. Whether these are in the store is not its concern.
    package var ofPredecessors: StoreError {
        var error = inGroup
        if recovery == .commitOutcomeUnknown { error.recovery = .retryable }
        return error
    }

    /// The error of a transaction whose commit group failed. Another transaction of the group can have caused an error that passes, so it is retryable.
    package var inGroup: StoreError {
        var error = self
        if [.connectionLost, .timedOut].contains(recovery) { error.recovery = .retryable }
        return error
    }
}
