import PolyStoreBackend

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
    /// A Boolean value that indicates whether the next read opens snapshots, so that the context can adopt the current stores before it.
    var areToBeOpened: Bool { isEmpty && !isClosed }

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
        guard !isClosed else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", location: store.location)
        }
        try core.process.check("This stack")
        try begin(context.table, context.site)
        guard let reader = self[store] else { throw store.removedError }
        return reader
    }

    /// Begins the missing snapshots of all stores, or none of them if one fails.
    private func begin(_ table: StoreTable, _ site: CallSite) throws {
        var new: [(store: PersistentStore, reader: any ReadTransaction)] = []
        do {
            for store in table.openStores where self[store] == nil { new.append((store, try store.backend.beginRead())) }
        } catch {
            for (_, reader) in new { reader.end() }
            throw error
        }
        for (store, reader) in new { _ = set(SharedSnapshot(reader), at: store.index) }
        if registration == nil { registration = core.snapshots.open(site) }
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

    init(_ core: StackCore, followsCommits: Bool) {
        self.core = core
        self.followsCommits = followsCommits
        held = HeldSnapshots(core)
    }

    func reader(of store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        if let reader = held[store] { return reader }
        // Commits are buffered from the first snapshot on; before it no object can be outdated.
        if followsCommits { follow(context.table) }
        return try held.reader(of: store, for: context)
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
            let newest = try? store.backend.beginRead()
            if newest?.version != reader.version { gaps.insert(store.index) }
            newest?.end()
        }
    }
}
