public import Observation
import PolyStoreBackend
import PolyStoreKernel

/// An observable list of objects of a view context, for user interfaces. When the list changes, SwiftUI updates the views that read it.
///
///     @State private var people: LiveList<Person>        // LiveList(stack.view, From<Person>(), OrderBy(.ascending(\.name)))
///
///     var body: some View {
///         List(people.snapshot) { person in Text(person.name) }
///     }
///
/// Conforms to the standard library's `Observable`. It retains the view context.
@MainActor
public final class LiveList<T: Model>: Observable {
    private let registrar = ObservationRegistrar()
    private let view: ViewContext
    private let list: FollowedList
    private var current: ListSnapshot<T>

    /// Creates a list.
    /// - Parameters:
    ///   - view: The view context whose objects are listed.
    ///   - source: The query and its order.
    ///   - clauses: Further clauses, such as `OrderBy(.ascending(\.name))`.
    ///   - sectionBy: The sections; `nil` for a list without sections.
    ///   - content: The values that the snapshots contain. Changes of other values are not observed.
    /// - Throws: Errors of a fetch.
    public init<S: FetchSource>(
        _ view: ViewContext, _ source: S, _ clauses: any FetchClause<T>..., sectionBy: SectionBy<T>? = nil,
        content: SnapshotContent<T> = .all
    ) throws where S.Entity == T {
        self.view = view
        list = try FollowedList(ListQuery(source.chain(clauses), sectionBy), view, keeping: view.snapshotShape(content))
        current = ListSnapshot(list.contents)
        list.subscribers.add(self) { [weak self] change in MainActor.assumeIsolated { self?.show(ListSnapshot(change.contents)) } }
    }

    /// The objects with their values, in order.
    public var snapshot: ListSnapshot<T> {
        registrar.access(self, keyPath: \.snapshot)
        return current
    }

    /// The sections, in order. A list without sections has one unnamed section.
    public var sections: [ListSnapshotSection<T>] { snapshot.sections }

    /// The number of objects.
    public var count: Int { snapshot.count }

    /// A Boolean value that indicates whether the list contains no object.
    public var isEmpty: Bool { snapshot.isEmpty }

    /// Shows another list from now on.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    public func refetch<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<T>..., sectionBy: SectionBy<T>? = nil
    ) throws where S.Entity == T {
        try list.refetch(ListQuery(source.chain(clauses), sectionBy), view)
    }

    private func show(_ snapshot: ListSnapshot<T>) { registrar.withMutation(of: self, keyPath: \.snapshot) { current = snapshot } }
}
