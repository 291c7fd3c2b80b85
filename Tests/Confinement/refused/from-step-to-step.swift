// expected: capture of 'note' with non-Sendable type 'Note' in a '@Sendable' closure
import PolyStoreCore

func leak(_ stack: DataStack) throws {
    let transaction = stack.beginTransaction()
    transaction.perform { step in
        let note = try step.create(Into<Note>())
        transaction.perform { _ in note.text = "in the next step" }
    }
}
