import PolyStoreBackend
import PolyStoreRuns

/// Puts the commits of a stack in order with those of other processes and other stacks, whose changes it reads from the stores' histories, and passes
/// all of them to the publisher.
///
/// Looks for commits of others only while the stack has subscribers.
package final class CommitSequencer: Sendable {
    /// The published state of a store.
    private struct Progress {
        /// The version up to which commits were published.
        var version: UInt64
        /// The position of a log entry of that version or an earlier one; 0 if none is known.
        var position: Int64
        /// A Boolean value that indicates whether reading the store failed, which was logged.
        var hasFailed = false
    }

    private struct State {
        var isRunning = false
        /// The published state by store index.
        var progress: [Int: Progress] = [:]
        /// Whether this stack is committing to a store, until the commit is published; by store index.
        private var ownCommits: [Bool] = []
        var watcher: CommitWatcher?

        func hasOwnCommit(_ store: PersistentStore) -> Bool { store.index < ownCommits.count && ownCommits[store.index] }

        mutating func setOwnCommit(_ store: PersistentStore, _ isCommitting: Bool) {
            while ownCommits.count <= store.index { ownCommits.append(false) }
            ownCommits[store.index] = isCommitting
        }

        /// Returns the last version before a commit of the stack, if it has not been published.
        func unpublished(before own: (store: PersistentStore, version: UInt64)) -> UInt64? {
            guard own.version > 0, own.version - 1 > progress[own.store.index]?.version ?? .max else { return nil }
            return own.version - 1
        }

        /// Returns the watcher, which the caller stops.
        mutating func stop() -> CommitWatcher? {
            isRunning = false
            return watcher.take()
        }

        /// Called when commits of the stack are published.
        mutating func didPublish(_ own: [(store: PersistentStore, version: UInt64)]) {
            for commit in own {
                setOwnCommit(commit.store, false)
                if let known = progress[commit.store.index]?.version, known < commit.version {
                    progress[commit.store.index]?.version = commit.version
                }
            }
        }
    }

    private let publisher: CommitPublisher
    private let table: Protected<StoreTable>
    private let logger: Protected<any StoreLogger>
    /// Locked while commits are delivered, so that all observers see the same order. Commits of others and snapshots are read before it is locked.
    private let state = Protected(State(), .sequencer)

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
        let failures: [(store: PersistentStore, error: any Error)]? = state.withLock { state in
            guard !state.isRunning else { return nil }
            state.isRunning = true
            state.progress = [:]
            return table.withLock { $0.openStores }.compactMap { store in begin(store, &state).map { (store, $0) } }
        }
        guard let failures else { return }
        for failure in failures { report(failure.error, failure.store) }
        watch()
    }

    /// Called when a store was added to the stack.
    func didAdd(_ store: PersistentStore) {
        let (isRunning, failure) = state.withLock { state in (state.isRunning, state.isRunning ? begin(store, &state) : nil) }
        guard isRunning else { return }
        if let failure { report(failure, store) }
        watch()
    }

    /// Called when a store was removed from the stack, after no new read of it can begin.
    func didRemove(_ store: PersistentStore) { state.withLock { _ = $0.progress.removeValue(forKey: store.index) } }

    /// Reads the version of a store, under the lock: a commit of the stack between the read and its result would be published twice.
    /// - Returns: the error of the store, which the caller reports without the lock.
    private func begin(_ store: PersistentStore, _ state: inout State) -> (any Error)? {
        // Another thread can have removed the store since the caller took it from the table.
        guard state.progress[store.index] == nil, isOpen(store) else { return nil }
        do {
            state.progress[store.index] = Progress(version: try store.backend.versionWithoutWaiting(), position: 0)
            return nil
        } catch {
            return error
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
            } announcements: { [weak self] handler in
                self?.watchedStores.compactMap { $0.backend.announceCommits(to: handler) } ?? []
            } look: { [weak self] in
                self?.look()
            }
            state.watcher = watcher
            return watcher
        }
        watcher?.start()
    }

    private var files: [String] { watchedStores.flatMap(\.backend.commitFiles) }

    func stop() { state.withLock { $0.stop() }?.stop() }

    /// Stops without subscribers. They are checked under the same lock that a restart takes.
    private func stopIfUnused() {
        let (watcher, feed) = state.withLock { state -> (CommitWatcher?, CommitFeed?) in
            let subscription = publisher.subscription
            return subscription.exists ? (nil, subscription.feed) : (state.stop(), nil)
        }
        withExtendedLifetime(feed) {}
        watcher?.stop()
    }

    /// Called in a forked child: retains its copy of the watcher forever, because the event source may be suspended, and the parent's watcher continues.
    func leaveToParent() { if let watcher = state.withLock({ $0.watcher }) { _ = Unmanaged.passRetained(watcher) } }

    // MARK: The stack's own commits

    /// Called before the stack commits to a store. Commits of others are published with that commit, whose version is not known yet, or after it.
    func willCommit(_ store: PersistentStore) { state.withLock { $0.setOwnCommit(store, true) } }

    func didNotCommit(_ store: PersistentStore) { state.withLock { $0.setOwnCommit(store, false) } }

    /// Publishes a commit of the stack, after the earlier external commits.
    /// - Parameters:
    ///   - own: The stores with their new versions.
    ///   - commits: Creates the commits; called only if there are observers.
    /// - Returns: The contexts to which commits were delivered; the caller wakes them.
    func publish(_ own: [(store: PersistentStore, version: UInt64)], _ commits: () -> [Commit]) -> [CommitFeed] {
        // A stack that has subscribers looks for commits of others.
        let (isRunning, isBehind) = state.withLock { state in
            if !state.isRunning { state.didPublish(own) }
            return (state.isRunning, own.contains { state.unpublished(before: $0) != nil })
        }
        guard isRunning else { return [] }
        let subscribers = publisher.subscribers()
        guard !subscribers.isEmpty else {
            state.withLock { $0.didPublish(own) }
            return []
        }
        var followers: [CommitFeed] = []
        for commit in own where isBehind {
            if let before = state.withLock({ $0.unpublished(before: commit) }) {
                publishOthers(commit.store, through: before, &followers)
            }
        }
        let commits = commits().filter { !$0.parts.isEmpty }
        guard !commits.isEmpty else {
            state.withLock { $0.didPublish(own) }
            return followers
        }
        let publication = CommitPublisher.Publication(commits, for: subscribers)
        // Read before the contexts read the snapshots.
        let shown = own.map { publication.shownVersion($0.store) }
        let outdated = state.withLock { state in
            state.didPublish(own)
            return publisher.deliver(publication, to: subscribers)
        }
        for snapshot in outdated { snapshot.release() }
        followers = subscribers.feeds
        // A snapshot can contain a later commit of another process.
        for (commit, shown) in zip(own, shown) where shown > commit.version {
            publishOthers(commit.store, through: shown, &followers)
        }
        return followers
    }

    // MARK: External commits

    /// Publishes external commits. Called when a file was written, and periodically.
    private func look() {
        guard publisher.hasSubscribers else { return stopIfUnused() }
        var followers: [CommitFeed] = []
        for store in watchedStores { publishOthers(store, through: nil, &followers) }
        publisher.wake(followers)
    }

    /// Reads the commits of others to a store without a lock, and publishes them.
    /// - Parameters:
    ///   - limit: The last version to publish; `nil` for all external commits.
    ///   - followers: Receives the contexts to which commits were delivered.
    private func publishOthers(_ store: PersistentStore, through limit: UInt64?, _ followers: inout [CommitFeed]) {
        // Another thread can publish the same commits meanwhile. What it has not published is then read again.
        while let known = known(store), !publishOthers(store, after: known, through: limit, &followers) {}
    }

    /// Returns the published state of a store; nil if it had none, and begins now.
    private func known(_ store: PersistentStore) -> Progress? {
        let (known, failure) = state.withLock { state in
            let known = state.progress[store.index]
            return (known, known == nil ? begin(store, &state) : nil)
        }
        if let failure { report(failure, store) }
        return known
    }

    /// - Returns: false if another thread has published commits of the store meanwhile.
    private func publishOthers(
        _ store: PersistentStore, after known: Progress, through limit: UInt64?, _ followers: inout [CommitFeed]
    ) -> Bool {
        let (reader, shown): (any ReadTransaction, UInt64)
        do {
            // A commit that is being published does not wait for its reader.
            (reader, shown) = try store.beginReadOfVersion(mayWait: limit == nil)
            if known.hasFailed { state.withLock { $0.progress[store.index]?.hasFailed = false } }
        } catch let error as StoreError where error.code == .busy && limit != nil {
            guard let limit, limit > known.version else { return true }
            var published = known.version
            return deliverUnknown(store, after: &published, through: limit, known.position, &followers)
        } catch {
            // A closed, deleted or emptied store also reports this error to its own users.
            if !known.hasFailed { report(error, store) }
            state.withLock { $0.progress[store.index]?.hasFailed = true }
            return true
        }
        defer { reader.end() }
        // The stack publishes its own commits itself. Read after the snapshot was taken, so that an unpublished commit that the snapshot contains
        // is still listed.
        let isCommitting = state.withLock { $0.hasOwnCommit(store) }
        let end = min(shown, limit ?? (isCommitting ? known.version : .max))
        guard end > known.version else { return true }
        var published = known.version
        var history = ExternalHistory(store, table.withLock { $0 }, reader, after: known.version, through: end, position: known.position)
        do {
            while let part = try history.next() {
                if part.followsUnknown {
                    // Without its commits, so that the order is kept.
                    guard deliverUnknown(store, after: &published, through: history.version, history.position, &followers) else {
                        return false
                    }
                }
                guard !part.commits.isEmpty else { continue }
                guard deliver(part.commits, of: store, after: &published, through: history.version, history.position, &followers) else {
                    return false
                }
            }
            // The remaining entries are internal.
            return state.withLock { state in
                guard state.progress[store.index]?.version == published else { return false }
                state.progress[store.index]?.version = end
                state.progress[store.index]?.position = history.position
                return true
            }
        } catch {
            guard isOpen(store) else { return true }
            report(error, store)
            return deliverUnknown(store, after: &published, through: end, history.position, &followers)
        }
    }

    private func deliverUnknown(
        _ store: PersistentStore, after published: inout UInt64, through version: UInt64, _ position: Int64, _ followers: inout [CommitFeed]
    ) -> Bool {
        let commit = Commit(ofUnknownChangesIn: table.withLock { $0 })
        return deliver([commit], unknownIn: store, of: store, after: &published, through: version, position, &followers)
    }

    /// Delivers external commits.
    /// - Parameter published: The version that the caller has read after. It becomes `version`.
    /// - Returns: false if another thread has published commits of the store meanwhile. Nothing is delivered then.
    private func deliver(
        _ commits: [Commit], unknownIn unknown: PersistentStore? = nil, of store: PersistentStore, after published: inout UInt64,
        through version: UInt64, _ position: Int64, _ followers: inout [CommitFeed]
    ) -> Bool {
        let subscribers = publisher.subscribers()
        let publication = CommitPublisher.Publication(commits, unknownIn: unknown, for: subscribers)
        let outdated: [SharedSnapshot]? = state.withLock { state in
            guard state.progress[store.index]?.version == published else { return nil }
            state.progress[store.index]?.version = version
            state.progress[store.index]?.position = position
            return publisher.deliver(publication, to: subscribers)
        }
        guard let outdated else {
            publication.discard()
            return false
        }
        for snapshot in outdated { snapshot.release() }
        published = version
        if !subscribers.feeds.isEmpty { followers = subscribers.feeds }
        return true
    }

    private func isOpen(_ store: PersistentStore) -> Bool { table.withLock { $0.isOpen(store) } }

    /// Logs an error, unless the store was closed during the read.
    private func report(_ error: any Error, _ store: PersistentStore) {
        guard isOpen(store) else { return }
        logger.withLock { $0 }.write(.warning, "The commits of others to \(store.location) could not be read: \(error)")
    }
}
