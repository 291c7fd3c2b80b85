import PolyStoreBackend

extension Context {
    /// Reads the objects that some others lead to: one query for each relationship, whatever the number of objects.
    ///
    /// - Parameter paths: names of relationships, or paths over several.
    /// - Throws: `invalidPredicate` for a name that is no relationship.
    final func prefetch<T: Model>(_ paths: [String], of objects: [T]) throws {
        var bySlot: [Int32: [any Model]] = [:]
        for object in objects { bySlot[object._$state.slot, default: []].append(object) }
        for path in paths {
            let keys = PropertyPath(dotted: path).keys[...]
            for (slot, objects) in bySlot { try follow(keys, slot, objects, areHeld: true) }
        }
    }

    /// - Parameter areHeld: whether the objects are the caller's; otherwise they go when this returns, and only their rows and lists stay.
    private func follow(_ keys: ArraySlice<String>, _ slot: Int32, _ objects: [any Model], areHeld: Bool) throws {
        guard let key = keys.first, !objects.isEmpty else { return }
        let entry = entry(slot)
        guard let relationship = entry.entity.relationship(named: key) else {
            let names = entry.entity.relationships.map(\.name).joined(separator: ", ")
            throw StoreError(
                .invalidPredicate, "\"\(key)\" is no relationship of \(entry.entity.name), so it cannot be fetched ahead. It has \(names).",
                entity: entry.entity.name, attribute: key)
        }
        let destination = entry.destinations[relationship.ordinal]
        let targets =
            relationship.isToMany
            ? try members(of: objects, relationship, entry, areHeld: areHeld)
            : Array(Set(objects.lazy.map { $0._$toOne(relationship.ordinal).id }.filter { $0 != 0 }))
        let rest = keys.dropFirst()
        try readAhead(destination, targets)
        if rest.isEmpty { return }
        func open<D: Model>(_ type: D.Type) throws -> [any Model] { try self.objects(type, destination, targets) }
        try follow(rest, destination, open(self.entry(destination).type), areHeld: false)
    }

    /// Reads the rows of some keys in one query, but for those that are at hand already.
    private func readAhead(_ slot: Int32, _ keys: [Int64]) throws {
        let rows = rowsAhead ?? FetchedRows()
        rowsAhead = rows
        func open<D: Model>(_ type: D.Type) -> [Int64] {
            keys.filter { key in
                if let living = living(type, slot, key), !living._$state.isFault { return false }
                return !rows.contains(ObjectKey(slot: slot, key: key))
            }
        }
        let wanted = open(entry(slot).type)
        if wanted.isEmpty { return }
        let cursor = try self.rows(slot, of: wanted)
        defer { cursor.close() }
        while try cursor.next() { rows.add(ObjectKey(slot: slot, key: cursor.id), cursor.record) }
    }

    /// The keys that a to-many relationship of some objects leads to, each once; remembered for each object.
    private func members(
        of objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity, areHeld: Bool
    ) throws -> [Int64] {
        dropForgottenLists(entry.slot)
        var targets: Set<Int64> = []
        var unknown: [any Model] = []
        for object in objects {
            let key = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
            if let known = memberLists[key] { targets.formUnion(known) } else { unknown.append(object) }
        }
        let related = try related(entry.store, FetchOptions()).related(relationship, of: unknown.map { $0._$state.key })
        for object in unknown {
            let key = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
            let members = related[key.key]
            memberLists[key] = members
            if areHeld { object._$state.flags.insert(.hasMembers) } else { rowsAhead?.lists.insert(key) }
            targets.formUnion(members)
        }
        return targets.sorted()
    }
}
