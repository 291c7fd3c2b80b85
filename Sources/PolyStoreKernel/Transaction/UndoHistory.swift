import PolyStoreBackend

/// The steps of a transaction that can be undone and redone.
///
/// A step stores the state of each changed object before the step, once, and the transaction's lists, which have value semantics. Undoing it restores
/// that state and stores the current one, so redoing works the same way in the other direction.
package final class UndoHistory {
    /// The saved state of an object.
    struct SavedState {
        let object: any Model
        /// The changed fields; nil if the object was unchanged.
        let mask: FieldMask?
        let isInsert: Bool
        let flags: ModelState.Flags
        /// The values of the object; nil if it was a fault.
        let record: RecordedChanges.ByteRange?
        let arena: RecordArena
        /// A Boolean value that indicates whether the object had already been created.
        let exists: Bool
    }

    private struct Step {
        var objects: [RowReference: SavedState] = [:]
        var order: [RowReference] = []
        /// The length of the to-many relationship log at the start of the step.
        var mark: RelationshipChanges.Mark
        /// The log entries of a step that can be redone.
        var tail = RelationshipChanges.Tail()
        let denials: [RelationshipKey]
        let unverified: [RowReference]
        let deferredErrors: DeferredErrors
        let arena = RecordArena(capacity: 256)
    }

    private unowned let transaction: Transaction
    private var current: Step
    private var undoable: [Step] = []
    private var redoable: [Step] = []

    package init(_ transaction: Transaction) {
        self.transaction = transaction
        current = Self.step(transaction)
        for entityChanges in transaction.buffer.pending.lazy.map(\.object) {
            for object in [entityChanges.inserted, entityChanges.updated].joined() { object._$state.edit?.isRecorded = true }
        }
    }

    private static func step(_ transaction: Transaction) -> Step {
        Step(
            mark: transaction.buffer.relationshipChanges.mark(), denials: transaction.buffer.denials,
            unverified: transaction.buffer.unverified,
            deferredErrors: transaction.buffer.deferredErrors)
    }

    /// Requests a notification of the next change of changed objects. It is already requested for objects that the step has not saved.
    private func requestNotifications(_ objects: Dictionary<RowReference, SavedState>.Values) {
        for saved in objects { saved.object._$state.edit?.isRecorded = true }
    }

    /// The number of steps that belong to an enclosing operation and cannot be undone now.
    private var protectedCount = 0

    /// A Boolean value that indicates whether nothing was changed since the last step.
    private var isUnchanged: Bool {
        current.objects.isEmpty && transaction.buffer.relationshipChanges.changeCount == current.mark.changeCount
            && transaction.buffer.deferredErrors.changeCount == current.deferredErrors.changeCount
    }

    var canUndo: Bool {
        // Further changes of a list cannot make it false.
        if !isUnchanged || undoable.count > protectedCount { return true }
        transaction.settleMembers()
        return !isUnchanged
    }
    /// False after further changes: undone steps cannot be redone on top of them.
    var canRedo: Bool {
        if redoable.isEmpty { return false }
        transaction.settleMembers()
        return isUnchanged && !redoable.isEmpty
    }

    // MARK: Recording

    /// Called before an object changes.
    func recordChange(_ object: any Model) { save(object, in: &current, exists: true) }

    func recordCreation(_ object: any Model) { save(object, in: &current, exists: false) }

    private func save(_ object: any Model, in step: inout Step, exists: Bool) {
        let reference = object.rowReference
        guard step.objects[reference] == nil else { return }
        let state = object._$state.flags
        var record: RecordedChanges.ByteRange?
        if exists, !state.contains(.fault) {
            // Values that cannot be encoded cannot be restored. They are read from the store again.
            let entry = transaction.entry(reference.entityIndex)
            if let view = try? step.arena.encode(object, entry) {
                record = RecordedChanges.ByteRange(offset: step.arena.count - view.count, count: view.count)
            }
        }
        step.order.append(reference)
        step.objects[reference] = SavedState(
            object: object, mask: object._$state.edit?.mask, isInsert: object.isInserted, flags: state, record: record,
            arena: step.arena, exists: exists)
    }

    // MARK: Steps

    /// Ends the current step. Further changes belong to a new one.
    /// - Parameter isSettled: whether the caller has prepared the lists that were changed in place.
    func endStep(isSettled: Bool = false) {
        if !isSettled { transaction.settleMembers() }
        guard !isUnchanged else { return }
        redoable = []
        undoable.append(current)
        requestNotifications(current.objects.values)
        current = Self.step(transaction)
    }

    /// Adds changes to the last step if nothing was changed since its end, and to the current one otherwise.
    func amendLastStep(_ change: () -> Void) {
        guard isUnchanged, undoable.count > protectedCount, let last = undoable.popLast() else { return change() }
        current = last
        change()
        endStep(isSettled: true)
    }

    /// Undoes the last step.
    func undo() throws {
        endStep()
        guard undoable.count > protectedCount, let step = undoable.popLast() else { return }
        redoable.append(try exchange(step))
    }

    /// Begins an operation that is applied completely or not at all.
    package func beginOperation() -> Operation {
        transaction.settleMembers()
        let beganInStep = !isUnchanged
        endStep()
        defer { protectedCount = undoable.count }
        return Operation(protectedCount: protectedCount, stepCount: undoable.count, beganInStep: beganInStep)
    }

    /// Ends an atomic operation.
    /// - Parameter endsStep: whether the operation is a step of its own; otherwise it is part of the current step.
    func endOperation(_ operation: Operation, endsStep: Bool) {
        endStep()
        protectedCount = operation.protectedCount
        if endsStep { return }
        // Merges the steps of the operation with the step in which it began.
        let first = operation.beganInStep ? operation.stepCount - 1 : operation.stepCount
        guard first < undoable.count else { return }
        var joined = undoable[first]
        for step in undoable[(first + 1)...] {
            for reference in step.order where joined.objects[reference] == nil {
                joined.order.append(reference)
                joined.objects[reference] = step.objects[reference]
            }
        }
        undoable.removeSubrange(first...)
        current = joined
    }

    /// Undoes all changes since the operation began. They cannot be redone.
    package func revert(_ operation: Operation) throws {
        endStep()
        protectedCount = operation.protectedCount
        while undoable.count > operation.stepCount, let step = undoable.popLast() { _ = try exchange(step) }
        redoable = []
        if operation.beganInStep, let open = undoable.popLast() { current = open }
    }

    /// Keeps all changes since the operation began and removes their steps. They can no longer be undone.
    /// - Returns: the changed objects.
    package func release(_ operation: Operation) -> [RowReference] {
        endStep()
        protectedCount = operation.protectedCount
        defer { undoable.removeSubrange(operation.stepCount...) }
        return undoable[operation.stepCount...].flatMap(\.order)
    }

    package struct Operation {
        /// The number of protected steps before the operation.
        fileprivate let protectedCount: Int
        /// The number of steps before the operation.
        fileprivate let stepCount: Int
        /// A Boolean value that indicates whether the operation began within a step.
        fileprivate let beganInStep: Bool
    }

    func redo() throws {
        transaction.settleMembers()
        guard canRedo, let step = redoable.popLast() else { return }
        undoable.append(try exchange(step))
    }

    /// Restores the state before a step.
    /// - Returns: a step with the state before the exchange.
    private func exchange(_ step: Step) throws -> Step {
        var opposite = Self.step(transaction)
        opposite.mark = step.mark
        for reference in step.order {
            guard let saved = step.objects[reference] else { continue }
            let object = saved.object
            // The creation of the object was undone, so redoing it creates it again.
            save(object, in: &opposite, exists: !(object.isInserted && object.isDeleted))
        }
        for reference in step.order {
            if let saved = step.objects[reference] { try restore(saved) }
        }
        opposite.tail = transaction.buffer.relationshipChanges.cut(to: step.mark)
        transaction.buffer.relationshipChanges.append(step.tail)
        transaction.buffer.denials = step.denials
        transaction.buffer.unverified = step.unverified
        transaction.buffer.deferredErrors = step.deferredErrors
        transaction.forgetAllMembers()
        transaction.updateLists(step.order.compactMap { opposite.objects[$0] })
        current = Self.step(transaction)
        requestNotifications(step.objects.values)
        transaction.buffer.tracker?.didRestore(
            step.order.compactMap { step.objects[$0]?.object }, opposite.tail.changedRelationships.union(step.tail.changedRelationships),
            in: transaction.editing)
        return opposite
    }

    private func restore(_ saved: SavedState) throws {
        let object = saved.object
        guard saved.exists else {
            // An object that was not yet created is marked as deleted.
            object._$state.flags.insert(.deleted)
            return
        }
        let entry = transaction.entry(object._$state.entityIndex)
        if saved.mask == nil, saved.flags.contains(.missing) {
            // The object was unchanged, and its version did not contain it.
            object._$state.edit = nil
            object._$state.flags.subtract([.missing, .deleted])
            object._$state.flags.insert(.fault)
            transaction.buffer.tracker?.didRestoreOriginal(of: object)
            return
        }
        if saved.mask != nil || saved.flags.contains(.deleted) {
            transaction.buffer.tracker?.willRestoreChange(of: object, in: transaction)
        }
        let kept = object._$state.flags.intersection([.hasMembers, .owned])
        if let record = saved.record {
            try load(saved.arena.view(record.offset, record.count, entry.entity.layout), saved, entry)
        } else if !saved.flags.contains(.missing) {
            object._$state.flags.insert(.fault)
        }
        let isFault = saved.record == nil && !saved.flags.contains(.missing)
        object._$state.flags = saved.flags.subtracting([.fault]).union(kept).union(isFault ? .fault : [])
        guard let mask = saved.mask else {
            object._$state.edit = nil
            guard !object.isDeleted else { return }
            // The object may have been changed in the store in the meantime.
            object._$state.flags.insert(.fault)
            transaction.buffer.tracker?.didRestoreOriginal(of: object)
            return
        }
        let edit = EditState(isInsert: saved.isInsert)
        edit.mask = mask
        object._$state.edit = edit
    }
}

extension UndoHistory {
    /// Restores the saved values of an object, except for values that were only read and may have changed since.
    private func load(_ record: RecordView, _ saved: SavedState, _ entry: StoreEntity) throws {
        let object = saved.object
        guard let mask = saved.mask, !saved.isInsert, !object._$state.isFault, !object._$state.flags.contains(.missing) else {
            return try object._$load(record)
        }
        let (arena, merged) = (RecordArena(capacity: 512), RecordArena(capacity: 512))
        defer { withExtendedLifetime((arena, merged)) {} }
        let now = try arena.encode(object, entry)
        let changed = object._$state.edit?.mask ?? FieldMask()
        var builder = RecordBuilder(merged)
        builder.begin(entry.entity.layout)
        for field in entry.entity.fields {
            let isRead = !mask.contains(field.index) && !changed.contains(field.index)
            builder.copy(field, from: isRead ? now : record)
        }
        try object._$load(builder.finishedView())
    }
}

extension Transaction {
    /// Runs a body whose changes are applied completely or, if it throws, undone.
    /// - Parameter endsStep: whether the body is a step that can be undone separately.
    final func atomically(endsStep: Bool = false, _ body: () throws -> Void) throws {
        let undoHistory = buffer.history ?? UndoHistory(self)
        let isTemporary = buffer.history == nil
        buffer.history = undoHistory
        defer { if isTemporary { buffer.history = nil } }
        let operation = undoHistory.beginOperation()
        let values = buffer.storeValues
        do {
            try body()
            if buffer.history === undoHistory { undoHistory.endOperation(operation, endsStep: endsStep) }
        } catch {
            // A commit or rollback in the body has discarded the saved states.
            if buffer.history === undoHistory {
                buffer.storeValues = values
                try undoHistory.revert(operation)
            } else {
                buffer.rollBack?()
            }
            throw error
        }
    }

    /// Moves objects whose state was restored between the lists of inserted, updated and deleted objects.
    /// - Parameter before: the states before the restoration.
    final func updateLists(_ before: [UndoHistory.SavedState]) {
        for saved in before {
            guard let changes = buffer[Int(saved.object._$state.entityIndex)], changes.records != nil else { continue }
            changes.records = nil
            for object in [changes.inserted, changes.updated].joined() { object._$state.edit?.row = -1 }
        }
        for saved in before {
            let object = saved.object
            let changes = buffer.changes(of: Int(object._$state.entityIndex))
            object._$state.edit?.row = -1
            let wasDeleted = saved.flags.contains(.deleted)
            let isUpdated = !object.isInserted && !object.isDeleted && object._$state.edit != nil
            if saved.isInsert != object.isInserted { Self.move(object, &changes.inserted, isMember: object.isInserted) }
            // An object that was changed and then deleted may be in both lists.
            let wasUpdated = !saved.isInsert && saved.mask != nil
            if wasUpdated != isUpdated || wasUpdated && wasDeleted {
                if wasUpdated { Self.move(object, &changes.updated, isMember: false) }
                if isUpdated { changes.updated.append(object) }
            }
            let isDeleted = object.isDeleted && !object.isInserted
            if (wasDeleted && !saved.isInsert) != isDeleted { Self.move(object, &changes.deleted, isMember: isDeleted) }
        }
    }

    /// Adds an object to a list or removes it. The search starts at the end, where the most recently changed objects are.
    private static func move(_ object: any Model, _ list: inout [any Model], isMember: Bool) {
        if isMember { return list.append(object) }
        guard let index = list.lastIndex(where: { $0 === object }) else { return }
        list.remove(at: index)
    }
}
