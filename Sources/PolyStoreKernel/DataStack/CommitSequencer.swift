import PolyStoreBackend

/// Puts the commits of a stack in order with those of other processes and other stacks, whose changes it reads from the stores' histories, and passes
/// all of them to the publisher.
///
/// Looks for commits of others only while the stack has subscribers.
package final class CommitSequencer: Sendable {
    private struct State {
        var isRunning = false
        /// The versions, before the current commit, of the stores that this stack is committing to, until the commit is published; by store index.
        private(set) var ownCommits: [UInt64?] = []
        var watcher: CommitWatcher?

        func ownCommit(_ store: PersistentStore) -> UInt64? { store.index < ownCommits.count ? ownCommits[store.index] : nil }

        mutating func setOwnCommit(_ store: PersistentStore, _ version: UInt64?) {
            while ownCommits.count <= store.index { ownCommits.append(nil) }
            ownCommits[store.index] = version
        }
    }

    /// The published state of a store.
    private struct Progress {
        /// The version up to which commits were published.
        var version: UInt64
        /// The position of a log entry of that version or an earlier one; 0 if none is known.
        var position: Int64
        /// A Boolean value that indicates whether reading the store failed, which was logged.
        var hasFailed = false
    }

    private let publisher: CommitPublisher
    private let table: Protected<StoreTable>
    private let logger: Protected<any StoreLogger>
    private let state = Protected(State())
    /// The published state by store. Locked while commits are published, so that all observers see the same order.
    private let progress = Protected<[Int: Progress]>([:])

    init(_ publisher: CommitPublisher, table: Protected<StoreTable>, logger: Protected<any StoreLogger>) {
        self.publisher = publisher
        self.table = table
        self.logger = logger
    }

    // MARK: Subscriptions

    /// Adds the feed of a context, which receives the commits from now on.
    func subscribe(_ feed: CommitFeed) {
        publisher.willSubscribe()
        start()
        publisher.add(feed)
    }

    /// Adds an observer and returns its identifier.
    /// - Parameter end: called after the last commit.
    package func observe(_ handler: @escaping @Sendable (Commit) -> Void, end: @escaping @Sendable () -> Void) -> Int {
        publisher.willSubscribe()
        start()
        return publisher.addObserver(handler, end: end)
    }

    // MARK: Starting and stopping

    /// Called before a subscription is added. Commits from now on are published.
    private func start() {
        guard !state.withLock({ $0.isRunning }) else { return }
        progress.withLock { progress in
            let isFirst = state.withLock { state in
                defer { state.isRunning = true }
                return !state.isRunning
            }
            guard isFirst else { return }
            progress = [:]
            for store in table.withLock({ $0.openStores }) { begin(store, &progress) }
        }
        watch()
    }

    /// Called when a store was added to the stack.
    func didAdd(_ store: PersistentStore) {
        guard state.withLock({ $0.isRunning }) else { return }
        progress.withLock { begin(store, &$0) }
        watch()
    }

    /// Called when a store was removed from the stack, after no new read of it can begin.
    func didRemove(_ store: PersistentStore) { progress.withLock { _ = $0.removeValue(forKey: store.index) } }

    private func begin(_ store: PersistentStore, _ progress: inout [Int: Progress]) {
        // Another thread can have removed the store since the caller took it from the table.
        guard progress[store.index] == nil, isOpen(store) else { return }
        do {
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            progress[store.index] = Progress(version: reader.version, position: 0)
        } catch {
            report(error, store)
        }
    }

    private var watchedStores: [PersistentStore] {
        table.withLock { $0.openStores }.filter { $0.capabilities.has(.multiProcess) || !$0.backend.commitFiles.isEmpty }
    }

    /// Starts the watcher if other processes or stacks can write to a store.
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

    /// - Parameter condition: Evaluated under the same lock that a restart takes.
    private func stop(if condition: () -> Bool) {
        let watcher = state.withLock { state -> CommitWatcher? in
            guard condition() else { return nil }
            state.isRunning = false
            defer { state.watcher = nil }
            return state.watcher
        }
        watcher?.stop()
    }

    /// Called in a forked child: retains its copy of the watcher forever, because the event source may be suspended, and the parent's watcher continues.
    func leaveToParent() { if let watcher = state.withLock({ $0.watcher }) { _ = Unmanaged.passRetained(watcher) } }

    // MARK: The stack's own commits

    /// Called before the stack commits to a store.
    /// - Parameter version: The current version of the store, which includes all earlier external commits.
    func willCommit(_ store: PersistentStore, after version: UInt64) { state.withLock { $0.setOwnCommit(store, version) } }

    func didNotCommit(_ store: PersistentStore) { state.withLock { $0.setOwnCommit(store, nil) } }

    /// Publishes a commit of the stack, after the earlier external commits.
    /// - Parameters:
    ///   - own: The stores with their new versions.
    ///   - commits: Creates the commits; called only if there are observers.
    /// - Returns: The contexts to which commits were delivered; the caller wakes them.
    func publish(_ own: [(store: PersistentStore, version: UInt64)], _ commits: () -> [Commit]) -> [CommitFeed] {
        let isRunning = state.withLock { state in
            if !state.isRunning { for commit in own { state.setOwnCommit(commit.store, nil) } }
            return state.isRunning
        }
        guard isRunning else { return publisher.publish(commits).feeds }
        return progress.withLock { progress in
            var followers: [CommitFeed] = []
            for commit in own {
                guard let before = state.withLock({ $0.ownCommit(commit.store) }) else { continue }
                if before > progress[commit.store.index]?.version ?? .max {
                    publishOthers(commit.store, through: before, &progress, &followers)
                }
            }
            let delivery = publisher.publish(commits)
            if !delivery.feeds.isEmpty { followers = delivery.feeds }
            for commit in own {
                state.withLock { $0.setOwnCommit(commit.store, nil) }
                if let known = progress[commit.store.index]?.version, known < commit.version {
                    progress[commit.store.index]?.version = commit.version
                }
            }
            // A snapshot can contain a later commit of another process.
            for commit in own where delivery.shown[commit.store.index] ?? 0 > commit.version {
                publishOthers(commit.store, through: delivery.shown[commit.store.index], &progress, &followers)
            }
            return followers
        }
    }

    // MARK: External commits

    /// Publishes external commits. Called when a file was written, and periodically.
    private func look() {
        guard publisher.hasSubscribers else { return stop(if: { !publisher.hasSubscribers }) }
        let followers = progress.withLock { progress in
            var followers: [CommitFeed] = []
            for store in watchedStores { publishOthers(store, through: nil, &progress, &followers) }
            return followers
        }
        publisher.wake(followers)
    }

    /// - Parameters:
    ///   - limit: The last version to publish; `nil` for all external commits.
    ///   - followers: The contexts to which commits were delivered.
    private func publishOthers(
        _ store: PersistentStore, through limit: UInt64?, _ progress: inout [Int: Progress], _ followers: inout [CommitFeed]
    ) {
        guard let known = progress[store.index] else { return begin(store, &progress) }
        let reader: any ReadTransaction
        do {
            reader = try store.backend.beginRead()
            progress[store.index]?.hasFailed = false
        } catch {
            // A closed, deleted or emptied store also reports this error to its own users.
            if !known.hasFailed { report(error, store) }
            progress[store.index]?.hasFailed = true
            return
        }
        defer { reader.end() }
        // The stack publishes its own commits itself. Read after the snapshot was taken, so that an unpublished commit that the snapshot contains
        // is still listed.
        let own = state.withLock { $0.ownCommit(store) }
        let version = min(reader.version, limit ?? own ?? .max)
        guard version > known.version else { return }
        progress[store.index]?.version = version
        do {
            var history = ExternalHistory(
                store, table.withLock { $0 }, reader, after: known.version, through: version, position: known.position)
            try publish(&history, store, &followers)
            progress[store.index]?.position = history.position
        } catch {
            guard isOpen(store) else { return }
            report(error, store)
            followers = publishUnknown(store)
        }
    }

    private func publish(_ history: inout ExternalHistory, _ store: PersistentStore, _ followers: inout [CommitFeed]) throws {
        while let part = try history.next() {
            if part.followsUnknown { followers = publishUnknown(store) }
            let delivery = publisher.publish { part.commits }
            if !delivery.feeds.isEmpty { followers = delivery.feeds }
        }
    }

    private func publishUnknown(_ store: PersistentStore) -> [CommitFeed] {
        publisher.publishUnknown(store, Commit(ofUnknownChangesIn: table.withLock { $0 })).feeds
    }

    private func isOpen(_ store: PersistentStore) -> Bool { table.withLock { $0.isOpen(store) } }

    /// Logs an error, unless the store was closed during the read.
    private func report(_ error: any Error, _ store: PersistentStore) {
        guard isOpen(store) else { return }
        logger.withLock { $0 }.write(.warning, "The commits of others to \(store.location) could not be read: \(error)")
    }
}
