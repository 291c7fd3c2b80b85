// expected: value of type 'ObjectID<Note>' has no member 'text'
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let note = try await stack.perform { transaction in try transaction.create(Into<Note>()) }
    print(note.text)
}
