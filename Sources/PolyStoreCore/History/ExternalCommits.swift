import PolyStoreBackend

/// Publishes the commits that others make to a stack's stores, other processes and other stacks of this one, to those who follow the stack: in order with
/// the stack's own, and as far as the stores' histories tell what was changed.
///
/// Nothing runs while nobody follows the stack.
final class ExternalCommits: Sendable {
    private struct State {
        var isRunning = false
        /// The stores that this stack commits to now, with their versions before: until the commit is published.
        var ownCommits: [Int: UInt64] = [:]
        var watcher: CommitWatcher?
    }

    /// What the followers know of a store.
    private struct Progress {
        /// Everything up to this version was published.
        var version: UInt64
        /// An entry of the log that is of this version or an earlier one; 0: none is known.
        var position: Int64
        /// A Boolean value that indicates whether the store could not be read, which was logged.
        var hasFailed = false
    }

    private let hub: CommitHub
    private let table: Protected<StoreTable>
    private let views: ViewList
    private let logger: Protected<any StoreLogger>
    private let state = Protected(State())
    /// By store. Held while anything is published, so that all followers see one order.
    private let progress = Protected<[Int: Progress]>([:])

    init(hub: CommitHub, table: Protected<StoreTable>, views: ViewList, logger: Protected<any StoreLogger>) {
        self.hub = hub
        self.table = table
        self.views = views
        self.logger = logger
        hub.willFollow.withLock { $0 = { [weak self] in self?.start() } }
    }

    // MARK: Starting and stopping

    /// Called before somebody begins to follow the commits: what is committed from now on is published.
    private func start() {
        guard !state.withLock({ $0.isRunning }) else { return }
        progress.withLock { progress in
            let isFirst = state.withLock { state in
                defer { state.isRunning = true }
                return !state.isRunning
            }
            guard isFirst else { return }
            progress = [:]
            for store in table.withLock({ $0.stores }) { begin(store, &progress) }
        }
        watch()
    }

    /// Called when a store was added to the stack.
    func didAdd(_ store: PersistentStore) {
        guard state.withLock({ $0.isRunning }) else { return }
        progress.withLock { begin(store, &$0) }
        watch()
    }

    private func begin(_ store: PersistentStore, _ progress: inout [Int: Progress]) {
        guard progress[store.index] == nil else { return }
        do {
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            progress[store.index] = Progress(version: reader.version, position: 0)
        } catch {
            report(error, store)
        }
    }

    private var watchedStores: [PersistentStore] {
        table.withLock { $0.stores }.filter { $0.capabilities.has(.multiProcess) || !$0.backend.commitFiles.isEmpty }
    }

    /// Starts the watcher, where there is a store to which others can write.
    private func watch() {
        guard !watchedStores.isEmpty else { return }
        let watcher = state.withLock { state -> CommitWatcher? in
            guard state.isRunning else { return nil }
            if let watcher = state.watcher { return watcher }
            let watcher = CommitWatcher { [weak self] in
                self?.files ?? []
            } look: { [weak self] in
                self?.look()
            }
            state.watcher = watcher
            return watcher
        }
        watcher?.start()
    }

    private var files: [String] { watchedStores.flatMap(\.backend.commitFiles) }

    func stop() { stop(if: { true }) }

    /// - Parameter condition: judged together with what begins the next time.
    private func stop(if condition: () -> Bool) {
        let watcher = state.withLock { state -> CommitWatcher? in
            guard condition() else { return nil }
            state.isRunning = false
            defer { state.watcher = nil }
            return state.watcher
        }
        watcher?.stop()
    }

    /// Called in a child that was forked: its copy of the watcher is never let go, as its event source may be suspended, and the parent's goes on.
    func leaveToParent() { if let watcher = state.withLock({ $0.watcher }) { _ = Unmanaged.passRetained(watcher) } }

    // MARK: The stack's own commits

    /// Called before the stack commits to a store.
    /// - Parameter version: the store's version so far, to which all earlier commits of others belong.
    func willCommit(_ store: PersistentStore, after version: UInt64) { state.withLock { $0.ownCommits[store.index] = version } }

    func didNotCommit(_ store: PersistentStore) { state.withLock { $0.ownCommits[store.index] = nil } }

    /// Publishes what the stack has committed, behind what others have committed before.
    /// - Parameters:
    ///   - own: the stores with their new versions.
    ///   - commits: made only if somebody wants to know.
    func publish(_ own: [(store: PersistentStore, version: UInt64)], _ commits: () -> [Commit]) {
        let isRunning = state.withLock { state in
            if !state.isRunning { for commit in own { state.ownCommits[commit.store.index] = nil } }
            return state.isRunning
        }
        guard isRunning else {
            hub.publish(commits)
            return
        }
        progress.withLock { progress in
            for commit in own {
                guard let before = state.withLock({ $0.ownCommits[commit.store.index] }) else { continue }
                if before > progress[commit.store.index]?.version ?? .max { publishOthers(commit.store, through: before, &progress) }
            }
            let shown = hub.publish(commits)
            for commit in own {
                state.withLock { $0.ownCommits[commit.store.index] = nil }
                if let known = progress[commit.store.index]?.version, known < commit.version {
                    progress[commit.store.index]?.version = commit.version
                }
            }
            // A snapshot can show a commit of another process that came just after.
            for commit in own where shown[commit.store.index] ?? 0 > commit.version {
                publishOthers(commit.store, through: shown[commit.store.index], &progress)
            }
        }
    }

    // MARK: The commits of others

    /// Publishes what others have committed; called when a file was written, and now and then.
    private func look() {
        guard hub.isFollowed else { return stop(if: { !hub.isFollowed }) }
        var hasNews = false
        progress.withLock { progress in
            for store in watchedStores where publishOthers(store, through: nil, &progress) { hasNews = true }
        }
        guard hasNews, hub.isActive else { return }
        let (views, logger) = (views, logger.withLock { $0 })
        Task { @MainActor in views.catchUp(logger) }
    }

    /// - Parameter limit: the last version that is to be published; nil: all that is not the stack's own.
    /// - Returns: whether there was anything to publish.
    @discardableResult
    private func publishOthers(_ store: PersistentStore, through limit: UInt64?, _ progress: inout [Int: Progress]) -> Bool {
        guard let known = progress[store.index] else {
            begin(store, &progress)
            return false
        }
        let reader: any ReadTransaction
        do {
            reader = try store.backend.beginRead()
            progress[store.index]?.hasFailed = false
        } catch {
            // A store that was closed, deleted or emptied says so to its users too.
            if !known.hasFailed { report(error, store) }
            progress[store.index]?.hasFailed = true
            return false
        }
        defer { reader.end() }
        // What the stack itself is committing is published by the stack. Asked after the snapshot was taken: a commit that it shows, and that was not
        // published, is still among them.
        let own = state.withLock { $0.ownCommits[store.index] }
        let version = min(reader.version, limit ?? own ?? .max)
        guard version > known.version else { return false }
        progress[store.index]?.version = version
        do {
            var history = ExternalHistory(
                store, table.withLock { $0 }, reader, after: known.version, through: version, position: known.position)
            try publish(&history, store)
            progress[store.index]?.position = history.position
        } catch {
            report(error, store)
            publishUnknown(store)
        }
        return true
    }

    private func publish(_ history: inout ExternalHistory, _ store: PersistentStore) throws {
        while let part = try history.next() {
            if part.followsUnknown { publishUnknown(store) }
            _ = hub.publish { part.commits }
        }
    }

    private func publishUnknown(_ store: PersistentStore) {
        hub.publishUnknown(store, Commit(ofUnknownChangesIn: table.withLock { $0 }))
    }

    private func report(_ error: any Error, _ store: PersistentStore) {
        logger.withLock { $0 }.write(.warning, "The commits of others to \(store.url) could not be read: \(error)")
    }
}
