import PolyStore
import Testing

/// The changes of a list. Checks that each change, in each of its forms, transforms the previous state into the state delivered with it.
struct CheckedUpdates<T: Model> {
    private var updates: ListUpdateSequence<T>.Iterator
    private(set) var snapshot: ListSnapshot<T>?

    init(_ sequence: ListUpdateSequence<T>) { updates = sequence.makeAsyncIterator() }

    /// Returns the next change, or nil at the end and for the first state.
    mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ListChanges<T>? {
        guard let update = try await updates.next(isolation: actor) else { return nil }
        defer { snapshot = update.snapshot }
        guard let old = snapshot else {
            #expect(update.changes == nil, "the first state is the whole list")
            return nil
        }
        let changes = try #require(update.changes)
        #expect(!changes.isEmpty)
        #expect(changes.applied(to: old) == update.snapshot)
        if let difference = changes.difference { #expect(old.objectIDs.applying(difference) == update.snapshot.objectIDs) }
        var elements = old.sections.map { section in section.map { [$0] } }
        changes.apply(to: &elements) { id, _ in update.snapshot[id].map { [$0] } ?? [] }
        #expect(elements.map { $0.flatMap(\.self) } == update.snapshot.sections.map(Array.init))
        return changes
    }
}
