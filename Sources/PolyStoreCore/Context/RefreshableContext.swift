import PolyStoreBackend

/// A read-only context that shows one version until it is told to move on: ``DataStack/newContext(file:line:)``.
///
/// Not Sendable, used by one thread, task or actor at a time.
public class RefreshableContext: SnapshotContext {
    /// Collects the commits that the context has not shown yet; nil as long as it need not know what they changed.
    @exclusivity(unchecked) final var feed: CommitFeed?
    /// Stores of which commits may be missing in the feed.
    @exclusivity(unchecked) private final var gaps: Set<Int> = []
    @exclusivity(unchecked) private final var isMoving = false
    /// A Boolean value that indicates whether a move has failed, so that objects and monitors may show what the snapshots no longer do.
    @exclusivity(unchecked) private final var isOutdated = false
    /// A Boolean value that indicates whether a move was asked for while another one was under way.
    @exclusivity(unchecked) private final var mustMoveAgain = false

    /// Moves to the newest version: forgets every value that was read, so that each is read anew when it is asked for. Objects that were
    /// deleted meanwhile say so in ``Model/isDeleted`` then. Monitors notify their observers. In a callback of a monitor it takes effect when all
    /// callbacks have returned.
    public final func refresh() throws { try move(isRefresh: true) }

    /// Shows what was committed, and brings every living object and every monitor up to date.
    final func catchUp() throws { try move(isRefresh: false) }

    private func move(isRefresh: Bool) throws {
        guard !isMoving else {
            mustMoveAgain = true
            return
        }
        isMoving = true
        defer { isMoving = false }
        try moveOnce(isRefresh: isRefresh)
        while mustMoveAgain {
            mustMoveAgain = false
            try moveOnce(isRefresh: isRefresh)
        }
    }

    /// Collects commits from now on.
    final func follow(_ feed: CommitFeed) {
        guard self.feed == nil else { return }
        core.hub.follow(feed)
        self.feed = feed
        for store in table.stores where store.index < readers.count {
            guard let reader = readers[store.index] else { continue }
            let newest = try? store.backend.beginRead()
            if newest?.version != reader.version { gaps.insert(store.index) }
            newest?.end()
        }
    }

    final override func beginObserving() { if feed == nil { follow(CommitFeed()) } }

    private func moveOnce(isRefresh: Bool) throws {
        let known = table.stores.count
        update(core.table.withLock { $0 })
        let hasNewStores = table.stores.count > known
        guard !readers.isEmpty || hasNewStores else { return }
        forgetRowsAhead()
        watchReads()
        var target = try newReaders(isRefresh: isRefresh)
        guard isRefresh || hasNewStores || isOutdated || !target.readers.isEmpty else { return }
        if isOutdated { target.isPartial = true }
        let step = CommittedStep()
        for commit in target.commits { step.add(commit, table) }
        let (old, new, entries, wasOutdated) = (readers, target.readers, table.entries, isOutdated)
        if let observers {
            // Where reading fails, more is reported than has changed.
            try? step.settle(
                entries, where: observers.reports, old: { old.indices.contains($0.index) ? old[$0.index] : nil },
                new: { new[$0.index] ?? (old.indices.contains($0.index) ? old[$0.index] : nil) })
        }
        var move = ContextMove(step: step, isPartial: target.isPartial, hasNewStores: hasNewStores)
        move.oldRecord = { row in
            let entry = entries[Int(row.slot)]
            return old.indices.contains(entry.store.index) ? try old[entry.store.index]?.record(entry.entity, id: row.rowID) : nil
        }
        move.isChanged = { row in
            let entry = entries[Int(row.slot)]
            guard let new = new[entry.store.index], let old = old[entry.store.index] else { return wasOutdated }
            return wasOutdated || ContextMove.differs(entry, row.rowID, old, new)
        }
        let concerned = observers?.concerned(move, entries) ?? []
        for observer in concerned { observer.contextWillMove(move) }
        for (index, reader) in target.readers { readers[index] = reader }
        if let ledgerID { core.snapshots.renew(ledgerID) }
        defer { for index in target.readers.keys { old[index]?.end() } }
        do {
            if isRefresh || target.isPartial {
                try forgetObjects()
            } else {
                for commit in target.commits { try merge(commit) }
            }
        } catch {
            isOutdated = true
            throw error
        }
        isOutdated = false
        target.commits = []
        for observer in concerned { observer.contextDidMove(move, self) }
        for observer in concerned { observer.notify() }
    }

    /// Snapshots to move to, by store, with the commits in between.
    private struct Target {
        var readers: [Int: any ReadTransaction] = [:]
        var commits: [CommittedChanges] = []
        /// A Boolean value that indicates whether more has changed than the commits tell.
        var isPartial = false
    }

    private func newReaders(isRefresh: Bool) throws -> Target {
        var news = feed?.take() ?? CommitFeed.News()
        defer { for snapshot in news.snapshots.values { snapshot.end() } }
        var target = Target()
        do {
            for store in table.stores where store.index < readers.count { try addReader(store, isRefresh: isRefresh, &news, to: &target) }
        } catch {
            // What the feed told is lost.
            gaps.formUnion(table.stores.map(\.index))
            for reader in target.readers.values { reader.end() }
            throw error
        }
        return target
    }

    private func addReader(_ store: PersistentStore, isRefresh: Bool, _ news: inout CommitFeed.News, to target: inout Target) throws {
        guard let old = readers[store.index] else { return }
        let commits = news.commits.filter { $0.store === store && $0.version > old.version }
        let isUnknown = news.unknown.contains(store.index) || gaps.contains(store.index)
        guard isRefresh || !commits.isEmpty || isUnknown else { return }
        let told = isRefresh ? nil : news.snapshots.removeValue(forKey: store.index)
        let new = try told ?? store.backend.beginRead()
        guard new.version > old.version else {
            // It has read them already, when it began or was refreshed.
            gaps.remove(store.index)
            return new.end()
        }
        target.readers[store.index] = new
        target.commits += commits
        gaps.remove(store.index)
        if isUnknown || feed == nil || commits.last?.version != new.version { target.isPartial = true }
    }

    /// Lets every object read its values again.
    private func forgetObjects() throws {
        forgetAllMembers()
        for map in maps {
            for case let object as any Model in map.objects {
                // What was deleted may be there again.
                let entry = entry(object._$state.slot)
                if object.isDeleted {
                    guard try storage(entry.store).record(entry.entity, id: object._$state.key) != nil else { continue }
                    object._$state.flags.subtract([.deleted, .missing])
                }
                object._$state.flags.insert(.fault)
            }
        }
    }

    private func merge(_ commit: CommittedChanges) throws {
        for change in commit.changes.changes {
            let slot = commit.store.firstSlot + Int32(change.entity)
            switch change.kind {
            // Of an object that was only moved in a list nothing is written but its position.
            case .update where change.mask.isDisjoint(with: entry(slot).declaredFields): continue
            case .insert, .update, .delete: try merge(entry(slot).type, slot, change, commit.changes)
            }
        }
        for key in commit.touched { forgetMembers(key) }
    }

    private func merge<T: Model>(_ type: T.Type, _ slot: Int32, _ change: ChangeSet.Change, _ changes: ChangeSet) throws {
        guard let object = living(type, slot, change.id) else { return }
        if change.kind == .insert {
            // It was deleted, and is there again.
            guard object.isDeleted else { return }
            object._$state.flags.subtract([.deleted, .missing])
            object._$state.flags.insert(.fault)
        } else if change.kind == .delete {
            // A fault that was never read has no last values, and nothing is left to read.
            object._$state.flags.remove(.fault)
            object._$state.flags.insert(.deleted)
        } else if !object._$state.isFault {
            try fill(object, entry(slot), change.id, changes.record(change))
        }
    }
}
