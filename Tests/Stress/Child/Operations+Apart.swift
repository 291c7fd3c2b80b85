import PolyStoreBackend
import PolyStoreCore
import TestModels

// Unqueued transactions on objects that no other turn changes: they never conflict, and all must commit.

extension Turn {
    /// The turn with a delta of 0, which changes no tally.
    fileprivate var apart: Turn { Turn(number: number, configuration: configuration, delta: 0, durability: durability) }

    fileprivate func writeApart(_ transaction: Transaction, in configuration: String) throws {
        let entry = try transaction.create(Into<Entry>(configuration))
        (entry.operation, entry.delta) = (number, 0)
    }
}

func unsafeOnPrivateObjects(_ stress: MixedStress, _ turn: Turn) throws {
    let draft = stress.stack.beginUnsafe()
    try turn.writeApart(draft, in: "A")
    try draft.commit(durability: turn.durability)
    stress.acknowledge(turn.apart, in: ["A"])
    try turn.writeApart(draft, in: "B")
    draft.rollback()
    try stress.check(draft, turn.configuration)
}

func stepsApart(_ stress: MixedStress, _ turn: Turn) async throws {
    let transaction = stress.stack.beginTransaction()
    for name in MixedStress.configurations {
        try await transaction.perform { try turn.writeApart($0, in: name) }
        await Task.yield()
    }
    try await transaction.commit(durability: turn.durability)
    stress.acknowledge(turn.apart, in: MixedStress.configurations)
}

/// Commits a batch in two parts.
func batchApart(_ stress: MixedStress, _ turn: Turn) async throws {
    try await stress.stack.performBatch(durability: turn.durability) { batch in
        for name in MixedStress.configurations {
            try turn.writeApart(batch, in: name)
            try batch.commit(durability: turn.durability)
        }
    }
    stress.acknowledge(turn.apart, in: MixedStress.configurations)
}
