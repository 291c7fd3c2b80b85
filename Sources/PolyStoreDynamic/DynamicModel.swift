import PolyStoreBackend
import PolyStoreKernel

extension DynamicModel {
    /// The entity in the stack.
    var entry: StoreEntity { _$state.context.entry(_$state.entityIndex) }
    var anyID: AnyObjectID { AnyObjectID(entry: entry, rowID: _$state.rowID) }

    /// The class of the object in the hierarchy that its entity holds; nil for any other entity.
    var entityClass: EntityClass? {
        let entity = entry.entity
        guard let classifier = entity.classifierField else { return nil }
        if _$state.isFault { _$fire(classifier) }
        guard case .text(let name) = values[classifier] else { return nil }
        return entity.classes.first { $0.name == name }
    }

    var names: [String] {
        let entity = entry.entity
        let kind = entityClass
        return entity.description.properties.map(\.name).filter { name in
            if let field = entity.field(named: name) {
                return field.index != entity.classifierField && kind?.fields.contains(field.index) ?? true
            }
            return kind.map { kind in entity.relationship(named: name).map { kind.relationships.contains($0.index) } ?? false } ?? true
        }
    }

    func destination(_ relationship: Int) -> any Model.Type { _$state.context.entry(entry.destinations[relationship]).type }

    // MARK: Checks

    /// Reads the values, if that is still to be done.
    /// - Throws: `notFound` if the store does not contain the object.
    func read(_ field: Int = -1) throws {
        if _$state.isFault { _$fire(field) }
        guard !_$state.isMissing else {
            throw StoreError(
                .notFound, "The values of \(anyID) cannot be read: the store contains no such object.", entity: entry.entity.name,
                rowID: _$state.rowID)
        }
    }

    func field(named name: String) throws -> Field {
        try read()
        guard let field = entry.entity.field(named: name), !field.isHidden, entityClass?.fields.contains(field.index) ?? true else {
            throw unknown(name, "attribute or to-one relationship")
        }
        return field
    }

    func relationship(named name: String, isToMany: Bool) throws -> Relationship {
        try read()
        guard let relationship = entry.entity.relationship(named: name), relationship.isToMany == isToMany,
            entityClass?.relationships.contains(relationship.index) ?? true
        else { throw unknown(name, isToMany ? "to-many relationship" : "to-one relationship") }
        return relationship
    }

    /// Checks that the object is of a transaction that accepts changes, and that it was not deleted.
    func checkMayChange(_ name: String) throws {
        guard let transaction = _$state.context as? Transaction else {
            throw misuse("can be changed in a transaction only: read the object there with edit(_:)", name)
        }
        try transaction.checkMutable()
        guard !isDeleted else {
            throw StoreError(
                .notFound, "\(anyID) was deleted, so \(name) cannot be set.", entity: entry.entity.name, attribute: name,
                rowID: _$state.rowID)
        }
    }

    /// Marks a field as changed.
    func changeField(_ field: Int) { _$willChange(field) }

    /// Checks that an object can be a target of a relationship.
    func check(_ target: DynamicObject, _ relationship: Relationship) throws {
        let (model, destination) = (target.model, _$state.context.entry(entry.destinations[relationship.index]))
        guard model._$state.context === _$state.context else {
            throw misuse("needs an object of the same transaction: read \(target.id) there with edit(_:)", relationship.name)
        }
        guard model._$state.entityIndex == destination.entityIndex else {
            throw misuse("leads to \(destination.entity.name), and \(target.id) is none", relationship.name)
        }
        // Only the class of the inverse is known.
        if let inverse = relationship.inverse, let kind = model.entityClass, !kind.relationships.contains(inverse) {
            let name = destination.entity.relationships[inverse].name
            throw misuse("leads to objects with \(name), and \(target.id) is of \(kind.name), which has none", relationship.name)
        }
        guard !target.isDeleted else { throw misuse("cannot lead to \(target.id), which is deleted", relationship.name) }
    }

    /// Makes a new object one of a class of the hierarchy that its entity holds, without the defaults of other classes.
    func become(_ kind: EntityClass) {
        let entity = entry.entity
        guard let classifier = entity.classifierField else { return }
        changeField(classifier)
        values[classifier] = .text(kind.name)
        for field in entity.fields where field.index != classifier && !kind.fields.contains(field.index) { values[field.index] = .null }
    }

    // MARK: Errors

    private func unknown(_ name: String, _ what: String) -> StoreError {
        let entity = entityClass?.name ?? entry.entity.name
        return StoreError(
            .misuse, "\(entity) has no \(what) \"\(name)\"; it has \(names.joined(separator: ", ")).", entity: entry.entity.name,
            attribute: name)
    }

    func misuse(_ problem: String, _ name: String) -> StoreError {
        StoreError(
            .misuse, "\(entry.entity.name).\(name) \(problem).", entity: entry.entity.name, attribute: name, rowID: _$state.rowID)
    }

    func invalid(_ problem: String, _ name: String) -> StoreError {
        StoreError(
            .invalidValue, "\(entry.entity.name).\(name) \(problem).", entity: entry.entity.name, attribute: name, rowID: _$state.rowID)
    }

    // MARK: Validation

    /// Checks at the commit that each attribute of a new object whose default only the class can compute was assigned; nil counts.
    func checkDefaults() throws {
        guard (self as any Model).isInserted, let mask = _$state.edit?.mask else { return }
        let missing = entry.entity.fields.filter { field in
            field.hasComputedDefault && !mask.contains(field.index) && entityClass?.fields.contains(field.index) ?? true
        }
        guard !missing.isEmpty else { return }
        throw ValidationError(
            missing.map { ValidationError("has a default that only its class can compute: assign a value", attribute: $0.name) })
    }

    /// Returns whether an attribute must have a value. In a hierarchy the attributes of subentities are optional in the entity that holds them.
    func isRequired(_ field: Field) -> Bool {
        guard field.isOptional else { return true }
        return entry.entity.description.hierarchy?.subentities.contains {
            $0.properties.contains(field.name) && $0.required.contains(field.name)
        } ?? false
    }
}
