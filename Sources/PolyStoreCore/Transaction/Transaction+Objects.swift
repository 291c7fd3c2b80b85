import PolyStoreBackend

extension Transaction {
    /// Makes a new object, with its defaults. Its id is final.
    /// - Throws: `storeNotFound` where no store holds the entity, `ambiguousStore` where several do and `into` names none; both name
    ///   the choices.
    public final func create<T: Model>(_ into: Into<T>) throws -> T { try create(T.self, entry(for: into)) }

    @usableFromInline
    final func create<T: Model>(_ type: T.Type, _ entry: StoreEntity) throws -> T {
        if !isOpen { try checkMutable() }
        if let kind = entry.family?.kind(T.self), kind.isAbstract { throw abstract(kind) }
        let key = try newKey(entry)
        let map = maps[Int(entry.slot)]
        let object = T(_$state: ModelState(map, key: key))
        object._$state.edit = EditState(isInsert: true)
        map.insert(key, object)
        pending[Int(entry.slot)].inserted.append(object)
        didCreate(object)
        return object
    }

    func abstract(_ kind: EntityFamily.Kind) -> StoreError {
        StoreError(
            .misuse, "\(kind.name) is abstract: create one of \(kind.concreteNames.joined(separator: ", ")).", entity: kind.name)
    }

    func entry<T: Model>(for into: Into<T>) throws -> StoreEntity {
        if let newerTable { update(newerTable) }
        if case .none = into.configuration, let last = createdEntry, last.type == ObjectIdentifier(T.self) { return last.entry }
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
        if case .none = into.configuration { createdEntry = (ObjectIdentifier(T.self), entry) }
        return entry
    }

    /// The object of an id, to change it.
    /// - Throws: `notFound` where it is gone; see ``Context/fetchExisting(_:)-(ObjectID<T>)`` for a form that gives nil, and ``object(with:)`` for one
    ///   that does not read.
    public func edit<T: Model>(_ id: ObjectID<T>) throws -> T {
        guard let object = try fetchExisting(id) else { throw deleted(id) }
        return object
    }

    /// The object of an id, without a look into the store: to make a relationship lead to it.
    ///
    ///     person.department = try transaction.object(with: departmentID)
    ///
    /// It is the living object of the id, or a fault, which reads its values when one is asked for. Where the store has no such object a fault says so then:
    /// a warning is logged and ``Model/isDeleted`` is true. The commit makes sure that everything that relationships were made to lead to in this way is there,
    /// with one query for all objects of an entity. An object of a hierarchy of entities is read here, as it may be of another class than the id says.
    /// - Throws: `notFound` where this transaction has deleted it; `storeNotFound` for an id of another stack's store.
    public func object<T: Model>(with id: ObjectID<T>) throws -> T {
        let slot = try entry(of: id).slot
        if let living = living(T.self, slot, id.key) {
            if living.isDeleted { throw deleted(id) }
            return living
        }
        if maps[Int(slot)].isPolymorphic { return try edit(id) }
        let fault = object(T.self, slot, id.key)
        fault._$state.flags.insert(.unverified)
        return fault
    }

    func deleted<T: Model>(_ id: ObjectID<T>) -> StoreError {
        StoreError(.notFound, "\(id) is not in the store: it was deleted.", entity: id.entityName, objectID: id.key)
    }

    /// Deletes an object, with what its relationships' delete rules say. It may be another context's; then this transaction's object of its id is deleted.
    ///
    /// `cascade` and `nullify` take effect at once; a `deny` is judged at commit, so that what it protects may be deleted as well.
    public func delete<T: Model>(_ object: T) throws { try delete([object]) }

    /// Deletes several objects.
    public func delete<T: Model>(_ first: T, _ second: T, _ others: T...) throws { try delete([first, second] + others) }

    public func delete<T: Model, S: Sequence<T>>(_ objects: S) throws {
        let objects = Array(objects)
        // Those of other contexts are looked up here, all at once; one that is gone already is passed over.
        let areOwn = objects.allSatisfy(owns)
        try deleteGraph(areOwn ? objects : doomed(objects.map(\.objectID)))
    }

    /// Deletes the object of an id; nothing happens where it is gone already.
    public func delete<T: Model>(_ id: ObjectID<T>) throws { if let object = try fetchExisting(id) { try delete(object) } }

    /// Deletes the objects of some ids; those that are gone already are passed over. One query reads them all, so this is quicker than a
    /// loop over ``delete(_:)-(ObjectID<T>)``.
    public func delete<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws { try deleteGraph(doomed(ids)) }

    /// Deletes every object that matches.
    /// - Returns: how many.
    @discardableResult
    public func deleteAll<S: FetchSource>(_ source: S) throws -> Int {
        let objects = try fetchAll(source)
        try delete(objects)
        return objects.count
    }

    @discardableResult
    public func deleteAll<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> Int { try deleteAll(from.chain(first)) }

    @discardableResult
    public func deleteAll<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> Int {
        try deleteAll(from.chain(first, second))
    }

    /// Whether anything is to be written. Something that was changed back counts, an object that was created and deleted again does not.
    public var hasChanges: Bool {
        pending.contains { own in
            !own.deleted.isEmpty || own.inserted.contains { !$0.isDeleted }
                || own.updated.contains { !$0.isDeleted && !($0._$state.edit?.mask.isEmpty ?? true) }
        } || !storeValues.isEmpty
            || (memberLog.hasLinks || memberLog.hasOrders) && memberLog.all { _ in true }.contains { !$0.changes.isEmpty }
    }

    final func startEditing(_ object: any Model) -> EditState {
        let slot = Int(object._$state.slot)
        guard isOpen else { return lostEdit(of: object) }
        if let edit = object._$state.edit {
            if edit.isRecorded {
                willTouch(object)
                edit.isRecorded = false
                pending[slot].records?.willChange(edit)
            }
            return edit
        }
        willTouch(object)
        let edit = EditState(isInsert: false)
        object._$state.edit = edit
        pending[slot].updated.append(object)
        return edit
    }

    /// A setter cannot throw, so a change that comes too late is reported to the logger. The edit of the object stays as it is.
    private func lostEdit(of object: any Model) -> EditState {
        tellLost(object)
        didLoseChange(of: object)
        return EditState(isInsert: false)
    }

    final func tellLost(_ object: any Model) {
        if let error = immutability {
            let name = entry(object._$state.slot).entity.name
            log(.error, "A change of \(name) \(object._$state.key) is lost: \(error.message)")
        }
    }
}
