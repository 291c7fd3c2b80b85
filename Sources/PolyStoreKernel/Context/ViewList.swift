import PolyStoreBackend

/// The main-actor contexts that are subscribed to commits.
final class ViewList: Sendable {
    private struct WeakView {
        weak var view: ViewContext?
    }

    @MainActor private var views: [WeakView] = []

    /// A Boolean value that indicates whether a task that updates the views is scheduled on the main actor.
    private let isScheduled = Protected(false)

    init() {}

    @MainActor
    func add(_ view: ViewContext) {
        views.removeAll { $0.view == nil }
        views.append(WeakView(view: view))
    }

    /// Schedules one update of the views for all commits until it runs, so that a blocked main actor does not accumulate a task per commit.
    func catchUpSoon(_ logger: any StoreLogger) {
        let isFirst = isScheduled.withLock { isScheduled in
            defer { isScheduled = true }
            return !isScheduled
        }
        guard isFirst else { return }
        Task { @MainActor in
            isScheduled.withLock { $0 = false }
            catchUp(logger)
        }
    }

    /// Updates all views.
    @MainActor
    func catchUp(_ logger: any StoreLogger) {
        for reference in views {
            reference.view?.catchUpOrRefresh(
                logger, failure: "The view could not follow a commit", staleness: "The view shows an earlier version")
        }
    }
}
