// expected: sending 'note' risks causing data races
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    stack.beginAsynchronous { transaction in
        let note = try transaction.create(Into<Note>())
        transaction.commit { _ in print(note.text) }
    }
}
