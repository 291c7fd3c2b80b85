import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels

// Unqueued transactions, transactions with explicit commits, and cancelled tasks. All of them change the same tallies, so unqueued transactions nearly always
// conflict. They retry a few times, then roll back and must leave no changes.

/// The number of attempts of a transaction that conflicts.
private let attempts = 4

private func isConflict(_ error: any Error) -> Bool { (error as? StoreError)?.code == .conflict }

// MARK: Explicit commits

func beginSynchronous(_ stress: MixedStress, _ turn: Turn) throws {
    let result = try stress.stack.beginSynchronous(durability: turn.durability) { transaction in
        try turn.write(transaction, in: turn.configuration)
        try transaction.commit()
    }
    try expect(result == true, "it had changes")
    stress.acknowledge(turn, in: [turn.configuration])
}

func beginWithoutCommit(_ stress: MixedStress, _ turn: Turn) throws {
    let result = try stress.stack.beginSynchronous { try turn.write($0, in: turn.configuration) }
    try expect(result == nil, "it was not committed")
}

func beginAsynchronous(_ stress: MixedStress, _ turn: Turn) async throws {
    let hadChanges = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Bool, any Error>) in
        stress.stack.beginAsynchronous(durability: turn.durability) { transaction in
            do {
                try turn.write(transaction, in: turn.configuration)
            } catch {
                continuation.resume(throwing: error)
                return
            }
            transaction.commit { continuation.resume(with: $0) }
        }
    }
    try expect(hadChanges, "it had changes")
    stress.acknowledge(turn, in: [turn.configuration])
}

// MARK: Cancellation

/// Cancels the task at a random time: its result must agree with the store.
func performCancelled(_ stress: MixedStress, _ turn: Turn) async throws {
    let task = Task {
        try await stress.stack.perform(durability: turn.durability) { try turn.write($0, in: turn.configuration) }
    }
    for _ in 0..<turn.number % 7 { await Task.yield() }
    if turn.number % 3 == 0 { try await Task.sleep(nanoseconds: UInt64(turn.number % 5) * 1_000_000) }
    task.cancel()
    do {
        try await task.value
        stress.acknowledge(turn, in: [turn.configuration])
    } catch let error as StoreError where error.code == .cancelled {}
}

// MARK: Unqueued

/// Commits, or rolls back and retries after a conflict.
func optimistic(_ stress: MixedStress, _ turn: Turn, _ begin: () -> UnsafeTransaction) throws {
    let draft = begin()
    for _ in 0..<attempts {
        try turn.write(draft, in: turn.configuration)
        do {
            try draft.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch  where isConflict(error) {
            draft.rollback()
        }
    }
}

func unsafeReleased(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe()
    try turn.write(draft, in: turn.configuration)
    let entry = try draft.fetchOne(From<Entry>(turn.configuration), Where(\.operation == turn.number))
    try expect(entry?.delta == turn.delta, "it does not see its own change")
}

func unsafeWithUndo(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe(supportsUndo: true)
    for _ in 0..<attempts {
        try turn.write(draft, in: turn.configuration)
        draft.flush()
        for tally in try draft.fetchAll(From<Tally>(turn.configuration)) { tally.value = -1 }
        try draft.undo()
        try stress.check(draft, turn.configuration)
        try draft.undo()
        try expect(!draft.hasChanges, "undone changes are left")
        try draft.redo()
        do {
            try draft.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch  where isConflict(error) {
            draft.rollback()
        }
    }
}

func childOfUnsafe(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe()
    for _ in 0..<attempts {
        let child = draft.beginUnsafe()
        try turn.write(child, in: turn.configuration)
        try child.commit()
        let other = draft.beginUnsafe()
        for tally in try other.fetchAll(From<Tally>(turn.configuration)) { try other.delete(tally) }
        do {
            try draft.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch  where isConflict(error) {
            draft.rollback()
        }
    }
}

func queuedChild(_ stress: MixedStress, _ turn: Turn) throws {
    try stress.stack.performAndWait(durability: turn.durability) { transaction throws in
        let child = transaction.beginUnsafe()
        try turn.write(child, in: turn.configuration)
        try child.commit()
        let other = transaction.beginUnsafe()
        for tally in try other.fetchAll(From<Tally>(turn.configuration)) { tally.value = -1 }
        other.rollback()
        try stress.check(other, turn.configuration)
    }
    stress.acknowledge(turn, in: [turn.configuration])
}

func standingContext(_ stress: MixedStress, _ turn: Turn) throws {
    let context = stress.stack.newContext()
    let tallies = try context.fetchAll(From<Tally>(turn.configuration))
    let before = tallies.map(\.value)
    try stress.stack.performAndWait(durability: turn.durability) { try turn.write($0, in: turn.configuration) }
    stress.acknowledge(turn, in: [turn.configuration])
    try expect(tallies.map(\.value) == before, "a context has moved without a request")
    try context.refresh()
    try stress.check(context, turn.configuration)
}

func steps(_ stress: MixedStress, _ turn: Turn) async throws {
    let transaction = stress.stack.beginTransaction()
    for _ in 0..<attempts {
        let id = try await transaction.perform { step in
            let entry = try step.create(Into<Entry>(turn.configuration))
            (entry.operation, entry.delta) = (turn.number, 0)
            return entry.objectID
        }
        await Task.yield()
        struct Stop: Error {}
        do {
            try await transaction.perform { step in
                for tally in try step.fetchAll(From<Tally>(turn.configuration)) { try step.delete(tally) }
                throw Stop()
            }
        } catch is Stop {}
        try await transaction.perform { step in
            try step.edit(id).delta = turn.delta
            try step.fetchOrCreate(From<Tally>(turn.configuration), Where(\.name == turn.tally)).value += turn.delta
            try Turn.raiseTotal(step, turn.configuration, turn.delta)
        }
        do {
            try await transaction.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch  where isConflict(error) {
            await transaction.rollback()
        }
    }
}

/// Changes committed in the middle of the batch stay, whether or not the remaining ones are committed.
func batch(_ stress: MixedStress, _ turn: Turn) async throws {
    let isCommitted = Protected(false)
    do {
        try await stress.stack.performBatch { batch in
            try turn.write(batch, in: turn.configuration)
            try batch.commit(durability: turn.durability)
            isCommitted.withLock { $0 = true }
            try batch.create(Into<Entry>(turn.configuration)).operation = -turn.number
            throw StoreError(.cancelled, "enough")
        }
    } catch let error as StoreError where error.code == .cancelled || error.code == .conflict {}
    if isCommitted.withLock({ $0 }) { stress.acknowledge(turn, in: [turn.configuration]) }
}

@MainActor
func unsafeOnMain(_ stress: MixedStress, _ turn: Turn) async throws {
    let draft = stress.stack.beginUnsafe()
    for number in 0..<attempts {
        try turn.write(draft, in: turn.configuration)
        do {
            if number % 2 == 0 {
                try await draft.commit(durability: turn.durability)
            } else {
                try commitNow(draft, turn.durability)
            }
            let seen = try stress.stack.view.fetchOne(From<Entry>(turn.configuration), Where(\.operation == turn.number))?.delta
            try expect(seen == turn.delta, "the view does not show the change after the commit")
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch  where isConflict(error) {
            draft.rollback()
        }
    }
}

/// Blocks the main actor.
@MainActor
private func commitNow(_ draft: UnsafeTransaction, _ durability: Durability) throws { try draft.commit(durability: durability) }
