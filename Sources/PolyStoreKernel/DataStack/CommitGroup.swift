import Dispatch
import PolyStoreBackend

/// Consecutive transactions that share one write transaction per store and are committed together.
///
/// Each transaction sees the changes applied by its predecessors. A failing transaction does not affect the others in its group. All are acknowledged
/// in order after the commit; if the commit fails, none is. A stack has one group, which is empty after its commit and then takes the next
/// transactions.
final class CommitGroup: @unchecked Sendable {  // used only by the thread that owns the write queue
    /// The write transactions that the group has begun.
    let writers = GroupWriters()
    private let table: Protected<StoreTable>
    private let currentLimits: Protected<GroupLimits>
    private let loggerBox: Protected<any StoreLogger>
    private let snapshots: SnapshotRegistry
    private let sequencer: CommitSequencer
    private let publisher: CommitPublisher
    // Access is exclusive to the owner of the write queue and never spans more than one statement, so exclusivity checks are redundant.

    /// The limits when the first transaction asked whether it may join; nil before.
    @exclusivity(unchecked) private var limits: GroupLimits?
    @exclusivity(unchecked) private var members: [GroupMember] = []
    /// The size of the records that the members have written.
    @exclusivity(unchecked) private var byteCount = 0
    /// The number of transactions that ran in the group, including those that wait for no commit.
    @exclusivity(unchecked) private var transactionCount = 0
    /// The end of the first transaction, in nanoseconds.
    @exclusivity(unchecked) private var firstEnd: UInt64 = 0

    init(
        table: Protected<StoreTable>, limits: Protected<GroupLimits>, logger: Protected<any StoreLogger>, snapshots: SnapshotRegistry,
        sequencer: CommitSequencer, publisher: CommitPublisher
    ) {
        self.table = table
        currentLimits = limits
        loggerBox = logger
        self.snapshots = snapshots
        self.sequencer = sequencer
        self.publisher = publisher
    }

    private var logger: any StoreLogger { loggerBox.withLock { $0 } }

    // MARK: Members

    /// A Boolean value that indicates whether the group has begun write transactions that must be committed or rolled back.
    var isOpen: Bool { writers.isOpen }

    /// A Boolean value that indicates whether another thread may continue with the group.
    var isTransferable: Bool { writers.all.allSatisfy { $0?.store.capabilities.has(.transferableWriter) ?? true } }

    /// Returns whether a transaction of a given durability may join. A transaction that requires a flush does not join a group that changed a store
    /// with relaxed durability, because its members would have to wait for the flush.
    func admits(_ durability: Durability?) -> Bool {
        guard isOpen else { return true }
        let limits = limits ?? currentLimits.withLock { $0 }
        self.limits = limits
        guard transactionCount < limits.transactions, byteCount < limits.bytes,
            DispatchTime.now().uptimeNanoseconds &- firstEnd < limits.nanoseconds
        else { return false }
        return writers.all.allSatisfy { writer in
            guard let writer, let requested = writer.durability else { return true }
            return requested == .full || (durability ?? writer.store.configuration.durability) == .relaxed
        }
    }

    /// Counts a transaction that has run. A transaction that left no store open does not belong to a group.
    func didRun() {
        guard isOpen else { return }
        transactionCount += 1
        if transactionCount == 1 { firstEnd = DispatchTime.now().uptimeNanoseconds }
    }

    /// Returns whether the group has uncommitted changes in any of the given stores.
    func hasChanges(in stores: [Int]) -> Bool { stores.contains { writers.begunWriter($0)?.isChanged ?? false } }

    /// Adds a transaction, which is acknowledged after the commit.
    func add(_ member: GroupMember) {
        byteCount += member.changes.reduce(0) { $0 + $1.changes.byteCount }
        members.append(member)
    }

    /// Reserves row ids for an unqueued transaction.
    /// - Parameter receiver: Receives the outcome after the reservation is committed.
    func reserveRowIDs(_ count: Int, _ entry: StoreEntity, _ receiver: any OutcomeReceiver) throws -> [ClosedRange<Int64>] {
        let writer = try writers.writer(of: entry.store)
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
        add(GroupMember(stores: [entry.store.index], .committed(hadChanges: true), receiver))
        return rowIDs
    }

    // MARK: Apply

    /// Applies the change sets of a transaction to all stores, or to none.
    /// - Returns: false if the stores may accept them without the others of the group. The transaction then goes back to the front of the write queue; see
    ///   ``applyAlone(_:)``.
    func apply(_ sets: [StoreChanges], _ durability: Durability?) throws -> Bool {
        guard let (store, failure) = firstFailure(sets) else {
            didApply(sets, durability)
            return true
        }
        // A constraint violation or invalid request leaves the store's write transaction intact. After any other error its state is unknown, so it is
        // restored.
        let isOwnFault = [.constraint, .notFound, .misuse, .invalidValue].contains((failure as? StoreError)?.code)
        var affected = sets.prefix { $0.store !== store }.map(\.store.index)
        if !isOwnFault { affected.append(store.index) }
        let hadOthers = writers.all.contains { $0?.isChanged ?? false }
        do {
            for index in affected { try restore(index) }
        } catch {
            fail(error)
            throw error
        }
        guard !isOwnFault, hadOthers else { throw failure }
        // The transaction may have failed only because the group was too large.
        logger.write(
            .info, "A transaction failed in a group and is applied again after the others of the group are committed: \(failure)")
        return false
    }

    /// Commits the group, and then applies a transaction that failed in it as the first one of the next group.
    func applyAlone(_ member: GroupMember) {
        do {
            for (index, version) in try commit(before: member.stores) where member.stores.contains(index) {
                let writer = try writers.writer(of: table.withLock { $0.stores[index] })
                guard writer.transaction.version == version else { throw writer.store.interrupted }
            }
            if let (_, failure) = firstFailure(member.changes) { throw failure }
            didApply(member.changes, member.durability)
            didRun()
            add(member)
        } catch {
            fail(error)
            logger.writeFailure(error, member.site)
            member.acknowledge(error)
        }
    }

    /// Applies the change sets of a transaction to check whether the stores accept them, and reverts them.
    /// - Throws: ``DryRunCompleted`` if they do, otherwise the store's error.
    func applyAndRevert(_ sets: [StoreChanges]) throws -> Never {
        let failure = firstFailure(sets)
        do {
            for set in sets { try restore(set.store.index) }
        } catch {
            fail(error)
            throw error
        }
        throw failure?.1 ?? DryRunCompleted()
    }

    private func firstFailure(_ sets: [StoreChanges]) -> (PersistentStore, any Error)? {
        for set in sets {
            do { try writers.writer(of: set.store).apply(set.changes) } catch { return (set.store, error) }
        }
        return nil
    }

    private func didApply(_ sets: [StoreChanges], _ durability: Durability?) {
        for set in sets { writers.begunWriter(set.store.index)?.didApply(set.changes, durability) }
    }

    /// Reverts the changes of the failing transaction in a store and keeps those of its predecessors.
    private func restore(_ index: Int) throws {
        guard let writer = writers.begunWriter(index) else { return }
        if writer.isChanged { try writer.beginAgain() } else { writers.rollBack(writer) }
    }

    /// Rolls back all stores and fails all members.
    private func fail(_ error: any Error) {
        for case let writer? in writers.all { writers.rollBack(writer) }
        acknowledge { _ in error }
    }

    // MARK: Commit

    /// Commits the stores in the order of the stack, then acknowledges the members.
    ///
    /// The commit of one store is atomic. If the commit of a store fails, the stores before it remain committed, and the error lists them.
    func commit() { _ = try? commit(before: []) }

    /// Commits the group before a transaction that failed in it is applied again.
    /// - Parameter stores: the stores in which that transaction depends on changes of the members.
    /// - Returns: the versions of the stores after the commit.
    /// - Throws: the error of a store in `stores` whose commit failed.
    private func commit(before stores: [Int]) throws -> [(store: Int, version: UInt64)] {
        var failure: (store: PersistentStore, error: any Error)?
        var versions: [(store: Int, version: UInt64)] = []
        var committed: [(store: PersistentStore, version: UInt64)] = []
        var lost: Set<Int> = []
        // By index: iterating the array itself would copy it when a writer is removed.
        for index in writers.all.indices {
            guard let writer = writers.all[index] else { continue }
            guard writer.isChanged, failure == nil else {
                if writer.isChanged { lost.insert(index) } else { versions.append((index, writer.transaction.version)) }
                writers.rollBack(writer)
                continue
            }
            sequencer.willCommit(writer.store, after: writer.transaction.version)
            do {
                let version = try writer.commit()
                if !stores.isEmpty { versions.append((index, version)) }
                committed.append((writer.store, version))
                writers.end(writer, wasCommitted: true)
            } catch {
                sequencer.didNotCommit(writer.store)
                failure = (writer.store, error)
                lost.insert(index)
                writers.rollBack(writer)
            }
        }
        let followers = publish(committed)
        acknowledge { member in
            guard let failure, member.stores.contains(where: lost.contains) else { return nil }
            let committed = member.changes.filter { !lost.contains($0.store.index) }.map(\.store.location)
            guard !committed.isEmpty else { return failure.error }
            var error = failure.error as? StoreError ?? StoreError(.io, "\(failure.error)")
            error.message += " Already committed: \(committed.joined(separator: ", ")); not: \(failure.store.location) and any after it."
            return error
        }
        publisher.wake(followers)
        if let failure, stores.contains(where: lost.contains) { throw failure.error }
        return versions
    }

    // MARK: Publish and acknowledge

    /// Notifies observers of the committed changes, in the order of the transactions.
    /// - Returns: the contexts to wake after the members are acknowledged.
    private func publish(_ committed: [(store: PersistentStore, version: UInt64)]) -> [CommitFeed] {
        snapshots.didCommit { logger }
        return sequencer.publish(committed) {
            let table = table.withLock { $0 }
            return members.map { member in
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
    }

    /// Acknowledges all members in order and resets the group.
    private func acknowledge(_ outcome: (GroupMember) -> (any Error)?) {
        let ended = members
        members = []
        byteCount = 0
        transactionCount = 0
        firstEnd = 0
        limits = nil
        writers.didEnd()
        let logger = logger
        let isLogging = logger.isEnabled(.debug)
        for member in ended {
            let failure = outcome(member)
            if let failure { logger.writeCommitFailure(failure, member.site) } else if isLogging { log(member, logger) }
            member.acknowledge(failure)
        }
    }

    private func log(_ member: GroupMember, _ logger: any StoreLogger) {
        for set in member.changes {
            var counts: [ChangeSet.Kind: Int] = [:]
            for change in set.changes.changes { counts[change.kind, default: 0] += 1 }
            let values = set.changes.values.isEmpty ? "" : ", \(set.changes.values.count) named values set"
            logger.write(
                .debug, member.site,
                "Committed to \(set.store.location): \(counts[.insert] ?? 0) inserted, \(counts[.update] ?? 0) updated, \(counts[.delete] ?? 0) deleted"
                    + values)
        }
    }
}
