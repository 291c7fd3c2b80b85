import PolyStoreBackend

extension Transaction {
    /// Deletes objects and what hangs on them. A list of work, not a recursion: a chain may be as long as the store.
    func deleteGraph(_ objects: [any Model]) throws {
        var work = objects
        while let object = work.popLast() {
            guard object._$state.context === self else {
                throw StoreError(.misuse, "An object of another context cannot be deleted here; delete its objectID instead.")
            }
            guard !object.isDeleted else { continue }
            if object._$state.isFault { fire(object) }
            guard !object.isDeleted else { continue }  // it was gone already
            object._$state.flags.insert(.deleted)
            if !object.isInserted { pending[Int(object._$state.slot)].deleted.append(object) }
            try detach(object, &work)
        }
    }

    /// Carries out the delete rules of one object; what is to be deleted with it goes to `work`.
    private func detach(_ object: any Model, _ work: inout [any Model]) throws {
        let entry = entry(object._$state.slot)
        let key = object._$state.key
        for relationship in entry.entity.relationships {
            let slot = entry.destinations[relationship.ordinal]
            let memberKey = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: key)
            if relationship.deleteRule == .deny { denials.append(memberKey) }
            if case .foreignKey = relationship.storage {
                let target = object._$toOne(relationship.ordinal).id
                guard target != 0 else { continue }
                if relationship.deleteRule == .cascade { work.append(anyObject(slot, target)) }
                moved(object, relationship.ordinal, from: target, to: 0)
                continue
            }
            let isLink = if case .link = relationship.storage { true } else { false }
            switch relationship.deleteRule {
            case .deny: continue  // they stay linked until the commit has judged them
            case .noAction where !isLink: continue
            case .cascade, .nullify, .noAction: break
            }
            let members = try memberKeys(of: object, memberKey)
            // With their values in one query, not one by one when each is touched.
            let targets = isLink && relationship.deleteRule != .cascade ? [] : try anyObjects(slot, members)
            if relationship.deleteRule == .cascade { work += targets }
            // Those of a foreign key that are deleted too need no change of their own.
            if isLink || relationship.deleteRule == .nullify {
                withExtendedLifetime(targets) { for member in members { unlink(memberKey, entry, member) } }
            }
        }
        try clearIncoming(object, entry)
    }

    /// Relationships of others that lead here without a way back would dangle.
    private func clearIncoming(_ object: any Model, _ entry: StoreEntity) throws {
        for relationship in entry.incoming {
            let slot = entry.store.firstSlot + Int32(relationship.source)
            switch relationship.storage {
            case .foreignKey(let field):
                for source in try sources(slot, field, object._$state.key)
                where source._$toOneFired(relationship.ordinal) == object._$state.key {
                    setToOne(source, relationship.ordinal, 0)
                }
            case .link:
                let key = object._$state.key
                // Those of the store, and those that this transaction has only just made.
                var owners = Set(
                    memberLog.all { $0.slot == slot && $0.relationship == Int32(relationship.ordinal) }
                        .filter { $0.changes.added.contains(key) }.map(\.key.key))
                if let reversed = relationship.reversed, !object.isInserted {
                    owners.formUnion(try storage(entry.store).related(reversed, of: [key])[key])
                }
                for owner in owners {
                    unlink(MemberKey(slot: slot, relationship: Int32(relationship.ordinal), key: owner), self.entry(slot), key)
                }
            case .inverse: continue
            }
        }
    }

    private func sources(_ slot: Int32, _ field: Int, _ key: Int64) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] {
            let entry = entry(slot)
            let request = FetchRequest(entry.entity, predicate: .compare(FieldReference(entry.entity.fields[field]), .equal, .integer(key)))
            let cursor = try rows(entry, request, FetchOptions())
            defer { cursor.close() }
            var found: [T] = []
            try collect(type, entry, slot, cursor, into: &found)
            return found
        }
        return try open(entry(slot).type)
    }

    private func anyObjects(_ slot: Int32, _ keys: [Int64]) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] { try objects(type, slot, keys) }
        return try open(entry(slot).type)
    }
}
