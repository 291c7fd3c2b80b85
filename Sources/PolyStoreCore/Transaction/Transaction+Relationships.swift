import PolyStoreBackend

extension Transaction {
    func moveToOne<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        guard isOpen else { return old }
        let key = new?._$state.key ?? 0
        guard acceptsTargets(object, relationship, isClearing: new == nil) else { return old }
        if let new, key != old.id, !accepts(new, as: relationship, of: object) { return old }
        if !deferredErrors.isEmpty {
            deferredErrors.resolve(MemberKey(slot: object._$state.slot, relationship: Int32(relationship), key: object._$state.key))
        }
        guard key != old.id else { return old }
        moved(object, relationship, from: old.id, to: key)
        return ToOne(id: key)
    }

    /// Returns whether the relationships of an object may be changed: not if it is deleted or missing. A violation is recorded and rejects the
    /// commit.
    /// - Parameter isClearing: whether the relationship is being cleared, as it already is in a deleted object.
    func acceptsTargets(_ object: any Model, _ relationship: Int, isClearing: Bool) -> Bool {
        let flags = object._$state.flags
        if flags.isDisjoint(with: [.deleted, .unverified]) { return true }
        if !flags.contains(.deleted) {
            verifyLater(object)
            return true
        }
        let entry = entry(object._$state.slot)
        let key = MemberKey(slot: entry.slot, relationship: Int32(relationship), key: object._$state.key)
        if isClearing {
            deferredErrors.resolve(key)
            return false
        }
        let name = entry.entity.relationships[relationship].name
        let isMissing = object._$state.flags.contains(.missing)
        let reason = isMissing ? "is not in the store" : "was deleted in this transaction"
        deferredErrors.add(
            StoreError(
                isMissing ? .notFound : .constraint,
                "\(entry.entity.name).\(name) of object \(key.key) cannot be set: the object \(reason). Change relationships of existing objects only; "
                    + "clearing this one again lets the transaction commit.",
                entity: entry.entity.name, attribute: name, objectID: key.key), for: key)
        return false
    }

    /// Defers the check that the object exists to the commit.
    private func verifyLater(_ object: any Model) {
        object._$state.flags.remove(.unverified)
        unverified.append((object._$state.slot, object._$state.key))
    }

    /// Returns whether an object is a valid target of a relationship. A violation is recorded and rejects the commit.
    func accepts(_ target: any Model, as relationship: Int, of object: any Model) -> Bool {
        let entry = entry(object._$state.slot)
        if owns(target), target._$state.slot == entry.destinations[relationship], !target.isDeleted,
            isOfClass(target, relationship, entry)
        {
            if target._$state.flags.contains(.unverified) { verifyLater(target) }
            return true
        }
        deferredErrors.add(
            refusal(of: target, as: relationship, of: object, entry),
            for: MemberKey(slot: entry.slot, relationship: Int32(relationship), key: object._$state.key))
        return false
    }

    /// Returns whether an object is of the destination class of a relationship. In a class hierarchy it may not be if it was assigned by name or by
    /// id.
    private func isOfClass(_ target: any Model, _ relationship: Int, _ entry: StoreEntity) -> Bool {
        guard let family = self.entry(entry.destinations[relationship]).family else { return true }
        return family.isObject(target, of: entry.destinationNames[relationship])
    }

    private func refusal(of target: any Model, as relationship: Int, of object: any Model, _ entry: StoreEntity) -> StoreError {
        let name = entry.entity.relationships[relationship].name
        let property = "\(entry.entity.name).\(name) of object \(object._$state.key)"
        let message: String
        if !owns(target) {
            message = "\(property) was set to an object of another context; use the transaction's own, from edit(_:)."
        } else if target.isDeleted {
            message = "\(property) was set to \(self.entry(target._$state.slot).entity.name) \(target._$state.key), which is deleted."
            return StoreError(.constraint, message, entity: entry.entity.name, attribute: name, objectID: object._$state.key)
        } else if target._$state.slot == entry.destinations[relationship] {
            message =
                "\(property) was set to \(type(of: target)._$entityName) \(target._$state.key), and leads to objects of \(entry.destinationNames[relationship])."
        } else {
            message =
                "\(property) was set to an object in \(self.entry(target._$state.slot).store.url), but it is in \(entry.store.url); "
                + "a relationship stays within one store."
        }
        return StoreError(.misuse, message, entity: entry.entity.name, attribute: name, objectID: object._$state.key)
    }

    /// Updates the inverse after a to-one relationship changed. The row id 0 means nil.
    func moved(_ object: any Model, _ relationship: Int, from old: Int64, to new: Int64) {
        let entry = entry(object._$state.slot)
        guard let inverse = entry.entity.relationships[relationship].inverse else { return }
        let slot = entry.destinations[relationship]
        let key = object._$state.key
        if self.entry(slot).entity.relationships[inverse].isToMany {
            if old != 0 { removeMember(MemberKey(slot: slot, relationship: Int32(inverse), key: old), key) }
            if new != 0 { addMember(MemberKey(slot: slot, relationship: Int32(inverse), key: new), key) }
        } else {
            // One-to-one: clears the relationship of the old partner and of the new partner's former partner.
            if old != 0 { setPartner(slot, old, inverse, expecting: key, to: 0) }
            if new != 0 {
                let former = anyObject(slot, new)._$toOneFired(inverse)
                if former != 0, former != key { setPartner(entry.slot, former, relationship, expecting: new, to: 0) }
                setPartner(slot, new, inverse, expecting: nil, to: key)
            }
        }
    }

    /// Sets the to-one relationship of an object without updating its inverse.
    /// - Parameter expecting: the current target that is required for the change; nil for any.
    private func setPartner(_ slot: Int32, _ key: Int64, _ relationship: Int, expecting: Int64?, to target: Int64) {
        let object = anyObject(slot, key)
        let now = object._$toOneFired(relationship)
        guard expecting.map({ $0 == now }) ?? true, now != target else { return }
        setToOne(object, relationship, target)
    }

    /// Writes the field of a to-one relationship.
    func setToOne(_ object: any Model, _ relationship: Int, _ target: Int64) {
        if object._$state.isFault { fire(object) }
        guard !object.isDeleted else { return }
        if case .foreignKey(let field) = entry(object._$state.slot).entity.relationships[relationship].storage {
            beginEditing(object).mask.insert(field)
        }
        object._$setToOne(relationship, ToOne(id: target))
    }

    private func addMember(_ key: MemberKey, _ target: Int64) {
        let isOrdered = entry(key.slot).isOrdered[Int(key.relationship)]
        relationshipChanges.add(key, target, isOrdered: isOrdered)
        guard !memberLists.isEmpty, key != settled, memberLists.edit(key, { $0.append(target) }) ?? false else { return }
        follow(key, target) { $0.add($1) }
    }

    private func removeMember(_ key: MemberKey, _ target: Int64) {
        relationshipChanges.remove(key, target, isOrdered: entry(key.slot).isOrdered[Int(key.relationship)])
        guard !memberLists.isEmpty, key != settled, memberLists.edit(key, { $0.remove(target) }) ?? false else { return }
        follow(key, target) { $0.remove($1) }
    }

    /// Applies a change to the retained collection of a relationship.
    private func follow(_ key: MemberKey, _ target: Int64, _ change: (MemberCollection, any Model) -> Bool) {
        guard let collection = memberLists.collection(key) else { return }
        if collection.isOut {
            collection.isOutdated = true
            return
        }
        let object = anyObject(destination(key.slot, Int(key.relationship)), target)
        if !change(collection, object) { dropCollection(key) }
    }

    /// Replaces the members of an unordered to-many relationship.
    /// - Returns: false if the assignment was rejected.
    @discardableResult
    func replaceMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) -> Bool {
        guard isOpen else {
            logLostChange(object)
            return false
        }
        guard acceptsTargets(object, relationship, isClearing: members.isEmpty) else { return false }
        for member in members where !accepts(member, as: relationship, of: object) { return false }
        let entry = entry(object._$state.slot)
        let key = MemberKey(slot: entry.slot, relationship: Int32(relationship), key: object._$state.key)
        do {
            let before = Set(try memberKeys(of: object, key))
            let after = Set(members.map { $0._$state.key })
            if before != after { willTouch(object) }
            for target in before.subtracting(after) { unlink(key, entry, target) }
            for target in after.subtracting(before) { link(key, entry, target) }
            deferredErrors.resolve(key)
            return true
        } catch {
            deferredErrors.add(described(error, entry, key.key), for: key)
            return false
        }
    }

    /// Adds an object to a to-many relationship and updates the inverse.
    func link(_ key: MemberKey, _ entry: StoreEntity, _ target: Int64) {
        let relationship = entry.entity.relationships[Int(key.relationship)]
        let slot = entry.destinations[Int(key.relationship)]
        switch relationship.storage {
        case .inverse:
            guard let inverse = relationship.inverse else { return }
            let member = anyObject(slot, target)
            let former = member._$toOneFired(inverse)
            if former != 0 { removeMember(MemberKey(slot: key.slot, relationship: key.relationship, key: former), target) }
            setToOne(member, inverse, key.key)
            addMember(key, target)
        case .link:
            relationshipChanges.hasLinks = true
            addMember(key, target)
            if let inverse = relationship.inverse { addMember(MemberKey(slot: slot, relationship: Int32(inverse), key: target), key.key) }
        case .foreignKey: break
        }
    }

    /// Removes an object from a to-many relationship and updates the inverse.
    func unlink(_ key: MemberKey, _ entry: StoreEntity, _ target: Int64) {
        let relationship = entry.entity.relationships[Int(key.relationship)]
        let slot = entry.destinations[Int(key.relationship)]
        if case .link = relationship.storage { relationshipChanges.hasLinks = true }
        removeMember(key, target)
        switch relationship.storage {
        case .inverse:
            if let inverse = relationship.inverse { setPartner(slot, target, inverse, expecting: key.key, to: 0) }
        case .link:
            if let inverse = relationship.inverse {
                removeMember(MemberKey(slot: slot, relationship: Int32(inverse), key: target), key.key)
            }
        case .foreignKey: break
        }
    }
}

extension Model {
    /// Returns the target of a to-one relationship. Reads the object first if it is a fault.
    func _$toOneFired(_ relationship: Int) -> Int64 {
        if _$state.isFault { _$fire() }
        return _$toOne(relationship).id
    }
}
