import PolyStoreBackend

extension Transaction {
    /// Returns this transaction's object for an object of any context of the stack, for editing.
    /// - Throws: `notFound` if it does not exist or was deleted in this transaction.
    public func edit<T: Model>(_ object: T) throws -> T {
        guard owns(object) else { return try edit(object.objectID) }
        if object.isDeleted { throw deleted(object.objectID) }
        return object
    }

    /// Returns this transaction's object for an optional object, such as the result of a fetch; `nil` for `nil`.
    /// - Throws: `notFound` if it does not exist or was deleted in this transaction.
    @_disfavoredOverload
    public func edit<T: Model>(_ object: T?) throws -> T? { try object.map { try edit($0) } }

    /// Returns this transaction's object with an optional id; `nil` for `nil`.
    /// - Throws: `notFound` if it does not exist or was deleted in this transaction.
    @_disfavoredOverload
    public func edit<T: Model>(_ id: ObjectID<T>?) throws -> T? { try id.map { try edit($0) } }

    /// Returns this transaction's objects with the given ids, in their order. Unregistered objects are read with one query.
    /// - Throws: `notFound` if one does not exist or was deleted in this transaction.
    public func edit<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [T] {
        let ids = Array(ids)
        return try withExtendedLifetime(try fetchExisting(ids)) { try ids.map { try edit($0) } }
    }

    /// Returns this transaction's objects for objects of any context of the stack, in their order.
    /// - Throws: `notFound` if one does not exist or was deleted in this transaction.
    public func edit<T: Model, S: Sequence<T>>(_ objects: S) throws -> [T] { try edit(objects.map(\.objectID)) }
}

extension Context {
    /// Returns this context's object for an object of any context of the stack, or nil if it does not exist.
    public func fetchExisting<T: Model>(_ object: T) throws -> T? {
        guard owns(object) else { return try fetchExisting(object.objectID) }
        return object.isDeleted ? nil : object
    }

    /// Returns this context's objects for objects of any context of the stack, in their order. Missing ones are omitted.
    public func fetchExisting<T: Model, S: Sequence<T>>(_ objects: S) throws -> [T] {
        let objects = Array(objects)
        if objects.allSatisfy(owns) { return objects.filter { !$0.isDeleted } }
        return try fetchExisting(objects.map(\.objectID))
    }
}
