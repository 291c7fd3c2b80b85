// expected: sending value of non-Sendable type '() async throws -> Bool' risks causing data races
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    let draft = stack.beginUnsafe()
    let note = try draft.create(Into<Note>())
    Task.detached { try draft.commit() }
    print(note.text)
}
