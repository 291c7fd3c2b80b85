import PolyStoreBackend
import PolyStoreKernel

/// The interface to the old and the new store for the closures of a ``SchemaMapping``.
///
/// It is valid until the closure that receives it returns.
public final class MigrationContext {
    private unowned let work: MappingWork

    init(_ work: MappingWork) { self.work = work }

    /// Creates a new object with the row id of an old one, and the values of the properties that both versions have.
    ///
    /// References to the old object are redirected to its copy. Copying an object to the same entity again returns the first copy.
    /// - Parameters:
    ///   - old: An object of an entity that the mapping transforms.
    ///   - entity: One of the entities that the mapping lists for the object; in a hierarchy, the name of the copy's class.
    /// - Throws: `misuse` for an entity that the mapping does not list.
    @discardableResult
    public func copy(_ old: OldObject, to entity: String) throws -> NewObject { try work.copy(old, to: entity) }

    /// Creates a new object with a new row id. Its attributes have their default values.
    ///
    /// The entity may have objects already. If no transform of the mapping names it, the first change of its objects begins the step again, and all of its
    /// objects are rewritten.
    /// - Parameter entity: The name of an entity of the new version; in a hierarchy, the name of the object's class.
    /// - Throws: `misuse` for an unknown or abstract entity; `full`.
    public func insert(_ entity: String) throws -> NewObject { try work.insert(entity) }

    /// Returns the copy of an old object; `nil` if it has not been copied yet.
    ///
    /// - Parameters:
    ///   - entity: The name of an entity of the new version; that of a subentity finds only copies to it and to its own subentities.
    ///   - old: An object of the old version.
    public func object(_ entity: String, copiedFrom old: OldObject) throws -> NewObject? {
        let target = try work.targetEntity(entity)
        let object = try work.newObject(target, old.rowID &+ work.offset(old.entity.index, target.index))
        guard let object, entity != target.name else { return object }
        return target.classes.first { $0.name == entity }?.concreteNames.contains(object.entityName) ?? false ? object : nil
    }

    /// Returns the first new object, by row id, with a value of an attribute; `nil` if there is none. Uses an index on the attribute if there is one.
    ///
    /// - Parameters:
    ///   - entity: The name of an entity of the new version; that of a subentity finds only its objects and those of its own subentities.
    ///   - attribute: The name of an attribute of the entity.
    ///   - value: The value; `nil` is null.
    public func first(_ entity: String, where attribute: String, equals value: QueryValue?) throws -> NewObject? {
        try work.first(entity, attribute, value)
    }

    /// Deletes a new object. References to it are cleared.
    public func delete(_ object: NewObject) { object.delete() }

    /// Calls a closure for each object of an entity of the old version, in ascending order of the row ids.
    public func forEachOldObject(_ entity: String, _ body: (OldObject) throws -> Void) throws { try work.forEachOldObject(entity, body) }

    /// Returns the number of objects of an entity of the old version.
    public func countOfOldObjects(_ entity: String) throws -> Int { try work.countOfOldObjects(entity) }
}
