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
    public private(set) var snapshot: ListSnapshot<T>
    /// The change to the current snapshot; `nil` before the first change, and after a refetch with another query.
    public private(set) var lastChanges: ListChanges<T>?
    private let view: ViewContext
    private var follower: ListFollower<T>?
    private let observers = PublisherObservers<ListPublisher<T>>()

    init(_ view: ViewContext, _ query: ListQuery, _ content: SnapshotContent<T>) throws {
        self.view = view
        let relay = PublisherRelay<ListPublisher<T>>()
        let follower = try ListFollower(query, content, view) { contents, delta in
            MainActor.assumeIsolated { relay.publisher?.publish(ListSnapshot(contents), ListChanges(delta: delta, new: contents)) }
        }
        self.follower = follower
        snapshot = ListSnapshot(follower.contents)
        relay.publisher = self
    }

    /// Calls a closure after each change, as long as the owner is alive. A second closure of an owner replaces the first.
    /// - Parameters:
    ///   - owner: The owner, held weakly.
    ///   - notifyInitial: A Boolean value that indicates whether the closure is also called immediately.
    ///   - callback: Receives the publisher with the latest snapshot. It may do what a callback of a ``ListMonitor`` may do.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (ListPublisher<T>) -> Void
    ) {
        observers.add(owner, callback)
        if notifyInitial { view.reporting { callback(self) } }
    }

    /// Removes the closure of an owner.
    public func removeObserver(_ owner: AnyObject) { observers.remove(owner) }

    /// Publishes another list from now on, and notifies the observers. In a callback of the view, the list is replaced when all callbacks have returned.
    /// - Parameters:
    ///   - source: The query and its order.
    ///   - clauses: Further clauses, such as `OrderBy(.ascending(\.name))`.
    ///   - sectionBy: The sections; `nil` for a list without sections.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    public func refetch<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<T>..., sectionBy: SectionBy<T>? = nil
    ) throws where S.Entity == T {
        guard let follower else { return }
        let new = try follower.prepared(ListQuery(source.chain(clauses), sectionBy), view)
        view.report { [self] isDeferred in
            MainActor.assumeIsolated {
                // The view may have moved in the meantime.
                follower.replace(by: isDeferred ? follower.preparedAgain(new, view) : new, view)
                snapshot = ListSnapshot(follower.contents)
                lastChanges = nil
                observers.notify(self)
            }
        }
    }

    private func publish(_ snapshot: ListSnapshot<T>, _ changes: ListChanges<T>) {
        self.snapshot = snapshot
        lastChanges = changes
        observers.notify(self)
    }
}
