import PolyStoreBackend
import PolyStoreQuery

/// The snapshots of the stores that a context or an unqueued transaction holds open. They are listed in ``DataStack/openSnapshots``.
final class HeldSnapshots {
    private let core: StackCore
    /// The snapshots by store index; nil for stores that are not read.
    @exclusivity(unchecked) private var snapshots: [SharedSnapshot?] = []
    /// The identifier in the stack's list of open snapshots.
    @exclusivity(unchecked) private var registration: Int?

    /// A Boolean value that indicates whether no snapshots can be opened any more.
    @exclusivity(unchecked) private var isClosed = false

    init(_ core: StackCore) { self.core = core }

    deinit { end() }

    var isEmpty: Bool { snapshots.isEmpty }
    /// The read transactions by store index; nil for stores that are not read.
    var readers: [(any ReadTransaction)?] { snapshots.map { $0?.reader } }
    func interrupt(with interruption: Interruption?) { for reader in readers { reader?.interruption = interruption } }
    /// The sessions of the snapshots on servers.
    var sessions: [SnapshotSession] { snapshots.compactMap { $0?.session } }
    /// A Boolean value that indicates whether the next read opens snapshots, so that the context can adopt the current stores before it.
    var areToBeOpened: Bool { isEmpty && !isClosed }

    /// Returns the snapshot of a store; nil if none is open.
    func snapshot(_ store: PersistentStore) -> SharedSnapshot? { snapshots.indices.contains(store.index) ? snapshots[store.index] : nil }

    /// Returns the read transaction of a store; nil if none is open.
    @inline(__always)
    subscript(store: PersistentStore) -> (any ReadTransaction)? {
        snapshots.indices.contains(store.index) ? snapshots[store.index]?.reader : nil
    }

    /// Returns the read transaction of a store.
    ///
    /// Begins the missing snapshots of all stores together, so that they belong to the same point in time.
    func reader(of store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        if let reader = self[store] { return reader }
        _ = try open(store, for: context)
        guard let reader = self[store] else { throw store.removedError }
        return reader
    }

    /// Begins the missing snapshots of all stores.
    /// - Returns: Their sessions, which the caller keeps.
    func open(_ store: PersistentStore, for context: Context) throws -> [SnapshotSession] {
        guard !isClosed else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", location: store.location)
        }
        try core.process.check("This stack")
        return try begin(context.table, context.site)
    }

    /// Begins the missing snapshots of all stores, or none of them if one fails.
    private func begin(_ table: StoreTable, _ site: CallSite) throws -> [SnapshotSession] {
        var new: [(store: PersistentStore, snapshot: SharedSnapshot)] = []
        do {
            for store in table.openStores where self[store] == nil { new.append((store, try SharedSnapshot(of: store))) }
        } catch {
            for (_, snapshot) in new { snapshot.release() }
            throw error
        }
        for (store, snapshot) in new { _ = set(snapshot, at: store.index) }
        let sessions = new.compactMap(\.snapshot.session)
        let isFirst = registration == nil
        if isFirst { registration = core.snapshots.open(site) }
        if !isFirst || !sessions.isEmpty { registerSessions() }
        return sessions
    }

    /// Makes the list of open snapshots leave the context out while all of its sessions are given back.
    private func registerSessions() {
        let sessions = sessions
        guard let registration, !sessions.isEmpty else { return }
        let holdsOthers = sessions.count < snapshots.count(where: { $0 != nil })
        core.snapshots.setHeld(registration) { holdsOthers || sessions.contains(where: \.isOpen) }
    }

    /// Sets the snapshot of a store.
    /// - Returns: the one that it replaces, which the caller releases.
    private func set(_ snapshot: SharedSnapshot?, at index: Int) -> SharedSnapshot? {
        while snapshots.count <= index { snapshots.append(nil) }
        defer { snapshots[index] = snapshot }
        return snapshots[index]
    }

    /// Moves to other snapshots, by store index.
    /// - Returns: the ones that they replace, which the caller releases.
    func move(to new: [Int: SharedSnapshot]) -> [SharedSnapshot] {
        let replaced = new.compactMap { set($1, at: $0) }
        // Another view may still read them.
        for snapshot in replaced where snapshot.reader.interruption != nil { snapshot.reader.interruption = nil }
        if let registration { core.snapshots.renew(registration) }
        registerSessions()
        return replaced
    }

    /// Ends the snapshot of a store that was removed.
    func end(_ store: PersistentStore) { if self[store] != nil { set(nil, at: store.index)?.release() } }

    /// Ends all snapshots.
    func end() {
        let held = snapshots
        snapshots = []
        for snapshot in held { snapshot?.release() }
        if let registration { core.snapshots.close(registration) }
        registration = nil
    }

    /// Ends all snapshots. No other can be opened.
    func close() {
        end()
        isClosed = true
    }
}

/// The snapshots of a context that moves to newer versions, and the commits that lead from one version to the next.
final class MovingSnapshots {
    let held: HeldSnapshots
    private let core: StackCore
    /// A Boolean value that indicates whether the context is a view, which subscribes to commits before its first read.
    private let followsCommits: Bool
    /// Buffers the commits that the context does not show yet; nil as long as it does not need their changes.
    @exclusivity(unchecked) private(set) var feed: CommitFeed?
    /// The indexes of stores with commits that may be missing in the feed.
    @exclusivity(unchecked) var gaps: Set<Int> = []
    /// The sessions that the context keeps, as long as it reads.
    @exclusivity(unchecked) private var kept: [SnapshotSession] = []
    /// The snapshots, by store index, that have begun because the sessions of earlier versions were given back. The context moves to them.
    @exclusivity(unchecked) var resumed: [Int: SharedSnapshot] = [:]
    /// The error of the sessions that could not begin again for the read that is running.
    @exclusivity(unchecked) private var failure: (any Error)?

    init(_ core: StackCore, followsCommits: Bool) {
        self.core = core
        self.followsCommits = followsCommits
        held = HeldSnapshots(core)
    }

    func reader(of store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        if let reader = held[store] {
            guard context.hasSessions, kept.isEmpty else { return reader }
            // A read that has begun does not move the context.
            if let failure, context.readDepth > 0 { throw failure }
            try context.resume()
            return held[store] ?? reader
        }
        // Commits are buffered from the first snapshot on; before it no object can be outdated.
        if followsCommits { follow(context.table) }
        for session in try held.open(store, for: context) { didKeep(session, for: context) }
        return try held.reader(of: store, for: context)
    }

    // MARK: Sessions

    /// Called when a session is kept for the context, which releases it when it does not read any more.
    func didKeep(_ session: SnapshotSession, for context: Context) {
        kept.append(session)
        context.hasSessions = true
    }

    /// Keeps the session of a snapshot while the context reads.
    /// - Returns: false if the session was given back or its connection was lost.
    func keep(_ snapshot: SharedSnapshot, for context: Context) -> Bool {
        guard let session = snapshot.session, !kept.contains(where: { $0 === session }) else { return true }
        guard session.keep() else { return false }
        didKeep(session, for: context)
        return true
    }

    /// Permits the sessions to be given back, after the context has read.
    func releaseSessions() {
        let sessions = kept
        kept = []
        failure = nil
        for session in sessions { session.release() }
    }

    /// A Boolean value that indicates whether the context keeps a session that another one may have to wait for.
    var keepsLimitedSessions: Bool { kept.contains(where: \.isLimited) }

    /// Releases the sessions of snapshots that the context has replaced.
    func release(_ replaced: [SharedSnapshot]) {
        for snapshot in replaced {
            if let index = kept.firstIndex(where: { $0 === snapshot.session }) { kept.remove(at: index).release() }
            snapshot.release()
        }
    }

    /// Keeps the sessions of all snapshots, and begins those again that were given back. If one of their stores has another version, all snapshots begin again, so that they
    /// belong to the same point in time.
    /// - Returns: A Boolean value that indicates whether a store has another version, so that the context is to move to ``resumed``.
    func resume(_ context: Context) throws -> Bool {
        let snapshots = context.table.openStores.compactMap { store in held.snapshot(store).map { (store, $0) } }
        for (store, snapshot) in snapshots where !keep(snapshot, for: context) { try beginAgain(snapshot, store, for: context) }
        if !resumed.isEmpty, snapshots.count > 1 {
            // In the order of the stores, and without keeping a session, so that no two contexts wait for each other.
            releaseAll()
            for (store, snapshot) in snapshots { try beginAgain(snapshot, store, for: context) }
        }
        return !resumed.isEmpty
    }

    /// Releases the sessions that are kept, and the snapshots to which the context has not moved.
    private func releaseAll() {
        releaseSessions()
        for snapshot in resumed.values { snapshot.release() }
        resumed = [:]
    }

    /// Called when the sessions could not begin again. The read that is running throws the error.
    func didFail(_ error: any Error) {
        releaseAll()
        failure = error
    }

    /// Begins another snapshot of a store, which continues the one of before if it has the same version.
    private func beginAgain(_ snapshot: SharedSnapshot, _ store: PersistentStore, for context: Context) throws {
        // The snapshot of a removed store stays as it is.
        guard core.table.withLock({ $0.isOpen(store) }) else { return }
        let new = try SharedSnapshot(of: store)
        guard let version = new.version, version == snapshot.version, continues(snapshot, with: new, for: context) else {
            resumed.updateValue(new, forKey: store.index)?.release()
            return
        }
        new.release()
    }

    /// Keeps the session of a snapshot, which continues with that of another one of the same version if it was given back.
    private func continues(_ snapshot: SharedSnapshot, with other: SharedSnapshot, for context: Context) -> Bool {
        if keep(snapshot, for: context) { return true }
        guard let session = snapshot.session, let new = other.session, session.adopt(new) else { return false }
        didKeep(session, for: context)
        return true
    }

    /// Subscribes to commits, unless it has already.
    func follow(_ table: StoreTable) { if feed == nil { follow(CommitFeed(isOfView: followsCommits), table) } }

    /// Subscribes to commits with a feed, unless it has subscribed already.
    func follow(_ feed: CommitFeed, _ table: StoreTable) {
        guard self.feed == nil else { return }
        core.commitSequencer.subscribe(feed)
        self.feed = feed
        for store in table.stores {
            guard let reader = held[store] else { continue }
            if (try? store.backend.versionWithoutWaiting() == reader.version) != true { gaps.insert(store.index) }
        }
    }
}
