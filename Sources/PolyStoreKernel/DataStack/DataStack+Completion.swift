import PolyStoreBackend

extension DataStack {
    /// Runs a transaction and calls back on the main actor when it is committed and visible in the view context, or when it was discarded.
    ///
    ///     stack.perform(
    ///         asynchronous: { transaction in try transaction.create(Into<Person>()).objectID },
    ///         completion: { result in print(result) })
    ///
    /// Intended for code without `async`; otherwise use ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    /// - Parameters:
    ///   - body: Runs on a thread of the stack. Its result is Sendable and therefore cannot contain objects; return `objectID`s instead.
    ///   - durability: The durability of the commit; nil uses the durability of the store.
    ///   - sourceIdentifier: A value that is passed to observers of the commit; see ``Commit/sourceIdentifier``.
    ///   - retries: The number of times that the transaction may be run again.
    ///   - timeLimit: The time from the call on after which the transaction is not run any more, and its requests throw `timedOut`; nil for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - completion: Receives the result of the body, or the error of the body or of the commit.
    public func perform<T: Sendable>(
        asynchronous body: @escaping @Sendable (Transaction) throws -> T, durability: Durability? = nil,
        sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line,
        completion: @escaping @MainActor @Sendable (Result<T, any Error>) -> Void
    ) {
        let options = TransactionOptions(durability, sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line)
        core.transact(options, body) { [core] result in
            guard case .failure(let error as StoreError) = result, error.recovery == .retryable, options.retries > 0 else {
                return core.callBack { completion(result) }
            }
            Task { @MainActor in
                do { completion(.success(try await core.transact(options, after: error, body))) } catch { completion(.failure(error)) }
            }
        }
    }

    /// Runs a transaction and calls one of two closures on the main actor, depending on its outcome.
    ///
    /// The form of CoreStore for callers that handle success and failure in different places; the same as
    /// ``perform(asynchronous:durability:sourceIdentifier:retries:timeLimit:file:line:completion:)-((Transaction)->T,_,_,_,_,_,_,_)``, which passes a `Result` to one closure.
    public func perform<T: Sendable>(
        asynchronous body: @escaping @Sendable (Transaction) throws -> T, durability: Durability? = nil,
        sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line,
        success: @escaping @MainActor @Sendable (T) -> Void, failure: @escaping @MainActor @Sendable (any Error) -> Void
    ) {
        perform(
            asynchronous: body, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            file: file, line: line
        ) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }
}
