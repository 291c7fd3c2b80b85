import PolyStoreBackend

extension Context {
    /// Returns the target of a to-one relationship, as a fault unless it is registered.
    @inlinable
    final func target<T: Model>(of object: some Model, _ relationship: Int, _ key: Int64) -> T? {
        let slot = destination(object._$state.slot, relationship)
        guard isModel(T.self, slot) else { return nil }
        return self.object(T.self, slot, key)
    }

    @usableFromInline
    final func destination(_ slot: Int32, _ relationship: Int) -> Int32 { entry(slot).destinations[relationship] }

    /// Returns whether an entity index belongs to a class. It does not if two classes describe one entity; an empty result is then safer than an
    /// invalid cast.
    @inlinable
    final func isModel<T: Model>(_ type: T.Type, _ slot: Int32) -> Bool {
        let entry = table.entries[Int(slot)]
        if entry.type == type || entry.isPolymorphic && holds(type, entry) { return true }
        reportClass(type, slot)
        return false
    }

    @usableFromInline
    final func reportClass(_ type: any Model.Type, _ slot: Int32) {
        log(.error, "\(entry(slot).entity.name) is \(entry(slot).type) in this stack, and was asked for as \(type).")
    }

    /// Returns the members of a to-many relationship, sorted if it is ordered. An accessor cannot throw, so errors are logged and the result is
    /// empty.
    ///
    /// The generic part is small and inlinable, so that the concrete class is known where the objects and the set are created.
    @inlinable
    final func members<T: Model>(of object: some Model, _ relationship: Int) -> [T] {
        let key = MemberKey(slot: object._$state.slot, relationship: Int32(truncatingIfNeeded: relationship), key: object._$state.key)
        do {
            let slot = destination(key.slot, relationship)
            guard isModel(T.self, slot) else { return [] }
            switch try memberSource(key, isInserted: object.isInserted) {
            case .known(let keys): return try objects(T.self, slot, keys)
            case .keys(let keys):
                let members = try objects(T.self, slot, keys)
                object._$state.flags.insert(.hasMembers)
                setMembers(key, keys)
                return members
            case .rows(let cursor, let changes):
                var members: [T] = []
                if let cursor {
                    defer { cursor.close() }
                    try collect(T.self, table.entries[Int(slot)], slot, cursor, into: &members)
                }
                if let changes {
                    members = changes.applied(to: members.map { $0._$state.key }).map { self.object(T.self, slot, $0) }
                }
                object._$state.flags.insert(.hasMembers)
                setMembers(key, members.map { $0._$state.key })
                return members
            }
        } catch {
            report(error, key)
            return []
        }
    }

    /// Returns the retained collection of a relationship that was changed in place.
    @usableFromInline
    final func collected<T: Model>(_ object: some Model, _ relationship: Int) -> Set<T>? {
        (collection(object, relationship) as? MemberSet<T>)?.members
    }

    @usableFromInline
    final func collected<T: Model>(_ object: some Model, _ relationship: Int) -> [T]? {
        (collection(object, relationship) as? MemberArray<T>)?.members
    }

    private func collection(_ object: some Model, _ relationship: Int) -> MemberCollection? {
        if memberLists.collections.isEmpty { return nil }
        dropForgottenLists(object._$state.slot)
        let key = MemberKey(slot: object._$state.slot, relationship: Int32(truncatingIfNeeded: relationship), key: object._$state.key)
        guard let found = memberLists.collection(key), !found.isOut else { return nil }
        return found
    }

    /// The source of the members of a to-many relationship.
    @usableFromInline
    enum MemberSource {
        /// The cached row ids.
        case known([Int64])
        /// The row ids from a link table, including pending changes.
        case keys([Int64])
        /// The rows whose foreign key references the object, with their values, and the pending changes.
        case rows(RecordCursor?, MemberChanges?)
    }

    final func storedSource(_ key: MemberKey, isInserted: Bool) throws -> MemberSource {
        dropForgottenLists(key.slot)
        if let keys = memberLists.keys(key) { return .known(keys) }
        let entry = entry(key.slot)
        let relationship = entry.entity.relationships[Int(key.relationship)]
        // Pending positions of a parent transaction are not in the rows.
        guard case .inverse(let field) = relationship.storage, !(relationship.isOrdered && readsPending) else {
            return .keys(try storedKeys(key, isInserted: isInserted))
        }
        let source = self.entry(entry.destinations[Int(key.relationship)])
        let request = FetchRequest(
            source.entity, predicate: .compare(FieldReference(source.entity.fields[field]), .equal, .integer(key.key)),
            sortKeys: relationship.positionField.map { [SortKey(FieldReference(source.entity.fields[$0]))] } ?? [])
        return .rows(isInserted ? nil : try storage(source.store).fetch(request), pendingMembers(key))
    }

    @usableFromInline
    final func report(_ error: any Error, _ key: MemberKey) {
        let entry = entry(key.slot)
        core.logger.log(
            described(error, entry, key.key),
            "Reading \(entry.entity.name).\(entry.entity.relationships[Int(key.relationship)].name) of object \(key.key) failed",
            file: site.file, line: site.line, function: site.kind)
    }

    /// Returns the row ids of the members of a to-many relationship, without creating objects.
    final func memberKeys(of object: some Model, _ key: MemberKey) throws -> [Int64] {
        dropForgottenLists(key.slot)
        if let keys = memberLists.keys(key) { return keys }
        let keys = try storedKeys(key, isInserted: object.isInserted)
        setMembers(key, keys)
        object._$state.flags.insert(.hasMembers)
        return keys
    }

    /// Reads the row ids of the members of a to-many relationship for several objects. Uncached ones are read with one query.
    final func readMembers(of objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity) throws {
        dropForgottenLists(entry.slot)
        func key(_ object: any Model) -> MemberKey {
            MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
        }
        let unknown = objects.filter { !$0.isInserted && memberLists.keys(key($0)) == nil }
        guard !unknown.isEmpty else { return }
        let related = try storage(entry.store).related(relationship, of: Set(unknown.map { $0._$state.key }).sorted())
        for object in unknown {
            let stored = related[object._$state.key]
            setMembers(key(object), pendingMembers(key(object))?.applied(to: stored) ?? stored)
            object._$state.flags.insert(.hasMembers)
        }
    }

    private func storedKeys(_ key: MemberKey, isInserted: Bool) throws -> [Int64] {
        let entry = entry(key.slot)
        var keys: [Int64] = []
        if !isInserted {
            keys = try storage(entry.store).related(entry.entity.relationships[Int(key.relationship)], of: [key.key])[key.key]
        }
        return pendingMembers(key)?.applied(to: keys) ?? keys
    }

    /// Returns the objects with the given row ids. Those that are not loaded are read with one query.
    @inlinable
    final func objects<T: Model>(_ type: T.Type, _ slot: Int32, _ keys: [Int64]) throws -> [T] {
        var wanted: [Int64] = []
        var held: [T] = []
        for key in keys {
            if let living = living(type, slot, key), !living._$state.isFault { continue }
            if rowsAhead != nil, let object = ahead(type, slot, key) { held.append(object) } else { wanted.append(key) }
        }
        if !wanted.isEmpty {
            let cursor = try rows(slot, of: wanted)
            defer { cursor.close() }
            try collect(type, table.entries[Int(slot)], slot, cursor, into: &held)
        }
        return withExtendedLifetime(held) { keys.map { object(type, slot, $0) } }
    }

    /// Returns the rows with the given row ids.
    @usableFromInline
    final func rows(_ slot: Int32, of keys: [Int64]) throws -> RecordCursor {
        let entry = entry(slot)
        return try storage(entry.store).fetch(FetchRequest(entry.entity, predicate: .oneOf(.objectID, keys.map { .integer($0) })))
    }

    /// Returns the object with a row id if its class is not statically known.
    final func anyObject(_ slot: Int32, _ key: Int64) -> any Model {
        func open<T: Model>(_ type: T.Type) -> any Model { object(type, slot, key) }
        return open(entry(slot).type)
    }
}
