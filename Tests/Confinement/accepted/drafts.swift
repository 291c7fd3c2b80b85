import PolyStoreCore

/// An unqueued transaction and its objects belong to the isolation domain of the transaction's owner, which is the main actor here.
@MainActor
final class Editor {
    private let draft: UnsafeTransaction
    private let note: Note

    init(_ stack: DataStack, _ id: ObjectID<Note>) throws {
        draft = stack.beginUnsafe(supportsUndo: true)
        note = try draft.edit(id)
    }

    func type(_ text: String) async throws {
        note.text += text
        draft.flush()
        try await draft.commit(mergePolicy: .attributesMineWins)
    }
}

func acceptedInSteps(_ stack: DataStack) async throws {
    let transaction = stack.beginTransaction()
    let id = try await transaction.perform { step in try step.create(Into<Note>()).objectID }
    try await transaction.perform { step in try step.edit(id).text = "later" }
    try await transaction.commit()
    let count = try await stack.performBatch { batch in
        try batch.create(Into<Note>()).text = "written now and then"
        try batch.commit()
        return try batch.fetchCount(From<Note>())
    }
    stack.beginAsynchronous { transaction in
        let created = try transaction.create(Into<Note>()).objectID
        transaction.commit { result in print(result, created, count) }
    }
}

func acceptedInACallback(_ stack: DataStack, _ id: ObjectID<Note>, _ ask: (@escaping @Sendable (String) -> Void) -> Void) {
    let transaction = stack.beginTransaction()
    ask { answer in
        transaction.perform { step in
            try step.edit(id).text = answer
            try step.commit()
        }
    }
}
