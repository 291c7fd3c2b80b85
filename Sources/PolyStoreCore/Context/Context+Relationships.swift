import PolyStoreBackend

extension Context {
    /// The object that a to-one relationship leads to, as a fault unless it is here already.
    @inlinable
    final func target<T: Model>(of object: some Model, _ relationship: Int, _ key: Int64) -> T? {
        let slot = destination(object._$state.slot, relationship)
        guard isModel(T.self, slot) else { return nil }
        return self.object(T.self, slot, key)
    }

    @usableFromInline
    final func destination(_ slot: Int32, _ relationship: Int) -> Int32 { entry(slot).destinations[relationship] }

    /// Whether a slot holds objects of a class. It does, unless two classes describe one entity; then nothing is better than a wrong cast.
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

    /// The objects that a to-many relationship leads to, in order if it has one. An accessor cannot throw: what goes wrong is logged and the answer empty.
    ///
    /// The generic part is small and inlinable, so that the caller's class is known where the objects and the set are made.
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

    /// The objects of a relationship that was changed in place.
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

    /// Where the objects of a to-many relationship come from.
    @usableFromInline
    enum MemberSource {
        /// Asked for before.
        case known([Int64])
        /// From a link table, own changes included.
        case keys([Int64])
        /// The rows whose to-one relationship leads here, values included, and what this transaction does to them.
        case rows(RecordCursor?, MemberChanges?)
    }

    final func storedSource(_ key: MemberKey, isInserted: Bool) throws -> MemberSource {
        dropForgottenLists(key.slot)
        if let keys = memberLists.keys(key) { return .known(keys) }
        let entry = entry(key.slot)
        let relationship = entry.entity.relationships[Int(key.relationship)]
        // Positions that a parent has still to write are in no row.
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

    /// The keys that a to-many relationship leads to, without making objects.
    final func memberKeys(of object: some Model, _ key: MemberKey) throws -> [Int64] {
        dropForgottenLists(key.slot)
        if let keys = memberLists.keys(key) { return keys }
        let keys = try storedKeys(key, isInserted: object.isInserted)
        setMembers(key, keys)
        object._$state.flags.insert(.hasMembers)
        return keys
    }

    /// Reads the keys that a to-many relationship of some objects leads to, with one query for those that are not known.
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

    /// The objects of some keys. Those whose values are not here yet are read in one query.
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

    /// The rows of some keys.
    @usableFromInline
    final func rows(_ slot: Int32, of keys: [Int64]) throws -> RecordCursor {
        let entry = entry(slot)
        return try storage(entry.store).fetch(FetchRequest(entry.entity, predicate: .oneOf(.objectID, keys.map { .integer($0) })))
    }

    /// The object of an id without its class in hand.
    final func anyObject(_ slot: Int32, _ key: Int64) -> any Model {
        func open<T: Model>(_ type: T.Type) -> any Model { object(type, slot, key) }
        return open(entry(slot).type)
    }
}
