import PolyStoreBackend
import PolyStoreCollections

// In-place mutation: `owner.people.insert(x)` and `list.tracks.append(x)` change a collection retained by the context without copying it or comparing
// it as a whole.
//
// The cost of detecting a change is proportional to the change. Set: inserting or removing an element hashes it, so only the objects hashed during
// the access can differ. Elements removed by index are not hashed, but then the count does not match. Array: one slice was inserted or removed if the
// elements before and after it are unchanged. In all other cases the collection is compared as a whole.
//
// Of a long array only samples are compared at the end of an access, because a function that receives it as `inout` may apply several changes, and
// nothing but the array shows them. The array is then unsettled: before anything is read or changed that depends on the relationship, except by another
// access to the same array, it is compared as a whole. A loop that only appends to a list compares it once. At most one collection is unsettled.
//
// The end of a step of undo needs no comparison to be correct about the objects, only to know to which step a change belongs that the samples did not show.
// Lists that are not long are compared there; see `settleStep()`.

extension Editor {
    private func memberKey(_ object: any Model, _ relationship: Int) -> RelationshipKey {
        RelationshipKey(
            entityIndex: object._$state.entityIndex, relationship: Int32(truncatingIfNeeded: relationship), rowID: object._$state.rowID)
    }

    /// The maximum number of retained collections, so that iterating over many owners does not retain all of their members.
    private static var collectionLimit: Int { 64 }

    private func keep(_ collection: MemberCollection, _ key: RelationshipKey) {
        if context.graph.memberLists.collections.count >= Self.collectionLimit {
            context.settleMembers()
            let dropped = context.graph.memberLists.dropAll()
            // A collection that is currently lent is returned as a copy.
            withExtendedLifetime(dropped) {}
        }
        collection.isBeingMutated = true
        context.graph.memberLists.hold(collection, key)
    }

    // MARK: Sets

    func beginSetMutation<T: Model>(_ object: any Model, _ relationship: Int) -> MemberMutation<Set<T>> {
        context.settleMembers(before: object._$state.entityIndex, relationship)
        let key = memberKey(object, relationship)
        context.dropForgottenLists(key.entityIndex)
        if let held = context.graph.memberLists.collection(key) {
            guard let collection = held as? MemberSet<T>, !collection.isBeingMutated else {
                return MemberMutation(object._$members(of: relationship))
            }
            collection.isBeingMutated = true
            var mutation = MemberMutation<Set<T>>([])
            swap(&mutation.members, &collection.members)
            return begin(&mutation, collection, key)
        }
        var mutation = MemberMutation<Set<T>>(object._$members(of: relationship))
        guard buffer.isOpen, context.graph.memberLists.contains(key) else { return mutation }
        let collection = MemberSet<T>()
        keep(collection, key)
        return begin(&mutation, collection, key)
    }

    private func begin<T: Model>(_ mutation: inout MemberMutation<Set<T>>, _ collection: MemberCollection, _ key: RelationshipKey)
        -> MemberMutation<
            Set<T>
        >
    {
        collection.isOutdated = false
        mutation.collection = collection
        let storage = Self.storage(&mutation.members)
        mutation.address = UInt(bitPattern: Unmanaged.passUnretained(storage).toOpaque())
        mutation.storage = storage
        mutation.firstRecord = context.identityMap(context.destination(key.entityIndex, Int(key.relationship))).beginRecording()
        return mutation
    }

    /// Returns the address of the storage of a collection: a set consists of one reference.
    private static func address<C>(_ collection: inout C) -> UInt { withUnsafeBytes(of: &collection) { $0.load(as: UInt.self) } }

    private static func storage<C>(_ collection: inout C) -> AnyObject {
        withUnsafeBytes(of: &collection) { $0.load(as: Unmanaged<AnyObject>.self).takeUnretainedValue() }
    }

    func endSetMutation<T: Model>(_ mutation: inout MemberMutation<Set<T>>, _ object: any Model, _ relationship: Int) {
        let key = memberKey(object, relationship)
        guard let collection = mutation.collection as? MemberSet<T> else {
            replaceMembers(of: object, relationship, to: mutation.members)
            return
        }
        let entityIndex = context.destination(key.entityIndex, relationship)
        let hashed = context.identityMap(entityIndex).endRecording(mutation.firstRecord)
        context.settleMembers(before: key.entityIndex, relationship)
        guard buffer.isOpen else {
            dropCollection(key)
            return logLostChange(object)
        }
        let isHeld = context.graph.memberLists.collection(key) === collection
        if isHeld, !collection.isOutdated, Self.address(&mutation.members) == mutation.address,
            let changes = differences(mutation.members, hashed, key, entityIndex)
        {
            guard carry(changes.added, changes.removed, key, object, isClearing: mutation.members.isEmpty) else {
                return dropCollection(key)
            }
        } else {
            guard replaceMembers(of: object, relationship, to: mutation.members) else { return dropCollection(key) }
        }
        returnCollection(collection, key, mutation.members.count) { swap(&collection.members, &mutation.members) }
    }

    /// Returns the additions to and removals from a set whose storage has not moved.
    /// - Parameter hashed: the row ids of all objects hashed during the access.
    /// - Returns: nil if they do not explain the change in count.
    private func differences<T: Model>(
        _ members: Set<T>, _ hashed: [Int64], _ key: RelationshipKey, _ entityIndex: Int32
    ) -> (added: [T], removed: [Int64])? {
        var added: [T] = []
        var removed: [Int64] = []
        for candidate in hashed.count > 1 ? Array(Set(hashed)) : hashed {
            let object = context.registered(T.self, entityIndex, candidate)
            let isMember = object.map { members.contains($0) } ?? false
            if isMember == context.graph.memberLists.has(key, candidate) { continue }
            if isMember, let object { added.append(object) } else { removed.append(candidate) }
        }
        guard let count = context.graph.memberLists.count(key), members.count == count + added.count - removed.count else { return nil }
        return (added, removed)
    }

    /// Applies additions and removals to the inverse relationships.
    /// - Returns: false if a target is not accepted; nothing is changed then.
    private func carry<T: Model>(
        _ added: [T], _ removed: [Int64], _ key: RelationshipKey, _ object: any Model, isClearing: Bool
    ) -> Bool {
        if added.isEmpty, removed.isEmpty { return true }
        guard acceptsTargets(object, Int(key.relationship), isClearing: isClearing) else { return false }
        for member in added where !accepts(member, as: Int(key.relationship), of: object) { return false }
        willChange(object)
        let entry = context.entry(key.entityIndex)
        for target in removed { unlink(key, entry, target) }
        for member in added { link(key, entry, member._$state.rowID) }
        buffer.deferredErrors.resolve(key)
        return true
    }

    private func returnCollection(_ collection: MemberCollection, _ key: RelationshipKey, _ count: Int, _ body: () -> Void) {
        guard context.graph.memberLists.collection(key) === collection else { return }
        // The counts differ if the list contains objects that the collection does not.
        guard context.graph.memberLists.count(key) == count else { return dropCollection(key) }
        body()
        collection.isBeingMutated = false
        collection.isOutdated = false
    }

    func dropCollection(_ key: RelationshipKey) { _ = context.graph.memberLists.drop(key) }

    // MARK: Lists

    func beginListMutation<T: Model>(_ object: any Model, _ relationship: Int) -> MemberMutation<[T]> {
        let key = memberKey(object, relationship)
        if context.graph.memberLists.unsettled != key { context.settleMembers() }
        context.dropForgottenLists(key.entityIndex)
        if let held = context.graph.memberLists.collection(key) {
            guard let collection = held as? MemberArray<T>, !collection.isBeingMutated else {
                return MemberMutation(object._$members(of: relationship))
            }
            collection.isBeingMutated = true
            var mutation = MemberMutation<[T]>([])
            swap(&mutation.members, &collection.members)
            return begin(&mutation, collection)
        }
        var mutation = MemberMutation<[T]>(object._$members(of: relationship))
        guard buffer.isOpen, context.graph.memberLists.contains(key) else { return mutation }
        let collection = MemberArray<T>()
        keep(collection, key)
        return begin(&mutation, collection)
    }

    private func begin<T: Model>(_ mutation: inout MemberMutation<[T]>, _ collection: MemberCollection) -> MemberMutation<[T]> {
        collection.isOutdated = false
        mutation.collection = collection
        return mutation
    }

    func endListMutation<T: Model>(_ mutation: inout MemberMutation<[T]>, _ object: any Model, _ relationship: Int) {
        let key = memberKey(object, relationship)
        // Another list may have been changed during the access.
        if context.graph.memberLists.unsettled != key { context.settleMembers() }
        guard let collection = mutation.collection as? MemberArray<T> else {
            replaceList(of: object, relationship, to: mutation.members)
            return
        }
        guard buffer.isOpen else {
            dropCollection(key)
            return logLostChange(object)
        }
        let isHeld = context.graph.memberLists.collection(key) === collection
        if isHeld, !collection.isOutdated, let piece = piece(mutation.members, key), piece.isOnlyDifference || mayBeUnsettled(key),
            canCarry(piece, mutation.members, key)
        {
            guard carry(piece, mutation.members, key, object) else { return dropCollection(key) }
            if !piece.isOnlyDifference { markUnsettled(key) }
        } else {
            context.graph.memberLists.comparedCount += mutation.members.count
            guard replaceList(of: object, relationship, to: mutation.members) else { return dropCollection(key) }
            if context.graph.memberLists.unsettled == key { markSettled(key) }
        }
        returnCollection(collection, key, mutation.members.count) { swap(&collection.members, &mutation.members) }
    }

    /// A slice that was inserted into a list or removed from it.
    private struct Piece {
        let position: Int
        let added: Int
        let removed: Int
        /// A Boolean value that indicates whether all other elements were compared.
        let isOnlyDifference: Bool
    }

    /// Returns the one slice by which an array differs from the list, or nil if there are other differences. Samples of the other elements are compared.
    private func piece<T: Model>(_ members: [T], _ key: RelationshipKey) -> Piece? {
        context.graph.memberLists.edit(key) { list in
            let (before, after) = (list.count, members.count)
            guard before != after else { return nil }
            let shorter = min(before, after)
            func isSame(_ position: Int, _ list: inout OrderedRowIDs) -> Bool { members[position]._$state.rowID == list[position] }
            // The first position at which they differ. All elements after it are shifted.
            let first = shorter > 0 && isSame(shorter - 1, &list) ? shorter : 0
            let low = (first..<shorter).partition { isSame($0, &list) }
            // Compares the neighbors of the slice, the ends and a few samples in between.
            let (ahead, behind) = (low, shorter - low)
            let piece = Piece(
                position: low, added: max(0, after - before), removed: max(0, before - after),
                isOnlyDifference: ahead <= Self.sampleCount && behind <= Self.sampleCount)
            for sample in Self.samples(ahead) where !isSame(sample, &list) { return nil }
            for sample in Self.samples(behind)
            where members[low + piece.added + sample]._$state.rowID != list[low + piece.removed + sample] { return nil }
            return piece
        } ?? nil
    }

    private static var sampleCount: Int { 8 }

    private static func samples(_ count: Int) -> [Int] {
        if count <= sampleCount { return Array(0..<count) }
        return (0..<sampleCount).map { $0 * (count - 1) / (sampleCount - 1) }
    }

    /// Returns whether the inserted members are distinct and were not in the list before.
    private func canCarry<T: Model>(_ piece: Piece, _ members: [T], _ key: RelationshipKey) -> Bool {
        guard piece.added > 0 else { return true }
        let added = members[piece.position..<piece.position + piece.added]
        if added.count > 1, Set(added.lazy.map { $0._$state.rowID }).count < added.count { return false }
        let relationship = context.entry(key.entityIndex).entity.relationships[Int(key.relationship)]
        if case .inverse = relationship.storage, let inverse = relationship.inverse {
            // The member's inverse shows whether it is in the list, without an index of the list.
            return added.allSatisfy { $0._$state.context === context && $0._$toOneFired(inverse) != key.rowID }
        }
        return !added.contains { context.graph.memberLists.has(key, $0._$state.rowID) }
    }

    private func carry<T: Model>(_ piece: Piece, _ members: [T], _ key: RelationshipKey, _ object: any Model) -> Bool {
        guard acceptsTargets(object, Int(key.relationship), isClearing: members.isEmpty) else { return false }
        let added = members[piece.position..<piece.position + piece.added]
        for member in added where !accepts(member, as: Int(key.relationship), of: object) { return false }
        willChange(object)
        let entry = context.entry(key.entityIndex)
        // The list is updated here, where the position is known.
        buffer.mutatedRelationship = key
        defer { buffer.mutatedRelationship = nil }
        if piece.removed > 0 {
            let range = piece.position..<piece.position + piece.removed
            let removed = context.graph.memberLists.edit(key) { list in
                let removed = range.map { list[$0] }
                list.removeSubrange(range)
                return removed
            }
            for target in removed ?? [] { unlink(key, entry, target) }
            buffer.deferredErrors.resolve(key)
            return true
        }
        let rowIDs = added.map { $0._$state.rowID }
        let isAtEnd = piece.position + piece.added == members.count
        if !isAtEnd { buffer.relationshipChanges.releaseArrangement(key) }
        context.graph.memberLists.edit(key) { $0.insert(rowIDs, at: piece.position) }
        for member in added { link(key, entry, member._$state.rowID) }
        if !isAtEnd { buffer.relationshipChanges.arrange(key, context.graph.memberLists.rowIDs(key) ?? []) }
        buffer.deferredErrors.resolve(key)
        return true
    }

    // MARK: Settling

    /// Returns whether a list can become the unsettled one: not if another one is, which is lent.
    private func mayBeUnsettled(_ key: RelationshipKey) -> Bool {
        context.graph.memberLists.unsettled == nil || context.graph.memberLists.unsettled == key
    }

    private func markUnsettled(_ key: RelationshipKey) {
        context.graph.memberLists.unsettled = key
        context.identityMap(context.destination(key.entityIndex, Int(key.relationship))).isUnsettled = true
    }

    private func markSettled(_ key: RelationshipKey) {
        context.graph.memberLists.unsettled = nil
        context.graph.memberLists.unsettledSteps = 0
        context.identityMap(context.destination(key.entityIndex, Int(key.relationship))).isUnsettled = false
    }

    /// Compares the unsettled collection as a whole with the tracked members, and applies the differences. While the collection is lent, objects keep the state
    /// of its last comparison.
    func settleCollection() {
        guard let key = context.graph.memberLists.unsettled else { return }
        let collection = context.graph.memberLists.collection(key)
        if collection?.isBeingMutated ?? false { return }
        let endedSteps = context.graph.memberLists.unsettledSteps
        markSettled(key)
        context.graph.memberLists.comparedCount += context.graph.memberLists.count(key) ?? 0
        guard let collection, !collection.matches(context.graph.memberLists.rowIDs(key) ?? []) else { return }
        dropCollection(key)
        let assign = { collection.assign(Int(key.relationship), of: context.anyObject(key.entityIndex, key.rowID)) }
        // Changes that were made before the end of the last step belong to it.
        if endedSteps > 0, let history = buffer.history { history.amendLastStep(assign) } else { assign() }
    }

    /// The number of members up to which a list is compared at the end of each step.
    private static var stepLimit: Int { 256 }

    /// Prepares the end of a step that no observer is notified of. A list of at most ``stepLimit`` members is compared; a longer one after so many steps that
    /// a step costs constant time on average.
    func settleStep() {
        guard let key = context.graph.memberLists.unsettled else { return }
        context.graph.memberLists.unsettledSteps += 1
        if context.graph.memberLists.count(key) ?? 0 <= context.graph.memberLists.unsettledSteps * Self.stepLimit {
            context.settleMembers()
        }
    }
}

extension Transaction {
    /// The number of members that were compared as a whole because lists were changed in place; for tests.
    package var comparedMemberCount: Int { graph.memberLists.comparedCount }
}
