import PolyStoreBackend

extension Transaction {
    /// This transaction's object for one of any context of the stack, to change it.
    /// - Throws: `notFound` where it is gone, or deleted here.
    public func edit<T: Model>(_ object: T) throws -> T {
        guard owns(object) else { return try edit(object.objectID) }
        if object.isDeleted { throw deleted(object.objectID) }
        return object
    }

    /// Deletes every object that matches.
    /// - Returns: how many.
    @discardableResult
    public func deleteAll<T, A: FetchClause<T>, B: FetchClause<T>, C: FetchClause<T>>(
        _ from: From<T>, _ first: A, _ second: B, _ third: C
    ) throws -> Int {
        try deleteAll(from.chain(first, second, third))
    }

    /// Deletes the objects of several ids; those that are gone already are passed over.
    public func delete<T: Model>(_ first: ObjectID<T>, _ second: ObjectID<T>, _ others: ObjectID<T>...) throws {
        try delete([first, second] + others)
    }
}

extension Context {
    /// This context's object for one of any context of the stack; nil if it is gone.
    public func fetchExisting<T: Model>(_ object: T) throws -> T? {
        guard owns(object) else { return try fetchExisting(object.objectID) }
        return object.isDeleted ? nil : object
    }

    /// This context's objects for some of any context of the stack, in their order; those that are gone are left out.
    public func fetchExisting<T: Model, S: Sequence<T>>(_ objects: S) throws -> [T] {
        let objects = Array(objects)
        if objects.allSatisfy(owns) { return objects.filter { !$0.isDeleted } }
        return try fetchExisting(objects.map(\.objectID))
    }
}
