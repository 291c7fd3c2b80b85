// expected: capture of 'note' with non-Sendable type 'Note' in a '@Sendable' closure
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let draft = stack.beginUnsafe()
    let note = try draft.create(Into<Note>())
    try await stack.perform { _ in note.text = "changed elsewhere" }
}
