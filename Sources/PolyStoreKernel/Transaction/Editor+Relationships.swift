import PolyStoreBackend

extension Editor {
    func moveToOne<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        guard buffer.isOpen else { return old }
        if context.graph.memberLists.unsettled != nil, context.isUnsettled(object._$state.entityIndex, relationship) {
            return moveToOneSettled(object, relationship, to: new)
        }
        let rowID = new?._$state.rowID ?? 0
        guard acceptsTargets(object, relationship, isClearing: new == nil) else { return old }
        if let new, rowID != old.rowID || isForeign(new, relationship, of: object), !accepts(new, as: relationship, of: object) {
            return old
        }
        if !buffer.deferredErrors.isEmpty {
            buffer.deferredErrors.resolve(
                RelationshipKey(entityIndex: object._$state.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID))
        }
        guard rowID != old.rowID else { return old }
        moved(object, relationship, from: old.rowID, to: rowID)
        return ToOne(rowID: rowID)
    }

    /// Sets a to-one relationship after the last in-place change of a list was completed, which can change the current target.
    private func moveToOneSettled<T: Model>(_ object: any Model, _ relationship: Int, to new: T?) -> ToOne {
        context.settleMembers()
        let old = object._$toOne(relationship)
        // While the list is lent, its change cannot be completed.
        let unsettled = context.graph.memberLists.unsettled
        context.graph.memberLists.unsettled = nil
        defer { context.graph.memberLists.unsettled = unsettled }
        return moveToOne(object, relationship, from: old, to: new)
    }

    /// Returns whether an object is of another context or store than the targets of a relationship. Its row id can be that of the current target.
    private func isForeign(_ target: any Model, _ relationship: Int, of object: any Model) -> Bool {
        !context.owns(target) || target._$state.entityIndex != context.entry(object._$state.entityIndex).destinations[relationship]
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
        let entry = context.entry(object._$state.entityIndex)
        let key = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID)
        if isClearing {
            buffer.deferredErrors.resolve(key)
            return false
        }
        let name = entry.entity.relationships[relationship].name
        let isMissing = object._$state.flags.contains(.missing)
        let reason = isMissing ? "is not in the store" : "was deleted in this transaction"
        buffer.deferredErrors.add(
            StoreError(
                isMissing ? .notFound : .constraint,
                "\(entry.entity.name).\(name) of \(object.inWords) cannot be set: the object \(reason). Change relationships of existing objects only; "
                    + "clearing this one again lets the transaction commit.",
                entity: entry.entity.name, attribute: name, rowID: key.rowID), for: key)
        return false
    }

    /// Defers the check that the object exists to the commit.
    private func verifyLater(_ object: any Model) {
        object._$state.flags.remove(.unverified)
        buffer.unverified.append(object.rowReference)
    }

    /// Returns whether an object is a valid target of a relationship. A violation is recorded and rejects the commit.
    func accepts(_ target: any Model, as relationship: Int, of object: any Model) -> Bool {
        let entry = context.entry(object._$state.entityIndex)
        if context.owns(target), target._$state.entityIndex == entry.destinations[relationship], !target.isDeleted,
            isOfClass(target, relationship, entry)
        {
            if target._$state.flags.contains(.unverified) { verifyLater(target) }
            return true
        }
        buffer.deferredErrors.add(
            refusal(of: target, as: relationship, of: object, entry),
            for: RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID))
        return false
    }

    /// Returns whether an object is of the destination class of a relationship. In a class hierarchy it may not be if it was assigned by name or by
    /// id.
    private func isOfClass(_ target: any Model, _ relationship: Int, _ entry: StoreEntity) -> Bool {
        guard let hierarchy = context.entry(entry.destinations[relationship]).hierarchy else { return true }
        return hierarchy.isObject(target, of: entry.destinationNames[relationship])
    }

    private func refusal(of target: any Model, as relationship: Int, of object: any Model, _ entry: StoreEntity) -> StoreError {
        let name = entry.entity.relationships[relationship].name
        let property = "\(entry.entity.name).\(name) of \(object.inWords)"
        let message: String
        if !context.owns(target) {
            message = "\(property) was set to an object of another context; use the transaction's own, from edit(_:)."
        } else if target._$state.entityIndex != entry.destinations[relationship] {
            message =
                "\(property) was set to an object in \(context.entry(target._$state.entityIndex).store.location), but it is in \(entry.store.location); "
                + "a relationship stays within one store."
        } else if target.isDeleted {
            message =
                "\(property) was set to \(target.inWords(as: context.entry(target._$state.entityIndex).entity.name)), which is deleted."
            return StoreError(.constraint, message, entity: entry.entity.name, attribute: name, rowID: object._$state.rowID)
        } else {
            message =
                "\(property) was set to \(target.inWords(as: type(of: target)._$entityName)), and leads to objects of \(entry.destinationNames[relationship])."
        }
        return StoreError(.misuse, message, entity: entry.entity.name, attribute: name, rowID: object._$state.rowID)
    }

    /// Updates the inverse after a to-one relationship changed. The row id 0 means nil.
    func moved(_ object: any Model, _ relationship: Int, from old: Int64, to new: Int64) {
        let entry = context.entry(object._$state.entityIndex)
        guard let inverse = entry.entity.relationships[relationship].inverse else { return }
        let entityIndex = entry.destinations[relationship]
        let rowID = object._$state.rowID
        if context.entry(entityIndex).entity.relationships[inverse].isToMany {
            if old != 0 { removeMember(RelationshipKey(entityIndex: entityIndex, relationship: Int32(inverse), rowID: old), rowID) }
            if new != 0 { addMember(RelationshipKey(entityIndex: entityIndex, relationship: Int32(inverse), rowID: new), rowID) }
        } else {
            // One-to-one: clears the relationship of the old partner and of the new partner's former partner.
            if old != 0 { setPartner(entityIndex, old, inverse, expecting: rowID, to: 0) }
            if new != 0 {
                let former = context.anyObject(entityIndex, new)._$toOneFired(inverse)
                if former != 0, former != rowID { setPartner(entry.entityIndex, former, relationship, expecting: new, to: 0) }
                setPartner(entityIndex, new, inverse, expecting: nil, to: rowID)
            }
        }
    }

    /// Sets the to-one relationship of an object without updating its inverse.
    /// - Parameter expecting: the current target that is required for the change; nil for any.
    private func setPartner(_ entityIndex: Int32, _ rowID: Int64, _ relationship: Int, expecting: Int64?, to target: Int64) {
        let object = context.anyObject(entityIndex, rowID)
        let now = object._$toOneFired(relationship)
        guard expecting.map({ $0 == now }) ?? true, now != target else { return }
        setToOne(object, relationship, target)
    }

    /// Writes the field of a to-one relationship.
    func setToOne(_ object: any Model, _ relationship: Int, _ target: Int64) {
        if object._$state.isFault { context.fire(object) }
        guard !object.isDeleted else { return }
        if case .foreignKey(let field) = context.entry(object._$state.entityIndex).entity.relationships[relationship].storage {
            startEditing(object).mask.insert(field)
        }
        object._$setToOne(relationship, ToOne(rowID: target))
    }

    private func addMember(_ key: RelationshipKey, _ target: Int64) {
        let isOrdered = context.entry(key.entityIndex).isOrdered[Int(key.relationship)]
        buffer.relationshipChanges.add(key, target, isOrdered: isOrdered)
        guard !context.graph.memberLists.isEmpty, key != buffer.mutatedRelationship,
            context.graph.memberLists.edit(key, { $0.append(target) }) ?? false
        else { return }
        follow(key, target) { $0.add($1) }
    }

    private func removeMember(_ key: RelationshipKey, _ target: Int64) {
        buffer.relationshipChanges.remove(key, target, isOrdered: context.entry(key.entityIndex).isOrdered[Int(key.relationship)])
        guard !context.graph.memberLists.isEmpty, key != buffer.mutatedRelationship,
            context.graph.memberLists.edit(key, { $0.remove(target) }) ?? false
        else { return }
        follow(key, target) { $0.remove($1) }
    }

    /// Applies a change to the retained collection of a relationship.
    private func follow(_ key: RelationshipKey, _ target: Int64, _ change: (MemberCollection, any Model) -> Bool) {
        guard let collection = context.graph.memberLists.collection(key) else { return }
        if collection.isBeingMutated {
            collection.isOutdated = true
            return
        }
        let object = context.anyObject(context.destination(key.entityIndex, Int(key.relationship)), target)
        if !change(collection, object) { dropCollection(key) }
    }

    /// Returns whether the members can replace those of a relationship. Otherwise the reason is logged or kept for the commit.
    func acceptsReplacement<Members: Collection>(of object: any Model, _ relationship: Int, by members: Members) -> Bool
    where Members.Element: Model {
        context.settleMembers()
        guard buffer.isOpen else {
            logLostChange(object)
            return false
        }
        guard acceptsTargets(object, relationship, isClearing: members.isEmpty) else { return false }
        for member in members where !accepts(member, as: relationship, of: object) { return false }
        return true
    }

    /// Replaces the members of an unordered to-many relationship.
    /// - Returns: false if the assignment was rejected.
    @discardableResult
    func replaceMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) -> Bool {
        guard acceptsReplacement(of: object, relationship, by: members) else { return false }
        let entry = context.entry(object._$state.entityIndex)
        let key = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID)
        do {
            let before = Set(try context.memberRowIDs(of: object, key))
            let after = Set(members.map { $0._$state.rowID })
            if before != after { willChange(object) }
            for target in before.subtracting(after) { unlink(key, entry, target) }
            for target in after.subtracting(before) { link(key, entry, target) }
            buffer.deferredErrors.resolve(key)
            return true
        } catch {
            buffer.deferredErrors.add(context.described(error, entry, key.rowID), for: key)
            return false
        }
    }

    /// Adds an object to a to-many relationship and updates the inverse.
    func link(_ key: RelationshipKey, _ entry: StoreEntity, _ target: Int64) {
        let relationship = entry.entity.relationships[Int(key.relationship)]
        let entityIndex = entry.destinations[Int(key.relationship)]
        switch relationship.storage {
        case .inverse:
            guard let inverse = relationship.inverse else { return }
            let member = context.anyObject(entityIndex, target)
            let former = member._$toOneFired(inverse)
            if former != 0 {
                removeMember(RelationshipKey(entityIndex: key.entityIndex, relationship: key.relationship, rowID: former), target)
            }
            setToOne(member, inverse, key.rowID)
            addMember(key, target)
        case .link:
            buffer.relationshipChanges.hasLinks = true
            addMember(key, target)
            if let inverse = relationship.inverse {
                addMember(RelationshipKey(entityIndex: entityIndex, relationship: Int32(inverse), rowID: target), key.rowID)
            }
        case .foreignKey: break
        }
    }

    /// Removes an object from a to-many relationship and updates the inverse.
    func unlink(_ key: RelationshipKey, _ entry: StoreEntity, _ target: Int64) {
        let relationship = entry.entity.relationships[Int(key.relationship)]
        let entityIndex = entry.destinations[Int(key.relationship)]
        if case .link = relationship.storage { buffer.relationshipChanges.hasLinks = true }
        removeMember(key, target)
        switch relationship.storage {
        case .inverse:
            if let inverse = relationship.inverse { setPartner(entityIndex, target, inverse, expecting: key.rowID, to: 0) }
        case .link:
            if let inverse = relationship.inverse {
                removeMember(RelationshipKey(entityIndex: entityIndex, relationship: Int32(inverse), rowID: target), key.rowID)
            }
        case .foreignKey: break
        }
    }
}

extension Model {
    /// Returns the target of a to-one relationship. Reads the object first if it is a fault.
    func _$toOneFired(_ relationship: Int) -> Int64 {
        if _$state.isFault { _$fire() }
        return _$toOne(relationship).rowID
    }
}
