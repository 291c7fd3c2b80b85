import PolyStoreBackend
import PolyStoreCollections
import PolyStoreConditions
import PolyStoreQuery

extension Context {
    /// Reads related objects with one query per relationship, independent of the number of objects.
    ///
    /// - Parameter paths: names of relationships, or key paths over several.
    /// - Throws: `invalidPredicate` for a name that does not denote a relationship.
    final func prefetch<T: Model>(_ paths: [String], of objects: [T]) throws {
        settleMembers()
        var byEntity: [Int32: [any Model]] = [:]
        for object in objects { byEntity[object._$state.entityIndex, default: []].append(object) }
        for path in paths {
            let keys = PropertyPath(dotted: path).keys[...]
            guard keys.count <= FetchRequest.maximumDepth else {
                throw StoreError(
                    .invalidPredicate,
                    "A path of \(keys.count) relationships to fetch ahead is too long; \(FetchRequest.maximumDepth) are the limit.",
                    entity: T._$entityName)
            }
            for (entityIndex, objects) in byEntity { try follow(keys, entityIndex, objects, areHeld: true) }
        }
    }

    /// - Parameter areHeld: whether the caller retains the objects. Otherwise they are released on return, and only their rows and member lists are
    ///   kept.
    private func follow(_ keys: ArraySlice<String>, _ entityIndex: Int32, _ objects: [any Model], areHeld: Bool) throws {
        guard let key = keys.first, !objects.isEmpty else { return }
        let entry = entry(entityIndex)
        guard let relationship = entry.entity.relationship(named: key) else {
            let names = entry.entity.relationships.map(\.name).joined(separator: ", ")
            throw StoreError(
                .invalidPredicate,
                "\"\(key)\" is not a relationship of \(entry.entity.name), so it cannot be fetched ahead. It has \(names).",
                entity: entry.entity.name, attribute: key)
        }
        let destination = entry.destinations[relationship.index]
        let targets =
            relationship.isToMany
            ? try members(of: objects, relationship, entry, areHeld: areHeld)
            : Array(Set(objects.lazy.map { $0._$toOne(relationship.index).rowID }.filter { $0 != 0 }))
        let rest = keys.dropFirst()
        try readAhead(destination, targets)
        if rest.isEmpty { return }
        func open<D: Model>(_ type: D.Type) throws -> [any Model] { try self.objects(type, destination, targets) }
        try follow(rest, destination, open(self.entry(destination).type), areHeld: false)
    }

    /// Reads the rows of those row ids that are not loaded yet with one query, into the given rows or into those that the program requested. The given rows receive no
    /// more than ``AheadWindow/mostBytes``: the others are read when they are used.
    private func readAhead(_ entityIndex: Int32, _ rowIDs: [Int64], into other: FetchedRows? = nil) throws {
        let asked = graph.rowsAhead ?? FetchedRows()
        graph.rowsAhead = asked
        let rows = other ?? asked
        func open<D: Model>(_ type: D.Type) -> [Int64] {
            rowIDs.filter { rowID in
                if let registered = registered(type, entityIndex, rowID), !registered._$state.isFault { return false }
                return !asked.contains(RowReference(entityIndex: entityIndex, rowID: rowID))
            }
        }
        let wanted = open(entry(entityIndex).type)
        if wanted.isEmpty { return }
        let cursor = try self.rows(entityIndex, of: wanted)
        defer { cursor.close() }
        while rows === asked || rows.byteCount < AheadWindow.mostBytes, try cursor.next() {
            rows.add(RowReference(entityIndex: entityIndex, rowID: cursor.rowID), cursor.record)
        }
    }

    /// Reads the members of a to-many relationship of further loaded objects, if the members that were last read are of the same relationship of another object: a
    /// loop over many objects then sends few calls. Called before the members of an object are read from a store that waits for a server.
    /// - Returns: the row ids of the object's members; nil if they are still to be read.
    final func readAhead(_ key: RelationshipKey, _ entry: StoreEntity) throws -> [Int64]? {
        let loop = RelationshipKey(entityIndex: key.entityIndex, relationship: key.relationship, rowID: 0)
        let count = graph.memberLists.listsToRead(with: key, loop)
        // The lists of a parent transaction are not those of its snapshot.
        guard count > 1, !readsPending else { return nil }
        let relationship = entry.entity.relationships[Int(key.relationship)]
        func memberKey(_ object: any Model) -> RelationshipKey {
            RelationshipKey(entityIndex: key.entityIndex, relationship: key.relationship, rowID: object._$state.rowID)
        }
        let loaded = identityMap(key.entityIndex).objects.compactMap { $0 as? any Model }.filter { object in
            !object.isInserted && !object.isDeleted && !graph.memberLists.contains(memberKey(object))
                && (!entry.isPolymorphic || entry.relationships(of: object).contains(relationship))
        }
        // The object itself is the first one, followed by those with greater row ids.
        func distance(_ object: any Model) -> UInt64 { UInt64(bitPattern: object._$state.rowID &- key.rowID) }
        let next = Array(loaded.sorted { distance($0) < distance($1) }.prefix(count))
        guard next.count > 1, next[0]._$state.rowID == key.rowID else {
            graph.memberLists.windows[loop]?.didFindNone()
            return nil
        }
        let (rows, members) = (FetchedRows(), entry.destinations[relationship.index])
        let readsRows = graph.memberLists.windows[loop]?.readsRows ?? true
        do { try readMembers(of: next, relationship, entry, into: readsRows ? rows : nil) } catch  where interruption?.error != nil {
            return nil
        }
        var targets: Set<Int64> = []
        for object in next { targets.formUnion(graph.memberLists.rowIDs(memberKey(object)) ?? []) }
        let map = identityMap(members)
        let known = targets.count { map.object($0) != nil }
        // The rows of an earlier read are released. They save calls, and the lists are right without them.
        if rows.isEmpty, targets.count < AheadWindow.mostMembers {
            try? readAhead(members, targets.sorted(), into: rows)
        }
        graph.memberLists.windows[loop]?.didRead(lists: next.count, members: targets.count, loaded: known, bytes: rows.byteCount)
        if graph.rowsAhead == nil { graph.rowsAhead = FetchedRows() }
        graph.rowsAhead?.unasked = rows
        return graph.memberLists.rowIDs(key)
    }

    /// Reads the members of several objects with their rows.
    /// - Returns: The lists; nil if they must be read without the rows.
    final func memberRows(
        _ rows: FetchedRows, _ entry: StoreEntity, _ relationship: Relationship, _ owners: [Int64], _ storage: any ReadTransaction
    ) throws -> RelatedIDs? {
        let destination = entry.destinations[relationship.index]
        let found = try storage.related(
            relationship, of: owners, in: self.entry(destination).entity, most: AheadWindow.mostMembers, mostBytes: AheadWindow.mostBytes
        ) {
            rows.add(RowReference(entityIndex: destination, rowID: $0), $1)
        }
        if found == nil { rows.removeAll() }
        return found
    }

    /// Reads the rows of further objects with that of an object: those of faults, of the targets of the to-one relationships that lead to it from loaded objects and, if it is
    /// not the first one of its entity in a loop, of the ids that were fetched with its own. Called before the row of an object is read from a store that waits
    /// for a server. The snapshot keeps the rows. A read that fails is left to the objects that need it.
    final func readAhead(_ entry: StoreEntity, _ rowID: Int64) {
        let loop = RelationshipKey(entityIndex: entry.entityIndex, relationship: -1, rowID: 0)
        guard let reader = try? storage(entry.store) as? any ServerRecords, let server = reader.server,
            !server.isKnown(entry.entity, rowID: rowID),
            case let count = graph.memberLists.windows[loop, default: AheadWindow()].rows(with: rowID), count > 1
        else { return }
        func objects(_ entityIndex: Int32) -> [any Model] { graph.maps[Int(entityIndex)]?.objects.compactMap { $0 as? any Model } ?? [] }
        let fetched = graph.memberLists.windows[loop]?.isAtFirst ?? true ? [] : graph.memberLists.fetchedRowIDs[entry.entityIndex] ?? []
        var wanted = Set(fetched.firstIndex(of: rowID).map { fetched[$0...].prefix(count) } ?? [])
        for source in table.entries where source.store === entry.store {
            let relationships = source.entity.relationships.filter { !$0.isToMany && source.destinations[$0.index] == entry.entityIndex }
            let loaded = relationships.isEmpty ? [] : objects(source.entityIndex).filter { !$0._$state.isFault && !$0.isDeleted }
            for relationship in relationships {
                let sources = source.isPolymorphic ? loaded.filter { source.relationships(of: $0).contains(relationship) } : loaded
                let targets = sources.map { $0._$toOne(relationship.index).rowID }
                if targets.contains(rowID) { wanted.formUnion(targets) }
            }
        }
        for object in objects(entry.entityIndex) {
            if object._$state.isFault { wanted.insert(object._$state.rowID) } else { wanted.remove(object._$state.rowID) }
        }
        wanted.insert(rowID)
        let next = AheadWindow.following(
            rowID, in: wanted.lazy.filter { $0 != 0 && !server.isKnown(entry.entity, rowID: $0) }, count: count)
        guard next.count > 1, let read = try? server.readAhead(entry.entity, rowIDs: next), read.rows > 0 else {
            graph.memberLists.windows[loop]?.didFindNone()
            return
        }
        graph.memberLists.windows[loop]?.didRead(lists: read.rows, members: read.members(of: AheadWindow.mostMembers))
    }

    /// Returns the members of a to-many relationship of several objects, without duplicates, and caches the list of each object.
    private func members(
        of objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity, areHeld: Bool
    ) throws -> [Int64] {
        dropForgottenLists(entry.entityIndex)
        var targets: Set<Int64> = []
        var unknown: [any Model] = []
        for object in objects {
            let key = RelationshipKey(
                entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID)
            if let known = graph.memberLists.rowIDs(key) { targets.formUnion(known) } else { unknown.append(object) }
        }
        let related = try related(entry.store, FetchOptions()).related(relationship, of: unknown.map { $0._$state.rowID })
        for object in unknown {
            let key = RelationshipKey(
                entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID)
            let members = related[key.rowID]
            setMembers(key, members)
            if areHeld { object._$state.flags.insert(.hasMembers) } else { graph.rowsAhead?.lists.insert(key) }
            targets.formUnion(members)
        }
        return targets.sorted()
    }
}
