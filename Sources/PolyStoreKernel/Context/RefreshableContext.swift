import PolyStoreBackend

/// A read-only context that shows one version until it is refreshed; see ``DataStack/newContext(file:line:)``. On a server with the feature `shortSnapshots`, it can
/// also move when it is read after a pause; see ``DataStack/snapshotIdleTime``.
///
/// It is not Sendable and is used by one thread, task or actor at a time.
public class RefreshableContext: Context {
    private final let moving: MovingSnapshots
    private final let snapshots: HeldSnapshots
    /// A Boolean value that indicates whether a move has failed, so that objects and monitors may be inconsistent with the snapshots.
    @exclusivity(unchecked) private final var isOutdated = false
    /// A Boolean value that indicates whether a callback has requested another move.
    @exclusivity(unchecked) private final var isMoveDeferred = false
    /// A Boolean value that indicates whether the deferred move is a refresh.
    @exclusivity(unchecked) private final var isRefreshDeferred = false
    /// The generation of the table at the last move.
    @exclusivity(unchecked) private final var shownGeneration: Int

    package init(core: StackCore, table: StoreTable, _ site: CallSite, followsCommits: Bool = false) {
        moving = MovingSnapshots(core, followsCommits: followsCommits)
        snapshots = moving.held
        shownGeneration = table.generation
        super.init(core: core, table: table, site, source: .moving(moving))
    }

    /// Ends the snapshots. The context can no longer read.
    package final func end() {
        graph.rowsAhead = nil
        snapshots.close()
    }

    /// Returns the version of a store that this context shows, or nil before the first read.
    public final func version(of store: PersistentStore) -> UInt64? { snapshots.snapshot(store)?.version }

    /// Moves to the newest version and turns all objects into faults, which read their values on the next access. Objects that were deleted in the
    /// meantime then have ``Model/isDeleted`` set. Monitors notify their observers. When called in a callback of a monitor of this context, it takes
    /// effect when all callbacks have returned; an error is logged then.
    ///
    /// It begins new snapshots of all stores, also if they show the same version. A context whose snapshot can no longer be read, for instance after an I/O
    /// error, can therefore be used again.
    /// - Throws: The error of the store if a snapshot cannot begin. The context then shows the version of before, and another call begins again.
    public final func refresh() throws { try move(isRefresh: true) }

    /// Moves to the newest version and updates every registered object and every monitor.
    package final func catchUp() throws { try move(isRefresh: false) }

    /// A Boolean value that indicates whether objects or monitors may be inconsistent with the snapshots, so that the next move reads them again.
    private final var hasFailed: Bool { isOutdated || observers?.hasFailed == true }

    /// Catches up, or reads all objects again after a failure, which loses the pending commits. Logs errors, unless a store was removed meanwhile.
    /// - Parameters:
    ///   - failure: The message if the commits could not be followed.
    ///   - staleness: The message if the objects could not be read again.
    /// - Returns: A Boolean value that indicates whether the context shows the commits.
    @discardableResult
    package final func catchUpOrRefresh(_ logger: any StoreLogger, failure: String, staleness: String) -> Bool {
        func report(_ message: String, _ error: any Error) {
            if !core.isCausedByRemoval(error) { logger.write(.error, "\(message): \(error)") }
        }
        do { try catchUp() } catch {
            report(failure, error)
            do { try refresh() } catch {
                report(staleness, error)
                return false
            }
        }
        return !hasFailed
    }

    private func move(isRefresh: Bool) throws {
        if isReporting { deferMove(isRefresh: isRefresh) } else { try reporting(isMove: true) { try moveOnce(isRefresh: isRefresh) } }
    }

    override final func resume() throws {
        do {
            guard try moving.resume(self) else { return }
            if isReporting { return deferMove(isRefresh: false) }
            try interrupted(by: nil) { try reporting(isMove: true) { try moveOnce(isRefresh: false) } }
        } catch {
            moving.didFail(error)
            throw error
        }
    }

    /// Moves when all callbacks have returned, once for all requests.
    private func deferMove(isRefresh: Bool) {
        if isRefresh { isRefreshDeferred = true }
        guard !isMoveDeferred else { return }
        isMoveDeferred = true
        deferredReports.append { [self] in
            let isRefresh = isRefreshDeferred
            (isMoveDeferred, isRefreshDeferred) = (false, false)
            do {
                try moveOnce(isRefresh: isRefresh)
            } catch {
                log(.error, "The context could not move to the newest version after a callback: \(error)")
            }
        }
    }

    /// Subscribes to commits.
    package final func follow(_ feed: CommitFeed) { moving.follow(feed, table) }

    private func moveOnce(isRefresh: Bool) throws {
        update(core.table.withLock { $0 })
        // `DataStack.view` updates the table as well, so it can be newer than the last move.
        let hasNewStores = table.generation != shownGeneration
        if hasNewStores {
            detachIterations()
            endReadersOfRemovedStores()
        }
        guard !snapshots.isEmpty || hasNewStores else { return }
        forgetRowsAhead()
        watcher = QueryLog.make(core.logger, site)
        // A session that the context or an iteration keeps could be the only one.
        if moving.keepsLimitedSessions {
            detachIterations()
            moving.releaseSessions()
        }
        var target = try newReaders(isRefresh: isRefresh)
        // A move that fails is repeated, with the new stores.
        shownGeneration = table.generation
        let isIncomplete = hasFailed
        guard isRefresh || hasNewStores || isIncomplete || !target.snapshots.isEmpty else { return renewReaders() }
        if isIncomplete { target.isPartial = true }
        observers?.hasFailed = false
        let step = CommittedStep()
        for commit in target.commits { step.add(commit, table) }
        // A snapshot that was given back can no longer be compared with.
        let lost = hasSessions ? Set(table.stores.lazy.filter { self.isLost($0) }.map(\.index)) : []
        let (old, new, entries, wasOutdated) = (snapshots.readers, target.snapshots.mapValues(\.reader), table.entries, isOutdated)
        if let observers {
            // If reading fails, more changes are reported than have occurred.
            try? step.settle(
                entries, where: observers.reports, old: { old.indices.contains($0.index) ? old[$0.index] : nil },
                new: { new[$0.index] ?? (old.indices.contains($0.index) ? old[$0.index] : nil) })
        }
        var move = ContextMove(step: step, isPartial: target.isPartial, hasNewStores: hasNewStores)
        move.oldRecord = { row in
            let entry = entries[Int(row.entityIndex)]
            if lost.contains(entry.store.index) { throw entry.store.interrupted }
            return old.indices.contains(entry.store.index) ? try old[entry.store.index]?.record(entry.entity, rowID: row.rowID) : nil
        }
        move.isChanged = { row in
            let entry = entries[Int(row.entityIndex)]
            if lost.contains(entry.store.index) { return true }
            guard let new = new[entry.store.index], let old = old[entry.store.index] else { return wasOutdated }
            return wasOutdated || ContextMove.differs(entry, row.rowID, old, new)
        }
        let concerned = observers?.announce(move, entries) ?? []
        detachIterations()
        let replaced = snapshots.move(to: target.snapshots)
        defer {
            moving.release(replaced)
            renewReaders()
        }
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
        for observer in concerned { observer.contextDidMove(move, self) }
        for observer in concerned { observer.notify() }
    }

    /// Allows the stores to reclaim the space of versions before the current snapshots.
    private func renewReaders() {
        var concernsOthers = false
        for case let reader? in snapshots.readers where reader.renew() { concernsOthers = true }
        if concernsOthers { core.wakeSubscribers() }
    }

    private func endReadersOfRemovedStores() {
        for store in table.stores where !table.isOpen(store) { snapshots.end(store) }
    }

    /// The snapshots to move to, by store index, with the commits in between.
    private struct Target {
        var snapshots: [Int: SharedSnapshot] = [:]
        var commits: [CommittedChanges] = []
        /// A Boolean value that indicates whether the list of commits is incomplete.
        var isPartial = false
    }

    private func newReaders(isRefresh: Bool) throws -> Target {
        var delivered = moving.feed?.take() ?? CommitFeed.Contents()
        var resumed = moving.resumed
        moving.resumed = [:]
        // All snapshots are begun together, as at the first read.
        let isResumption = !resumed.isEmpty || hasSessions && table.stores.contains { snapshots.snapshot($0)?.session?.isOpen == false }
        let isOvertaken = resumed.contains { index, snapshot in
            delivered.unknown.contains(index)
                || delivered.commits.contains { $0.store.index == index && $0.version > snapshot.version ?? 0 }
        }
        if isRefresh || isOvertaken {
            // None of them is kept while others begin, so that no two contexts wait for each other.
            moving.release(Array(resumed.values))
            resumed = [:]
        }
        for (index, snapshot) in resumed {
            if let session = snapshot.session { moving.didKeep(session, for: self) }
            if let other = delivered.snapshots.updateValue(snapshot, forKey: index) { moving.release([other]) }
        }
        // Those that the context does not move to.
        defer { moving.release(Array(delivered.snapshots.values)) }
        var target = Target()
        do {
            for store in table.stores { try addReader(store, isRefresh: isRefresh, isResumption, &delivered, to: &target) }
            // Others can have taken a session that the context has released.
            for store in table.stores where hasSessions && target.snapshots[store.index] == nil && isLost(store) {
                target.snapshots[store.index] = try newSnapshot(store, mayWait: false)
                target.isPartial = true
            }
        } catch {
            // The commits taken from the feed are lost.
            moving.gaps.formUnion(table.openStores.map(\.index))
            moving.release(Array(target.snapshots.values))
            throw error
        }
        return target
    }

    private func addReader(
        _ store: PersistentStore, isRefresh: Bool, _ isResumption: Bool, _ delivered: inout CommitFeed.Contents, to target: inout Target
    ) throws {
        guard let old = snapshots.snapshot(store) else { return }
        let shown = old.version
        let commits = delivered.commits.filter { $0.store === store && $0.version > shown ?? 0 }
        let isUnknown = delivered.unknown.contains(store.index) || moving.gaps.contains(store.index)
        guard isRefresh || isResumption || !commits.isEmpty || isUnknown else { return }
        let new = try isRefresh ? newSnapshot(store) : deliveredSnapshot(store, &delivered) ?? newSnapshot(store)
        let version: UInt64
        do { version = try new.reader.version } catch {
            moving.release([new])
            throw error
        }
        guard shown.map({ version > $0 }) ?? true else {
            // The context has already read these commits, when it began or was refreshed.
            moving.gaps.remove(store.index)
            // A refresh replaces the snapshot nevertheless, because the old one may no longer be readable.
            guard isRefresh || isResumption, version == shown else { return moving.release([new]) }
            target.snapshots[store.index] = new
            return
        }
        target.snapshots[store.index] = new
        target.commits += commits
        moving.gaps.remove(store.index)
        // The version of a snapshot whose connection was lost may be unknown.
        if isUnknown || shown == nil || moving.feed == nil || commits.last?.version != version { target.isPartial = true }
    }

    /// Returns whether the snapshot of a store was given back. Keeps its session otherwise.
    private func isLost(_ store: PersistentStore) -> Bool { snapshots.snapshot(store).map { !moving.keep($0, for: self) } ?? false }

    /// Begins a snapshot, whose session the context keeps.
    private func newSnapshot(_ store: PersistentStore, mayWait: Bool = true) throws -> SharedSnapshot {
        let snapshot = try SharedSnapshot(of: store, mayWait: mayWait)
        if let session = snapshot.session { moving.didKeep(session, for: self) }
        return snapshot
    }

    /// Takes the snapshot that was delivered with commits, or that has begun again; nil if its session was given back.
    private func deliveredSnapshot(_ store: PersistentStore, _ delivered: inout CommitFeed.Contents) -> SharedSnapshot? {
        guard let snapshot = delivered.snapshots.removeValue(forKey: store.index) else { return nil }
        if moving.keep(snapshot, for: self) { return snapshot }
        snapshot.release()
        return nil
    }

    /// Turns all objects into faults.
    private func forgetObjects() throws {
        forgetAllMembers()
        for map in graph.maps.lazy.map(\.object) {
            for case let object as any Model in map.objects {
                // A deleted object may exist again.
                let entry = entry(object._$state.entityIndex)
                // Objects of a removed store keep their last values.
                guard table.isOpen(entry.store) else { continue }
                if object.isDeleted {
                    guard try storage(entry.store).record(entry.entity, rowID: object._$state.rowID) != nil else { continue }
                    object._$state.flags.subtract([.deleted, .missing])
                }
                if !object.isDeleted { object._$state.flags.remove(.missing) }
                object._$state.flags.insert(.fault)
            }
        }
    }

    private func merge(_ commit: CommittedChanges) throws {
        for change in commit.changes.changes {
            let entityIndex = commit.store.firstEntityIndex + Int32(change.entity)
            if change.concernsProperties(of: entry(entityIndex)) { try merge(entry(entityIndex).type, entityIndex, change, commit.changes) }
        }
        for key in commit.relationships { forgetMembers(key) }
    }

    private func merge<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ change: ChangeSet.Change, _ changes: ChangeSet) throws {
        guard let object = registered(type, entityIndex, change.rowID) else { return }
        if change.kind == .insert {
            // The object was deleted and inserted again.
            guard object.isDeleted else { return }
            object._$state.flags.subtract([.deleted, .missing])
            object._$state.flags.insert(.fault)
            // The history of another process does not list the relationships of an inserted or deleted object.
            forgetMembers(ofRow: change.rowID, entityIndex)
        } else if change.kind == .delete {
            // A fault has no last values, and the record no longer exists.
            object._$state.flags.remove(.fault)
            object._$state.flags.insert(.deleted)
        } else if !object._$state.isFault {
            try fill(object, entry(entityIndex), change.rowID, changes.record(change))
        }
    }
}
