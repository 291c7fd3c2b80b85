import Foundation
import PolyStoreBackend
import PolyStoreCore

// Transactions that say themselves when they are committed, and those outside of the line.

extension Operation {
    static let waitingExplicitly: [Kind<Waiting>] = [
        Kind(name: "beginSynchronous", weight: 3, body: beginSynchronous),
        Kind(name: "beginUnsafe", weight: 3, body: beginUnsafe),
        Kind(name: "beginUnsafe on what others change", weight: 3, body: beginUnsafeInTheWay),
        Kind(name: "a child within performAndWait", weight: 2, body: childWithin),
    ]

    static let asynchronousExplicitly: [Kind<Asynchronous>] = [
        Kind(name: "beginAsynchronous", weight: 3, body: beginAsynchronous),
        Kind(name: "beginTransaction in steps", weight: 3, body: steps),
        Kind(name: "beginTransaction on what others change", weight: 3, body: stepsInTheWay),
        Kind(name: "performBatch", weight: 2, body: performBatch),
        Kind(name: "perform in a cancelled task", weight: 3, body: performCancelled),
    ]
}

// MARK: In the line

/// One in four is not committed.
private func beginSynchronous(_ stress: MixedStress, _ turn: Turn) throws {
    let commits = turn.number % 4 != 0
    let outcome = try stress.stack.beginSynchronous(durability: turn.durability) { transaction in
        try turn.write(transaction, in: turn.configuration)
        if commits { try transaction.commit() }
    }
    try expect(outcome == (commits ? true : nil), "the commit says \(outcome.map { "\($0)" } ?? "nothing")")
    if commits { stress.acknowledge(turn, in: [turn.configuration]) }
}

private func beginAsynchronous(_ stress: MixedStress, _ turn: Turn) async throws {
    let hadChanges = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Bool, any Error>) in
        stress.stack.beginAsynchronous(durability: turn.durability) { transaction in
            do { try turn.write(transaction, in: turn.configuration) } catch { return continuation.resume(throwing: error) }
            transaction.commit { result in continuation.resume(with: result.mapError { $0 }) }
        }
    }
    try expect(hadChanges, "the commit says that nothing was changed")
    stress.acknowledge(turn, in: [turn.configuration])
}

/// What a child hands over is its parent's; what it does not is nobody's.
private func childWithin(_ stress: MixedStress, _ turn: Turn) throws {
    try stress.stack.performAndWait(durability: turn.durability) { transaction throws in
        let lost = transaction.beginUnsafe()
        try turn.write(lost, in: turn.configuration)
        lost.rollback()
        let kept = transaction.beginUnsafe()
        try turn.write(kept, in: turn.configuration)
        try kept.commit()
    }
    stress.acknowledge(turn, in: [turn.configuration])
}

/// Cancelled now or later or too late: it is as the outcome says.
private func performCancelled(_ stress: MixedStress, _ turn: Turn) async throws {
    let task = Task { try await stress.stack.perform(durability: turn.durability) { try turn.write($0, in: turn.configuration) } }
    if turn.number % 2 == 0 { try await Task.sleep(for: .microseconds(turn.number % 500)) }
    task.cancel()
    do {
        try await task.value
        stress.acknowledge(turn, in: [turn.configuration])
    } catch let error as StoreError where error.code == .cancelled {}
}

// MARK: Outside of the line

extension Turn {
    /// An entry that belongs to no tally: nobody else changes what it is about.
    fileprivate var apart: Turn { Turn(number: number, configuration: configuration, delta: 0, durability: durability) }

    fileprivate func writeApart(_ transaction: Transaction, in configuration: String) throws {
        let entry = try transaction.create(Into<Entry>(configuration))
        (entry.operation, entry.delta) = (number, 0)
    }
}

private func beginUnsafe(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe()
    try turn.apart.writeApart(draft, in: "A")
    try draft.commit(durability: turn.durability)
    try turn.apart.writeApart(draft, in: "B")
    draft.rollback()
    try stress.check(draft, turn.configuration)
    stress.acknowledge(turn.apart, in: ["A"])
}

/// Others change the same objects all the time, so that it is refused now and then: it tries a few times, then lets go.
private func beginUnsafeInTheWay(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe()
    for _ in 0..<4 {
        try stress.check(draft, turn.configuration)
        try turn.write(draft, in: turn.configuration)
        do {
            try draft.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch let error as StoreError where error.code == .conflict {
            draft.rollback()
        }
    }
}

private func steps(_ stress: MixedStress, _ turn: Turn) async throws {
    let transaction = stress.stack.beginTransaction()
    for name in MixedStress.configurations {
        try await transaction.perform { try turn.apart.writeApart($0, in: name) }
        await Task.yield()
    }
    try await transaction.commit(durability: turn.durability)
    stress.acknowledge(turn.apart, in: MixedStress.configurations)
}

private func stepsInTheWay(_ stress: MixedStress, _ turn: Turn) async throws {
    let transaction = stress.stack.beginTransaction()
    for _ in 0..<4 {
        try await transaction.perform { try stress.check($0, turn.configuration) }
        await Task.yield()
        try await transaction.perform { try turn.write($0, in: turn.configuration) }
        do {
            try await transaction.commit(durability: turn.durability)
            return stress.acknowledge(turn, in: [turn.configuration])
        } catch let error as StoreError where error.code == .conflict {
            await transaction.rollback()
        }
    }
}

/// Two commits of one piece of work, on the first store and the second.
private func performBatch(_ stress: MixedStress, _ turn: Turn) async throws {
    try await stress.stack.performBatch(durability: turn.durability) { batch in
        for name in MixedStress.configurations {
            try turn.apart.writeApart(batch, in: name)
            try batch.commit(durability: turn.durability)
        }
    }
    stress.acknowledge(turn.apart, in: MixedStress.configurations)
}
