import PolyStoreBackend
import PolyStoreKernel

extension DynamicObject {
    /// The name of the object's entity; in a hierarchy that of its own subentity.
    public var entityName: String { model.entityClass?.name ?? model.entry.entity.name }

    /// The permanent identity of the object. Sendable; use it to pass the object from one context to another.
    public var id: AnyObjectID { model.anyID }

    /// A Boolean value that indicates whether the object was deleted in this transaction or by a commit that the view shows.
    public var isDeleted: Bool { (model as any Model).isDeleted }

    /// A Boolean value that indicates whether the object was created in this transaction.
    public var isInserted: Bool { (model as any Model).isInserted }

    /// The names of the attributes and relationships of the object, in order of declaration; in a hierarchy those of its own subentity.
    public var propertyNames: [String] { model.names }

    // MARK: Attributes

    /// Returns the value of an attribute or the id of the target of a to-one relationship; nil for null.
    /// - Throws: `misuse` for a name of another kind of property, `notFound` if the object is not in the store, `corrupt` for a value that its type does not have.
    public func value(_ name: String) throws -> QueryValue? {
        let field = try model.field(named: name)
        guard let relationship = field.relationship else { return try QueryValue(model.values[field.index], field.type) }
        return try target(relationship).map { .objectID($0.id) }
    }

    /// The values of all attributes and to-one relationships, by name. Null is omitted.
    /// - Throws: As ``value(_:)``.
    public func values() throws -> QueryRow {
        var row: QueryRow = [:]
        for name in propertyNames where model.entry.entity.field(named: name) != nil { row[name] = try value(name) }
        return row
    }

    /// Sets an attribute. The value must be one of the attribute's type: an integer within its range, any number for a floating-point or decimal attribute that it can represent, a text,
    /// a text with JSON for a Codable attribute.
    /// - Throws: `invalidValue` with the attribute for a value of another type, `misuse` for the name of anything else and outside of a transaction.
    public func set(_ name: String, to value: QueryValue?) throws {
        let field = try model.field(named: name)
        guard field.relationship == nil else { return try setTarget(name, id: value) }
        guard field.index != model.entry.entity.classifierField else { throw model.misuse("has an entity for its whole life", name) }
        guard value != nil || !model.isRequired(field) else { throw model.invalid("is required: it cannot be nil", name) }
        let stored = try value.map { try field.stored($0, of: model) } ?? .null
        try model.checkMayChange(name)
        model.changeField(field.index)
        model.values[field.index] = stored
    }

    /// Sets several attributes and to-one relationships; see ``set(_:to:)-(_,QueryValue?)``.
    public func set(_ values: [String: QueryValue?]) throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { try set(name, to: value) }
    }

    private func setTarget(_ name: String, id: QueryValue?) throws {
        guard let id else { return try set(name, to: nil as DynamicObject?) }
        guard case .objectID(let id) = id, let transaction = model._$state.context as? Transaction else {
            throw model.invalid("needs the id of an object", name)
        }
        try set(name, to: transaction.edit(id))
    }

    // MARK: To-one relationships

    /// Returns the target of a to-one relationship; nil if there is none.
    /// - Throws: `misuse` for the name of anything else, and as ``value(_:)``.
    public func object(_ name: String) throws -> DynamicObject? {
        let relationship = try model.relationship(named: name, isToMany: false)
        return try target(relationship.index)
    }

    private func target(_ relationship: Int) throws -> DynamicObject? {
        func find<S: DynamicModel, T: Model>(_ source: S, _ type: T.Type) -> T? {
            source._$target(of: relationship, source._$toOne(relationship))
        }
        return find(model, model.destination(relationship)) as? DynamicObject
    }

    /// Sets the target of a to-one relationship, and the inverse.
    /// - Throws: `misuse` for the name of anything else, for an object of another entity or context, and outside of a transaction.
    @_disfavoredOverload
    public func set(_ name: String, to target: DynamicObject?) throws {
        let relationship = try model.relationship(named: name, isToMany: false)
        try model.checkMayChange(name)
        try target.map { try model.check($0, relationship) }
        func retarget<S: DynamicModel, T: Model>(_ source: S, _ type: T.Type) {
            if case .foreignKey(let field) = relationship.storage { source.changeField(field) }
            source._$setToOne(
                relationship.index,
                source._$retarget(relationship.index, from: source._$toOne(relationship.index), to: target as! T?))
        }
        retarget(model, model.destination(relationship.index))
    }

    // MARK: To-many relationships

    /// Returns the targets of a to-many relationship, in their order if it is ordered, otherwise in that of their ids.
    /// - Throws: `misuse` for the name of anything else.
    public func objects(_ name: String) throws -> [DynamicObject] {
        let relationship = try model.relationship(named: name, isToMany: true)
        func members<S: DynamicModel, T: Model>(_ source: S, _ type: T.Type) -> [DynamicObject] {
            if relationship.isOrdered { return (source._$members(of: relationship.index) as [T]).compactMap { $0 as? DynamicObject } }
            return (source._$members(of: relationship.index) as Set<T>).sorted { $0._$state.rowID < $1._$state.rowID }.compactMap {
                $0 as? DynamicObject
            }
        }
        return members(model, model.destination(relationship.index))
    }

    /// Replaces the targets of a to-many relationship, and updates the inverses. A list of an ordered relationship keeps the first occurrence of an object.
    /// - Throws: As ``set(_:to:)-(String,DynamicObject?)``.
    public func set(_ name: String, to targets: [DynamicObject]) throws { try change(name, .replace, targets) }

    /// Adds objects to a to-many relationship; at the end of an ordered one. Those that it has already stay where they are.
    /// - Throws: As ``set(_:to:)-(String,DynamicObject?)``.
    public func insert(_ targets: [DynamicObject], into name: String) throws { try change(name, .insert, targets) }

    /// Removes objects from a to-many relationship. Those that it does not have are ignored.
    /// - Throws: As ``set(_:to:)-(String,DynamicObject?)``.
    public func remove(_ targets: [DynamicObject], from name: String) throws { try change(name, .remove, targets) }

    private enum MemberChange { case replace, insert, remove }

    private func change(_ name: String, _ change: MemberChange, _ targets: [DynamicObject]) throws {
        let relationship = try model.relationship(named: name, isToMany: true)
        try model.checkMayChange(name)
        for target in targets { try model.check(target, relationship) }
        func apply<S: DynamicModel, T: Model>(_ source: S, _ type: T.Type) {
            let members = targets.compactMap { $0 as? T }
            switch (change, relationship.isOrdered) {
            case (.replace, false): source._$setMembers(of: relationship.index, to: Set(members))
            case (.replace, true): source._$setMembers(of: relationship.index, to: members)
            case (.insert, false): insert(members, into: &source[_$members: relationship.index])
            case (.insert, true): append(members, to: &source[_$members: relationship.index])
            case (.remove, false): remove(members, from: &source[_$members: relationship.index])
            case (.remove, true): remove(members, fromList: &source[_$members: relationship.index])
            }
        }
        apply(model, model.destination(relationship.index))
    }

    private func insert<T: Model>(_ new: [T], into members: inout Set<T>) { for object in new { members.insert(object) } }
    private func remove<T: Model>(_ old: [T], from members: inout Set<T>) { for object in old { members.remove(object) } }
    private func append<T: Model>(_ new: [T], to members: inout [T]) {
        var known = Set(members.map(ObjectIdentifier.init))
        members += new.filter { known.insert(ObjectIdentifier($0)).inserted }
    }
    private func remove<T: Model>(_ old: [T], fromList members: inout [T]) {
        let removed = Set(old.map(ObjectIdentifier.init))
        members.removeAll { removed.contains(ObjectIdentifier($0)) }
    }
}
