import PolyStoreBackend

// A body of one line often ends with a call that returns an object, such as `create`. The object cannot leave the transaction, so its id is returned.

extension DataStack {
    /// Runs a transaction whose body returns an object, and returns the id of the object:
    ///
    ///     let id = try await stack.perform { transaction in try transaction.create(Into<Person>()) { $0.name = "Jane" } }
    ///
    /// Otherwise the same as ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<M: Model>(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ body: @escaping @Sendable (Transaction) throws -> M
    ) async throws -> ObjectID<M> {
        try await perform(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line
        ) {
            try body($0).objectID
        }
    }

    /// Runs a transaction whose body returns an object, on the caller's thread, and returns the id of the object. Otherwise the same as
    /// ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<M: Model>(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (Transaction) throws -> M
    ) throws -> ObjectID<M> {
        try performAndWait(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, isolation: isolation,
            file: file, line: line
        ) {
            try body($0).objectID
        }
    }

    /// Runs a transaction on one object. Its body returns an object, and this method the id of that object. Otherwise the same as the method whose body
    /// returns a value.
    @discardableResult
    public func perform<M: Model, R: Model>(
        editing id: ObjectID<M>, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction, M) throws -> R
    ) async throws -> ObjectID<R> {
        try await perform(
            editing: id, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file,
            line: line
        ) {
            try body($0, $1).objectID
        }
    }

    /// Runs a transaction on an object of another context. Its body returns an object, and this method the id of that object. Otherwise the same as the
    /// method whose body returns a value.
    @discardableResult
    public func perform<M: Model, R: Model>(
        editing object: M, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction, M) throws -> R
    ) async throws -> ObjectID<R> {
        try await perform(
            editing: object.objectID, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            file: file, line: line,
            body)
    }

    /// Runs a transaction on one object, on the caller's thread. Its body returns an object, and this method the id of that object. Otherwise the same as
    /// the method whose body returns a value.
    @discardableResult
    public func performAndWait<M: Model, R: Model>(
        editing id: ObjectID<M>, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> R
    ) throws -> ObjectID<R> {
        try performAndWait(
            editing: id, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            isolation: isolation, file: file,
            line: line
        ) {
            try body($0, $1).objectID
        }
    }

    /// Runs a transaction on an object of another context, on the caller's thread. Its body returns an object, and this method the id of that object.
    /// Otherwise the same as the method whose body returns a value.
    @discardableResult
    public func performAndWait<M: Model, R: Model>(
        editing object: M, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> R
    ) throws -> ObjectID<R> {
        try performAndWait(
            editing: object.objectID, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            isolation: isolation,
            file: file,
            line: line, body)
    }

    /// Runs a transaction whose body returns an object, and calls back on the main actor with the id of the object. Otherwise the same as
    /// ``perform(asynchronous:durability:sourceIdentifier:retries:timeLimit:file:line:completion:)-((Transaction)->T,_,_,_,_,_,_,_)``.
    public func perform<M: Model>(
        asynchronous body: @escaping @Sendable (Transaction) throws -> M, durability: Durability? = nil,
        sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line,
        completion: @escaping @MainActor @Sendable (Result<ObjectID<M>, any Error>) -> Void
    ) {
        perform(
            asynchronous: { try body($0).objectID }, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries,
            timeLimit: timeLimit,
            file: file, line: line,
            completion: completion)
    }
}
