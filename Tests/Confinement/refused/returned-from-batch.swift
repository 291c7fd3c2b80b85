// expected: conformance of 'Note' to 'Sendable' is unavailable
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let note = try await stack.performBatch { batch in try batch.create(Into<Note>()) }
    print(note.text)
}
