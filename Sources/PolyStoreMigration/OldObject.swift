import PolyStoreBackend
import PolyStoreKernel

/// An object of a store before its migration. Gives access to its values and relationships by name.
///
/// It is valid until the closure that receives it returns.
public final class OldObject {
    /// The name of the object's entity; in a hierarchy the name of the object's own class in the store.
    public let entityName: String
    /// The row id.
    public let rowID: Int64
    let entity: Entity
    private let values: [Value]
    unowned let work: MappingWork

    init(_ entity: Entity, _ id: Int64, _ record: RecordView, _ work: MappingWork) {
        self.entity = entity
        rowID = id
        values = entity.fields.map { record.value($0) }
        self.work = work
        if let classifier = entity.classifierField, case .text(let name) = values[classifier] {
            entityName = name
        } else {
            entityName = entity.name
        }
    }

    /// The value of an attribute; `nil` for null. An unknown name ends the migration with an error that lists the names.
    public subscript(attribute: String) -> QueryValue? {
        guard let field = entity.field(named: attribute), field.relationship == nil else {
            work.fail(entity.unknownProperty(attribute, "attribute"))
            return nil
        }
        do { return try QueryValue(values[field.index], field.type) } catch {
            work.fail(error)
            return nil
        }
    }

    /// Returns the target of a to-one relationship; `nil` if there is none.
    ///
    /// - Throws: `misuse` if the entity has no to-one relationship with the name; `corrupt`.
    public func object(_ relationship: String) throws -> OldObject? {
        guard let found = entity.relationship(named: relationship), case .foreignKey(let field) = found.storage else {
            throw entity.unknownProperty(relationship, "to-one relationship")
        }
        guard case .integer(let id) = values[field] else { return nil }
        return try work.oldObject(found.destination, id)
    }

    /// Returns the targets of a to-many relationship: in list order if the relationship is ordered, otherwise by row id.
    ///
    /// - Throws: `misuse` if the entity has no to-many relationship with the name; `corrupt`.
    public func objects(_ relationship: String) throws -> [OldObject] {
        guard let found = entity.relationship(named: relationship), found.isToMany else {
            throw entity.unknownProperty(relationship, "to-many relationship")
        }
        let ids = try work.source.related(found, of: [rowID])[rowID]
        return try ids.compactMap { try work.oldObject(found.destination, $0) }
    }

    /// The value of a field.
    func value(_ field: Int) -> Value { values[field] }
}

extension Entity {
    /// Returns the error for a property that the entity does not have.
    func unknownProperty(_ name: String, _ kind: String) -> StoreError {
        let known = (fields.filter { !$0.isHidden }.map(\.name) + relationships.filter(\.isToMany).map(\.name)).joined(separator: ", ")
        return StoreError(
            .misuse, "\(self.name) has no \(kind) \"\(name)\" in this version; its properties are \(known).", entity: self.name,
            attribute: name)
    }
}
