import PolyStoreBackend

/// A context of the main actor with live, read-only objects that are updated after every commit.
///
/// It shows one version at a time and moves to the next as a whole: after an awaited `perform`, after `performAndWait` on the main actor, and shortly
/// after any other commit. Its objects then have the new values. Deleted objects set `isDeleted` and keep their last values.
///
/// ``DataStack/view`` is the shared instance. ``DataStack/newView(_:file:line:)`` creates others, which can be configured to move only when
/// ``RefreshableContext/refresh()`` is called.
public final class ViewContext: RefreshableContext {
    /// The condition for moving to the newest version.
    public enum Refreshing: Sendable {
        /// After every commit.
        case automatic
        /// When ``RefreshableContext/refresh()`` is called.
        case manual
    }

    /// The condition for moving to the newest version.
    public let refreshing: Refreshing

    init(core: StackCore, table: StoreTable, _ site: CallSite, _ refreshing: Refreshing) {
        self.refreshing = refreshing
        super.init(core: core, table: table, site, followsCommits: refreshing == .automatic)
    }
}

extension DataStack {
    /// Creates another read-only context of the main actor with its own objects, for a window that shows one version for a longer time or whose
    /// objects should be released together.
    @MainActor
    public func newView(_ refreshing: ViewContext.Refreshing = .automatic, file: StaticString = #fileID, line: UInt = #line) -> ViewContext
    {
        let view = ViewContext(
            core: core, table: core.table.withLock { $0 }, CallSite("view", file: file, line: line), refreshing)
        if refreshing == .automatic { core.views.add(view) }
        return view
    }

    /// Creates a read-only context for any thread or actor. It shows one version until ``RefreshableContext/refresh()`` is called.
    ///
    /// It keeps its snapshot open until it is released; see ``openSnapshots``, and ``snapshotIdleTime`` for servers. For a single read, use ``readAndWait(timeLimit:file:line:_:)``.
    public func newContext(file: StaticString = #fileID, line: UInt = #line) -> RefreshableContext {
        RefreshableContext(
            core: core, table: core.table.withLock { $0 }, CallSite("context", file: file, line: line))
    }
}
