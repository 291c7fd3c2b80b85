import Dispatch
import PolyStoreBackend
import PolyStoreRuns

/// Consecutive transactions that share one write transaction per store and are committed together.
///
/// Each transaction sees the changes applied by its predecessors. A failing transaction does not affect the others in its group. All are acknowledged
/// in order after the commit; if the commit fails, none is. A stack has one group, which is empty after its commit and then takes the next
/// transactions.
final class CommitGroup: @unchecked Sendable {  // used only by the thread that owns the write queue
    /// The owner of the write queue. Other threads read it in order to detect deadlocks.
    let owner = OwningThread()
    private let table: Protected<StoreTable>
    private let currentLimits: Protected<GroupLimits>
    private let loggerBox: Protected<any StoreLogger>
    private let openSnapshots: SnapshotRegistry
    private let sequencer: CommitSequencer
    private let publisher: CommitPublisher
    // Access is exclusive to the owner of the write queue and never spans more than one statement, so exclusivity checks are redundant.

    /// The write transactions by store index; nil for stores that the group has not used.
    @exclusivity(unchecked) private var writers: [StoreWriter?] = []
    /// A Boolean value for each element of ``writers`` that indicates whether the running transaction has read the store or will write to it.
    @exclusivity(unchecked) private var isUsed: [Bool] = []
    /// The snapshots of stores that are opened for reading only, by store index. They end with the running transaction.
    @exclusivity(unchecked) private var snapshots: [Int: any ReadTransaction] = [:]
    /// A Boolean value that indicates whether the group has begun write transactions that must be committed or rolled back.
    @exclusivity(unchecked) private(set) var isOpen = false
    /// The limits at the time when the first transaction requested to join; nil before.
    @exclusivity(unchecked) private var limits: GroupLimits?
    @exclusivity(unchecked) private var members: [GroupMember] = []
    /// The size of the records that the members have written.
    @exclusivity(unchecked) private var byteCount = 0
    /// The number of transactions that ran in the group, including those that wait for no commit.
    @exclusivity(unchecked) private var transactionCount = 0
    /// The stores whose write transactions were rolled back because a transaction failed that will be applied alone, with the versions that it has read.
    @exclusivity(unchecked) private var rolledBack: [(store: PersistentStore, version: UInt64)] = []
    /// The error that ended the write transactions in which the running transaction may have read; nil if they are open. It must not be committed.
    @exclusivity(unchecked) private(set) var loss: (any Error)?
    /// The end of the first transaction, in nanoseconds.
    @exclusivity(unchecked) private var firstEnd: UInt64 = 0

    init(
        table: Protected<StoreTable>, limits: Protected<GroupLimits>, logger: Protected<any StoreLogger>, openSnapshots: SnapshotRegistry,
        sequencer: CommitSequencer, publisher: CommitPublisher
    ) {
        self.table = table
        currentLimits = limits
        loggerBox = logger
        self.openSnapshots = openSnapshots
        self.sequencer = sequencer
        self.publisher = publisher
    }

    private var logger: any StoreLogger { loggerBox.withLock { $0 } }

    // MARK: Stores

    /// Returns the writer of a store for the running transaction, which depends on the store from now on. Begins the write transaction on first use in the group.
    /// - Throws: `readOnly`, and the errors of the backend.
    func writer(of store: PersistentStore) throws -> StoreWriter {
        let index = store.index
        if index < writers.count, let writer = writers[index] {
            isUsed[index] = true
            return writer
        }
        guard !store.configuration.isReadOnly else { throw store.openedReadOnly }
        try checkReads()
        let writer = StoreWriter(store, owner, try store.writeAccess.begin(store, owner))
        while writers.count <= index {
            writers.append(nil)
            isUsed.append(false)
        }
        writers[index] = writer
        isUsed[index] = true
        isOpen = true
        return writer
    }

    /// Returns the read transaction of a store for the running transaction: its write transaction, or a snapshot if the store is opened for reading only.
    func reader(of store: PersistentStore) throws -> any ReadTransaction {
        guard store.configuration.isReadOnly else {
            let writer = try writer(of: store)
            try applyDeferred(writer)
            return writer.transaction
        }
        if let snapshot = snapshots[store.index] { return snapshot }
        let snapshot = try store.backend.beginRead()
        snapshots[store.index] = snapshot
        return snapshot
    }

    /// Checks that the changes that the running transaction has read are not lost.
    func checkReads() throws { if let loss { throw loss } }

    /// Assigns an interruption to the open transactions of all stores.
    func interrupt(with interruption: Interruption?) {
        for writer in writers { writer?.transaction.interruption = interruption }
        for snapshot in snapshots.values { snapshot.interruption = interruption }
    }

    /// Makes the running transaction depend on all stores that the group has used, and so on all transactions before it that are not committed.
    func useAllStores() { for index in writers.indices { isUsed[index] = writers[index] != nil } }

    private func openWriter(_ index: Int) -> StoreWriter? { index < writers.count ? writers[index] : nil }

    private func rollBack(_ writer: StoreWriter) {
        writer.rollBack()
        writers[writer.store.index] = nil
    }

    // MARK: Members

    /// A Boolean value that indicates whether another thread may continue with the group.
    var isTransferable: Bool { writers.allSatisfy { $0?.store.capabilities.has(.transferableWriter) ?? true } }

    /// Returns whether a transaction of a given durability may join. A transaction that requires a flush does not join a group that changed a store
    /// with relaxed durability, because its members would have to wait for the flush.
    func admits(_ durability: Durability?) -> Bool {
        guard isOpen else { return true }
        let limits = limits ?? currentLimits.withLock { $0 }
        self.limits = limits
        guard transactionCount < limits.transactions, byteCount < limits.bytes,
            DispatchTime.now().uptimeNanoseconds &- firstEnd < limits.nanoseconds
        else { return false }
        return writers.allSatisfy { writer in
            guard let writer, let requested = writer.durability else { return true }
            return requested == .full || (durability ?? writer.store.configuration.durability) == .relaxed
        }
    }

    /// Ends the snapshots of a transaction that has run, and counts it. A transaction that left no store open does not belong to a group.
    /// - Returns: the indexes of the stores on which it depends. A transaction that used no store waits for all of them, so that a caller can wait for its
    ///   predecessors with an empty transaction, and is independent: it does not fail if they fail.
    func didRun() -> (stores: [Int], isIndependent: Bool) {
        if !snapshots.isEmpty {
            for snapshot in snapshots.values { snapshot.end() }
            snapshots = [:]
        }
        loss = nil
        if isOpen {
            transactionCount += 1
            if transactionCount == 1 { firstEnd = DispatchTime.now().uptimeNanoseconds }
        }
        let used = takeUsedStores()
        return used.isEmpty ? (Array(writers.indices), true) : (used, false)
    }

    private func takeUsedStores() -> [Int] {
        let used = isUsed.indices.filter { isUsed[$0] }
        for index in used { isUsed[index] = false }
        return used
    }

    /// Returns whether the group has uncommitted changes in any of the given stores.
    func hasChanges(in stores: [Int]) -> Bool { stores.contains { openWriter($0)?.isChanged ?? false } }

    /// Adds a transaction, which is acknowledged after the commit.
    func add(_ member: GroupMember) {
        byteCount += member.changes.reduce(0) { $0 + $1.changes.byteCount }
        members.append(member)
    }

    /// Reserves row ids for an unqueued transaction.
    /// - Parameter receiver: Receives the outcome after the reservation is committed.
    func reserveRowIDs(_ count: Int, _ entry: StoreEntity, _ receiver: any OutcomeReceiver) throws -> [ClosedRange<Int64>] {
        do {
            let writer = try writer(of: entry.store)
            var rowIDs: [ClosedRange<Int64>] = []
            for _ in 0..<count {
                let rowID = try writer.newRowID(entry.entity)
                if let range = rowIDs.last, range.upperBound + 1 == rowID {
                    rowIDs[rowIDs.count - 1] = range.lowerBound...rowID
                } else {
                    rowIDs.append(rowID...rowID)
                }
            }
            writer.didReserve()
            add(GroupMember(stores: takeUsedStores(), .committed(hadChanges: true), receiver))
            return rowIDs
        } catch {
            restore(after: error)
            _ = takeUsedStores()
            throw error
        }
    }

    // MARK: Apply

    /// Applies the change sets of a transaction to all stores, or to none.
    /// - Parameter defers: Whether the store may refuse them after the transaction has ended.
    /// - Returns: false if the stores may accept them without the others of the group. They are then applied again when the transaction has ended; see
    ///   ``applyAlone(_:)``.
    func apply(_ sets: [StoreChanges], _ durability: Durability?, defers: Bool = false) throws -> Bool {
        if defers, sets.count == 1, try writer(of: sets[0].store).deferring(sets[0].changes, durability) { return true }
        for set in sets { try applyDeferred(writer(of: set.store)) }
        for set in sets {
            do { try writer(of: set.store).transaction.apply(set.changes) } catch { return try revert(sets, failedIn: set.store, error) }
        }
        for set in sets { openWriter(set.store.index)?.didApply(set.changes, durability) }
        return true
    }

    /// Applies the deferred change sets of a store, before the running transaction reads it or writes to it.
    private func applyDeferred(_ writer: StoreWriter) throws {
        guard writer.hasDeferred else { return }
        do { try writer.applyDeferred() } catch {
            assignRefusals(writer)
            throw lose(error)
        }
        assignRefusals(writer)
    }

    /// Assigns the errors of change sets that were not accepted to their transactions.
    private func assignRefusals(_ writer: StoreWriter) {
        for (changes, error) in writer.takeRefused() {
            members.first { $0.changes.contains { $0.changes === changes } }?.refusal = error
        }
    }

    /// Fails all members, and the running transaction, after an error that is not its own.
    /// - Returns: the error of the running transaction.
    private func lose(_ error: any Error) -> any Error {
        fail(error)
        let loss = (error as? StoreError)?.ofPredecessors ?? error
        self.loss = loss
        return loss
    }

    /// Reverts the change sets that were applied before one failed.
    /// - Returns: false if the stores may accept them without the others of the group.
    /// - Throws: the failure, or that of reverting, which ends the group.
    private func revert(_ sets: [StoreChanges], failedIn store: PersistentStore, _ failure: any Error) throws -> Bool {
        // A constraint violation or invalid request leaves the store's write transaction intact. After any other error its state is unknown, so it is
        // restored.
        let isOwnFault = (failure as? StoreError)?.refusesChanges ?? false
        var affected = sets.prefix { $0.store !== store }.map(\.store.index)
        if !isOwnFault { affected.append(store.index) }
        let hadOthers = writers.contains { $0?.isChanged ?? false }
        var versions: [(store: PersistentStore, version: UInt64)] = []
        for writer in affected.compactMap(openWriter) where !writer.isChanged { writer.addVersion(to: &versions) }
        try restore(affected)
        guard !isOwnFault, hadOthers else { throw failure }
        rolledBack = versions
        // The transaction may have failed only because the group was too large.
        logger.write(
            .info, "A transaction failed in a group and is applied again after the others of the group are committed: \(failure)")
        return false
    }

    /// Commits the group, and then applies a transaction that failed in it as the first one of the next group. Its body is not run again.
    func applyAlone(_ member: GroupMember) {
        defer { _ = didRun() }
        // The transaction may have used these stores again after it failed, in a newer version.
        let rolledBack = rolledBack
        do {
            let end = commit()
            if let failure = end.failure, member.stores.contains(where: end.lost.contains) {
                throw (failure.error as? StoreError)?.ofPredecessors ?? failure.error
            }
            let versions = (rolledBack + end.committed + end.unchanged).sorted { $0.store.index < $1.store.index }
            for (store, version) in versions where member.stores.contains(store.index) {
                guard try writer(of: store).transaction.version == version else { throw store.interrupted }
            }
            // The reservation of a write transaction that was rolled back is lost.
            for set in member.changes { try writer(of: set.store).reserveRowIDs(of: set.changes) }
            // No other transaction is in the group, so one that fails is not applied a third time.
            _ = try apply(member.changes, member.durability)
            add(member)
        } catch {
            fail(error)
            logger.writeFailure(error, member.site)
            member.receiver.receive(member.outcome(after: error))
        }
    }

    /// Applies the change sets of a transaction to check whether the stores accept them, and reverts them.
    /// - Throws: ``DryRunCompleted`` if they do, otherwise the store's error.
    func applyAndRevert(_ sets: [StoreChanges]) throws -> Never {
        for set in sets { try applyDeferred(writer(of: set.store)) }
        let result = Result { for set in sets { try writer(of: set.store).transaction.apply(set.changes) } }
        try restore(sets.map(\.store.index))
        try result.get()
        throw DryRunCompleted()
    }

    /// Reverts the changes of the running transaction in some stores and keeps those of its predecessors. Ends the group if that fails.
    private func restore(_ stores: [Int]) throws {
        do {
            for case let writer? in stores.map(openWriter) { if writer.isChanged { try writer.beginAgain() } else { rollBack(writer) } }
        } catch {
            fail(error)
            throw error
        }
    }

    /// Restores the stores on servers that the running transaction has used after an error with which the server can have ended their write transactions, so that the
    /// others of the group do not fail.
    /// - Parameter wasInterrupted: Whether the transaction was interrupted, which can have ended a statement of the server.
    func restore(after failure: any Error, wasInterrupted: Bool = false) {
        guard wasInterrupted || (failure as? StoreError)?.canEndTransaction ?? false else { return }
        do { try restore(isUsed.indices.filter { isUsed[$0] && openWriter($0)?.store.waitsForServer ?? false }) } catch { loss = error }
    }

    /// Rolls back all stores and fails all members.
    private func fail(_ error: any Error) {
        for case let writer? in writers { rollBack(writer) }
        acknowledge { _ in (error as? StoreError)?.inGroup ?? error }
    }

    // MARK: Commit

    /// The end of the write transactions of a group.
    struct End {
        /// The committed stores with their new versions.
        fileprivate(set) var committed: [(store: PersistentStore, version: UInt64)] = []
        /// The stores in which the group had no changes, with their versions.
        fileprivate(set) var unchanged: [(store: PersistentStore, version: UInt64)] = []
        /// The indexes of the stores whose changes are lost.
        fileprivate(set) var lost: Set<Int> = []
        /// A Boolean value that indicates whether several transactions were to be committed.
        fileprivate let isShared: Bool
        /// The store whose commit failed.
        fileprivate(set) var failure: (store: PersistentStore, error: any Error)?

        /// Returns the error of a member; nil if its changes are committed.
        fileprivate func error(of member: GroupMember) -> (any Error)? {
            guard let failure, member.stores.contains(where: lost.contains) else { return nil }
            let committed = member.changes.filter { !lost.contains($0.store.index) }.map(\.store.location)
            let unsent = member.changes.filter { lost.contains($0.store.index) && $0.store !== failure.store }.map(\.store.location)
            guard isShared || !committed.isEmpty || !unsent.isEmpty else { return failure.error }
            var error = failure.error as? StoreError ?? StoreError(.io, "\(failure.error)")
            // Its changes were not sent.
            if !member.changes.contains(where: { $0.store === failure.store }) { error = error.ofPredecessors }
            guard !committed.isEmpty else {
                if error.recovery == .commitOutcomeUnknown, !unsent.isEmpty {
                    error.message += " Not committed: \(unsent.joined(separator: ", "))."
                }
                return error.inGroup
            }
            // The part that is committed must not be written twice, and a conflict means that nothing was written.
            if error.code == .conflict { error.code = .io }
            if error.recovery != .commitOutcomeUnknown { error.recovery = .permanent }
            error.message += " Already committed: \(committed.joined(separator: ", ")); not: \(failure.store.location) and any after it."
            return error
        }
    }

    /// Commits the stores in the order of the stack, publishes the changes of the members in their order, acknowledges the members, and wakes the contexts that
    /// follow.
    ///
    /// The commit of one store is atomic. If the commit of a store fails, the stores before it remain committed, and the error lists them.
    @discardableResult
    func commit() -> End {
        var end = End(isShared: members.count > 1)
        // By index: iterating the array itself would copy it when a writer is removed.
        for index in writers.indices {
            guard let writer = writers[index] else { continue }
            guard writer.isChanged, end.failure == nil else {
                if writer.isChanged { end.lost.insert(index) } else { writer.addVersion(to: &end.unchanged) }
                rollBack(writer)
                continue
            }
            do {
                sequencer.willCommit(writer.store)
                if let version = try writer.commit(currentLimits) {
                    end.committed.append((writer.store, version))
                } else {
                    sequencer.didNotCommit(writer.store)
                }
                writers[index] = nil
            } catch {
                sequencer.didNotCommit(writer.store)
                end.failure = (writer.store, error)
                end.lost.insert(index)
                rollBack(writer)
            }
            assignRefusals(writer)
        }
        openSnapshots.didCommit { logger }
        let followers = sequencer.publish(end.committed) { commits(end.committed) }
        acknowledge { end.error(of: $0) }
        if !followers.isEmpty { publisher.wake(followers) }
        return end
    }

    /// Returns the changes of the members in the committed stores, for the contexts and observers.
    private func commits(_ committed: [(store: PersistentStore, version: UInt64)]) -> [Commit] {
        let table = table.withLock { $0 }
        return members.filter { $0.refusal == nil }.map { member in
            let relationships = member.relationshipChanges.changedRelationships
            let parts: [CommittedChanges] = member.changes.compactMap { set in
                guard let version = committed.first(where: { $0.store === set.store })?.version else { return nil }
                return CommittedChanges(
                    store: set.store, version: version, changes: set.changes,
                    relationships: relationships.filter { set.store.entityIndexes.contains($0.entityIndex) },
                    deletedKinds: member.deletedKinds)
            }
            return Commit(
                sourceIdentifier: member.origin?.sourceIdentifier, userInfo: member.origin?.userInfo ?? [:], parts: parts, table: table)
        }
    }

    // MARK: Acknowledge

    /// Acknowledges all members in order and resets the group.
    private func acknowledge(_ failure: (GroupMember) -> (any Error)?) {
        let ended = members
        members = []
        byteCount = 0
        transactionCount = 0
        firstEnd = 0
        limits = nil
        rolledBack = []
        isOpen = false
        let logger = logger
        let isLogging = logger.isEnabled(.debug)
        for member in ended {
            let failure = member.refusal ?? failure(member)
            if let failure { logger.writeCommitFailure(failure, member.site) } else if isLogging { log(member, logger) }
            member.receiver.receive(member.outcome(after: failure))
        }
    }

    private func log(_ member: GroupMember, _ logger: any StoreLogger) {
        for set in member.changes {
            logger.write(.debug, member.site, "Committed to \(set.store.location): \(ChangeCounts([set.changes]).text)")
        }
    }
}
