// expected: unavailable from asynchronous contexts; Await the step, and return what is Sendable
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let transaction = stack.beginTransaction()
    let note = try await transaction.perform { step in try step.create(Into<Note>()) }
    print(note.text)
}
