/// How a queued transaction has ended.
enum TransactionOutcome {
    /// The changes are committed, or there were none.
    case committed(hadChanges: Bool)
    /// The body of a transaction with an explicit commit did not request it.
    case discarded
    /// Nothing was written, unless the error says otherwise.
    case failed(any Error)

    /// The error of a failed transaction.
    var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}

/// The caller of a queued transaction, or what passes the outcome on to it.
protocol OutcomeReceiver: AnyObject {
    /// Called exactly once: immediately if the outcome does not depend on uncommitted changes, otherwise after their commit. Another thread can call it than the
    /// one that ran the body.
    func receive(_ outcome: TransactionOutcome)
}
