// expected: conformance of 'Note' to 'Sendable' is unavailable
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    let note = try stack.readAndWait { context in try context.fetchOne(From<Note>()) }
    print(note?.text ?? "")
}
