// expected: type '() -> String' does not conform to the 'Sendable' protocol
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let later = try await stack.perform { transaction in
        let note = try transaction.create(Into<Note>())
        return { note.text }
    }
    print(later())
}
