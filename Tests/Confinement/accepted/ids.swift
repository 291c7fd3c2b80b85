import PolyStoreCore

func accepted(_ stack: DataStack) async throws {
    let id = try await stack.perform { transaction in
        let note = try transaction.create(Into<Note>())
        note.text = "kept"
        return note.objectID
    }
    try await stack.perform(editing: id) { _, note in note.text += "!" }
    let texts = try await stack.read { context in try context.fetchAll(From<Note>()).map(\.text) }
    try stack.performAndWait { transaction in try transaction.delete(id) }
    print(texts)
}

@MainActor
func acceptedInTheView(_ stack: DataStack) throws {
    for note in try stack.view.fetchAll(From<Note>()) { print(note.text) }
}
