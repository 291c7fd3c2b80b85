import PolyStoreBackend

extension DataStack {
    /// Runs a transaction on an object of another context, usually the view:
    /// `try await stack.perform(editing: jane) { transaction, jane in jane.age += 1 }`.
    ///
    /// The body receives the transaction's object with the same id. The caller's object is updated after the commit if its context is subscribed to
    /// commits.
    /// - Throws: `notFound` if the object does not exist, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing object: M, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction, M) throws -> T
    ) async throws -> T {
        try await perform(
            editing: object.objectID, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            file: file, line: line,
            body)
    }

    /// Runs a transaction on two or more objects of any classes:
    /// `try await stack.perform(editing: jane, research) { transaction, jane, research in … }`.
    ///
    /// The body receives the transaction's objects with the same ids.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<A: Model, B: Model, each M: Model, T: Sendable>(
        editing first: A, _ second: B, _ others: repeat each M, durability: Durability? = nil,
        sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction, A, B, repeat each M) throws -> T
    ) async throws -> T {
        let (a, b, ids) = (first.objectID, second.objectID, (repeat (each others).objectID))
        return try await perform(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line
        ) {
            transaction in
            try body(transaction, try transaction.edit(a), try transaction.edit(b), repeat try transaction.edit(each ids))
        }
    }

    /// Runs a transaction on several objects of one class, in their order: `try await stack.perform(editing: people) { transaction, people in … }`.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing objects: [M], durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction, [M]) throws -> T
    ) async throws -> T {
        try await perform(
            editing: objects.map(\.objectID), durability: durability, sourceIdentifier: sourceIdentifier, retries: retries,
            timeLimit: timeLimit, file: file,
            line: line, body)
    }

    /// Runs a transaction on the objects with the given ids, in their order.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing ids: [ObjectID<M>], durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction, [M]) throws -> T
    ) async throws -> T {
        try await perform(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line
        ) {
            transaction in
            try body(transaction, try transaction.edit(ids))
        }
    }

    /// Runs a transaction on one object, on the caller's thread; see ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    /// - Throws: `notFound` if the object does not exist, and the errors of ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing id: ObjectID<M>, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> T
    ) throws -> T {
        try performAndWait(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, isolation: isolation,
            file: file, line: line
        ) {
            transaction in
            try body(transaction, transaction.edit(id))
        }
    }

    /// Runs a transaction on an object of another context, on the caller's thread; see ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing object: M, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> T
    ) throws -> T {
        try performAndWait(
            editing: object.objectID, durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit,
            isolation: isolation,
            file: file,
            line: line, body)
    }

    /// Runs a transaction on two or more objects of any classes, on the caller's thread; see
    /// ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<A: Model, B: Model, each M: Model, T: Sendable>(
        editing first: A, _ second: B, _ others: repeat each M, durability: Durability? = nil,
        sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line, _ body: @Sendable (Transaction, A, B, repeat each M) throws -> T
    ) throws -> T {
        let (a, b, ids) = (first.objectID, second.objectID, (repeat (each others).objectID))
        return try performAndWait(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, isolation: isolation,
            file: file, line: line
        ) { transaction in
            try body(transaction, try transaction.edit(a), try transaction.edit(b), repeat try transaction.edit(each ids))
        }
    }

    /// Runs a transaction on several objects of one class, in their order, on the caller's thread; see
    /// ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing objects: [M], durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, [M]) throws -> T
    ) throws -> T {
        try performAndWait(
            editing: objects.map(\.objectID), durability: durability, sourceIdentifier: sourceIdentifier, retries: retries,
            timeLimit: timeLimit,
            isolation: isolation, file: file,
            line: line, body)
    }

    /// Runs a transaction on the objects with the given ids, in their order, on the caller's thread; see
    /// ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    /// - Throws: `notFound` if an object does not exist, and the errors of ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T``.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing ids: [ObjectID<M>], durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, [M]) throws -> T
    ) throws -> T {
        try performAndWait(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, isolation: isolation,
            file: file, line: line
        ) { transaction in
            try body(transaction, try transaction.edit(ids))
        }
    }
}
