// expected: passing closure as a 'sending' parameter risks causing data races
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    try await stack.perform { transaction in
        let note = try transaction.create(Into<Note>())
        Task { print(note.text) }
    }
}
