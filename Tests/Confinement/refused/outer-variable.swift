// expected: capture of 'kept' with non-Sendable type 'Note?' in a '@Sendable' closure
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    var kept: Note?
    try stack.performAndWait { transaction in kept = try transaction.create(Into<Note>()) }
    print(kept?.text ?? "")
}
