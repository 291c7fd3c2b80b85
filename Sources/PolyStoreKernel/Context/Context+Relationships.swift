import PolyStoreBackend
import PolyStoreCollections

extension Context {
    /// Returns the target of a to-one relationship, as a fault unless it is registered.
    @inlinable
    final func target<T: Model>(of object: some Model, _ relationship: Int, _ rowID: Int64) -> T? {
        let entityIndex = destination(object._$state.entityIndex, relationship)
        guard isModel(T.self, entityIndex) else { return nil }
        return self.object(T.self, entityIndex, rowID)
    }

    @usableFromInline
    final func destination(_ entityIndex: Int32, _ relationship: Int) -> Int32 { entry(entityIndex).destinations[relationship] }

    /// Returns whether an entity index belongs to a class. It does not if two classes describe one entity; an empty result is then safer than an
    /// invalid cast.
    @inlinable
    final func isModel<T: Model>(_ type: T.Type, _ entityIndex: Int32) -> Bool {
        let entry = table.entries[Int(entityIndex)]
        if entry.type == type || entry.isPolymorphic && holds(type, entry) { return true }
        reportClass(type, entityIndex)
        return false
    }

    @usableFromInline
    final func reportClass(_ type: any Model.Type, _ entityIndex: Int32) {
        log(.error, "\(entry(entityIndex).entity.name) is \(entry(entityIndex).type) in this stack, and was asked for as \(type).")
    }

    /// Returns the members of a to-many relationship, sorted if it is ordered. An accessor cannot throw, so errors are logged and the result is
    /// empty.
    ///
    /// The generic part is small and inlinable, so that the concrete class is known where the objects and the set are created.
    @inlinable
    final func members<T: Model>(of object: some Model, _ relationship: Int) -> [T] {
        let key = RelationshipKey(
            entityIndex: object._$state.entityIndex, relationship: Int32(truncatingIfNeeded: relationship), rowID: object._$state.rowID)
        beginReading()
        defer { endReading() }
        do {
            let entityIndex = destination(key.entityIndex, relationship)
            guard isModel(T.self, entityIndex) else { return [] }
            switch try memberSource(key, isInserted: object.isInserted) {
            case .known(let rowIDs): return try objects(T.self, entityIndex, rowIDs)
            case .linked(let rowIDs):
                let members = try objects(T.self, entityIndex, rowIDs)
                object._$state.flags.insert(.hasMembers)
                setMembers(key, rowIDs)
                return members
            case .rows(let cursor, let changes):
                var members: [T] = []
                if let cursor {
                    defer { cursor.close() }
                    try collect(T.self, table.entries[Int(entityIndex)], entityIndex, cursor, into: &members)
                }
                if let changes {
                    members = changes.applied(to: members.map { $0._$state.rowID }).map { self.object(T.self, entityIndex, $0) }
                }
                object._$state.flags.insert(.hasMembers)
                setMembers(key, members.map { $0._$state.rowID })
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
        if graph.memberLists.collections.isEmpty { return nil }
        let key = RelationshipKey(
            entityIndex: object._$state.entityIndex, relationship: Int32(truncatingIfNeeded: relationship), rowID: object._$state.rowID)
        settleMembers(before: key.entityIndex, relationship)
        dropForgottenLists(object._$state.entityIndex)
        guard let found = graph.memberLists.collection(key), !found.isBeingMutated else { return nil }
        return found
    }

    /// The source of the members of a to-many relationship.
    @usableFromInline
    enum MemberSource {
        /// The cached row ids.
        case known([Int64])
        /// The row ids from a link table, including pending changes.
        case linked([Int64])
        /// The rows whose foreign key references the object, with their values, and the pending changes.
        case rows(RecordCursor?, MemberChanges?)
    }

    final func storedSource(_ key: RelationshipKey, isInserted: Bool) throws -> MemberSource {
        dropForgottenLists(key.entityIndex)
        if let rowIDs = graph.memberLists.rowIDs(key) { return .known(rowIDs) }
        let entry = entry(key.entityIndex)
        if entry.store.waitsForServer, !isInserted, let rowIDs = try readAhead(key, entry) { return .known(rowIDs) }
        let relationship = entry.entity.relationships[Int(key.relationship)]
        // Pending positions of a parent transaction are not in the rows.
        guard case .inverse(let field) = relationship.storage, !(relationship.isOrdered && readsPending) else {
            return .linked(try storedRowIDs(key, isInserted: isInserted))
        }
        let source = self.entry(entry.destinations[Int(key.relationship)])
        let request = FetchRequest(
            source.entity, predicate: .compare(FieldReference(source.entity.fields[field]), .equal, .integer(key.rowID)),
            sortKeys: relationship.positionField.map { [SortKey(FieldReference(source.entity.fields[$0]))] } ?? [])
        return .rows(isInserted ? nil : try uninterruptedRows(source.store, request), pendingMembers(key))
    }

    @usableFromInline
    final func report(_ error: any Error, _ key: RelationshipKey) {
        let entry = entry(key.entityIndex)
        core.logger.log(
            described(error, entry, key.rowID),
            "Reading \(entry.entity.name).\(entry.entity.relationships[Int(key.relationship)].name) of object \(key.rowID) failed",
            file: site.file, line: site.line, function: site.kind)
    }

    /// Returns the row ids of the members of a to-many relationship, without creating objects.
    final func memberRowIDs(of object: some Model, _ key: RelationshipKey) throws -> [Int64] {
        dropForgottenLists(key.entityIndex)
        if let rowIDs = graph.memberLists.rowIDs(key) { return rowIDs }
        let rowIDs = try storedRowIDs(key, isInserted: object.isInserted)
        setMembers(key, rowIDs)
        object._$state.flags.insert(.hasMembers)
        return rowIDs
    }

    /// Reads the row ids of the members of a to-many relationship for several objects. Uncached ones are read with one query.
    /// - Parameter rows: Receives the rows of the members if the same query can read them and they are not too many.
    package final func readMembers(
        of objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity, into rows: FetchedRows? = nil
    ) throws {
        dropForgottenLists(entry.entityIndex)
        settleMembers()
        func key(_ object: any Model) -> RelationshipKey {
            RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID)
        }
        let unknown = objects.filter { !$0.isInserted && graph.memberLists.rowIDs(key($0)) == nil }
        guard !unknown.isEmpty else { return }
        let storage = try storage(entry.store)
        let owners = Set(unknown.map { $0._$state.rowID }).sorted()
        let related =
            try rows.flatMap { try memberRows($0, entry, relationship, owners, storage) } ?? storage.related(relationship, of: owners)
        for object in unknown {
            let stored = related[object._$state.rowID]
            setMembers(key(object), pendingMembers(key(object))?.applied(to: stored) ?? stored)
            object._$state.flags.insert(.hasMembers)
        }
    }

    private func storedRowIDs(_ key: RelationshipKey, isInserted: Bool) throws -> [Int64] {
        let entry = entry(key.entityIndex)
        var rowIDs: [Int64] = []
        if !isInserted {
            rowIDs = try storage(entry.store).related(entry.entity.relationships[Int(key.relationship)], of: [key.rowID])[key.rowID]
        }
        return pendingMembers(key)?.applied(to: rowIDs) ?? rowIDs
    }

    /// Returns the objects with the given row ids. Those that are not loaded are read with one query.
    @inlinable
    package final func objects<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowIDs: [Int64]) throws -> [T] {
        beginReading()
        defer { endReading() }
        var wanted: [Int64] = []
        var held: [T] = []
        for rowID in rowIDs {
            if let registered = registered(type, entityIndex, rowID), !registered._$state.isFault { continue }
            if graph.rowsAhead != nil, let object = ahead(type, entityIndex, rowID) { held.append(object) } else { wanted.append(rowID) }
        }
        if !wanted.isEmpty {
            let cursor = try rows(entityIndex, of: wanted, ofProperty: true)
            defer { cursor.close() }
            try collect(type, table.entries[Int(entityIndex)], entityIndex, cursor, into: &held)
        }
        return withExtendedLifetime(held) { rowIDs.map { object(type, entityIndex, $0) } }
    }

    /// Returns the rows with the given row ids.
    /// - Parameter ofProperty: Whether they are the members of a relationship that a property returns.
    @usableFromInline
    package final func rows(_ entityIndex: Int32, of rowIDs: [Int64], ofProperty: Bool = false) throws -> RecordCursor {
        let entry = entry(entityIndex)
        let request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, rowIDs.map { .integer($0) }))
        return try ofProperty ? uninterruptedRows(entry.store, request) : storage(entry.store).fetch(request)
    }

    /// Returns the object with a row id if its class is not statically known.
    final func anyObject(_ entityIndex: Int32, _ rowID: Int64) -> any Model {
        func open<T: Model>(_ type: T.Type) -> any Model { object(type, entityIndex, rowID) }
        return open(entry(entityIndex).type)
    }
}
