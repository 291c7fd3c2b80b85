import Foundation
import PolyStore
import TestSupport
import Testing

@Model
final class Ledger {
    var title: String = ""
    var total: Int = 0
    var tags: [String] = []
    @Relationship(inverse: "ledger") var postings: Set<Posting>
    @Relationship(inverse: "archive") var archived: [Posting]
}

@Model
final class Posting {
    /// What the validation methods do.
    enum Habit: Int, CaseIterable, Sendable {
        case nothing, reads, assigns, appends, moves, replaces, clears, editsList, changesItself, creates, deletes
    }

    var amount: Int = 0
    var habit: Habit = Habit.nothing
    var habitOnDelete: Habit = Habit.nothing
    @Relationship var ledger: Ledger?
    @Relationship var archive: Ledger?

    func validate() throws { try act(habit) }
    func validateForDelete() throws { try act(habitOnDelete) }

    private func act(_ habit: Habit) throws {
        let ledger = archive
        switch habit {
        case .nothing: break
        case .reads: if ledger.map({ $0.total < 0 || $0.archived.isEmpty }) ?? true { throw ValidationError("is not archived") }
        case .assigns: ledger?.total += amount
        case .appends: ledger?.tags.append("posted")
        case .moves: ledger?.postings.first?.ledger = nil
        case .replaces: ledger?.postings = []
        case .clears: ledger?.postings.removeAll()
        case .editsList: ledger?.archived.removeLast()
        case .changesItself: amount += 1
        case .creates: _ = try (_$state.context as? Transaction)?.create(Into<Ledger>())
        case .deletes: if let ledger { try (_$state.context as? Transaction)?.delete(ledger) }
        }
    }
}

/// A validation method that changes an object is refused: the change would not be validated itself.
@Suite struct ValidationChangeTests {
    private static let schema = Schema("Ledgers", Ledger.self, Posting.self)

    /// The kinds of transactions that commit.
    enum Kind: CaseIterable, Sendable {
        case perform, performAndWait, beginSynchronous, beginUnsafe, child
    }

    private struct World {
        let stack: DataStack
        let ledger: ObjectID<Ledger>
        let other: ObjectID<Posting>
        let posting: ObjectID<Posting>
        private let folder: Folder

        init(_ backend: Backend) throws {
            folder = try Folder()
            stack = try DataStack(ValidationChangeTests.schema)
            try stack.addStore(backend.store(in: folder))
            (ledger, other, posting) = try stack.performAndWait { transaction in
                let ledger = try transaction.create(Into<Ledger>())
                let other = try transaction.create(Into<Posting>())
                let posting = try transaction.create(Into<Posting>())
                other.ledger = ledger
                posting.archive = ledger
                return (ledger.objectID, other.objectID, posting.objectID)
            }
        }

        /// The values that the validation methods could change.
        var state: String {
            get throws {
                let (ledger, posting) = (ledger, posting)
                return try stack.readAndWait { context in
                    guard let ledger = try context.fetchExisting(ledger), let posting = try context.fetchExisting(posting) else {
                        return "deleted"
                    }
                    return "\(ledger.total) \(ledger.tags) \(ledger.postings.count) \(ledger.archived.count) \(posting.amount) "
                        + "\(try context.fetchCount(From<Ledger>()))"
                }
            }
        }

        func commit(_ kind: Kind, _ change: @escaping @Sendable (Transaction) throws -> Void) async throws {
            switch kind {
            case .perform: try await stack.perform { try change($0) }
            case .performAndWait: try stack.performAndWait { try change($0) }
            case .beginSynchronous:
                try stack.beginSynchronous { transaction in
                    try change(transaction)
                    try transaction.commit()
                }
            case .beginUnsafe:
                let transaction = stack.beginUnsafe()
                try change(transaction)
                try await transaction.commit()
            case .child:
                let parent = stack.beginUnsafe()
                let child = parent.beginUnsafe()
                try change(child)
                try child.commitAndWait()
                try await parent.commit()
            }
        }
    }

    private func error(_ body: () async throws -> Void) async -> StoreError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    /// The habit, and what the error says about the changed object.
    private static let refused: [(habit: Posting.Habit, changed: String)] = [
        (.assigns, "Ledger 1"), (.appends, "Ledger 1"), (.moves, "Posting 1"), (.replaces, "Ledger 1"), (.clears, "Ledger 1"),
        (.editsList, "Ledger 1"), (.changesItself, "the object itself"), (.creates, "the transaction"), (.deletes, "the transaction"),
    ]

    /// The changed object is unchanged before, or was changed by the transaction too.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func validationThatChangesObjectsIsRefused(_ backend: Backend, _ kind: Kind) async throws {
        let world = try World(backend)
        let before = try world.state
        let (ledger, other, posting) = (world.ledger, world.other, world.posting)
        for (habit, changed) in Self.refused {
            for changesTarget in [false, true] {
                let error = await error {
                    try await world.commit(kind) { transaction in
                        try transaction.edit(posting).habit = habit
                        guard changesTarget else { return }
                        try transaction.edit(ledger).title = "\(habit)"
                        try transaction.edit(other).amount += 1
                    }
                }
                #expect(error?.code == .misuse, "\(habit) \(changesTarget)")
                #expect(error?.entity == "Posting" && error?.rowID == 2, "\(habit) \(changesTarget)")
                #expect(
                    error?.message.hasPrefix("validate() of Posting 2 changed \(changed). A validation method must not change anything")
                        ?? false,
                    "\(habit) \(changesTarget): \(error?.message ?? "no error")")
                #expect(try world.state == before, "\(habit) \(changesTarget)")
            }
        }
        // The methods may read everything.
        try await world.commit(kind) { try $0.edit(posting).habit = .reads }
        #expect(try world.state == before)
    }

    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func validationOfDeletionsThatChangesObjectsIsRefused(_ backend: Backend, _ kind: Kind) async throws {
        let world = try World(backend)
        let (posting, other, ledger) = (world.posting, world.other, world.ledger)
        try await world.commit(kind) { transaction in
            let posting = try transaction.edit(posting)
            posting.ledger = try transaction.edit(ledger)
        }
        // Its relationships are cleared when the method runs, so it changes itself.
        try await world.commit(kind) { try $0.edit(posting).habitOnDelete = .changesItself }
        let refusal = await error { try await world.commit(kind) { try $0.delete(posting) } }
        #expect(refusal?.code == .misuse)
        #expect(refusal?.message.hasPrefix("validateForDelete() of Posting 2 changed the object itself.") ?? false, "\(refusal as Any)")
        #expect(try world.stack.readAndWait { try $0.fetchCount(From<Posting>()) } == 2)
        try await world.commit(kind) { try $0.delete(other) }
        #expect(try world.stack.readAndWait { try $0.fetchCount(From<Posting>()) } == 1)
    }

    @Test func severalChangesComeInOneError() throws {
        let world = try World(.memory)
        let (ledger, posting) = (world.ledger, world.posting)
        let refusal = failure {
            try world.stack.performAndWait { transaction in
                try transaction.edit(posting).habit = .assigns
                let new = try transaction.create(Into<Posting>())
                (new.habit, new.archive) = (.changesItself, try transaction.edit(ledger))
            }
        }
        #expect(
            refusal?.message.contains("validate() of a new Posting changed the object itself; validate() of Posting 2 changed Ledger 1. ")
                ?? false)
    }

    /// A refused commit keeps the pending changes of an unqueued transaction, which can be corrected.
    @Test(arguments: Backend.forObjectLayer)
    func refusedCommitCanBeCorrected(_ backend: Backend) throws {
        let world = try World(backend)
        let transaction = world.stack.beginUnsafe()
        let posting = try transaction.edit(world.posting)
        (posting.habit, posting.amount) = (.assigns, 5)
        #expect(failure { try transaction.commitAndWait() }?.code == .misuse)
        posting.habit = .reads
        try transaction.commitAndWait()
        #expect(try world.state == "0 [] 1 1 5 1")
    }
}
