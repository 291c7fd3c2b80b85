import PolyStoreBackend

extension Transaction {
    /// Deletes an object and applies the delete rules of its relationships. If it belongs to another context, this transaction's object with the same
    /// id is deleted.
    ///
    /// `cascade` and `nullify` apply immediately. `deny` is validated at commit, so the objects that it protects may be deleted in the same
    /// transaction.
    public func delete<T: Model>(_ object: T) throws { try delete([object]) }

    /// Deletes an optional object, such as the result of a fetch. Does nothing for `nil`.
    @_disfavoredOverload
    public func delete<T: Model>(_ object: T?) throws { if let object { try delete([object]) } }

    /// Deletes several objects. The form of CoreStore for objects that are not in a list; the same as `delete([first, second])`.
    public func delete<T: Model>(_ first: T, _ second: T, _ others: T...) throws { try delete([first, second] + others) }

    /// Deletes a sequence of objects. Objects of other contexts that no longer exist are ignored.
    public func delete<T: Model, S: Sequence<T>>(_ objects: S) throws {
        let objects = Array(objects)
        // Objects of other contexts are fetched with one query. Missing ones are ignored.
        let areOwn = objects.allSatisfy(owns)
        try deleteGraph(areOwn ? objects : objectsToDelete(objects.map(\.objectID)))
    }

    /// Deletes the object with an id. Does nothing if it does not exist.
    public func delete<T: Model>(_ id: ObjectID<T>) throws { if let object = try fetchExisting(id) { try delete(object) } }

    /// Deletes the objects with the given ids. Missing ones are ignored. All are read with one query, which is faster than a loop over
    /// ``delete(_:)-(ObjectID<T>)``.
    public func delete<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws { try deleteGraph(objectsToDelete(ids)) }

    /// Deletes the objects with several ids. Missing ones are ignored. The form of CoreStore for ids that are not in a list; the same as
    /// `delete([first, second])`.
    public func delete<T: Model>(_ first: ObjectID<T>, _ second: ObjectID<T>, _ others: ObjectID<T>...) throws {
        try delete([first, second] + others)
    }

    /// Deletes every object that matches a source.
    /// - Returns: the number of deleted objects.
    @discardableResult
    public func deleteAll<S: FetchSource>(_ source: S) throws -> Int {
        let objects = try fetchAll(source)
        try delete(objects)
        return objects.count
    }

    /// Deletes every object that matches the clauses, and returns the number of deleted objects.
    @discardableResult
    public func deleteAll<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> Int { try deleteAll(from.chain(clauses)) }

    @discardableResult
    public func deleteAll<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> Int { try deleteAll(from.chain(clauses)) }

    @discardableResult
    public func deleteAll<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> Int {
        try deleteAll(From<T>().chain(clauses))
    }

    // MARK: Delete rules

    /// Deletes objects and applies their delete rules. The objects that the rules delete with them are deleted level by level, because cascades may be
    /// arbitrarily long, and because what the rules of a level need is read with one query for each relationship.
    /// - Throws: Errors of reading. If a deletion has begun, the transaction cannot be committed, because the rules are applied in part.
    final func deleteGraph(_ objects: [any Model]) throws {
        try checkMutable()
        settleMembers()
        guard objects.allSatisfy(owns) else {
            throw StoreError(.misuse, "An object of another context cannot be deleted here; delete its objectID instead.")
        }
        var level = objects
        var read = level.count > 1 ? try readForRules(of: level) : nil
        do {
            while !level.isEmpty {
                var next: [any Model] = []
                try withExtendedLifetime(read) { for object in level.reversed() { try delete(object, read, &next) } }
                level = next
                read = level.count > 1 ? try readForRules(of: level) : nil
            }
        } catch {
            buffer.deferredErrors.refuseCommit(StoreError(describing: error))
            throw error
        }
    }

    /// Deletes one object. Objects to delete with it are appended to `next`.
    private func delete(_ object: any Model, _ read: RuleReads?, _ next: inout [any Model]) throws {
        guard !object.isDeleted else { return }
        if object._$state.isFault, !object._$state.flags.contains(.linked) { fire(object) }
        guard !object.isDeleted else { return }  // reading it showed that it does not exist
        editing.willChange(object)
        object._$state.flags.insert(.deleted)
        buffer.deferredErrors.resolve(object.rowReference)
        buffer.changes(of: Int(object._$state.entityIndex)).records?.didDelete(object)
        if !object.isInserted { buffer.changes(of: Int(object._$state.entityIndex)).deleted.append(object) }
        try detach(object, read, &next)
    }

    /// Returns the objects with the given ids for deletion. Objects that are not registered yet are read with their to-one relationships only, which
    /// suffices for the delete rules.
    func objectsToDelete<T: Model>(_ ids: some Sequence<ObjectID<T>>) throws -> [T] {
        var found: [T] = []
        var wanted: [Int32: [Int64]] = [:]
        for id in ids {
            let entityIndex = try entry(of: id).entityIndex
            if let registered = registered(T.self, entityIndex, id.rowID) {
                found.append(registered)
            } else {
                wanted[entityIndex, default: []].append(id.rowID)
            }
        }
        for (entityIndex, rowIDs) in wanted {
            let entry = entry(entityIndex)
            let map = identityMap(entityIndex)
            let links = entry.toOnes
            var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, rowIDs.map { .integer($0) }))
            var fields = FieldMask()
            for link in links { fields.insert(link.field) }
            if let hierarchy = entry.hierarchy { fields.insert(hierarchy.classifier) }
            request.fields = fields
            let cursor = try storage(entry.store).fetch(request)
            defer { cursor.close() }
            while try cursor.next() {
                if map.isPolymorphic, map.object(cursor.rowID) != nil { continue }  // registered as another class
                let state = ModelState(map, rowID: cursor.rowID, flags: [.fault, .linked])
                guard let object = try fault(T.self, entry, state, cursor.record) else { continue }
                for link in links { object._$setToOne(link.relationship.index, ToOne(cursor.record, link.field)) }
                map.insert(cursor.rowID, object)
                found.append(object)
            }
        }
        return found
    }

    /// Returns a fault of the class that a record names, or nil if it is not of the requested class.
    private func fault<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ state: consuming ModelState, _ record: RecordView
    ) throws -> T? {
        guard let hierarchy = entry.hierarchy else { return T(_$state: state) }
        let named: any Model.Type
        do { named = try hierarchy.type(record) } catch { throw described(error, entry, state.rowID) }
        func open<K: Model>(_ type: K.Type, _ state: consuming ModelState) -> T? { K(_$state: state) as? T }
        return open(named, state)
    }

    /// Applies the delete rules of one object. Objects to delete with it are appended to `next`.
    /// - Parameter read: What was read for all objects of the level; nil if the object is the only one.
    private func detach(_ object: any Model, _ read: RuleReads?, _ next: inout [any Model]) throws {
        let entry = entry(object._$state.entityIndex)
        for relationship in entry.relationships(of: object) {
            let entityIndex = entry.destinations[relationship.index]
            let memberKey = entry.memberKey(relationship, object)
            if relationship.deleteRule == .deny { buffer.denials.append(memberKey) }
            if case .foreignKey = relationship.storage {
                let target = object._$toOne(relationship.index).rowID
                guard target != 0 else { continue }
                if relationship.deleteRule == .cascade { next.append(anyObject(entityIndex, target)) }
                editing.moved(object, relationship.index, from: target, to: 0)
                continue
            }
            guard relationship.detachesMembers else { continue }
            let members = try memberRowIDs(of: object, memberKey)
            // Reads their values with one query instead of one per object.
            let targets = relationship.changesMembers ? try anyObjects(entityIndex, members) : []
            if relationship.deleteRule == .cascade { next += targets }
            // The foreign keys of deleted members need no update.
            if relationship.isLink || relationship.deleteRule == .nullify {
                withExtendedLifetime(targets) { for member in members { editing.unlink(memberKey, entry, member) } }
            }
        }
        for relationship in entry.incoming { try clearIncoming(object, relationship, entry, read) }
    }

    /// Nullifies a relationship without an inverse that references the object.
    private func clearIncoming(_ object: any Model, _ relationship: Relationship, _ entry: StoreEntity, _ read: RuleReads?) throws {
        let key = entry.incomingKey(relationship, object)
        switch relationship.storage {
        case .foreignKey(let field):
            let sources = try read.map { $0.sources[key] ?? [] } ?? sources(key.entityIndex, field, [key.rowID])
            for source in sources where source._$toOneFired(relationship.index) == key.rowID {
                editing.setToOne(source, relationship.index, 0)
            }
        case .link:
            // The owners in the store and those linked by this transaction.
            var owners = buffer.relationshipChanges.owners(of: key.rowID, entityIndex: key.entityIndex, relationship: key.relationship)
            if let read {
                owners.formUnion(read.owners[key] ?? [])
            } else if let reversed = relationship.reversed, !object.isInserted {
                owners.formUnion(try storage(entry.store).related(reversed, of: [key.rowID])[key.rowID])
            }
            for owner in owners {
                editing.unlink(
                    RelationshipKey(entityIndex: key.entityIndex, relationship: key.relationship, rowID: owner),
                    self.entry(key.entityIndex), key.rowID)
            }
        case .inverse: return
        }
    }

    // MARK: Reading for a level

    /// The data that the delete rules of the objects of a level need from the store.
    private struct RuleReads {
        /// The objects that the rules change or delete, retained until then.
        var targets: [any Model] = []
        /// The objects and the stored owners of links that reference an object without an inverse, by ``StoreEntity/incomingKey(_:_:)``.
        var sources: [RelationshipKey: [any Model]] = [:]
        var owners: [RelationshipKey: [Int64]] = [:]
    }

    /// Reads what the delete rules of several objects need.
    private func readForRules(of level: [any Model]) throws -> RuleReads {
        var read = RuleReads()
        let objects = Dictionary(grouping: level.filter { !$0.isDeleted }, by: { $0._$state.entityIndex })
        for (entityIndex, objects) in objects.sorted(by: { $0.key < $1.key }) {
            let entry = entry(entityIndex)
            let faults = objects.filter { $0._$state.isFault && !$0._$state.flags.contains(.linked) }
            if !faults.isEmpty { _ = try anyObjects(entityIndex, faults.map { $0._$state.rowID }) }
            for relationship in entry.entity.relationships {
                let owners = entry.isPolymorphic ? objects.filter { entry.relationships(of: $0).contains(relationship) } : objects
                read.targets += try targets(of: owners, relationship, entry)
            }
            for relationship in entry.incoming { try readIncoming(objects, relationship, entry, into: &read) }
        }
        return read
    }

    /// Reads the members of a relationship of several objects, and returns the targets that its delete rule changes or deletes.
    private func targets(of owners: [any Model], _ relationship: Relationship, _ entry: StoreEntity) throws -> [any Model] {
        let entityIndex = entry.destinations[relationship.index]
        var rowIDs: Set<Int64> = []
        if case .foreignKey = relationship.storage {
            let inverse = relationship.inverse.map { self.entry(entityIndex).entity.relationships[$0] }
            guard relationship.deleteRule == .cascade || inverse.map({ !$0.isToMany }) ?? false else { return [] }
            for owner in owners { rowIDs.insert(owner._$toOne(relationship.index).rowID) }
            rowIDs.remove(0)
        } else {
            // The commit reads those that deny the deletion.
            guard relationship.detachesMembers || relationship.deleteRule == .deny, !owners.isEmpty else { return [] }
            try readMembers(of: owners, relationship, entry)
            guard relationship.changesMembers, relationship.deleteRule != .deny else { return [] }
            for owner in owners { rowIDs.formUnion(try memberRowIDs(of: owner, entry.memberKey(relationship, owner))) }
        }
        return rowIDs.isEmpty ? [] : try anyObjects(entityIndex, rowIDs.sorted())
    }

    /// Reads what references several objects by a relationship without an inverse.
    private func readIncoming(
        _ objects: [any Model], _ relationship: Relationship, _ entry: StoreEntity, into read: inout RuleReads
    ) throws {
        let keys = objects.map { entry.incomingKey(relationship, $0) }
        switch relationship.storage {
        case .foreignKey(let field):
            for source in try sources(keys[0].entityIndex, field, keys.map(\.rowID)) {
                let target = source._$toOneFired(relationship.index)
                read.sources[
                    RelationshipKey(entityIndex: keys[0].entityIndex, relationship: keys[0].relationship, rowID: target), default: []
                ].append(source)
            }
        case .link:
            let stored = zip(objects, keys).filter { !$0.0.isInserted }.map(\.1)
            guard let reversed = relationship.reversed, !stored.isEmpty else { return }
            let owners = try storage(entry.store).related(reversed, of: Set(stored.map(\.rowID)).sorted())
            for key in stored { read.owners[key] = owners[key.rowID] }
        case .inverse: return
        }
    }

    private func sources(_ entityIndex: Int32, _ field: Int, _ rowIDs: [Int64]) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] {
            let entry = entry(entityIndex)
            let key = FieldReference(entry.entity.fields[field])
            let isTarget: QueryPredicate =
                rowIDs.count == 1 ? .compare(key, .equal, .integer(rowIDs[0])) : .oneOf(key, rowIDs.map { .integer($0) })
            let cursor = try rows(entry, FetchRequest(entry.entity, predicate: isTarget), FetchOptions())
            defer { cursor.close() }
            var found: [T] = []
            try collect(type, entry, entityIndex, cursor, into: &found)
            return found
        }
        return try open(entry(entityIndex).type)
    }

    private func anyObjects(_ entityIndex: Int32, _ rowIDs: [Int64]) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] { try objects(type, entityIndex, rowIDs) }
        return try open(entry(entityIndex).type)
    }
}

extension StoreEntity {
    /// The key of a to-many relationship of an object.
    fileprivate func memberKey(_ relationship: Relationship, _ object: any Model) -> RelationshipKey {
        RelationshipKey(entityIndex: entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID)
    }

    /// The key of a relationship of another entity together with the object that it references.
    fileprivate func incomingKey(_ relationship: Relationship, _ object: any Model) -> RelationshipKey {
        RelationshipKey(
            entityIndex: store.firstEntityIndex + Int32(relationship.source), relationship: Int32(relationship.index),
            rowID: object._$state.rowID)
    }
}

extension Relationship {
    fileprivate var isLink: Bool { if case .link = storage { true } else { false } }
    /// A Boolean value that indicates whether the members leave an owner that is deleted. With the rule `deny` they stay until the commit validates them.
    fileprivate var detachesMembers: Bool { deleteRule != .deny && (deleteRule != .noAction || isLink) }
    /// A Boolean value that indicates whether the members are changed or deleted with their owner.
    fileprivate var changesMembers: Bool { !isLink || deleteRule == .cascade }
}
