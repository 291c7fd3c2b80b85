import PolyStoreBackend

extension Context {
    /// All objects that match, in order.
    @inlinable
    public func fetchAll<S: FetchSource>(_ source: S) throws -> [S.Entity] {
        let fetch = try resolve(source.chain)
        if fetch.isSpecial { return try fetchSpecially(fetch) }
        var found: [S.Entity] = []
        for part in fetch.parts { try fetchPart(part, into: &found) }
        return found
    }

    @inlinable
    final func fetchPart<T: Model>(_ part: ResolvedFetch.Part, into found: inout [T]) throws {
        if try collectLiving(T.self, part, into: &found) { return }
        let cursor = try open(part)
        defer { cursor.close() }
        try collect(T.self, part.entry, part.slot, cursor, into: &found)
    }

    /// With what is not asked for often.
    @usableFromInline
    final func fetchSpecially<T: Model>(_ fetch: ResolvedFetch) throws -> [T] {
        var found: [T] = []
        if fetch.isMerged {
            found = try fetchMerged(fetch)
        } else if fetch.options.includesPropertyValues || fetch.parts.contains(where: { !mayBeFaults(T.self, $0.entry) }) {
            for part in fetch.parts { try fetchPart(part, into: &found) }
        } else {
            for part in fetch.parts {
                let cursor = try openIDs(part)
                defer { cursor.close() }
                while try cursor.next() { found.append(object(T.self, part.slot, cursor.id)) }
            }
        }
        if !fetch.options.prefetch.isEmpty { try prefetch(fetch.options.prefetch, of: found) }
        return found
    }

    /// The first object that matches; nil if none does.
    @inlinable
    public func fetchOne<S: FetchSource>(_ source: S) throws -> S.Entity? {
        var chain = source.chain
        chain.options.limit = min(chain.options.limit ?? 1, 1)
        return try fetchAll(chain).first
    }

    /// How many objects match.
    public func fetchCount<S: FetchSource>(_ source: S) throws -> Int {
        let fetch = try resolve(source.chain)
        let total = try fetch.parts.reduce(0) { try $0 + count($1.entry, $1.request, fetch.options) }
        guard fetch.isMerged else { return total }
        return max(0, min(fetch.options.limit ?? .max, total - fetch.options.offset))
    }

    /// The ids of all objects that match, in order.
    public func fetchObjectIDs<S: FetchSource>(_ source: S) throws -> [ObjectID<S.Entity>] {
        let fetch = try resolve(source.chain)
        if fetch.isMerged { return try fetchAll(source).map(\.objectID) }
        var found: [ObjectID<S.Entity>] = []
        for part in fetch.parts {
            var request = part.request
            request.onlyIDs = true
            let cursor = try rows(part.entry, request, fetch.options)
            defer { cursor.close() }
            while try cursor.next() { found.append(ObjectID(entry: part.entry, key: cursor.id)) }
        }
        return found
    }

    /// The id of the first object that matches; nil if none does.
    public func fetchObjectID<S: FetchSource>(_ source: S) throws -> ObjectID<S.Entity>? {
        try fetchObjectIDs(source.chain.limit(min(source.chain.options.limit ?? 1, 1))).first
    }

    /// Carries a fetch out and tells how: the way to the rows, what the engine does, what remains, rows looked at and found. A text for
    /// people; see ``plans(_:)`` for programs.
    public func explain<S: FetchSource>(_ source: S) throws -> String {
        try resolve(source.chain).parts.map { part in
            let plan = try storage(part.entry.store).explained(part.request)
            return "store \(part.entry.store.url)\n\(plan)"
        }.joined(separator: "\n")
    }

    /// Carries a fetch out and tells how, a plan for each store that it reads. What a transaction has pending is not in the numbers.
    public func plans<S: FetchSource>(_ source: S) throws -> [QueryPlan] {
        try resolve(source.chain).parts.map { part in try storage(part.entry.store).explained(part.request) }
    }
}

/// A fetch with its stores found: one request each.
@usableFromInline
struct ResolvedFetch {
    @usableFromInline
    struct Part {
        @usableFromInline let entry: StoreEntity
        @usableFromInline let slot: Int32
        let request: FetchRequest
        let options: FetchOptions
    }

    @usableFromInline let parts: [Part]
    let options: FetchOptions
    /// Whether the parts' objects have to be brought into one order and cut.
    @usableFromInline var isMerged: Bool { parts.count > 1 }
    /// Whether it takes more than to make objects of one store's rows.
    @usableFromInline var isSpecial: Bool { isMerged || !options.prefetch.isEmpty || !options.includesPropertyValues }
}

extension Context {
    @usableFromInline
    final func resolve<T: Model>(_ chain: FetchChain<T>) throws -> ResolvedFetch {
        let entries = try entries(of: chain.from)
        var options = chain.options
        try options.validate(T._$entityName)
        let isMerged = entries.count > 1
        // Of several stores each must give the first offset + limit.
        let limit = isMerged ? options.limit.map { Int(clamping: $0.magnitude + options.offset.magnitude) } : options.limit
        let parts = try entries.map { entry in
            ResolvedFetch.Part(
                entry: entry, slot: entry.slot,
                request: FetchRequest(
                    entry.entity, predicate: try predicate(chain, entry),
                    sortKeys: try chain.order?.keys(self, entry) ?? [], limit: limit, offset: isMerged ? 0 : options.offset),
                options: options)
        }
        if !isMerged { options.offset = 0 }
        return ResolvedFetch(parts: parts, options: options)
    }

    /// Which objects of an entity a fetch is about: of a hierarchy those of the class that it names.
    final func predicate<T: Model>(_ chain: FetchChain<T>, _ entry: StoreEntity) throws -> QueryPredicate {
        let asked = try chain.condition?.predicate(self, entry) ?? .all
        guard let family = entry.family,
            let kind = family.condition(T.self, includesSubentities: chain.options.includesSubentities)
        else { return asked }
        return asked == .all ? kind : .and([kind, asked])
    }

    /// The entities that a `From` names, one per store.
    final func entries<T: Model>(of from: From<T>) throws -> [StoreEntity] {
        if let newerTable { update(newerTable) }
        let known = table.byType[ObjectIdentifier(T.self)] ?? []
        guard let configurations = from.configurations else {
            guard !known.isEmpty else { throw noStore(T.self, in: nil) }
            return known
        }
        var found: [StoreEntity] = []
        for name in configurations {
            let matching = known.filter { $0.store.configurationName == name }
            guard !matching.isEmpty else { throw noStore(T.self, in: .some(name)) }
            found += matching
        }
        return found
    }

    final func noStore<T: Model>(_ type: T.Type, in configuration: String??) -> StoreError {
        let holders = (table.byType[ObjectIdentifier(type)] ?? []).map { $0.store.configurationName.map { "\"\($0)\"" } ?? "default" }
        if let problem = T._$hierarchy?.problem(of: T.self) { return problem }
        let message: String
        switch configuration {
        case .none:
            message =
                table.stores.isEmpty
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
    final func open(_ part: ResolvedFetch.Part) throws -> RecordCursor { try rows(part.entry, part.request, part.options) }

    /// Makes objects of rows: the living one where there is one.
    /// - Parameter most: so many objects are found at most.
    @inlinable
    final func collect<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ slot: Int32, _ cursor: RecordCursor, into found: inout [T], most: Int = .max
    ) throws {
        if entry.isPolymorphic { return try collectRelatives(type, entry, cursor, into: &found, most: most) }
        let map = maps[Int(slot)]
        let before = found.count
        var living = 0
        map.beginBatch()
        defer {
            map.endBatch()
            map.noteFetch(living: living, of: found.count &- before)
        }
        while found.count < most, try cursor.next() {
            let key = cursor.id
            if let known = map.object(key) {
                let object = unsafeDowncast(known, to: type)
                if object._$state.isFault { try fill(object, entry, key, cursor.record) } else { living &+= 1 }
                found.append(object)
                continue
            }
            found.append(try make(type, entry, map, key, cursor.record))
        }
    }

    /// Makes an object that is not alive yet.
    @inlinable @inline(__always)
    final func make<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ map: IdentityMap, _ key: Int64, _ record: RecordView
    ) throws -> T {
        do {
            let object = try T(_$state: ModelState(map, key: key), decoding: record)
            map.insert(key, object)
            return object
        } catch {
            throw described(error, entry, key)
        }
    }

    /// Gives a fault its values from a row that is at hand.
    @usableFromInline
    final func fill(_ object: some Model, _ entry: StoreEntity, _ key: Int64, _ record: RecordView) throws {
        do {
            if entry.isPolymorphic { try checkKind(object, entry, record) }
            try object._$load(record)
            object._$state.flags.remove(.fault)
        } catch {
            throw described(error, entry, key)
        }
    }
}

extension Context {
    /// This context's object of an id; nil if the store has none.
    @inlinable
    public func fetchExisting<T: Model>(_ id: ObjectID<T>) throws -> T? {
        let entry = try entry(of: id)
        if let living = living(T.self, entry.slot, id.key) {
            if living._$state.isFault { try look(up: living, entry) }
            return living.isDeleted ? nil : living
        }
        guard let record = try record(entry, id.key) else { return nil }
        if entry.isPolymorphic { return try relative(T.self, entry, maps[Int(entry.slot)], id.key, record) }
        return try make(T.self, entry, maps[Int(entry.slot)], id.key, record)
    }

    /// Reads the values of a fault, for somebody who has asked whether it is there.
    @usableFromInline
    final func look(up object: some Model, _ entry: StoreEntity) throws {
        guard let record = try record(entry, object._$state.key) else {
            object._$state.flags.remove(.fault)
            object._$state.flags.formUnion([.missing, .deleted])
            return
        }
        try fill(object, entry, object._$state.key, record)
    }

    @usableFromInline
    final func record(_ entry: StoreEntity, _ key: Int64) throws -> RecordView? {
        if let rowsAhead, let record = rowsAhead.record(ObjectKey(slot: entry.slot, key: key), entry) { return record }
        return try storage(entry.store).record(entry.entity, id: key)
    }

    /// This context's objects of some ids, in their order; those that are gone are left out.
    public func fetchExisting<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [T] {
        let ids = Array(ids)
        // One query per store for what is not here yet, not one per id.
        var wanted: [Int32: [Int64]] = [:]
        for id in ids {
            let entry = try entry(of: id)
            let living = living(T.self, entry.slot, id.key)
            if living == nil || living?._$state.isFault == true { wanted[entry.slot, default: []].append(id.key) }
        }
        var held: [T] = []
        for (slot, keys) in wanted {
            let entry = entry(slot)
            let request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, keys.map { .integer($0) }))
            let cursor = try storage(entry.store).fetch(request)
            defer { cursor.close() }
            try collect(T.self, entry, slot, cursor, into: &held)
        }
        return try withExtendedLifetime(held) {
            try ids.compactMap { id in
                guard let object = living(T.self, try entry(of: id).slot, id.key), !object._$state.isFault, !object.isDeleted else {
                    return nil
                }
                return object
            }
        }
    }

    /// The entry of this context's stack that an id belongs to.
    @inlinable
    final func entry<T: Model>(of id: ObjectID<T>) throws -> StoreEntity {
        let slot = Int(id.entry.slot)
        return slot < table.entries.count && table.entries[slot] === id.entry ? id.entry : try sameEntry(of: id)
    }

    /// The entry of an id that another stack has made.
    @usableFromInline
    final func sameEntry<T: Model>(of id: ObjectID<T>) throws -> StoreEntity {
        if let newerTable {
            update(newerTable)
            if Int(id.entry.slot) < table.entries.count, table.entries[Int(id.entry.slot)] === id.entry { return id.entry }
        }
        if let same = (table.byType[ObjectIdentifier(T.self)] ?? []).first(where: { $0.store.storeID == id.entry.store.storeID }) {
            return same
        }
        throw StoreError(.storeNotFound, "\(id) belongs to \(id.entry.store.url), which is no store of this stack.", entity: id.entityName)
    }
}
