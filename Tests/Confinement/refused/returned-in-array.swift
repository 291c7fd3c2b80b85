// expected: conformance of 'Note' to 'Sendable' is unavailable
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let notes = try await stack.perform { transaction in try transaction.fetchAll(From<Note>()) }
    print(notes.count)
}
