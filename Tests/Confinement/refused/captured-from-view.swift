// expected: capture of 'note' with non-Sendable type 'Note' in a '@Sendable' closure
import PolyStoreCore

@MainActor
func leak(_ stack: DataStack) async throws {
    guard let note = try stack.view.fetchOne(From<Note>()) else { return }
    try await stack.perform { _ in note.text = "changed outside" }
}
