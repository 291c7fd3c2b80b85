import PolyStoreBackend
import PolyStoreKernel

/// Publishes the latest snapshot of a list of the main actor's view.
///
///     let publisher = try stack.view.publishList(From<Person>(), OrderBy(.ascending(\.name)))
///     publisher.addObserver(self) { publisher in
///         dataSource.apply(publisher.snapshot)
///     }
///
/// The snapshot changes when the view advances to a version with different contents of the list. The publisher retains the view.
///
/// A publisher is for code that reacts to changes in closures, such as a diffable data source. ``LiveList`` is for SwiftUI, which reads and observes a value.
@MainActor
public final class ListPublisher<T: Model> {
    /// The list in the state that the view shows.
    public var snapshot: ListSnapshot<T> { ListSnapshot(list.contents) }
    /// The change to the current snapshot; `nil` before the first change, and after a refetch with another query.
    public var lastChanges: ListChanges<T>? {
        (list.unreported?.change.delta ?? lastDelta).map { ListChanges(delta: $0, new: list.contents) }
    }
    private let view: ViewContext
    private let list: FollowedList
    private var lastDelta: ListDelta?

    init(_ view: ViewContext, _ query: ListQuery, _ content: SnapshotContent<T>) throws {
        self.view = view
        list = try FollowedList(query, view, keeping: view.snapshotShape(content))
        // The list is the owner: an observer may be its own owner, and the publisher is one of them if it observes itself.
        list.subscribers.add(list) { [weak self] change in MainActor.assumeIsolated { self?.lastDelta = change.delta } }
    }

    /// Calls a closure after each change, as long as the owner is alive. A second closure of an owner replaces the first.
    /// - Parameters:
    ///   - owner: The owner, held weakly.
    ///   - notifyInitial: A Boolean value that indicates whether the closure is also called immediately.
    ///   - callback: Receives the publisher with the latest snapshot. It may do what a callback of a ``ListMonitor`` may do.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (ListPublisher<T>) -> Void
    ) {
        list.subscribers.add(owner) { [weak self] _ in MainActor.assumeIsolated { if let self { callback(self) } } }
        if notifyInitial { view.reporting { callback(self) } }
    }

    /// Removes the closure of an owner.
    public func removeObserver(_ owner: AnyObject) { list.subscribers.remove(owner) }

    /// Publishes another list from now on, and notifies the observers. In a callback of the view, the list is replaced when all callbacks have returned.
    /// - Parameters:
    ///   - source: The query and its order.
    ///   - clauses: Further clauses, such as `OrderBy(.ascending(\.name))`.
    ///   - sectionBy: The sections; `nil` for a list without sections.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    public func refetch<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<T>..., sectionBy: SectionBy<T>? = nil
    ) throws where S.Entity == T {
        try list.refetch(ListQuery(source.chain(clauses), sectionBy), view)
    }
}
