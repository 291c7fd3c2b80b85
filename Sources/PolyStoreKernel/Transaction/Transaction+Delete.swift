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

    /// Deletes objects and applies their delete rules. Uses a work list instead of recursion, because cascades may be arbitrarily long.
    final func deleteGraph(_ objects: [any Model]) throws {
        try checkMutable()
        settleMembers()
        var work = objects
        while let object = work.popLast() {
            guard owns(object) else {
                throw StoreError(.misuse, "An object of another context cannot be deleted here; delete its objectID instead.")
            }
            guard !object.isDeleted else { continue }
            if object._$state.isFault, !object._$state.flags.contains(.linked) { fire(object) }
            guard !object.isDeleted else { continue }  // reading it showed that it does not exist
            editing.willChange(object)
            object._$state.flags.insert(.deleted)
            buffer.deferredErrors.resolve(object.rowReference)
            buffer.changes(of: Int(object._$state.entityIndex)).records?.didDelete(object)
            if !object.isInserted { buffer.changes(of: Int(object._$state.entityIndex)).deleted.append(object) }
            try detach(object, &work)
        }
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

    /// Applies the delete rules of one object. Objects to delete with it are appended to `work`.
    private func detach(_ object: any Model, _ work: inout [any Model]) throws {
        let entry = entry(object._$state.entityIndex)
        let rowID = object._$state.rowID
        for relationship in entry.relationships(of: object) {
            let entityIndex = entry.destinations[relationship.index]
            let memberKey = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: rowID)
            if relationship.deleteRule == .deny { buffer.denials.append(memberKey) }
            if case .foreignKey = relationship.storage {
                let target = object._$toOne(relationship.index).rowID
                guard target != 0 else { continue }
                if relationship.deleteRule == .cascade { work.append(anyObject(entityIndex, target)) }
                editing.moved(object, relationship.index, from: target, to: 0)
                continue
            }
            let isLink = if case .link = relationship.storage { true } else { false }
            switch relationship.deleteRule {
            case .deny: continue  // members stay linked until the commit validates them
            case .noAction where !isLink: continue
            case .cascade, .nullify, .noAction: break
            }
            let members = try memberRowIDs(of: object, memberKey)
            // Reads their values with one query instead of one per object.
            let targets = isLink && relationship.deleteRule != .cascade ? [] : try anyObjects(entityIndex, members)
            if relationship.deleteRule == .cascade { work += targets }
            // The foreign keys of deleted members need no update.
            if isLink || relationship.deleteRule == .nullify {
                withExtendedLifetime(targets) { for member in members { editing.unlink(memberKey, entry, member) } }
            }
        }
        try clearIncoming(object, entry)
    }

    /// Nullifies relationships without an inverse that reference the object.
    private func clearIncoming(_ object: any Model, _ entry: StoreEntity) throws {
        for relationship in entry.incoming {
            let entityIndex = entry.store.firstEntityIndex + Int32(relationship.source)
            switch relationship.storage {
            case .foreignKey(let field):
                for source in try sources(entityIndex, field, object._$state.rowID)
                where source._$toOneFired(relationship.index) == object._$state.rowID {
                    editing.setToOne(source, relationship.index, 0)
                }
            case .link:
                let rowID = object._$state.rowID
                // The owners in the store and those linked by this transaction.
                var owners = buffer.relationshipChanges.owners(of: rowID, entityIndex: entityIndex, relationship: Int32(relationship.index))
                if let reversed = relationship.reversed, !object.isInserted {
                    owners.formUnion(try storage(entry.store).related(reversed, of: [rowID])[rowID])
                }
                for owner in owners {
                    editing.unlink(
                        RelationshipKey(entityIndex: entityIndex, relationship: Int32(relationship.index), rowID: owner),
                        self.entry(entityIndex), rowID)
                }
            case .inverse: continue
            }
        }
    }

    private func sources(_ entityIndex: Int32, _ field: Int, _ rowID: Int64) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] {
            let entry = entry(entityIndex)
            let request = FetchRequest(
                entry.entity, predicate: .compare(FieldReference(entry.entity.fields[field]), .equal, .integer(rowID)))
            let cursor = try rows(entry, request, FetchOptions())
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
