import PolyStoreBackend

/// Applies the recorded changes of one transaction to another one. It first detects conflicting changes to the same objects, then applies the changes
/// through the regular transaction methods, so that inverses, delete rules and validation see the newest version.
final class ChangeRebase {
    private let target: Transaction
    private let recorded: RecordedChanges
    private let policy: MergePolicy
    private var conflicts: [ObjectConflict] = []

    /// The affected objects of the target transaction, retained until the rebase ends.
    private var existing: [RowReference: any Model] = [:]
    /// The objects that relationships may reference.
    private var targets: Set<RowReference> = []
    private var created: Set<RowReference> = []
    /// A buffer for encoding the values of an object.
    private let scratch = RecordArena()

    init(_ recorded: RecordedChanges, on target: Transaction, _ policy: MergePolicy) {
        self.recorded = recorded
        self.target = target
        self.policy = policy
    }

    /// Detects conflicts and applies the changes.
    /// - Throws: `conflict` with all conflicts if the policy is ``MergePolicy/error``. Nothing is changed then.
    func apply() throws {
        try findExistingObjects()
        let changes = try recorded.updates.compactMap(resolve)
        let deletions = try recorded.deletions.compactMap(resolve)
        let overwriting = try recorded.inserts.filter { try !created.contains($0.object) && overwrites($0) }
        try checkTargets(changes)
        if policy == .error, !conflicts.isEmpty {
            var seen: Set<ObjectConflict> = []
            throw StoreError(conflicts.filter { seen.insert($0).inserted })
        }
        // All inserted objects exist before any relationship references them.
        for insert in recorded.inserts where created.contains(insert.object) {
            try self.insert(insert.object, insert.mask, recorded.record(insert.record, layout(insert.object)), isAgain: insert.mayExist)
        }
        for change in changes where change.isNew { try insert(change.object, change.mask, change.record, isAgain: true) }
        for insert in recorded.inserts where created.contains(insert.object) {
            relate(insert.object, recorded.record(insert.record, layout(insert.object)))
        }
        for change in changes where change.isNew { relate(change.object, change.record) }
        for change in changes where !change.isNew { try update(change) }
        for insert in overwriting {
            let record = recorded.record(insert.record, layout(insert.object))
            try update(Change(object: insert.object, mask: target.entry(insert.object.entityIndex).declaredFields, record: record))
        }
        for links in recorded.links { link(links) }
        for order in recorded.orders where exists(order.key) { try target.editing.rearrange(order.key, order.order) }
        try target.deleteGraph(deletions)
    }

    private func layout(_ object: RowReference) -> RecordLayout { target.entry(object.entityIndex).entity.layout }

    // MARK: Existing objects

    private func findExistingObjects() throws {
        var wanted: [Int32: Set<Int64>] = [:]
        for object in recorded.updates.lazy.map(\.object) { wanted[object.entityIndex, default: []].insert(object.rowID) }
        for object in recorded.deletions.lazy.map(\.object) { wanted[object.entityIndex, default: []].insert(object.rowID) }
        // Row ids are never reused, so an existing object was inserted by an earlier attempt of this commit, or again by another transaction.
        for insert in recorded.inserts where recorded.mayBeWritten || insert.mayExist {
            wanted[insert.object.entityIndex, default: []].insert(insert.object.rowID)
        }
        for (entityIndex, rowIDs) in wanted.sorted(by: { $0.key < $1.key }) {
            for object in try target.existing(entityIndex, rowIDs.sorted()) { existing[object.rowReference] = object }
        }
        created = Set(recorded.inserts.lazy.map(\.object).filter { self.existing[$0] == nil })
    }

    /// Determines which targets of relationships exist and records conflicts for the others.
    /// - Parameter changes: The updates after conflict resolution. They may also write relationships that were not changed, whose targets are not conflicts.
    private func checkTargets(_ changes: [Change]) throws {
        var uses: [(target: RowReference, user: RowReference, relationship: Relationship)] = []
        func addUses(_ object: RowReference, _ record: RecordView, _ mask: FieldMask?) {
            for (relationship, field, entityIndex) in toOnes(object.entityIndex)
            where mask?.contains(field) ?? true && !record.isNull(field) {
                uses.append((RowReference(entityIndex: entityIndex, rowID: record.integer(field)), object, relationship))
            }
        }
        for insert in recorded.inserts { addUses(insert.object, recorded.record(insert.record, layout(insert.object)), nil) }
        for update in recorded.updates { addUses(update.object, recorded.record(update.record, layout(update.object)), update.mask) }
        for links in recorded.links {
            let entry = target.entry(links.key.entityIndex)
            let relationship = entry.entity.relationships[Int(links.key.relationship)]
            let owner = links.key.owner
            uses.append((owner, owner, relationship))
            for rowID in links.added {
                uses.append((RowReference(entityIndex: entry.destinations[relationship.index], rowID: rowID), owner, relationship))
            }
        }
        for order in recorded.orders {
            let owner = order.key.owner
            uses.append((owner, owner, target.entry(order.key.entityIndex).entity.relationships[Int(order.key.relationship)]))
        }
        targets = created.union(existing.keys)
        var unknown: [Int32: Set<Int64>] = [:]
        for use in uses where !targets.contains(use.target) { unknown[use.target.entityIndex, default: []].insert(use.target.rowID) }
        for change in changes {
            for (_, field, entityIndex) in toOnes(change.object.entityIndex)
            where change.mask.contains(field) && !change.record.isNull(field) {
                let written = RowReference(entityIndex: entityIndex, rowID: change.record.integer(field))
                if !targets.contains(written) { unknown[entityIndex, default: []].insert(written.rowID) }
            }
        }
        for (entityIndex, rowIDs) in unknown {
            for rowID in try target.existingRowIDs(entityIndex, rowIDs.sorted()) {
                targets.insert(RowReference(entityIndex: entityIndex, rowID: rowID))
            }
        }
        for use in uses where !targets.contains(use.target) {
            let entity = target.entry(use.user.entityIndex).entity.name
            conflicts.append(
                use.target == use.user
                    ? ObjectConflict(entity: entity, rowID: use.user.rowID, kind: .deleted)
                    : ObjectConflict(entity: entity, rowID: use.user.rowID, kind: .targetDeleted(relationship: use.relationship.name)))
        }
    }

    private func toOnes(_ entityIndex: Int32) -> [(relationship: Relationship, field: Int, entityIndex: Int32)] {
        target.entry(entityIndex).toOnes
    }

    // MARK: Conflict resolution

    /// An update after conflict resolution.
    private struct Change {
        let object: RowReference
        let mask: FieldMask
        let record: RecordView
        /// A Boolean value that indicates whether the object was deleted in the store and is inserted again.
        var isNew = false
    }

    private func resolve(_ update: RecordedChanges.Update) throws -> Change? {
        let entity = target.entry(update.object.entityIndex).entity
        let mine = recorded.record(update.record, entity.layout)
        guard let object = existing[update.object] else {
            conflicts.append(ObjectConflict(entity: entity.name, rowID: update.object.rowID, kind: .deleted))
            guard policy.winner == .mine else { return nil }
            created.insert(update.object)
            return Change(object: update.object, mask: target.entry(update.object.entityIndex).declaredFields, record: mine, isNew: true)
        }
        var differing = try differences(object, recorded.record(update.base, entity.layout))
        if recorded.mayBeWritten, !differing.isEmpty {
            let missing = Set(try differences(object, mine))
            differing.removeAll { update.mask.contains($0) && !missing.contains($0) }
        }
        if differing.isEmpty { return Change(object: update.object, mask: update.mask, record: mine) }
        conflicts.append(
            ObjectConflict(
                entity: entity.name, rowID: update.object.rowID, kind: .changed(keys: differing.map { entity.fields[$0].name }))
        )
        var mask = update.mask
        switch (policy.winner, policy.isByAttribute) {
        case (.nobody, _), (.store, false): return nil
        case (.mine, false): mask = target.entry(update.object.entityIndex).declaredFields
        case (.mine, true): break
        case (.store, true): for field in differing { mask.remove(field) }
        }
        return mask.isEmpty ? nil : Change(object: update.object, mask: mask, record: mine)
    }

    /// Returns whether an inserted object replaces the values of an existing one.
    private func overwrites(_ insert: RecordedChanges.Insert) throws -> Bool {
        guard insert.mayExist, !recorded.mayBeWritten, let object = existing[insert.object] else { return true }
        let entity = target.entry(insert.object.entityIndex).entity
        let differing = try differences(object, recorded.record(insert.record, entity.layout))
        if differing.isEmpty { return true }
        conflicts.append(
            ObjectConflict(
                entity: entity.name, rowID: insert.object.rowID, kind: .changed(keys: differing.map { entity.fields[$0].name })))
        return policy.winner == .mine
    }

    private func resolve(_ deletion: RecordedChanges.Deletion) throws -> (any Model)? {
        // An object deleted on both sides is not a conflict.
        guard let object = existing[deletion.object] else { return nil }
        let entity = target.entry(deletion.object.entityIndex).entity
        guard let base = deletion.base else { return object }
        let differing = try differences(object, recorded.record(base, entity.layout))
        if differing.isEmpty { return object }
        let keys = differing.map { entity.fields[$0].name }
        conflicts.append(ObjectConflict(entity: entity.name, rowID: deletion.object.rowID, kind: .changedWhatIsDeleted(keys: keys)))
        return policy.winner == .mine ? object : nil
    }

    /// Returns the fields in which an object differs from the record that was read.
    private func differences(_ object: any Model, _ base: RecordView) throws -> [Int] {
        let entry = target.entry(object._$state.entityIndex)
        scratch.removeAll()
        let now = try scratch.encode(object, entry)
        let found = entry.declaredFields.indexes.filter { !now.hasSameValue(as: base, entry.entity.fields[$0]) }
        guard found.contains(where: { entry.entity.fields[$0].type == .json }) else { return found }
        // An earlier version may have encoded an equal value as different JSON text.
        let arena = RecordArena(capacity: 512)
        let same = try target.encoded(base, like: object, entry, arena)
        return found.filter { !now.hasSameValue(as: same, entry.entity.fields[$0]) }
    }

    // MARK: Application

    /// - Parameter isAgain: whether another transaction has deleted the object.
    private func insert(_ object: RowReference, _ mask: FieldMask, _ record: RecordView, isAgain: Bool) throws {
        if isAgain { target.buffer.tracker?.reinserted.insert(object) }
        let new = try target.insert(object.entityIndex, object.rowID, mask, record)
        // Relationships are set after all of their targets exist.
        for (relationship, _, _) in toOnes(object.entityIndex) { new._$setToOne(relationship.index, .none) }
        existing[object] = new
    }

    private func relate(_ object: RowReference, _ record: RecordView) {
        guard let new = existing[object] else { return }
        for (relationship, field, entityIndex) in toOnes(object.entityIndex) where !record.isNull(field) {
            let rowID = record.integer(field)
            guard targets.contains(RowReference(entityIndex: entityIndex, rowID: rowID)) else { continue }
            new._$setToOne(relationship.index, ToOne(rowID: rowID))
            target.editing.moved(new, relationship.index, from: 0, to: rowID)
        }
    }

    private func update(_ change: Change) throws {
        guard let object = existing[change.object] else { return }
        let entry = target.entry(change.object.entityIndex)
        let before = toOnes(change.object.entityIndex).map { object._$toOne($0.relationship.index).rowID }
        target.beginEditing(object).mask.formUnion(change.mask)
        scratch.removeAll()
        let now = try scratch.encode(object, entry)
        let merged = RecordArena()
        var builder = RecordBuilder(merged)
        builder.begin(entry.entity.layout)
        for field in entry.entity.fields {
            builder.copy(field, from: change.mask.contains(field.index) ? change.record : now)
        }
        try object._$load(builder.finishedView())
        for (index, (relationship, field, entityIndex)) in toOnes(change.object.entityIndex).enumerated() where change.mask.contains(field)
        {
            var newTarget = object._$toOne(relationship.index).rowID
            if newTarget != 0, !targets.contains(RowReference(entityIndex: entityIndex, rowID: newTarget)) {
                newTarget = 0
                object._$setToOne(relationship.index, .none)
            }
            if newTarget != before[index] { target.editing.moved(object, relationship.index, from: before[index], to: newTarget) }
        }
    }

    private func exists(_ key: RelationshipKey) -> Bool {
        targets.contains(key.owner)
    }

    private func link(_ links: RecordedChanges.Links) {
        let entry = target.entry(links.key.entityIndex)
        let destination = entry.destinations[Int(links.key.relationship)]
        guard exists(links.key) else { return }
        for rowID in links.removed { target.editing.unlink(links.key, entry, rowID) }
        for rowID in links.added where targets.contains(RowReference(entityIndex: destination, rowID: rowID)) {
            target.editing.link(links.key, entry, rowID)
        }
    }
}

extension RecordArena {
    /// Returns the record of an object. It is valid until the next write to the arena.
    package func encode(_ object: some Model, _ entry: StoreEntity) throws -> RecordView {
        var builder = RecordBuilder(self)
        builder.begin(entry.entity.layout)
        try entry.encode(object, into: &builder)
        return try builder.finishedView()
    }
}

extension RecordView {
    /// Returns whether a field has the same value in two records of one entity.
    func hasSameValue(as other: RecordView, _ field: Field) -> Bool {
        let isNull = isNull(field.index)
        guard isNull == other.isNull(field.index) else { return false }
        if isNull { return true }
        switch field.type.physical {
        case .integer: return integer(field.index) == other.integer(field.index)
        case .real: return real(field.index).bitPattern == other.real(field.index).bitPattern
        case .text, .blob: return bytes(field.index).elementsEqual(other.bytes(field.index))
        }
    }
}

extension Transaction {
    /// Returns a record re-encoded by the object's class.
    fileprivate func encoded<T: Model>(
        _ record: RecordView, like object: T, _ entry: StoreEntity, _ arena: RecordArena
    ) throws -> RecordView {
        // The object is not registered, so no fetch finds it.
        try arena.encode(T(_$state: ModelState(identityMap(entry.entityIndex), rowID: 0), decoding: record), entry)
    }

    /// Returns the existing objects with the given row ids, with their values.
    final func existing(_ entityIndex: Int32, _ rowIDs: [Int64]) throws -> [any Model] {
        func open<T: Model>(_ type: T.Type) throws -> [any Model] {
            let entry = entry(entityIndex)
            let cursor = try rows(
                entry, FetchRequest(entry.entity, predicate: .oneOf(.objectID, rowIDs.map { .integer($0) })), FetchOptions())
            defer { cursor.close() }
            var found: [T] = []
            try collect(type, entry, entityIndex, cursor, into: &found)
            return found
        }
        return try open(entry(entityIndex).type)
    }

    /// Returns those of the given row ids that exist.
    final func existingRowIDs(_ entityIndex: Int32, _ rowIDs: [Int64]) throws -> [Int64] {
        let entry = entry(entityIndex)
        var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, rowIDs.map { .integer($0) }))
        request.onlyIDs = true
        let cursor = try rows(entry, request, FetchOptions())
        defer { cursor.close() }
        var found: [Int64] = []
        while try cursor.next() { found.append(cursor.rowID) }
        return found
    }

    /// Creates an object with a given row id and values.
    final func insert(_ entityIndex: Int32, _ rowID: Int64, _ mask: FieldMask, _ record: RecordView) throws -> any Model {
        func open<T: Model>(_ type: T.Type) throws -> any Model {
            try touch(entry(entityIndex).store)
            if let known = registered(type, entityIndex, rowID) {
                // An object that an earlier commit of this transaction has deleted can still be registered.
                let isDeletedHere =
                    known.isDeleted && (known.isInserted || buffer[Int(entityIndex)]?.deleted.contains { $0 === known } ?? false)
                return isDeletedHere ? try revive(known, mask, record) : try reinsert(known, mask, record)
            }
            let object = try make(type, entry(entityIndex), identityMap(entityIndex), rowID, record)
            let edit = EditState(isInsert: true)
            edit.mask = mask
            object._$state.edit = edit
            buffer.didCreate(object, entityIndex: Int(entityIndex))
            return object
        }
        // In a class hierarchy, the record determines the class.
        if let hierarchy = entry(entityIndex).hierarchy {
            return try open(try hierarchy.type(record))
        }
        return try open(entry(entityIndex).type)
    }

    /// Turns a registered object that is not in the version of this transaction into an inserted one.
    private func reinsert<T: Model>(_ object: T, _ mask: FieldMask, _ record: RecordView) throws -> T {
        buffer.history?.recordChange(object)
        try object._$load(record)
        object._$state.flags.subtract([.deleted, .fault, .missing])
        let edit = EditState(isInsert: true)
        edit.mask = mask
        object._$state.edit = edit
        buffer.changes(of: Int(object._$state.entityIndex)).inserted.append(object)
        buffer.tracker?.didCreate(object)
        return object
    }

    /// Turns an object deleted in this transaction into an updated one.
    private func revive<T: Model>(_ object: T, _ mask: FieldMask, _ record: RecordView) throws -> T {
        let entityIndex = Int(object._$state.entityIndex)
        editing.willChange(object)
        try object._$load(record)
        object._$state.flags.subtract([.deleted, .fault, .missing])
        buffer.changes(of: entityIndex).deleted.removeAll { $0 === object }
        if !object.isInserted {
            let edit = EditState(isInsert: false)
            object._$state.edit = edit
            if !buffer.changes(of: entityIndex).updated.contains(where: { $0 === object }) {
                buffer.changes(of: entityIndex).updated.append(object)
            }
        }
        object._$state.edit?.mask.formUnion(mask)
        buffer.changes(of: entityIndex).records = nil
        return object
    }
}

extension StoreError {
    /// Creates an error that lists all conflicts.
    init(_ conflicts: [ObjectConflict]) {
        let names = conflicts.prefix(20).map(\.description).joined(separator: "; ")
        let rest = conflicts.count > 20 ? "; and \(conflicts.count - 20) more" : ""
        self.init(
            .conflict,
            "Modified by another transaction since they were read here: \(names)\(rest). Nothing was written. Commit with another merge policy, or roll back and try again.",
            entity: conflicts.first?.entity, rowID: conflicts.first?.rowID)
        self.conflicts = conflicts
    }
}
