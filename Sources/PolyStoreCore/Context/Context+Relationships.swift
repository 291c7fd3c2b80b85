import PolyStoreBackend

extension Context {
    /// The object that a to-one relationship leads to, as a fault unless it is here already.
    final func target<T: Model>(of object: some Model, _ relationship: Int, _ key: Int64) -> T? {
        let slot = entry(object._$state.slot).destinations[relationship]
        guard isModel(T.self, slot) else { return nil }
        return self.object(T.self, slot, key)
    }

    /// Whether a slot holds objects of a class. It does, unless two classes describe one entity; then nothing is better than a wrong cast.
    private func isModel<T: Model>(_ type: T.Type, _ slot: Int32) -> Bool {
        if entry(slot).type == type { return true }
        core.logger.write(.error, "\(entry(slot).entity.name) is \(entry(slot).type) in this stack, and was asked for as \(type).")
        return false
    }

    /// The objects that a to-many relationship leads to. An accessor cannot throw: what goes wrong is logged and the answer empty.
    final func members<T: Model>(of object: some Model, _ relationship: Int) -> Set<T> {
        let entry = entry(object._$state.slot)
        let slot = entry.destinations[relationship]
        guard isModel(T.self, slot) else { return [] }
        let key = MemberKey(slot: entry.slot, relationship: Int32(relationship), key: object._$state.key)
        do {
            if let keys = memberLists[key] { return Set(try objects(T.self, slot, keys)) }
            var members: [T]
            if case .inverse(let field) = entry.entity.relationships[relationship].storage {
                members = object.isInserted ? [] : try sources(T.self, slot, field, of: object._$state.key)
                if let changes = pendingMembers(key) {
                    members.removeAll { changes.removed.contains($0._$state.key) || changes.added.contains($0._$state.key) }
                    members += changes.added.map { self.object(T.self, slot, $0) }
                }
            } else {
                members = try objects(T.self, slot, try memberKeys(of: object, key))
            }
            memberLists[key] = members.map { $0._$state.key }
            object._$state.flags.insert(.hasMembers)
            return Set(members)
        } catch {
            let error = described(error, entry, object._$state.key)
            core.logger.log(
                error, "reading \(entry.entity.name).\(entry.entity.relationships[relationship].name) of object \(object._$state.key)",
                file: #fileID, line: #line, function: #function)
            return []
        }
    }

    /// The keys that a to-many relationship leads to, without making objects.
    final func memberKeys(of object: some Model, _ key: MemberKey) throws -> [Int64] {
        if let keys = memberLists[key] { return keys }
        let entry = entry(key.slot)
        let relationship = entry.entity.relationships[Int(key.relationship)]
        var keys: [Int64] = []
        if !object.isInserted { keys = try storage(entry.store).related(relationship, of: [key.key])[key.key] }
        if let changes = pendingMembers(key) {
            keys.removeAll { changes.removed.contains($0) || changes.added.contains($0) }
            keys += changes.added
        }
        memberLists[key] = keys
        object._$state.flags.insert(.hasMembers)
        return keys
    }

    /// The objects whose field holds a key: one query gives them all, values included.
    private func sources<T: Model>(_ type: T.Type, _ slot: Int32, _ field: Int, of key: Int64) throws -> [T] {
        let entry = entry(slot)
        let request = FetchRequest(entry.entity, predicate: .compare(FieldReference(entry.entity.fields[field]), .equal, .integer(key)))
        let cursor = try storage(entry.store).fetch(request)
        defer { cursor.close() }
        var found: [T] = []
        try collect(type, entry, slot, cursor, into: &found)
        return found
    }

    /// The objects of some keys. Those whose values are not here yet are read in one query.
    final func objects<T: Model>(_ type: T.Type, _ slot: Int32, _ keys: [Int64]) throws -> [T] {
        var wanted: [Value] = []
        for key in keys {
            if let living = living(type, slot, key), !living._$state.isFault { continue }
            wanted.append(.integer(key))
        }
        let entry = entry(slot)
        var held: [T] = []
        if !wanted.isEmpty {
            let cursor = try storage(entry.store).fetch(FetchRequest(entry.entity, predicate: .oneOf(.objectID, wanted)))
            defer { cursor.close() }
            try collect(type, entry, slot, cursor, into: &held)
        }
        return withExtendedLifetime(held) { keys.map { object(type, slot, $0) } }
    }

    /// The object of an id without its class in hand.
    final func anyObject(_ slot: Int32, _ key: Int64) -> any Model {
        func open<T: Model>(_ type: T.Type) -> any Model { object(type, slot, key) }
        return open(entry(slot).type)
    }
}
