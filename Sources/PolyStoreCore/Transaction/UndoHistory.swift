import PolyStoreBackend

/// The steps of a transaction that can be undone and redone.
///
/// A step stores the state of each changed object before the step, once, and the transaction's lists, which have value semantics. Undoing it restores
/// that state and stores the current one, so redoing works the same way in the other direction.
final class UndoHistory {
    /// The saved state of an object.
    struct Memory {
        let object: any Model
        /// The changed fields; nil if the object was unchanged.
        let mask: FieldMask?
        let isInsert: Bool
        let flags: ModelState.Flags
        /// The values of the object; nil if it was a fault.
        let record: RecordedChanges.Place?
        let arena: RecordArena
        /// A Boolean value that indicates whether the object had already been created.
        let exists: Bool
    }

    private struct Step {
        var objects: [ObjectKey: Memory] = [:]
        var order: [ObjectKey] = []
        /// The length of the to-many relationship log at the start of the step.
        var mark: MemberLog.Mark
        /// The log entries of a step that can be redone.
        var tail = MemberLog.Tail()
        let denials: [MemberKey]
        let unverified: [(slot: Int32, key: Int64)]
        let refusals: Refusals
        let arena = RecordArena(capacity: 256)
    }

    private unowned let transaction: Transaction
    private var current: Step
    private var undoable: [Step] = []
    private var redoable: [Step] = []

    init(_ transaction: Transaction) {
        self.transaction = transaction
        current = Self.step(transaction)
        for own in transaction.pending {
            for object in [own.inserted, own.updated].joined() { object._$state.edit?.isRecorded = true }
        }
    }

    private static func step(_ transaction: Transaction) -> Step {
        Step(
            mark: transaction.memberLog.mark(), denials: transaction.denials, unverified: transaction.unverified,
            refusals: transaction.refusals)
    }

    /// Requests a notification of the next change of changed objects. It is already requested for objects that the step has not saved.
    private func watchAgain(_ objects: Dictionary<ObjectKey, Memory>.Values) {
        for memory in objects { memory.object._$state.edit?.isRecorded = true }
    }

    /// The number of steps that belong to an enclosing operation and cannot be undone now.
    private var floor = 0

    /// A Boolean value that indicates whether nothing was changed since the last step.
    private var isAtEnd: Bool {
        current.objects.isEmpty && transaction.memberLog.changeCount == current.mark.changeCount
            && transaction.refusals.changeCount == current.refusals.changeCount
    }

    var canUndo: Bool { !isAtEnd || undoable.count > floor }
    /// False after further changes: undone steps cannot be redone on top of them.
    var canRedo: Bool { isAtEnd && !redoable.isEmpty }

    // MARK: Recording

    /// Called before an object changes.
    func note(_ object: any Model) { remember(object, in: &current, exists: true) }

    func noteCreated(_ object: any Model) { remember(object, in: &current, exists: false) }

    private func remember(_ object: any Model, in step: inout Step, exists: Bool) {
        let place = object.place
        guard step.objects[place] == nil else { return }
        let state = object._$state.flags
        var record: RecordedChanges.Place?
        if exists, !state.contains(.fault) {
            // Values that cannot be encoded cannot be restored. They are read from the store again.
            let entry = transaction.entry(place.slot)
            if let view = try? step.arena.encode(object, entry) {
                record = RecordedChanges.Place(offset: step.arena.count - view.count, count: view.count)
            }
        }
        step.order.append(place)
        step.objects[place] = Memory(
            object: object, mask: object._$state.edit?.mask, isInsert: object.isInserted, flags: state, record: record,
            arena: step.arena, exists: exists)
    }

    // MARK: Steps

    /// Ends the current step. Further changes belong to a new one.
    func endStep() {
        guard !isAtEnd else { return }
        redoable = []
        undoable.append(current)
        watchAgain(current.objects.values)
        current = Self.step(transaction)
    }

    /// Undoes the last step.
    func undo() throws {
        transaction.settleCollections()
        endStep()
        guard undoable.count > floor, let step = undoable.popLast() else { return }
        redoable.append(try exchange(step))
    }

    /// Begins an operation that is applied completely or not at all.
    func beginWhole() -> Whole {
        let isUnderWay = !isAtEnd
        endStep()
        defer { floor = undoable.count }
        return Whole(floor: floor, mark: undoable.count, isUnderWay: isUnderWay)
    }

    /// Ends an atomic operation.
    /// - Parameter endsStep: whether the operation is a step of its own; otherwise it is part of the current step.
    func endWhole(_ whole: Whole, endsStep: Bool) {
        endStep()
        floor = whole.floor
        if endsStep { return }
        // Merges the steps of the operation with the step in which it began.
        let first = whole.isUnderWay ? whole.mark - 1 : whole.mark
        guard first < undoable.count else { return }
        var joined = undoable[first]
        for step in undoable[(first + 1)...] {
            for place in step.order where joined.objects[place] == nil {
                joined.order.append(place)
                joined.objects[place] = step.objects[place]
            }
        }
        undoable.removeSubrange(first...)
        current = joined
    }

    /// Undoes all changes since the operation began. They cannot be redone.
    func takeBack(_ whole: Whole) throws {
        endStep()
        floor = whole.floor
        while undoable.count > whole.mark, let step = undoable.popLast() { _ = try exchange(step) }
        redoable = []
        if whole.isUnderWay, let open = undoable.popLast() { current = open }
    }

    /// Keeps all changes since the operation began and removes their steps. They can no longer be undone.
    /// - Returns: the changed objects.
    func release(_ whole: Whole) -> [ObjectKey] {
        endStep()
        floor = whole.floor
        defer { undoable.removeSubrange(whole.mark...) }
        return undoable[whole.mark...].flatMap(\.order)
    }

    struct Whole {
        fileprivate let floor: Int
        fileprivate let mark: Int
        /// A Boolean value that indicates whether the operation began within a step.
        fileprivate let isUnderWay: Bool
    }

    func redo() throws {
        transaction.settleCollections()
        guard canRedo, let step = redoable.popLast() else { return }
        undoable.append(try exchange(step))
    }

    /// Restores the state before a step.
    /// - Returns: a step with the state before the exchange.
    private func exchange(_ step: Step) throws -> Step {
        var now = Self.step(transaction)
        now.mark = step.mark
        for place in step.order {
            guard let memory = step.objects[place] else { continue }
            let object = memory.object
            // The creation of the object was undone, so redoing it creates it again.
            remember(object, in: &now, exists: !(object.isInserted && object.isDeleted))
        }
        for place in step.order {
            if let memory = step.objects[place] { try restore(memory) }
        }
        now.tail = transaction.memberLog.cut(to: step.mark)
        transaction.memberLog.append(step.tail)
        transaction.denials = step.denials
        transaction.unverified = step.unverified
        transaction.refusals = step.refusals
        transaction.forgetAllMembers()
        transaction.sortOut(step.order.compactMap { now.objects[$0] })
        current = Self.step(transaction)
        watchAgain(step.objects.values)
        transaction.didRestore(step.order.compactMap { step.objects[$0]?.object }, now.tail.touched.union(step.tail.touched))
        return now
    }

    private func restore(_ memory: Memory) throws {
        let object = memory.object
        guard memory.exists else {
            // An object that was not yet created is marked as deleted.
            object._$state.flags.insert(.deleted)
            return
        }
        let entry = transaction.entry(object._$state.slot)
        if memory.mask != nil || memory.flags.contains(.deleted) { transaction.willRestore(object) }
        let kept = object._$state.flags.intersection([.hasMembers, .owned])
        if let record = memory.record {
            try load(memory.arena.view(record.offset, record.count, entry.entity.layout), memory, entry)
        } else if !memory.flags.contains(.missing) {
            object._$state.flags.insert(.fault)
        }
        let isFault = memory.record == nil && !memory.flags.contains(.missing)
        object._$state.flags = memory.flags.subtracting([.fault]).union(kept).union(isFault ? .fault : [])
        guard let mask = memory.mask else {
            object._$state.edit = nil
            guard !object.isDeleted else { return }
            // The object may have been changed in the store in the meantime.
            object._$state.flags.insert(.fault)
            transaction.didForget(object)
            return
        }
        let edit = EditState(isInsert: memory.isInsert)
        edit.mask = mask
        object._$state.edit = edit
    }
}

extension UndoHistory {
    /// Restores the saved values of an object, except for values that were only read and may have changed since.
    private func load(_ record: RecordView, _ memory: Memory, _ entry: StoreEntity) throws {
        let object = memory.object
        guard let mask = memory.mask, !memory.isInsert, !object._$state.isFault, !object._$state.flags.contains(.missing) else {
            return try object._$load(record)
        }
        let (arena, merged) = (RecordArena(capacity: 512), RecordArena(capacity: 512))
        defer { withExtendedLifetime((arena, merged)) {} }
        let now = try arena.encode(object, entry)
        let changed = object._$state.edit?.mask ?? FieldMask()
        var builder = RecordBuilder(merged)
        builder.begin(entry.entity.layout)
        for field in entry.entity.fields {
            let isRead = !mask.contains(field.ordinal) && !changed.contains(field.ordinal)
            builder.copy(field, from: isRead ? now : record)
        }
        try object._$load(builder.finishedView())
    }
}

extension Transaction {
    /// Runs a body whose changes are applied completely or, if it throws, undone.
    /// - Parameter endsStep: whether the body is a step that can be undone separately.
    final func atomically(endsStep: Bool = false, _ body: () throws -> Void) throws {
        let own = history ?? UndoHistory(self)
        let isMine = history == nil
        history = own
        defer { if isMine { history = nil } }
        let whole = own.beginWhole()
        let values = storeValues
        do {
            try body()
            if history === own { own.endWhole(whole, endsStep: endsStep) }
        } catch {
            // A commit or rollback in the body has discarded the saved states.
            if history === own {
                storeValues = values
                try own.takeBack(whole)
            } else {
                giveUp()
            }
            throw error
        }
    }

    /// Moves objects whose state was restored between the lists of inserted, updated and deleted objects.
    /// - Parameter before: the states before the restoration.
    final func sortOut(_ before: [UndoHistory.Memory]) {
        for memory in before where pending[Int(memory.object._$state.slot)].records != nil {
            let slot = Int(memory.object._$state.slot)
            pending[slot].records = nil
            for object in [pending[slot].inserted, pending[slot].updated].joined() { object._$state.edit?.row = -1 }
        }
        for memory in before {
            let object = memory.object
            let slot = Int(object._$state.slot)
            object._$state.edit?.row = -1
            let wasDeleted = memory.flags.contains(.deleted)
            let isUpdated = !object.isInserted && !object.isDeleted && object._$state.edit != nil
            if memory.isInsert != object.isInserted { Self.move(object, &pending[slot].inserted, isMember: object.isInserted) }
            // An object that was changed and then deleted may be in both lists.
            let wasUpdated = !memory.isInsert && memory.mask != nil
            if wasUpdated != isUpdated || wasUpdated && wasDeleted {
                if wasUpdated { Self.move(object, &pending[slot].updated, isMember: false) }
                if isUpdated { pending[slot].updated.append(object) }
            }
            let isDeleted = object.isDeleted && !object.isInserted
            if (wasDeleted && !memory.isInsert) != isDeleted { Self.move(object, &pending[slot].deleted, isMember: isDeleted) }
        }
    }

    /// Adds an object to a list or removes it. The search starts at the end, where the most recently changed objects are.
    private static func move(_ object: any Model, _ list: inout [any Model], isMember: Bool) {
        if isMember { return list.append(object) }
        guard let place = list.lastIndex(where: { $0 === object }) else { return }
        list.remove(at: place)
    }
}
