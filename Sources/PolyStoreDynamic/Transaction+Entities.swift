import PolyStoreBackend
import PolyStoreKernel

extension Transaction {
    /// Creates an object of an entity with its default values; in a hierarchy of the named subentity.
    /// - Throws: `storeNotFound` if no open store has the entity, `misuse` if its objects have a class or if it is abstract.
    @discardableResult
    public func create(_ entity: String, _ values: [String: QueryValue?] = [:]) throws -> DynamicObject {
        let entry = try entry(named: entity)
        let kind = entry.entity.entityClass(named: entity)
        if let kind, kind.isAbstract {
            throw StoreError(
                .misuse, "\(entity) is abstract: create one of \(kind.concreteNames.joined(separator: ", ")).", entity: entity)
        }
        func create<T: Model>(_ type: T.Type) throws -> T { try self.create(type, entry) }
        let object: any Model = try create(entry.type)
        guard let object = object as? any DynamicModel else { throw StoreError(.misuse, "\(entity) has a class.", entity: entity) }
        if let kind { object.become(kind) }
        do { try object.set(values) } catch {
            try delete(object)
            throw error
        }
        return object
    }

    /// Returns the object with an id for editing.
    /// - Throws: `notFound` if it does not exist, and the errors of ``Context/fetchExisting(_:)-(AnyObjectID)``.
    public func edit(_ id: AnyObjectID) throws -> DynamicObject {
        guard let object = try fetchExisting(id) else {
            throw StoreError(.notFound, "\(id) is not in the store: it was deleted.", entity: id.entityName, rowID: id.rowID)
        }
        return object
    }

    /// Deletes an object, and others as its delete rules demand.
    public func delete(_ object: DynamicObject) throws {
        // Not one object, which would be this method again.
        func delete<T: DynamicModel>(_ model: T) throws { try self.delete(CollectionOfOne(model)) }
        try delete(object.model)
    }

    /// Deletes objects, and others as their delete rules demand.
    public func delete(_ objects: [DynamicObject]) throws { for object in objects where !object.isDeleted { try delete(object) } }

    /// Deletes the objects of a query, and others as their delete rules demand.
    /// - Returns: The number of objects of the query.
    @discardableResult
    public func deleteAll(_ query: EntityQuery) throws -> Int {
        let entry = try entry(named: query.entity)
        func delete<T: Model>(_ type: T.Type) throws -> Int { try deleteAll(query.chain(type, entry)) }
        return try delete(entry.type)
    }
}
