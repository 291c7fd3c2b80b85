// expected: sending value of non-Sendable type '() async -> ()' risks causing data races
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    let draft = stack.beginUnsafe()
    let note = try draft.create(Into<Note>())
    Task { print(note.text) }
    try draft.commit()
}
