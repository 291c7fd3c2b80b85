import PolyStoreBackend

/// A context of the main actor: live, read-only objects that follow every commit.
///
/// It shows one version at a time and moves, whole, to the next: after an awaited `perform`, after `performAndWait` on the main actor,
/// and soon after any other commit. Its objects then have the new values; deleted ones say so in `isDeleted` and keep their last values.
///
/// ``DataStack/view`` is the one that is always there; ``DataStack/newView(_:file:line:)`` makes others, which may be told to move only when
/// ``RefreshableContext/refresh()`` is called.
public final class ViewContext: RefreshableContext {
    /// When a context of the main actor moves to the newest version.
    public enum Refreshing: Sendable {
        /// After every commit.
        case automatic
        /// When it is told to.
        case manual
    }

    public let refreshing: Refreshing

    init(core: StackCore, table: StoreTable, _ site: CallSite, _ refreshing: Refreshing) {
        self.refreshing = refreshing
        super.init(core: core, table: table, site)
    }

    override func begin() throws {
        // From here on commits are kept until the view has seen them; before there is nothing that could be out of date.
        if refreshing == .automatic, feed == nil { follow(CommitFeed()) }
        try super.begin()
    }
}

/// The contexts of the main actor that follow the commits.
final class ViewList: Sendable {
    private struct Place {
        weak var view: ViewContext?
    }

    @MainActor private var places: [Place] = []

    init() {}

    @MainActor
    func add(_ view: ViewContext) {
        places.removeAll { $0.view == nil }
        places.append(Place(view: view))
    }

    /// Brings them all up to date.
    @MainActor
    func catchUp(_ logger: any StoreLogger) {
        for place in places {
            guard let view = place.view else { continue }
            do {
                try view.catchUp()
            } catch {
                logger.write(.error, "The view could not follow a commit: \(error)")
                // What it was told of is gone, so it reads everything anew.
                do { try view.refresh() } catch { logger.write(.error, "The view shows an earlier version: \(error)") }
            }
        }
    }
}

extension DataStack {
    /// One more read-only context of the main actor, with objects of its own: for a window that is to show one version for as long as it
    /// likes, or is to be let go with everything that it has read.
    @MainActor
    public func newView(_ refreshing: ViewContext.Refreshing = .automatic, file: StaticString = #fileID, line: UInt = #line) -> ViewContext
    {
        let view = ViewContext(
            core: core, table: core.table.withLock { $0 }, CallSite("view", file: file, line: line), refreshing)
        if refreshing == .automatic { core.views.add(view) }
        return view
    }

    /// A read-only context for whoever asks, on whatever thread or actor: it shows one version until ``RefreshableContext/refresh()``.
    ///
    /// It holds its version of the stores until it goes; see ``openSnapshots``. For a single look ``readAndWait(file:line:_:)`` is enough.
    public func newContext(file: StaticString = #fileID, line: UInt = #line) -> RefreshableContext {
        RefreshableContext(
            core: core, table: core.table.withLock { $0 }, CallSite("context", file: file, line: line))
    }
}
