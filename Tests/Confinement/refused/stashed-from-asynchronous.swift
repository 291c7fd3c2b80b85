// expected: capture of 'stash' with non-Sendable type 'Stash' in a '@Sendable' closure
import PolyStoreCore

final class Stash { var note: Note? }

func leak(_ stack: DataStack) throws {
    let stash = Stash()
    stack.beginAsynchronous { transaction in stash.note = try transaction.create(Into<Note>()) }
}
