import PolyStoreBackend
import PolyStoreCollections

extension Context {
    /// Returns all matching objects, in order.
    @inlinable
    public func fetchAll<S: FetchSource>(_ source: S) throws -> [S.Entity] {
        beginReading()
        defer { endReading() }
        let fetch = try resolve(source.chain)
        if fetch.isSpecial { return try fetchSpecially(fetch) }
        let began = startTiming()
        var found: [S.Entity] = []
        for part in fetch.parts { try fetchPart(part, into: &found) }
        if began != 0 { endTiming(began, fetch) }
        return found
    }

    @inlinable
    final func fetchPart<T: Model>(_ part: ResolvedFetch.Part, into found: inout [T]) throws {
        if try collectRegistered(T.self, part, into: &found) { return }
        let cursor = try open(part)
        defer { cursor.close() }
        try collect(T.self, part.entry, part.entityIndex, cursor, into: &found)
    }

    /// Executes a fetch with less common options.
    @usableFromInline
    final func fetchSpecially<T: Model>(_ fetch: ResolvedFetch) throws -> [T] {
        try limited(fetch.options) { try fetchUnlimited(fetch) }
    }

    private func fetchUnlimited<T: Model>(_ fetch: ResolvedFetch) throws -> [T] {
        let began = startTiming()
        defer { if began != 0 { endTiming(began, fetch) } }
        var found: [T] = []
        if fetch.isMerged {
            found = try fetchMerged(fetch)
        } else if fetch.options.includesPropertyValues || fetch.parts.contains(where: { !mayBeFaults(T.self, $0.entry) }) {
            for part in fetch.parts { try fetchPart(part, into: &found) }
        } else {
            for part in fetch.parts {
                let cursor = try openIDs(part)
                defer { cursor.close() }
                while try cursor.next() { found.append(object(T.self, part.entityIndex, cursor.rowID)) }
            }
        }
        if !fetch.options.prefetch.isEmpty { try prefetch(fetch.options.prefetch, of: found) }
        return found
    }

    /// Returns the first matching object, or nil if none matches.
    @inlinable
    public func fetchOne<S: FetchSource>(_ source: S) throws -> S.Entity? {
        var chain = source.chain
        chain.options.limit = min(chain.options.limit ?? 1, 1)
        return try fetchAll(chain).first
    }

    /// Returns the number of matching objects.
    public func fetchCount<S: FetchSource>(_ source: S) throws -> Int {
        beginReading()
        defer { endReading() }
        let fetch = try resolve(source.chain)
        let began = startTiming()
        defer { if began != 0 { endTiming(began, counting: fetch) } }
        let total = try limited(fetch.options) { try fetch.parts.reduce(0) { try $0 + count($1.entry, $1.request, fetch.options) } }
        guard fetch.isMerged else { return total }
        return max(0, min(fetch.options.limit ?? .max, total - fetch.options.offset))
    }

    /// Returns the ids of all matching objects, in order.
    @inlinable
    public func fetchObjectIDs<S: FetchSource>(_ source: S) throws -> [ObjectID<S.Entity>] {
        beginReading()
        defer { endReading() }
        let fetch = try resolve(source.chain)
        guard !fetch.isMerged, let entry = fetch.parts.first?.entry else { return try fetchAll(source).map { $0.objectID } }
        return try rowIDs(fetch).map { ObjectID(entry: entry, rowID: $0) }
    }

    /// Returns the row ids of a fetch in one store.
    @usableFromInline
    final func rowIDs(_ fetch: ResolvedFetch) throws -> [Int64] {
        try limited(fetch.options) { try unlimitedRowIDs(fetch) }
    }

    private func unlimitedRowIDs(_ fetch: ResolvedFetch) throws -> [Int64] {
        let began = startTiming()
        defer { if began != 0 { endTiming(began, fetch) } }
        var found: [Int64] = []
        for part in fetch.parts {
            var request = part.request
            request.onlyIDs = true
            let cursor = try rows(part.entry, request, fetch.options)
            defer { cursor.close() }
            while try cursor.next() { found.append(cursor.rowID) }
            if part.entry.store.waitsForServer { graph.memberLists.fetchedRowIDs[part.entityIndex] = AheadWindow.kept(found) }
        }
        return found
    }

    /// Returns the id of the first matching object, or nil if none matches.
    public func fetchObjectID<S: FetchSource>(_ source: S) throws -> ObjectID<S.Entity>? {
        try fetchObjectIDs(source.chain.limit(min(source.chain.options.limit ?? 1, 1))).first
    }

    /// Executes a fetch and describes its execution: access path, conditions evaluated by the engine, residual predicate, numbers of examined and
    /// returned rows. The text is for people; ``plans(_:)-(S)`` is for programs.
    public func explain<S: FetchSource>(_ source: S) throws -> String {
        let fetch = try resolve(source.chain)
        return try zip(fetch.parts, plans(fetch)).map { "store \($0.entry.store.url)\n\($1)" }.joined(separator: "\n")
    }

    /// Executes a fetch and returns the plan for each store that it reads, for programs; ``explain(_:)-(S)`` returns a text. Pending changes of a transaction are not included in the statistics.
    public func plans<S: FetchSource>(_ source: S) throws -> [QueryPlan] {
        try plans(resolve(source.chain))
    }

    private func plans(_ fetch: ResolvedFetch) throws -> [QueryPlan] {
        beginReading()
        defer { endReading() }
        return try limited(fetch.options) { try fetch.parts.map { try storage($0.entry.store).explained($0.request) } }
    }
}

extension Context {
    @usableFromInline
    package final func resolve<T: Model>(_ chain: FetchChain<T>) throws -> ResolvedFetch {
        let entries = try entries(of: chain.from)
        var options = chain.options
        try options.validate(T._$entityName)
        let isMerged = entries.count > 1
        // Each of several stores must return the first offset + limit rows.
        let limit = isMerged ? options.limit.map { Int(clamping: $0.magnitude + options.offset.magnitude) } : options.limit
        let parts = try entries.map { entry in
            ResolvedFetch.Part(
                entry: entry, entityIndex: entry.entityIndex,
                request: FetchRequest(
                    entry.entity, predicate: try predicate(chain, entry),
                    sortKeys: try chain.order?.keys(self, entry) ?? [], limit: limit, offset: isMerged ? 0 : options.offset),
                options: options)
        }
        if !isMerged { options.offset = 0 }
        return ResolvedFetch(parts: parts, options: options)
    }

    /// Returns the predicate of a fetch for an entity, including the class condition in a class hierarchy.
    final func predicate<T: Model>(_ chain: FetchChain<T>, _ entry: StoreEntity) throws -> QueryPredicate {
        let asked = try chain.condition?.predicate(self, entry) ?? .all
        guard let hierarchy = entry.hierarchy,
            let kind = hierarchy.condition(T.self, includesSubentities: chain.options.includesSubentities)
        else { return asked }
        return asked == .all ? kind : .and([kind, asked])
    }

    /// Returns the entities of a `From` clause, one per store.
    package final func entries<T: Model>(of from: From<T>) throws -> [StoreEntity] {
        if let newerTable { update(newerTable) }
        let known = table.byType[ObjectIdentifier(T.self)] ?? []
        guard let configurations = from.configurations else {
            guard !known.isEmpty else { throw noStore(T.self, in: nil) }
            return known
        }
        guard let first = configurations.first else {
            throw StoreError(
                .storeNotFound, "From is given an empty list of configurations; name one, or leave the list out to read every store.",
                entity: T._$entityName)
        }
        // Each store once, in the order of the first occurrence of its configuration.
        var found: [StoreEntity] = []
        for name in configurations {
            for entry in known where entry.store.configurationName == name && !found.contains(where: { $0 === entry }) {
                found.append(entry)
            }
        }
        guard !found.isEmpty else { throw noStore(T.self, in: .some(first)) }
        return found
    }

    final func noStore<T: Model>(_ type: T.Type, in configuration: String??) -> StoreError {
        let holders = (table.byType[ObjectIdentifier(type)] ?? []).map { $0.store.configurationName.map { "\"\($0)\"" } ?? "default" }
        if let problem = T._$hierarchy?.problem(of: T.self) { return problem }
        let message: String
        switch configuration {
        case .none:
            message =
                table.openStores.isEmpty
                ? "The stack has no store yet; add one with addStore before \(T._$entityName) is used."
                : "No store of the stack holds \(T._$entityName); add one whose configuration has it."
        case .some(let name):
            message =
                "No store of configuration \(name.map { "\"\($0)\"" } ?? "default") holds \(T._$entityName); "
                + (holders.isEmpty ? "no store does." : "these do: \(holders.joined(separator: ", ")).")
        }
        return StoreError(.storeNotFound, message, entity: T._$entityName)
    }

    @usableFromInline
    package final func open(_ part: ResolvedFetch.Part) throws -> RecordCursor { try rows(part.entry, part.request, part.options) }

    /// Creates objects from rows, reusing registered objects.
    /// - Parameter most: the maximum number of objects to append.
    @inlinable
    package final func collect<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ entityIndex: Int32, _ cursor: RecordCursor, into found: inout [T], most: Int = .max
    ) throws {
        if entry.isPolymorphic { return try collectRelatives(type, entry, cursor, into: &found, most: most) }
        let map = identityMap(entityIndex)
        let before = found.count
        var registered = 0
        map.beginBatch()
        defer {
            map.endBatch()
            map.noteFetch(registered: registered, of: found.count &- before)
        }
        while found.count < most, try cursor.next() {
            let rowID = cursor.rowID
            if let known = map.object(rowID) {
                let object = unsafeDowncast(known, to: type)
                if object._$state.isFault { try fill(object, entry, rowID, cursor.record) } else { registered &+= 1 }
                found.append(object)
                continue
            }
            found.append(try make(type, entry, map, rowID, cursor.record))
        }
    }

    /// Creates an object that is not registered yet.
    @inlinable @inline(__always)
    final func make<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ map: IdentityMap, _ rowID: Int64, _ record: RecordView
    ) throws -> T {
        do {
            let object = try T(_$state: ModelState(map, rowID: rowID), decoding: record)
            map.insert(rowID, object)
            return object
        } catch {
            throw described(error, entry, rowID)
        }
    }

    /// Loads the values of a fault from a row.
    @usableFromInline
    final func fill(_ object: some Model, _ entry: StoreEntity, _ rowID: Int64, _ record: RecordView) throws {
        do {
            if entry.isPolymorphic { try checkKind(object, entry, record) }
            try object._$load(record)
            object._$state.flags.remove(.fault)
        } catch {
            throw described(error, entry, rowID)
        }
    }
}

extension Context {
    /// Returns this context's object with an id, or nil if it does not exist in the store.
    @inlinable
    public func fetchExisting<T: Model>(_ id: ObjectID<T>) throws -> T? {
        beginReading()
        defer { endReading() }
        let entry = try entry(of: id)
        if let registered = registered(T.self, entry.entityIndex, id.rowID) {
            if registered._$state.isFault { try look(up: registered, entry) }
            return registered.isDeleted ? nil : registered
        }
        guard let record = try record(entry, id.rowID) else { return nil }
        if entry.isPolymorphic { return try relative(T.self, entry, identityMap(entry.entityIndex), id.rowID, record) }
        return try make(T.self, entry, identityMap(entry.entityIndex), id.rowID, record)
    }

    /// Reads the values of a fault and marks it as deleted if it does not exist.
    @usableFromInline
    package final func look(up object: some Model, _ entry: StoreEntity) throws {
        beginReading()
        defer { endReading() }
        guard let record = try record(entry, object._$state.rowID) ?? undoneRecord(entry, object._$state.rowID) else {
            object._$state.flags.remove(.fault)
            object._$state.flags.formUnion([.missing, .deleted])
            return
        }
        try fill(object, entry, object._$state.rowID, record)
    }

    @usableFromInline
    package final func record(_ entry: StoreEntity, _ rowID: Int64) throws -> RecordView? {
        if let rowsAhead = graph.rowsAhead, let record = rowsAhead.record(RowReference(entityIndex: entry.entityIndex, rowID: rowID), entry)
        {
            return record
        }
        if entry.store.waitsForServer { readAhead(entry, rowID) }
        return try storage(entry.store).record(entry.entity, rowID: rowID)
    }

    /// Returns this context's objects with the given ids, in their order. Missing ones are omitted.
    public func fetchExisting<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [T] {
        beginReading()
        defer { endReading() }
        let ids = Array(ids)
        // Reads unregistered objects with one query per store.
        var wanted: [Int32: [Int64]] = [:]
        for id in ids {
            let entry = try entry(of: id)
            let registered = registered(T.self, entry.entityIndex, id.rowID)
            if registered == nil || registered?._$state.isFault == true { wanted[entry.entityIndex, default: []].append(id.rowID) }
        }
        var held: [T] = []
        for (entityIndex, rowIDs) in wanted {
            let entry = entry(entityIndex)
            let request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, rowIDs.map { .integer($0) }))
            let cursor = try storage(entry.store).fetch(request)
            defer { cursor.close() }
            try collect(T.self, entry, entityIndex, cursor, into: &held)
        }
        return try withExtendedLifetime(held) {
            try ids.compactMap { id in
                guard let object = registered(T.self, try entry(of: id).entityIndex, id.rowID), !object._$state.isFault, !object.isDeleted
                else {
                    return nil
                }
                return object
            }
        }
    }

    /// Returns the entry of this context's stack for an id.
    @inlinable
    package final func entry<T: Model>(of id: ObjectID<T>) throws -> StoreEntity {
        let entityIndex = Int(id.entry.entityIndex)
        guard entityIndex < table.entries.count, table.entries[entityIndex] === id.entry, !table.hasRemoved || table.isOpen(id.entry.store)
        else {
            return try sameEntry(of: id)
        }
        return id.entry
    }

    /// Returns the entry for an id created by another stack or for a newly added store.
    @usableFromInline
    final func sameEntry<T: Model>(of id: ObjectID<T>) throws -> StoreEntity {
        if let newerTable {
            update(newerTable)
            let entityIndex = Int(id.entry.entityIndex)
            if entityIndex < table.entries.count, table.entries[entityIndex] === id.entry, table.isOpen(id.entry.store) { return id.entry }
        }
        if let same = (table.byType[ObjectIdentifier(T.self)] ?? []).first(where: { $0.store.storeID == id.entry.store.storeID }) {
            return same
        }
        throw StoreError(
            .storeNotFound, "\(id) belongs to \(id.entry.store.location), which is not a store of this stack.", entity: id.entityName)
    }
}
