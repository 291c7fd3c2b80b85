import PolyStoreBackend

/// Steps of a transaction that can be taken back and done again.
///
/// A step keeps what each object was like before it, once, and the lists of the transaction, which are values. Taking it back puts them there again
/// and keeps in turn what was there, so that doing again is the same in the other direction.
final class UndoHistory {
    /// What an object was like.
    private struct Memory {
        let object: any Model
        /// nil: it was not changed.
        let mask: FieldMask?
        let isInsert: Bool
        let flags: ModelState.Flags
        /// Its values; nil: they were still to be read.
        let record: RecordedChanges.Place?
        /// Whether the transaction had made it.
        let exists: Bool
    }

    private struct Step {
        var objects: [ObjectKey: Memory] = [:]
        var order: [ObjectKey] = []
        let memberLog: MemberLog
        let denials: [MemberKey]
        let unverified: [(slot: Int32, key: Int64)]
        let deferredErrors: [StoreError]
        let arena = RecordArena(capacity: 256)
    }

    private unowned let transaction: Transaction
    private var current: Step
    private var undoable: [Step] = []
    private var redoable: [Step] = []

    init(_ transaction: Transaction) {
        self.transaction = transaction
        current = Self.step(transaction)
        watchAgain()
    }

    private static func step(_ transaction: Transaction) -> Step {
        Step(
            memberLog: transaction.memberLog, denials: transaction.denials, unverified: transaction.unverified,
            deferredErrors: transaction.deferredErrors)
    }

    /// Makes the next change of each changed object known.
    private func watchAgain() {
        for own in transaction.pending {
            for object in [own.inserted, own.updated].joined() { object._$state.edit?.isRecorded = true }
        }
    }

    /// Whether nothing was changed since the last step.
    private var isAtEnd: Bool { current.objects.isEmpty && transaction.memberLog.changeCount == current.memberLog.changeCount }

    var canUndo: Bool { !isAtEnd || !undoable.isEmpty }
    /// What was changed since cannot be done again on top of.
    var canRedo: Bool { isAtEnd && !redoable.isEmpty }

    // MARK: What happens

    /// Called before an object changes.
    func note(_ object: any Model) { remember(object, in: &current, exists: true) }

    func noteCreated(_ object: any Model) { remember(object, in: &current, exists: false) }

    private func remember(_ object: any Model, in step: inout Step, exists: Bool) {
        let place = object.place
        guard step.objects[place] == nil else { return }
        let state = object._$state.flags
        var record: RecordedChanges.Place?
        if exists, !state.contains(.fault) {
            // What cannot be written down cannot be read back either: then the values are read anew.
            let entry = transaction.entry(place.slot)
            if let view = try? step.arena.encode(object, entry) {
                record = RecordedChanges.Place(offset: step.arena.count - view.count, count: view.count)
            }
        }
        step.order.append(place)
        step.objects[place] = Memory(
            object: object, mask: object._$state.edit?.mask, isInsert: object.isInserted, flags: state, record: record, exists: exists)
    }

    // MARK: Steps

    /// Ends the step under way: what comes next is one of its own.
    func endStep() {
        guard !isAtEnd else { return }
        redoable = []
        undoable.append(current)
        current = Self.step(transaction)
        watchAgain()
    }

    /// Takes the last step back.
    func undo() throws {
        endStep()
        guard let step = undoable.popLast() else { return }
        redoable.append(try exchange(step))
    }

    /// Takes the step under way back, for good.
    func forgetStep() throws {
        guard !isAtEnd else { return }
        try undo()
        redoable = []
    }

    func redo() throws {
        guard canRedo, let step = redoable.popLast() else { return }
        undoable.append(try exchange(step))
    }

    /// Puts back what was there before a step.
    /// - Returns: what was there now.
    private func exchange(_ step: Step) throws -> Step {
        var now = Self.step(transaction)
        for place in step.order {
            guard let memory = step.objects[place] else { continue }
            let object = memory.object
            // An object that was made and taken back is made again.
            remember(object, in: &now, exists: !(object.isInserted && object.isDeleted))
        }
        for place in step.order {
            if let memory = step.objects[place] { try restore(memory, step) }
        }
        transaction.memberLog = step.memberLog
        transaction.denials = step.denials
        transaction.unverified = step.unverified
        transaction.deferredErrors = step.deferredErrors
        transaction.memberLists = [:]
        transaction.sortOut(step.order.compactMap { step.objects[$0]?.object })
        current = Self.step(transaction)
        watchAgain()
        return now
    }

    private func restore(_ memory: Memory, _ step: Step) throws {
        let object = memory.object
        guard memory.exists else {
            // What the transaction had not made yet is as good as deleted.
            object._$state.flags.insert(.deleted)
            return
        }
        let entry = transaction.entry(object._$state.slot)
        let kept = object._$state.flags.intersection([.hasMembers, .owned])
        if let record = memory.record {
            try object._$load(step.arena.view(record.offset, record.count, entry.entity.layout))
        } else if !memory.flags.contains(.missing) {
            object._$state.flags.insert(.fault)
        }
        let isFault = memory.record == nil && !memory.flags.contains(.missing)
        object._$state.flags = memory.flags.subtracting([.fault]).union(kept).union(isFault ? .fault : [])
        guard let mask = memory.mask else {
            object._$state.edit = nil
            return
        }
        let edit = EditState(isInsert: memory.isInsert)
        edit.mask = mask
        object._$state.edit = edit
    }
}

extension Transaction {
    /// Does all of something, or nothing.
    final func atomically(_ body: () throws -> Void) throws {
        let own = history ?? UndoHistory(self)
        let isMine = history == nil
        history = own
        defer { if isMine { history = nil } }
        own.endStep()
        do {
            try body()
            own.endStep()
        } catch {
            // A commit in the middle has ended everything before it.
            if history === own { try own.forgetStep() } else { giveUp() }
            throw error
        }
    }

    /// Puts some objects whose state was set from outside where they belong.
    final func sortOut(_ objects: [any Model]) {
        for slot in Set(objects.map { Int($0._$state.slot) }) {
            let own = Set(objects.lazy.filter { Int($0._$state.slot) == slot }.map { ObjectIdentifier($0) })
            pending[slot].inserted.removeAll { own.contains(ObjectIdentifier($0)) }
            pending[slot].updated.removeAll { own.contains(ObjectIdentifier($0)) }
            pending[slot].deleted.removeAll { own.contains(ObjectIdentifier($0)) }
            pending[slot].records = nil
            for object in [pending[slot].inserted, pending[slot].updated].joined() {
                object._$state.edit?.isRecorded = false
                object._$state.edit?.row = -1
            }
        }
        for object in objects {
            let slot = Int(object._$state.slot)
            if object.isInserted {
                pending[slot].inserted.append(object)
            } else if object.isDeleted {
                pending[slot].deleted.append(object)
            } else if object._$state.edit != nil {
                pending[slot].updated.append(object)
            }
        }
    }
}
