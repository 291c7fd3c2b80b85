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
            for (slot, objects) in bySlot { try follow(keys, slot, objects) }
        }
    }

    private func follow(_ keys: ArraySlice<String>, _ slot: Int32, _ objects: [any Model]) throws {
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
            ? try members(of: objects, relationship, entry)
            : Array(Set(objects.lazy.map { $0._$toOne(relationship.ordinal).id }.filter { $0 != 0 }))
        func open<D: Model>(_ type: D.Type) throws -> [any Model] { try self.objects(type, destination, targets) }
        let found = try open(self.entry(destination).type)
        keep(found)
        try follow(keys.dropFirst(), destination, found)
    }

    /// The keys that a to-many relationship of some objects leads to, each once; remembered for each object.
    private func members(of objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity) throws -> [Int64] {
        var targets: Set<Int64> = []
        var unknown: [any Model] = []
        for object in objects {
            let key = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
            if let known = memberLists.keys(key) { targets.formUnion(known) } else { unknown.append(object) }
        }
        let related = try related(entry.store, FetchOptions()).related(relationship, of: unknown.map { $0._$state.key })
        for object in unknown {
            let key = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
            let members = related[key.key]
            setMembers(key, members)
            object._$state.flags.insert(.hasMembers)
            targets.formUnion(members)
        }
        return targets.sorted()
    }
}
