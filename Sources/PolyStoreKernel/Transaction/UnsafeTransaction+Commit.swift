import PolyStoreBackend

extension UnsafeTransaction {
    /// Returns a copy of the pending changes that does not reference the objects.
    private func recorded() throws -> RecordedChanges {
        try resolveImports()
        settleMembers()
        if let error = failedSteps.first ?? buffer.deferredErrors.first { throw error }
        let changes = RecordedChanges(mayBeWritten: mayBeWritten)
        for (entityIndex, entityChanges) in buffer.pending.lazy.map({ ($0.index, $0.object) }) {
            let entry = table.entries[entityIndex]
            if entityChanges.isEmpty { continue }
            try touch(entry.store)
            for object in entityChanges.inserted where !object.isDeleted {
                try describing(entry, object) {
                    try changes.insert(object, entry, mayExist: tracker.reinserted.contains(object.rowReference))
                }
            }
            if let missing = entityChanges.updated.first(where: { $0._$state.flags.contains(.missing) }) { throw changed(missing, entry) }
            for object in entityChanges.updated where !object.isDeleted {
                guard let base = tracker.original(of: object) else { throw changed(object, entry) }
                try describing(entry, object) { try changes.update(object, entry, base: base) }
            }
            for object in entityChanges.deleted {
                changes.delete(object, base: tracker.original(of: object))
            }
        }
        for (key, net) in buffer.relationshipChanges.all(where: { _ in true }) {
            // Deleting an object removes its links.
            if isOwnerDeleted(key) { continue }
            if !net.order.isEmpty { changes.arrange(key, net.order) }
            let storage = entry(key.entityIndex).entity.relationships[Int(key.relationship)].storage
            if case .inverse = storage { try checkAdded(net.added, to: key) }
            guard case .link(_, let isReversed) = storage, !isReversed else { continue }
            changes.link(key, net)
        }
        return changes
    }

    private func isOwnerDeleted(_ key: RelationshipKey) -> Bool {
        func open<T: Model>(_ type: T.Type) -> Bool { registered(type, key.entityIndex, key.rowID)?.isDeleted ?? false }
        return open(entry(key.entityIndex).type)
    }

    private func prepare() throws -> RecordedChanges {
        try checkMutable()
        return try recorded()
    }

    /// Writes the pending changes and moves to the newest version. Waits on the caller's thread for its turn in the write queue. A child transaction
    /// moves its changes to its parent without waiting.
    /// - Parameters:
    ///   - mergePolicy: How conflicts with changes made since the objects were read are resolved.
    ///   - durability: The durability of the commit; nil uses the durability of the store.
    ///   - isolation: The actor of the caller. Pass nothing.
    /// - Returns: whether there were changes to write.
    /// - Throws: `conflict` with all `StoreError.conflicts`; `constraint` with all violations; `misuse` in the body of another transaction. Nothing
    ///   is written, and the pending changes are kept: correct them and commit again, or roll back. Unchanged objects are read in the newest version
    ///   afterwards.
    ///   After `io`, `full` and similar errors, changes may have been written to some of several stores. Committing again completes the commit.
    @discardableResult
    public func commit(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation
    ) throws -> Bool {
        let changes = try prepare()
        guard !changes.isEmpty else {
            refresh()
            return false
        }
        if let parent {
            try moveAndMerge(changes, into: parent, mergePolicy)
            endCommit(mergePolicy)
        } else {
            let userInfo = userInfo
            // An open snapshot prevents disk space from being reclaimed, which a transaction ahead in the write queue may need.
            moveToNewest()
            do {
                // The commit is complete before any observer is called: callbacks may change this transaction.
                try core.transactAndWait(order(durability), WaitingCaller(isolation)) {
                    try Self.rebase(changes, on: $0, mergePolicy, userInfo)
                } ended: {
                    self.endCommit(mergePolicy)
                }
            } catch {
                let failure = recordingPossibleWrite(error)
                findReturnedObjects()
                reportChanges()
                throw failure
            }
        }
        reportChanges()
        return true
    }

    /// Commits like `commit(mergePolicy:durability:isolation:)`, under a name that `async` functions can call without `await`. A child transaction
    /// moves its changes to its parent immediately, without suspending.
    @discardableResult
    public func commitAndWait(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation
    ) throws -> Bool {
        try commit(mergePolicy: mergePolicy, durability: durability, isolation: isolation)
    }

    /// Commits without blocking the caller's thread. Changes made to this transaction before it returns are lost, and an error is logged.
    @discardableResult
    public func commit(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        let changes = try prepare()
        guard !changes.isEmpty else {
            refresh()
            return false
        }
        if let parent {
            try moveAndMerge(changes, into: parent, mergePolicy)
            endCommit(mergePolicy)
        } else {
            let userInfo = userInfo
            moveToNewest()
            do {
                close("is being committed")
                // The commit is complete before any observer is called: callbacks may change this transaction.
                try await core.transact(order(durability)) {
                    try Self.rebase(changes, on: $0, mergePolicy, userInfo)
                } ended: {
                    reopen()
                    endCommit(mergePolicy)
                }
            } catch {
                reopen()
                let failure = recordingPossibleWrite(error)
                revertEditsDuringCommit(changes)
                findReturnedObjects()
                reportChanges()
                throw failure
            }
        }
        reportChanges()
        return true
    }

    /// Restores the values that the commit tried to write in objects that were changed during the commit. Called after a failure, which an object that cannot be
    /// restored does not replace.
    private func revertEditsDuringCommit(_ changes: RecordedChanges) {
        let edited = tracker.takeObjectsEditedDuringCommit()
        guard !edited.isEmpty else { return }
        let records = changes.records
        for (reference, object) in edited {
            let entry = entry(reference.entityIndex)
            if let record = records[reference] {
                do { try object._$load(changes.record(record, entry.entity.layout)) } catch {
                    log(.error, "\(entry.entity.name) \(reference.rowID) keeps the values that were assigned during the commit: \(error)")
                }
            } else if object._$state.edit == nil, !object.isDeleted {
                object._$state.flags.insert(.fault)
            }
        }
    }

    /// Records whether a failed commit may have been written: stores before the failing one are committed, and a backend may fail in the flush after
    /// its commit.
    private func recordingPossibleWrite(_ error: any Error) -> any Error {
        let failure = error as? StoreError
        let isRefusal = [.conflict, .constraint, .misuse, .notFound, .invalidValue, .cancelled].contains(failure?.code)
        if !isRefusal || failure?.recovery == .commitOutcomeUnknown { mayBeWritten = true }
        return error
    }

    private func order(_ durability: Durability?) -> TransactionOptions {
        TransactionOptions(durability: durability, sourceIdentifier: sourceIdentifier, site: site)
    }

    private static func rebase(
        _ changes: RecordedChanges, on target: Transaction, _ policy: MergePolicy, _ userInfo: [String: any Sendable]
    ) throws {
        target.userInfo = userInfo
        try ChangeRebase(changes, on: target, policy).apply()
    }

    private func moveAndMerge(_ changes: RecordedChanges, into parent: Transaction, _ policy: MergePolicy) throws {
        moveToNewest()
        do {
            try parent.checkMutable()
            try parent.atomically { try ChangeRebase(changes, on: parent, policy).apply() }
        } catch {
            findReturnedObjects()
            reportChanges()
            throw error
        }
    }

    /// Clears the pending changes, which are committed. Observers are notified by ``reportChanges()``.
    private func endCommit(_ policy: MergePolicy) {
        tracker.endReport(in: editing)
        collectRelationships()
        let deleted = buffer.pending.flatMap(\.object.deleted)
        _ = tracker.takeObjectsEditedDuringCommit()
        withExtendedLifetime((self, deleted)) {
            reset()
            // Only if the store's changes can have won a conflict, some of these objects still exist.
            findReturnedObjects(except: policy.winner == .store ? [] : deleted)
            // An open snapshot would prevent disk space from being reclaimed until the next access.
            if parent == nil { endSnapshots() }
        }
    }

    /// Turns objects that have ``Model/isDeleted`` set and exist in the current version into faults: another transaction has inserted them again, or has won a
    /// conflict. Pending deletions remain.
    /// - Parameter excluded: Objects that are known not to exist.
    private func findReturnedObjects(except excluded: [any Model] = []) {
        let excluded = Set(excluded.map(ObjectIdentifier.init))
        var found: [Int32: [Int64: any Model]] = [:]
        for map in graph.maps.lazy.map(\.object) where table.isOpen(entry(map.entityIndex).store) {
            for case let object as any Model in map.objects
            where object.isDeleted && object._$state.edit == nil && !excluded.contains(ObjectIdentifier(object)) {
                found[map.entityIndex, default: [:]][object._$state.rowID] = object
            }
        }
        for (entityIndex, objects) in found {
            var objects = objects
            for object in buffer[Int(entityIndex)]?.deleted ?? [] { objects[object._$state.rowID] = nil }
            if objects.isEmpty { continue }
            let entry = entry(entityIndex)
            do {
                // Not merged with pending changes, which hide the rows of deleted objects.
                var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, objects.keys.sorted().map { .integer($0) }))
                request.onlyIDs = true
                let cursor = try storage(entry.store).fetch(request)
                defer { cursor.close() }
                while try cursor.next() {
                    objects[cursor.rowID]?._$state.flags.subtract([.deleted, .missing])
                    objects[cursor.rowID]?._$state.flags.insert(.fault)
                }
            } catch {
                log(.error, "Deleted objects of \(entry.entity.name) could not be looked up: \(error)")
            }
        }
    }

    /// Discards all changes since the last commit and moves to the newest version. Objects created since then are marked as deleted.
    public func rollback() {
        settleMembers()
        var changed: [any Model] = []
        for object in tracker.objects {
            if object._$state.edit != nil || object.isDeleted { changed.append(object) }
            if object.isInserted {
                object._$state.flags.insert(.deleted)
            } else if isInMap(object) {
                object._$state.flags.subtract([.deleted, .missing])
            }
        }
        let links = buffer.relationshipChanges.changedRelationships(since: 0)
        withExtendedLifetime(self) {
            reset()
            findReturnedObjects()
        }
        collectRelationships(restored: links)
        tracker.endReport(discarded: changed, links, in: self)
        reportChanges()
    }

    /// Returns whether the object is the one registered for its row id. An object that represents a missing one is not registered.
    private func isInMap(_ object: any Model) -> Bool {
        graph.maps[Int(object._$state.entityIndex)]?.object(object._$state.rowID) === object
    }

    /// Clears all pending changes and turns all objects into faults.
    private func reset() {
        endSnapshots()
        buffer.imports = nil
        buffer.forgetObjects()
        buffer.relationshipChanges = RelationshipChanges()
        forgetAllMembers()
        buffer.denials = []
        buffer.unverified = []
        buffer.deferredErrors = DeferredErrors()
        failedSteps = []
        mayBeWritten = false
        graph.rowsAhead = nil
        buffer.history = nil
        let released = tracker.reset()
        for object in released { object._$state.edit = nil }
        for map in graph.maps.lazy.map(\.object) {
            for case let object as any Model in map.objects where !object.isDeleted { object._$state.flags.insert(.fault) }
        }
        for object in released { object._$state.flags.remove(.owned) }
        if supportsUndo { buffer.history = UndoHistory(self) }
    }

    /// Moves to the newest version and keeps the pending changes. Unchanged objects become faults.
    public func refresh() {
        moveToNewest()
        findReturnedObjects()
        reportChanges()
    }

    private func moveToNewest() {
        settleMembers()
        endSnapshots()
        for changed in buffer.pending { changed.object.records?.forgetStored() }
        forgetAllMembers()
        graph.rowsAhead = nil
        for map in graph.maps.lazy.map(\.object) {
            for case let object as any Model in map.objects where !object.isDeleted && object._$state.edit == nil {
                // An object that could not be read is read again.
                object._$state.flags.remove(.missing)
                object._$state.flags.insert(.fault)
            }
        }
    }
}
