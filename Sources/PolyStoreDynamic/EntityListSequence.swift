import PolyStoreKernel
import PolyStoreObservation

/// The states of a list of objects without a class: the current one first, then one after each commit that changes it.
///
/// Each iteration observes the stack independently. A slow consumer receives the latest state, with all changes since the one it received before. The sequence ends when the task is
/// cancelled or the stack is released, and throws errors of the fetch.
public struct EntityListSequence: AsyncSequence, Sendable {
    let start: @Sendable () -> Iterator

    public func makeAsyncIterator() -> Iterator { start() }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let step: (isolated (any Actor)?) async throws -> EntityListUpdate?

        init<T: Model>(_ sequence: ListUpdateSequence<T>) {
            var iterator = sequence.makeAsyncIterator()
            step = { actor in
                guard let update = try await iterator.next(isolation: actor) else { return nil }
                return EntityListUpdate(
                    snapshot: EntityListSnapshot(update.snapshot), changes: update.changes.map { EntityListUpdate.Changes($0) })
            }
        }

        /// Returns the next state; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> EntityListUpdate? {
            try await step(actor)
        }
    }
}

extension DataStack {
    /// Returns the states of a list of objects without a class, with their changes. Usable from any task or actor; the main actor is not involved.
    ///
    ///     for try await update in try stack.changes(of: EntityQuery("Person").orderBy("name")) {
    ///         print(update.snapshot.count, update.changes?.inserted.count ?? 0)
    ///     }
    /// - Parameters:
    ///   - query: The query and its order.
    ///   - path: The attribute, or the path of one, that divides the list into sections; `nil` for none.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `storeNotFound` for an unknown entity.
    public func changes(
        of query: EntityQuery, sectionBy path: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) throws -> EntityListSequence {
        let entry = try entry(named: query.entity)
        func sequence<T: Model>(_ type: T.Type) -> EntityListSequence {
            let updates = changes(
                of: query.chain(type, entry), sectionBy: path.map { SectionBy($0) }, file: file, line: line)
            return EntityListSequence { EntityListSequence.Iterator(updates) }
        }
        return sequence(entry.type)
    }
}

/// A publisher of a list of objects without a class, which calls closures on the main actor after each change.
@MainActor
public final class EntityListPublisher {
    /// The list.
    public var snapshot: EntityListSnapshot { current() }
    private let current: @MainActor () -> EntityListSnapshot
    private let observe: @MainActor (AnyObject, Bool, @escaping @MainActor () -> Void) -> Void
    private let remove: @MainActor (AnyObject) -> Void

    fileprivate init<T: Model>(_ publisher: ListPublisher<T>) {
        current = { EntityListSnapshot(publisher.snapshot) }
        observe = { owner, notifyInitial, callback in publisher.addObserver(owner, notifyInitial: notifyInitial) { _ in callback() } }
        remove = { publisher.removeObserver($0) }
    }

    /// Adds a closure that is called after each change of the list, until its owner is released.
    /// - Parameters:
    ///   - owner: The owner, which is held weakly.
    ///   - notifyInitial: Whether the closure is also called now.
    ///   - callback: The closure.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (EntityListPublisher) -> Void
    ) { observe(owner, notifyInitial) { [weak self] in if let self { callback(self) } } }

    /// Removes the closures of an owner.
    public func removeObserver(_ owner: AnyObject) { remove(owner) }
}

extension ViewContext {
    /// Returns a publisher of a list of objects without a class.
    /// - Throws: `storeNotFound` for an unknown entity, and errors of a fetch.
    @MainActor
    public func publishList(_ query: EntityQuery, sectionBy path: String? = nil) throws -> EntityListPublisher {
        let entry = try entry(named: query.entity)
        func publisher<T: Model>(_ type: T.Type) throws -> EntityListPublisher {
            EntityListPublisher(try publishList(query.chain(type, entry), sectionBy: path.map { SectionBy($0) }))
        }
        return try publisher(entry.type)
    }
}
