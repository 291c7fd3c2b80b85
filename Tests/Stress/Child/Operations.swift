import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels

/// The kinds of operations. To add one, add a row to a table and a function.
enum Operation {
    struct Kind<Body: Sendable>: Sendable {
        let name: String
        /// The relative frequency of the operation.
        let weight: Int
        let body: Body
    }

    typealias Waiting = @Sendable (MixedStress, Turn) throws -> Void
    typealias Asynchronous = @Sendable (MixedStress, Turn) async throws -> Void

    static var names: [String] { waiting.map(\.name) + asynchronous.map(\.name) }

    /// Operations that threads run.
    static let waiting: [Kind<Waiting>] = [
        Kind(name: "performAndWait", weight: 8, body: performAndWait),
        Kind(name: "performAndWait(editing:)", weight: 3, body: performAndWaitEditing),
        Kind(name: "performAndWait over two stores", weight: 3, body: performAndWaitOverTwo),
        Kind(name: "performAndWait given up", weight: 3) { stress, turn in
            try refused(turn, stress) { body in try stress.stack.performAndWait(durability: turn.durability, body) }
        },
        Kind(name: "performAndWait within another", weight: 1, body: performAndWaitWithin),
        Kind(name: "beginSynchronous", weight: 4, body: beginSynchronous),
        Kind(name: "beginSynchronous without a commit", weight: 1, body: beginWithoutCommit),
        Kind(name: "unsafe", weight: 3) { stress, turn in try optimistic(stress, turn) { stress.stack.beginUnsafe() } },
        Kind(name: "unsafe on private objects", weight: 2, body: unsafeOnPrivateObjects),
        Kind(name: "unsafe that is released without a commit", weight: 2, body: unsafeReleased),
        Kind(name: "unsafe with undo", weight: 2, body: unsafeWithUndo),
        Kind(name: "child of an unsafe", weight: 2, body: childOfUnsafe),
        Kind(name: "child in performAndWait", weight: 3, body: queuedChild),
        Kind(name: "a context that moves on request", weight: 2, body: standingContext),
        Kind(name: "readAndWait", weight: 5) { stress, turn in try stress.stack.readAndWait { try stress.check($0, turn.configuration) } },
    ]

    /// Operations that tasks run.
    static let asynchronous: [Kind<Asynchronous>] = [
        Kind(name: "perform", weight: 8, body: perform),
        Kind(name: "perform(editing:)", weight: 3, body: performEditing),
        Kind(name: "perform over two stores", weight: 3, body: performOverTwo),
        Kind(name: "perform given up", weight: 3, body: performGivenUp),
        Kind(name: "perform that takes back", weight: 4, body: performTakingBack),
        Kind(name: "perform on the main actor", weight: 2, body: performOnMain),
        Kind(name: "performAndWait on the main actor", weight: 2, body: performAndWaitOnMain),
        Kind(name: "beginAsynchronous", weight: 4, body: beginAsynchronous),
        Kind(name: "perform that is cancelled", weight: 4, body: performCancelled),
        Kind(name: "steps over awaits", weight: 3, body: steps),
        Kind(name: "steps over two stores", weight: 2, body: stepsApart),
        Kind(name: "performBatch", weight: 2, body: batch),
        Kind(name: "performBatch over two stores", weight: 1, body: batchApart),
        Kind(name: "unsafe on the main actor", weight: 2, body: unsafeOnMain),
        Kind(name: "view", weight: 3, body: view),
        Kind(name: "read", weight: 5) { stress, turn in try await stress.stack.read { try stress.check($0, turn.configuration) } },
    ]
}

// MARK: Threads

private func performAndWait(_ stress: MixedStress, _ turn: Turn) throws {
    try stress.stack.performAndWait(durability: turn.durability) { try turn.write($0, in: turn.configuration) }
    stress.acknowledge(turn, in: [turn.configuration])
    let seen = try stress.stack.readAndWait { try $0.fetchCount(From<Entry>(turn.configuration), Where(\.operation == turn.number)) }
    try expect(
        seen == 1 || !stress.isAcknowledged(turn.configuration, turn.number), "it was acknowledged, and a new snapshot does not have it")
}

private func performAndWaitEditing(_ stress: MixedStress, _ turn: Turn) throws {
    let id = try stress.stack.readAndWait { try $0.fetchObjectID(From<Tally>(turn.configuration), Where(\.name == turn.tally)) }
    guard let id else { throw Wrong("there is no \(turn.tally)") }
    try stress.stack.performAndWait(editing: id, durability: turn.durability) { try edit($0, $1, turn) }
    stress.acknowledge(turn, in: [turn.configuration])
}

private func performAndWaitOverTwo(_ stress: MixedStress, _ turn: Turn) throws {
    try stress.stack.performAndWait(durability: turn.durability) { for name in MixedStress.configurations { try turn.write($0, in: name) } }
    stress.acknowledge(turn, in: MixedStress.configurations)
}

/// Must be refused instead of waiting for itself.
private func performAndWaitWithin(_ stress: MixedStress, _ turn: Turn) throws {
    try stress.stack.performAndWait { transaction throws in
        try turn.write(transaction, in: turn.configuration)
        do {
            try stress.stack.performAndWait { try turn.write($0, in: turn.configuration) }
            throw Wrong("a transaction within another one was not refused")
        } catch let error as StoreError where error.code == .misuse {}
    }
    stress.acknowledge(turn, in: [turn.configuration])
}

// MARK: Tasks

private func perform(_ stress: MixedStress, _ turn: Turn) async throws {
    try await stress.stack.perform(durability: turn.durability) { try turn.write($0, in: turn.configuration) }
    stress.acknowledge(turn, in: [turn.configuration])
    let seen = try await stress.stack.read { try $0.fetchCount(From<Entry>(turn.configuration), Where(\.operation == turn.number)) }
    try expect(
        seen == 1 || !stress.isAcknowledged(turn.configuration, turn.number), "it was acknowledged, and a new snapshot does not have it")
}

private func performEditing(_ stress: MixedStress, _ turn: Turn) async throws {
    let id = try await stress.stack.read { try $0.fetchObjectID(From<Tally>(turn.configuration), Where(\.name == turn.tally)) }
    guard let id else { throw Wrong("there is no \(turn.tally)") }
    try await stress.stack.perform(editing: id, durability: turn.durability) { try edit($0, $1, turn) }
    stress.acknowledge(turn, in: [turn.configuration])
}

private func edit(_ transaction: Transaction, _ tally: Tally, _ turn: Turn) throws {
    tally.value += turn.delta
    let entry = try transaction.create(Into<Entry>(turn.configuration))
    (entry.operation, entry.delta) = (turn.number, turn.delta)
    try Turn.raiseTotal(transaction, turn.configuration, turn.delta)
}

private func performOverTwo(_ stress: MixedStress, _ turn: Turn) async throws {
    try await stress.stack.perform(durability: turn.durability) { for name in MixedStress.configurations { try turn.write($0, in: name) } }
    stress.acknowledge(turn, in: MixedStress.configurations)
}

private func performTakingBack(_ stress: MixedStress, _ turn: Turn) async throws {
    guard let (configuration, number) = stress.takeRecent() else { return }
    try await stress.stack.perform(durability: turn.durability) { transaction throws in
        let entries = try transaction.fetchAll(From<Entry>(configuration), Where(\.operation == number))
        guard let entry = entries.first else { throw Wrong("entry \(number) of \(configuration) is gone") }
        let name = "tally \(number % MixedStress.tallies)"
        guard let tally = try transaction.fetchOne(From<Tally>(configuration), Where(\.name == name)) else {
            throw Wrong("\(name) is gone")
        }
        tally.value -= entry.delta
        try Turn.raiseTotal(transaction, configuration, -entry.delta)
        try transaction.delete(entry)
    }
    stress.acknowledgeRetraction(configuration, number)
}

// MARK: Failures

private struct GivenUp: Error {}

/// Returns a closure that fails in one of three ways, by the turn's number. Each failure must be reported and leave no changes.
private func failing(_ turn: Turn) -> @Sendable (Transaction) throws -> Void {
    { transaction in
        for name in MixedStress.configurations { try turn.write(transaction, in: name) }
        switch turn.number % 3 {
        case 0: try transaction.cancel()
        case 1: throw GivenUp()
        default: try turn.write(transaction, in: turn.configuration)  // violates the unique constraint on the number
        }
    }
}

private func judge(_ turn: Turn, _ outcome: Result<Void, any Error>) throws {
    do {
        try outcome.get()
        throw Wrong("it was to fail")
    } catch is GivenUp where turn.number % 3 == 1 {
    } catch let error as StoreError where error.code == .cancelled && turn.number % 3 == 0 {
    } catch let error as StoreError where error.code == .constraint && turn.number % 3 == 2 {
    }
}

private func refused(
    _ turn: Turn, _ stress: MixedStress, _ run: (@escaping @Sendable (Transaction) throws -> Void) throws -> Void
) throws {
    try judge(turn, Result { try run(failing(turn)) })
}

private func performGivenUp(_ stress: MixedStress, _ turn: Turn) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await stress.stack.perform(durability: turn.durability, failing(turn))) } catch {
        outcome = .failure(error)
    }
    try judge(turn, outcome)
}

// MARK: Main actor

/// Objects of the view, which it has to update.
@MainActor private var held: [Tally] = []

@MainActor
private func performOnMain(_ stress: MixedStress, _ turn: Turn) async throws {
    let id = try await stress.stack.perform(durability: turn.durability) { transaction throws in
        try turn.write(transaction, in: turn.configuration)
        return try transaction.fetchObjectID(From<Entry>(turn.configuration), Where(\.operation == turn.number))
    }
    let seen = try id.flatMap { try stress.stack.view.fetchExisting($0)?.delta }
    // The entry is not acknowledged yet, so no other turn retracts it.
    try expect(seen == turn.delta, "the view does not show the change after it was awaited")
    stress.acknowledge(turn, in: [turn.configuration])
}

@MainActor
private func performAndWaitOnMain(_ stress: MixedStress, _ turn: Turn) async throws {
    try stress.stack.performAndWait(durability: turn.durability) { try turn.write($0, in: turn.configuration) }
    let seen = try stress.stack.view.fetchOne(From<Entry>(turn.configuration), Where(\.operation == turn.number))?.delta
    try expect(seen == turn.delta, "the view does not show the change after it was waited for")
    stress.acknowledge(turn, in: [turn.configuration])
}

@MainActor
private func view(_ stress: MixedStress, _ turn: Turn) async throws {
    let view = stress.stack.view
    for name in MixedStress.configurations { try stress.check(view, name) }
    if held.isEmpty { held = try view.fetchAll(From<Tally>()) }
    for name in MixedStress.configurations {
        let tallies = held.filter { $0.objectID.configuration == name }
        let sum = tallies.reduce(0) { $0 + ($1.group == 0 ? $1.value : 0) }
        let total = tallies.first { $0.group == 1 }?.value
        try expect(sum == total, "the view's objects of \(name) make \(sum), not \(total ?? -1)")
    }
}
