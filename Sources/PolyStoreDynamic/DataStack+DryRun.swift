import PolyStoreBackend
import PolyStoreKernel

extension DataStack {
    /// Runs a transaction, checks its changes as a commit does, and discards them.
    ///
    ///     let (count, refusal) = try await stack.performDryRun { transaction in
    ///         try transaction.delete(transaction.edit(id))
    ///         return transaction.deletedObjectIDs().count
    ///     }
    ///
    /// The transaction waits for its turn in the write queue. Its changes are validated and applied to the stores, and then reverted: rules, required values, counts, delete rules
    /// and unique values are checked, and nothing is written. After an error with the recovery `retryable` the body is run again; it is run at most six times
    /// altogether.
    /// - Parameters:
    ///   - timeLimit: The time from the call on after which the transaction is not run any more, and its requests throw `timedOut`; nil for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - body: Runs on a thread of the stack.
    /// - Returns: The result of the body, and the error with which a commit would be refused; nil if it would be accepted.
    /// - Throws: the error of the body, `cancelled`, `timedOut`, and the errors of the stores.
    public func performDryRun<T: Sendable>(
        timeLimit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws -> (result: T, refusal: StoreError?) {
        try core.process.check("This stack")
        let interruption = Interruption(timeLimit: timeLimit)
        var options = TransactionOptions(interruption: interruption, site: CallSite("dry run", file: file, line: line), isDryRun: true)
        options.retries = 5
        return try await withTaskCancellationHandler { [options] in
            try await core.awaitingBatchThread { [core] in try core.dryRun(options, body) }
        } onCancel: {
            interruption.cancel()
        }
    }
}

extension StackCore {
    fileprivate func dryRun<T>(_ options: TransactionOptions, _ body: (Transaction) throws -> T) throws -> (result: T, refusal: StoreError?)
    {
        var result: T?
        do {
            try transactAndWait(options, .thread) {
                // The result of an attempt that failed is not that of the next one.
                result = nil
                result = try body($0)
            }
        } catch is DryRunCompleted {
        } catch let error as StoreError where error.refusesChanges {
            guard let result else { throw error }
            return (result, error)
        }
        guard let result else { throw StoreError(.closed, "The dry run has ended without a result.") }
        return (result, nil)
    }
}
