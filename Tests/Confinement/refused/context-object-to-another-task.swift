// expected: sending value of non-Sendable type '() async -> ()' risks causing data races
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    let context = stack.newContext()
    let note = try context.fetchOne(From<Note>())
    Task.detached { print(note?.text ?? "") }
    try context.refresh()
}
