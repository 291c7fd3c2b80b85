import PolyStoreBackend

/// Publishes the newest snapshot of a list of the main actor's view.
///
///     let publisher = try stack.view.publishList(From<Person>(), OrderBy(.ascending(\.name)))
///     publisher.addObserver(self) { publisher in
///         dataSource.apply(publisher.snapshot)
///     }
///
/// The snapshot changes when the view moves to a version in which the list is another one. The publisher keeps the view alive.
@MainActor
public final class ListPublisher<T: Model> {
    /// The list as the view shows it.
    public private(set) var snapshot: ListSnapshot<T>
    /// The change that led to the snapshot; nil before the first change, and after the list was fetched with other clauses.
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

    /// Calls a closure after each change, for as long as the owner is alive. A second closure of an owner replaces the first.
    /// - Parameters:
    ///   - owner: held weakly.
    ///   - notifyInitial: calls the closure at once, too.
    ///   - callback: receives the publisher, whose snapshot is the newest. It may add and remove observers.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (ListPublisher<T>) -> Void
    ) {
        observers.add(owner, callback)
        if notifyInitial { callback(self) }
    }

    /// Removes the closure of an owner.
    public func removeObserver(_ owner: AnyObject) { observers.remove(owner) }

    /// Publishes another list from now on, and notifies the observers.
    /// - Parameter sectionBy: the sections; nil: a list without sections.
    /// - Throws: what a fetch throws; the list then stays as it was.
    public func refetch<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<T>..., sectionBy: SectionBy<T>? = nil
    ) throws where S.Entity == T {
        guard let follower else { return }
        try follower.refetch(ListQuery(source.chain(clauses), sectionBy), view)
        snapshot = ListSnapshot(follower.contents)
        lastChanges = nil
        observers.notify(self)
    }

    private func publish(_ snapshot: ListSnapshot<T>, _ changes: ListChanges<T>) {
        self.snapshot = snapshot
        lastChanges = changes
        observers.notify(self)
    }
}

/// Leads from a follower to its publisher, which is made after it.
@MainActor
final class PublisherRelay<Publisher: AnyObject> {
    weak var publisher: Publisher?

    init() {}
}
