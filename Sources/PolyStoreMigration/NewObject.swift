import PolyStoreBackend
import PolyStoreKernel

/// An object of a store after its migration, which a mapping creates and changes. Gives access to its values and relationships by name.
///
/// It is valid until the closure that creates or receives it returns. It is validated at the end of the batch.
public final class NewObject {
    /// The row id.
    public let rowID: Int64
    let entity: Entity
    private(set) var isInsert: Bool
    private(set) var values: [Value]
    /// The fields that were assigned.
    private(set) var changed = FieldMask()
    private(set) var isDeleted = false
    /// The index of the object in the order in which the mapping created or read the objects of its batch.
    var position = 0
    /// A Boolean value that indicates whether the object has unwritten changes, which the next lookup or the end of the batch writes.
    var isUnwritten = false
    /// The to-one relationships with several candidates in the old version, from which the mapping must choose, by field index.
    var ambiguous: [Int: Relationship] = [:]
    unowned let work: MappingWork

    /// Creates an object that is not in the store yet.
    init(_ entity: Entity, _ id: Int64, values: [Value], _ work: MappingWork) {
        self.entity = entity
        rowID = id
        self.values = values
        isInsert = true
        self.work = work
    }

    /// Creates an object from a record of the new store.
    init(_ entity: Entity, _ id: Int64, _ record: RecordView, _ work: MappingWork) {
        self.entity = entity
        rowID = id
        values = entity.fields.map { record.value($0) }
        isInsert = false
        self.work = work
    }

    /// The name of the object's entity; in a hierarchy the name of the object's own class in the store.
    public var entityName: String {
        if let classifier = entity.classifierField, case .text(let name) = values[classifier] { return name }
        return entity.name
    }

    /// The value of an attribute; `nil` for null. An unknown name, or a value that the attribute's type cannot represent, ends the migration with an error.
    public subscript(attribute: String) -> QueryValue? {
        get {
            guard let field = attributeField(attribute) else { return nil }
            do { return try QueryValue(values[field.index], field.type) } catch {
                work.fail(error)
                return nil
            }
        }
        set {
            guard let field = attributeField(attribute) else { return }
            guard field.index != entity.classifierField else {
                return work.fail(
                    StoreError(
                        .misuse,
                        "The entity of object \(rowID) is \(entityName) and cannot be changed by its attribute \(attribute). Name the entity when the object is copied or inserted.",
                        entity: entityName, attribute: attribute, rowID: rowID))
            }
            guard let newValue else { return assign(field.index, .null) }
            guard isOwn(attribute, field.index) else { return }
            guard let value = ValueConversion.value(newValue, as: field.type) else {
                return work.fail(
                    StoreError(
                        .invalidValue, "\(entity.name).\(attribute) has the type \(field.type.rawValue) and cannot hold \(newValue).",
                        entity: entity.name, attribute: attribute, rowID: rowID))
            }
            assign(field.index, value)
        }
    }

    private func attributeField(_ name: String) -> Field? {
        if let field = entity.field(named: name), field.relationship == nil { return field }
        work.fail(entity.unknownProperty(name, "attribute"))
        return nil
    }

    /// Returns whether the object's class has a property; records an error if it does not.
    private func isOwn(_ property: String, _ field: Int) -> Bool {
        isOwn(property) { $0.fields.contains(field) }
    }

    private func isOwn(_ property: String, _ contains: (EntityClass) -> Bool) -> Bool {
        guard entity.classifierField != nil, let own = entity.classes.first(where: { $0.name == entityName }), !contains(own) else {
            return true
        }
        work.fail(
            StoreError(
                .misuse,
                "Object \(rowID) is of the entity \(entityName), which has no property \"\(property)\". Set the property only in objects whose entityName has it.",
                entity: entityName, attribute: property, rowID: rowID))
        return false
    }

    /// Sets a to-one relationship, and the inverse if there is one.
    ///
    /// - Parameters:
    ///   - relationship: The name of a to-one relationship of the new version.
    ///   - object: The target; `nil` clears the relationship.
    public func set(_ relationship: String, to object: NewObject?) {
        guard let found = entity.relationship(named: relationship), case .foreignKey(let field) = found.storage else {
            return work.fail(entity.unknownProperty(relationship, "to-one relationship"))
        }
        guard object == nil || object?.entity.index == found.destination else {
            return work.fail(mismatch(relationship, found, object))
        }
        guard isOwn(relationship, field) else { return }
        work.attempt { try work.setReference(self, field, found, object) }
    }

    /// Adds an object to a to-many relationship, after its existing objects.
    public func add(_ object: NewObject, to relationship: String) {
        guard let found = entity.relationship(named: relationship), found.isToMany else {
            return work.fail(entity.unknownProperty(relationship, "to-many relationship"))
        }
        guard object.entity.index == found.destination else { return work.fail(mismatch(relationship, found, object)) }
        guard isOwn(relationship, { $0.relationships.contains(found.index) }) else { return }
        work.attempt { try work.add(object, to: found, of: self) }
    }

    private func mismatch(_ relationship: String, _ found: Relationship, _ object: NewObject?) -> StoreError {
        StoreError(
            .misuse,
            "\(entity.name).\(relationship) leads to \(work.plan.target.entities[found.destination].name), not to \(object?.entity.name ?? "nothing").",
            entity: entity.name, attribute: relationship, rowID: rowID)
    }

    func assign(_ field: Int, _ value: Value) {
        values[field] = value
        changed.insert(field)
        ambiguous[field] = nil
        if !isDeleted { work.willWrite(self) }
    }

    func delete() {
        guard !isDeleted else { return }
        isDeleted = true
        work.willWrite(self)
    }

    /// Called when the object's record was written.
    func wasWritten() {
        isInsert = false
        changed = FieldMask()
        isUnwritten = false
    }
}
