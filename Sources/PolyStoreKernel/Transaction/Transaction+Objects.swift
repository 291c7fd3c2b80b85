import PolyStoreBackend

extension Transaction {
    /// Creates an object with its default values. Its row id is final.
    /// - Throws: `storeNotFound` if no store contains the entity, `ambiguousStore` if several do and `into` does not name one. Both errors list the
    ///   alternatives.
    public final func create<T: Model>(_ into: Into<T>) throws -> T { try create(T.self, entry(for: into)) }

    /// Creates an object and sets its initial values: `try transaction.create(Into<Person>()) { $0.name = "Jane" }`.
    ///
    /// If the closure throws, the object is deleted.
    @discardableResult
    public final func create<T: Model>(_ into: Into<T>, _ configure: (T) throws -> Void) throws -> T {
        let object = try create(into)
        do { try configure(object) } catch {
            try delete(object)
            throw error
        }
        return object
    }

    /// Creates an object in the only store that contains its entity: `try transaction.create(Person.self)`.
    ///
    /// The form for the usual case of one store; the same as `create(Into<Person>())`. ``Into`` can name the configuration of a store.
    public final func create<T: Model>(_ type: T.Type) throws -> T { try create(type, entry(for: Into<T>())) }

    /// Creates an object in the only store that contains its entity, and sets its initial values.
    @discardableResult
    public final func create<T: Model>(_ type: T.Type, _ configure: (T) throws -> Void) throws -> T { try create(Into<T>(), configure) }

    @usableFromInline
    package final func create<T: Model>(_ type: T.Type, _ entry: StoreEntity) throws -> T {
        if !buffer.isOpen { try checkMutable() }
        if let kind = entry.hierarchy?.entityClass(T.self), kind.isAbstract { throw abstract(kind) }
        let rowID = try access.newRowID(entry)
        let map = identityMap(entry.entityIndex)
        let object = T(_$state: ModelState(map, rowID: rowID))
        object._$state.edit = EditState(isInsert: true)
        map.insert(rowID, object)
        buffer.didCreate(object, entityIndex: Int(entry.entityIndex))
        return object
    }

    func abstract(_ kind: EntityClass) -> StoreError {
        StoreError(
            .misuse, "\(kind.name) is abstract: create one of \(kind.concreteNames.joined(separator: ", ")).", entity: kind.name)
    }

    package func entry<T: Model>(for into: Into<T>) throws -> StoreEntity {
        if mayAdoptStores, let newerTable { update(newerTable) }
        if case .none = into.configuration, let last = buffer.createdEntry, last.type == ObjectIdentifier(T.self) { return last.entry }
        let known = table.byType[ObjectIdentifier(T.self)] ?? []
        let matching: [StoreEntity]
        if case .some(let configuration) = into.configuration {
            matching = known.filter { $0.store.configurationName == configuration }
        } else {
            matching = known
        }
        guard let entry = matching.first else { throw noStore(T.self, in: into.configuration) }
        guard matching.count == 1 else {
            let names = matching.map { $0.store.configurationName.map { "\"\($0)\"" } ?? "nil" }.joined(separator: ", ")
            throw StoreError(
                .ambiguousStore,
                "\(T._$entityName) could be created in \(matching.count) stores; say which: Into<\(T.self)>(configuration) with one of \(names).",
                entity: T._$entityName)
        }
        if case .none = into.configuration { buffer.createdEntry = (ObjectIdentifier(T.self), entry) }
        return entry
    }

    /// Returns the object with an id for editing.
    /// - Throws: `notFound` if it does not exist. ``Context/fetchExisting(_:)-(ObjectID<T>)`` returns nil instead, and ``object(with:)`` does not
    ///   read the store.
    public func edit<T: Model>(_ id: ObjectID<T>) throws -> T {
        guard let object = try fetchExisting(id) else { throw deleted(id) }
        return object
    }

    /// Returns the object with an id without reading the store, to use it as the target of a relationship.
    ///
    ///     person.department = try transaction.object(with: departmentID)
    ///
    /// Returns the registered object with the id, or a fault, which reads its values on first access. If the object does not exist, that access logs
    /// a warning and ``Model/isDeleted`` becomes true. The commit validates that all targets of relationships set in this way exist, with one query
    /// per entity. An object of a class hierarchy is read immediately, because its class may differ from that of the id.
    /// - Throws: `notFound` if this transaction has deleted it; `storeNotFound` if the id belongs to a store of another stack.
    public func object<T: Model>(with id: ObjectID<T>) throws -> T {
        let entityIndex = try entry(of: id).entityIndex
        if let registered = registered(T.self, entityIndex, id.rowID) {
            if registered.isDeleted { throw deleted(id) }
            return registered
        }
        if identityMap(entityIndex).isPolymorphic { return try edit(id) }
        let fault = object(T.self, entityIndex, id.rowID)
        fault._$state.flags.insert(.unverified)
        return fault
    }

    func deleted<T: Model>(_ id: ObjectID<T>) -> StoreError {
        StoreError(.notFound, "\(id) is not in the store: it was deleted.", entity: id.entityName, rowID: id.rowID)
    }

    /// A Boolean value that indicates whether the transaction has changes to write. A value that was set back to the original counts as a change; an
    /// object that was created and deleted does not.
    public var hasChanges: Bool {
        settleMembers()
        return buffer.pending.lazy.map(\.object).contains { entityChanges in
            !entityChanges.deleted.isEmpty || entityChanges.inserted.contains { !$0.isDeleted }
                || entityChanges.updated.contains { !$0.isDeleted && !($0._$state.edit?.mask.isEmpty ?? true) }
        } || !buffer.storeValues.isEmpty
            || (buffer.relationshipChanges.hasLinks || buffer.relationshipChanges.hasOrders)
                && buffer.relationshipChanges.all { _ in true }.contains { !$0.changes.isEmpty }
    }
}
