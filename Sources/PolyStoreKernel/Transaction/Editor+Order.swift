import PolyStoreBackend
import PolyStoreCollections

extension Editor {
    /// Replaces the members of an ordered relationship. Of duplicates the first one counts.
    /// - Returns: false if the assignment was rejected.
    @discardableResult
    func replaceList<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) -> Bool {
        guard acceptsReplacement(of: object, relationship, by: members) else { return false }
        let entry = context.entry(object._$state.entityIndex)
        let key = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID)
        do {
            let before = try context.memberRowIDs(of: object, key)
            if before != members.map({ $0._$state.rowID }) { willChange(object) }
            let known = Set(before)
            var wanted = OrderedRowIDs()
            for member in members { wanted.append(member._$state.rowID) }
            let after = wanted.rowIDs
            for target in before where !wanted.contains(target) { unlink(key, entry, target) }
            let added = after.filter { !known.contains($0) }
            for target in added { link(key, entry, target) }
            if before.filter({ wanted.contains($0) }) + added != after { arrange(key, after) }
            buffer.deferredErrors.resolve(key)
            return true
        } catch {
            buffer.deferredErrors.add(context.described(error, entry, key.rowID), for: key)
            return false
        }
    }

    private func arrange(_ key: RelationshipKey, _ rowIDs: [Int64]) {
        buffer.relationshipChanges.arrange(key, rowIDs)
        context.setMembers(key, rowIDs)
    }

    /// Applies an order requested by another transaction to a list that may contain further members in the meantime.
    func rearrange(_ key: RelationshipKey, _ order: MemberOrder) throws {
        context.settleMembers()
        let now = try context.memberRowIDs(of: context.anyObject(key.entityIndex, key.rowID), key)
        let wanted = order.applied(to: now)
        if wanted != now { arrange(key, wanted) }
    }
}
