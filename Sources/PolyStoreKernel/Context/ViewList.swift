import PolyStoreBackend
import Synchronization

/// The main-actor contexts that follow commits. The publisher of commits wakes them. Callers whose commits must be visible await the deliveries up to now.
final class ViewList: Sendable {
    private struct WeakView {
        weak var view: ViewContext?
    }

    @MainActor private var views: [WeakView] = []

    private let logger: Protected<any StoreLogger>
    /// The number of deliveries to the feeds of views.
    private let delivered = Atomic(0)
    /// The number of deliveries that all views show.
    private let shown = Atomic(0)
    /// A Boolean value that indicates whether a task that updates the views is scheduled on the main actor.
    private let isScheduled = Atomic(false)

    init(logger: Protected<any StoreLogger>) { self.logger = logger }

    @MainActor
    func add(_ view: ViewContext) {
        views.removeAll { $0.view == nil }
        views.append(WeakView(view: view))
    }

    // MARK: Publisher

    /// Called when the feed of a view has received commits, before their callers are resumed.
    func didDeliver() { delivered.add(1, ordering: .acquiringAndReleasing) }

    /// Schedules one update of the views for all commits until it runs, so that a blocked main actor does not accumulate a task per commit.
    func wake() {
        guard isBehind, !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task { @MainActor in
            isScheduled.store(false, ordering: .releasing)
            showCommits()
        }
    }

    // MARK: Callers

    private var isBehind: Bool { shown.load(ordering: .acquiring) < delivered.load(ordering: .acquiring) }

    /// Returns when the views show all commits that were delivered before the call.
    func awaitCommits() async {
        guard isBehind else { return }
        await MainActor.run { showCommits() }
    }

    /// Updates all views to the latest commit. In a callback of a view, that one is updated when all callbacks have returned.
    @MainActor
    func showCommits() {
        guard isBehind else { return }
        let target = delivered.load(ordering: .acquiring)
        var isComplete = true
        for case let view? in views.map(\.view) {
            isComplete =
                view.catchUpOrRefresh(
                    logger.withLock { $0 }, failure: "The view could not follow a commit", staleness: "The view shows an earlier version")
                && isComplete
        }
        // The next caller updates views again that have failed.
        if isComplete { shown.max(target, ordering: .acquiringAndReleasing) }
    }
}
