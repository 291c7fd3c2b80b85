import PolyStoreBackend

extension DataStack {
    /// A transaction on an object of the caller's context, of the view above all: `try await stack.perform(editing: jane) { transaction, jane in jane.age += 1 }`.
    ///
    /// The body gets the transaction's own object of the same id; the caller's follows when the commit is done, if its context does.
    /// - Throws: `notFound` where the object is gone, and what ``perform(durability:source:file:line:_:)`` throws.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing object: M, durability: Durability? = nil, source: (any Hashable & Sendable)? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction, M) throws -> T
    ) async throws -> T {
        try await perform(editing: object.objectID, durability: durability, source: source, file: file, line: line, body)
    }

    /// A transaction on one object, on the caller's thread; see ``performAndWait(durability:source:isolation:file:line:_:)``.
    /// - Throws: `notFound` where the object is gone, and what ``performAndWait(durability:source:isolation:file:line:_:)`` throws.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing id: ObjectID<M>, durability: Durability? = nil, source: (any Hashable & Sendable)? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> T
    ) throws -> T {
        try performAndWait(durability: durability, source: source, isolation: isolation, file: file, line: line) { transaction in
            try body(transaction, transaction.edit(id))
        }
    }

    /// The same on an object of the caller's context.
    @discardableResult
    public func performAndWait<M: Model, T: Sendable>(
        editing object: M, durability: Durability? = nil, source: (any Hashable & Sendable)? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction, M) throws -> T
    ) throws -> T {
        try performAndWait(
            editing: object.objectID, durability: durability, source: source, isolation: isolation, file: file, line: line, body)
    }
}
