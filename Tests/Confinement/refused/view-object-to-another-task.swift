// expected: passing closure as a 'sending' parameter risks causing data races
import PolyStoreCore

@MainActor
func leak(_ stack: DataStack) throws {
    let note = try stack.view.fetchOne(From<Note>())
    Task.detached { print(note?.text ?? "") }
}
