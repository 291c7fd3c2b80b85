import Dispatch
import PolyStoreBackend

/// The limits at which a commit group accepts no further transactions. They bound the latency of its first transaction.
package struct GroupLimits: Sendable {
    /// The maximum number of transactions.
    package var transactions: Int
    /// The maximum number of bytes of written records.
    package var bytes: Int
    /// The maximum time since the end of the first transaction, in nanoseconds.
    package var nanoseconds: UInt64

    package init(transactions: Int = 256, bytes: Int = 4 << 20, nanoseconds: UInt64 = 10_000_000) {
        self.transactions = transactions
        self.bytes = bytes
        self.nanoseconds = nanoseconds
    }
}

/// Consecutive transactions that share one write transaction per store and are committed together.
///
/// Each transaction sees the changes applied by its predecessors. A failing transaction does not affect the others in its group. All are acknowledged
/// in order after the commit; if the commit fails, none is.
final class CommitGroup: @unchecked Sendable {  // used only by the thread that owns the write queue
    /// A transaction that waits for the commit.
    private final class Member {
        let changes: [(store: PersistentStore, changes: ChangeSet)]
        let touched: MemberLog
        /// The entities of deleted objects in class hierarchies.
        let deletedKinds: [ObjectKey: String]
        /// The indexes of the stores whose state the transaction depends on.
        let stores: [Int]
        let origin: CommitOrigin?
        let site: CallSite
        let acknowledge: ((any Error)?) -> Void

        init(
            changes: [(store: PersistentStore, changes: ChangeSet)], touched: MemberLog, deletedKinds: [ObjectKey: String], stores: [Int],
            origin: CommitOrigin?, site: CallSite, acknowledge: @escaping ((any Error)?) -> Void
        ) {
            self.changes = changes
            self.touched = touched
            self.deletedKinds = deletedKinds
            self.stores = stores
            self.origin = origin
            self.site = site
            self.acknowledge = acknowledge
        }
    }

    let core: StackCore
    private let limits: GroupLimits
    // Access is exclusive to the owner of the write queue and never spans more than one statement, so exclusivity checks are redundant.

    /// The parts by store index; nil for stores that the group has not used.
    @exclusivity(unchecked) var parts: [StorePart?] = []
    @exclusivity(unchecked) private var members: [Member] = []
    @exclusivity(unchecked) private var memberBytes = 0
    @exclusivity(unchecked) private var runs = 0
    @exclusivity(unchecked) private var firstEnd: UInt64 = 0

    init(_ core: StackCore) {
        self.core = core
        limits = core.groupLimits.withLock { $0 }
    }

    /// A Boolean value that indicates whether the group has begun write transactions that must be committed or rolled back.
    @exclusivity(unchecked) private(set) var isOpen = false

    /// A Boolean value that indicates whether another thread may continue with the group.
    var isTransferable: Bool { parts.allSatisfy { $0?.store.capabilities.has(.transferableWriter) ?? true } }

    /// Returns whether a transaction of a given durability may join. A transaction that requires a flush does not join a group that changed a store
    /// with relaxed durability, because its members would have to wait for the flush.
    func admits(_ durability: Durability?) -> Bool {
        guard isOpen else { return true }
        guard runs < limits.transactions, memberBytes < limits.bytes,
            DispatchTime.now().uptimeNanoseconds &- firstEnd < limits.nanoseconds
        else { return false }
        return parts.allSatisfy { part in
            guard let part, let asked = part.durability else { return true }
            return asked == .full || (durability ?? part.store.configuration.durability) == .relaxed
        }
    }

    // MARK: Stores

    /// Returns the write transaction of a store, and begins it on first use. No other writer can commit from then on, so values read here remain
    /// current.
    func part(_ store: PersistentStore) throws -> StorePart {
        if store.index < parts.count, let part = parts[store.index] { return part }
        let part = StorePart(store, try store.writers.begin(store, core.lane), core.lane)
        while parts.count <= store.index { parts.append(nil) }
        parts[store.index] = part
        isOpen = true
        return part
    }

    private func begunPart(_ index: Int) -> StorePart? { index < parts.count ? parts[index] : nil }

    // MARK: Transactions

    /// Runs a transaction and applies its changes.
    ///
    /// Not generic, because generic metadata would be looked up in each transaction. The body stores its result, which is not read before `done` is
    /// called.
    /// - Parameter done: receives the error, if any: immediately if the outcome does not depend on uncommitted changes, otherwise after the commit.
    func run(_ order: TransactionOrder, _ body: (Transaction) throws -> Void, done: @escaping ((any Error)?) -> Void) {
        if let ticket = order.ticket, ticket.isCancelled { return done(Ticket.error) }
        let transaction = Transaction(core: core, table: core.table.withLock { $0 }, group: self, order.site)
        transaction.take(order)
        var failure: (any Error)?
        var changes: [(store: PersistentStore, changes: ChangeSet)] = []
        do {
            try body(transaction)
            changes = try write(transaction, order)
        } catch {
            failure = error
        }
        conclude(transaction, changes, failure, done)
    }

    /// Runs a transaction that is committed explicitly by its body.
    /// - Parameter done: receives nil if the body did not commit.
    func runExplicit(
        _ order: TransactionOrder, _ transaction: ExplicitTransaction, _ body: () throws -> Void,
        done: @escaping (Result<Bool, any Error>?) -> Void
    ) {
        var changes: [(store: PersistentStore, changes: ChangeSet)] = []
        transaction.take(order)
        transaction.write = { [unowned self, unowned transaction] in
            changes = try write(transaction, order)
            return !changes.isEmpty
        }
        var failure: (any Error)?
        do { try body() } catch { failure = error }
        transaction.write = nil
        let outcome = transaction.outcome
        switch outcome {
        case .failure(let error): failure = error
        case .success:
            if let failure {
                core.logger.write(.error, order.site, "A transaction threw after its commit, which stands: \(failure)")
            }
            failure = nil
        case nil: break
        }
        conclude(transaction, changes, failure) { error in
            done(error.map { .failure($0) } ?? outcome)
        }
    }

    /// Validates and applies the changes of a transaction. From here on the transaction can no longer be cancelled.
    private func write(
        _ transaction: Transaction, _ order: TransactionOrder
    ) throws -> [(store: PersistentStore, changes: ChangeSet)] {
        let changes = try transaction.changeSets()
        if let ticket = order.ticket, ticket.isCancelled { throw Ticket.error }
        for (store, set) in changes where store.historyOptions != nil { try begunPart(store.index)?.record(set, transaction) }
        if order.isRehearsal { try rehearse(changes) }
        try apply(changes, order.durability, transaction.touchedStores)
        return changes
    }

    /// Applies the change sets of a transaction to check whether the stores accept them, and reverts them.
    /// - Throws: ``Rehearsal`` if they do, otherwise the store's error.
    private func rehearse(_ sets: [(store: PersistentStore, changes: ChangeSet)]) throws {
        let failure = firstFailure(sets)
        do {
            for (store, _) in sets { try restore(store.index) }
        } catch {
            giveUp(error)
            throw error
        }
        throw failure?.1 ?? Rehearsal()
    }

    /// Ends a transaction and schedules its acknowledgement.
    private func conclude(
        _ transaction: Transaction, _ changes: [(store: PersistentStore, changes: ChangeSet)], _ failure: (any Error)?,
        _ done: @escaping ((any Error)?) -> Void
    ) {
        // A transaction that used no store waits for all its predecessors, so that a caller can wait for them with an empty transaction. It does not
        // fail if they fail.
        let touched = transaction.touchedStores
        let isEmpty = touched.isEmpty
        let stores = isEmpty ? Array(parts.indices) : touched
        let published = transaction.published
        let site = transaction.site
        transaction.end()
        if let failure { core.logger.writeFailure(failure, site) }
        runs += 1
        if runs == 1 { firstEnd = DispatchTime.now().uptimeNanoseconds }
        // Results and errors that may depend on uncommitted changes are held back until those are committed.
        guard stores.contains(where: { begunPart($0)?.isChanged ?? false }) else { return done(failure) }
        memberBytes += changes.reduce(0) { $0 + $1.changes.byteCount }
        members.append(
            Member(
                changes: changes, touched: published.log, deletedKinds: published.deletedKinds, stores: stores,
                origin: transaction.origin, site: site
            ) { [failure] error in done(failure ?? (isEmpty ? nil : error)) })
    }

    /// Applies the change sets of a transaction to all stores, or to none.
    private func apply(
        _ sets: [(store: PersistentStore, changes: ChangeSet)], _ durability: Durability?, _ stores: [Int]
    ) throws {
        guard let (store, failure) = firstFailure(sets) else {
            for (store, changes) in sets { begunPart(store.index)?.didApply(changes, durability) }
            return
        }
        // A constraint violation or invalid request leaves the store's write transaction intact. After any other error its state is unknown, so it is
        // restored.
        let isOwnFault = [.constraint, .notFound, .misuse, .invalidValue].contains((failure as? StoreError)?.code)
        var spoiled = sets.prefix { $0.store !== store }.map(\.store.index)
        if !isOwnFault { spoiled.append(store.index) }
        let hadOthers = parts.contains { $0?.isChanged ?? false }
        do {
            for index in spoiled { try restore(index) }
        } catch {
            giveUp(error)
            throw error
        }
        guard !isOwnFault, hadOthers else { throw failure }
        // The transaction may have failed only because the group was too large.
        core.logger.write(
            .info, "A transaction failed in a group and is applied again after the others of the group are committed: \(failure)")
        let versions = try commitAhead(stores)
        do {
            for (index, version) in versions where stores.contains(index) {
                let part = try part(core.table.withLock { $0.stores[index] })
                guard part.writer.version == version else { throw part.store.interrupted }
            }
            if let (_, failure) = firstFailure(sets) { throw failure }
            for (store, changes) in sets { begunPart(store.index)?.didApply(changes, durability) }
        } catch {
            giveUp(error)
            throw error
        }
    }

    private func firstFailure(_ sets: [(store: PersistentStore, changes: ChangeSet)]) -> (PersistentStore, any Error)? {
        for (store, changes) in sets {
            do { try part(store).writer.apply(changes) } catch { return (store, error) }
        }
        return nil
    }

    /// Reverts the changes of the failing transaction in a store and keeps those of its predecessors.
    private func restore(_ index: Int) throws {
        guard let part = begunPart(index) else { return }
        if part.isChanged { try part.beginAgain() } else { rollBack(part) }
    }

    /// Rolls back all stores and fails all members.
    private func giveUp(_ error: any Error) {
        for case let part? in parts { rollBack(part) }
        finish { _ in error }
    }

    // MARK: The commit

    /// Commits the stores in the order of the stack, then acknowledges the members.
    ///
    /// The commit of one store is atomic. If the commit of a store fails, the stores before it remain committed, and the error lists them.
    func commit() { _ = try? commitAhead([]) }

    /// Commits the group on behalf of a transaction that is not yet a member.
    /// - Parameter stores: the stores in which that transaction depends on changes of the members.
    /// - Returns: the versions of the stores after the commit.
    /// - Throws: the error of a store in `stores` whose commit failed.
    private func commitAhead(_ stores: [Int]) throws -> [(store: Int, version: UInt64)] {
        var failure: (store: PersistentStore, error: any Error)?
        var versions: [(store: Int, version: UInt64)] = []
        var committed: [(store: PersistentStore, version: UInt64)] = []
        var lost: Set<Int> = []
        for case let part? in parts {
            let index = part.store.index
            guard part.isChanged, failure == nil else {
                if part.isChanged { lost.insert(index) } else { versions.append((index, part.writer.version)) }
                rollBack(part)
                continue
            }
            core.external.willCommit(part.store, after: part.writer.version)
            do {
                let version = try part.commit()
                versions.append((index, version))
                committed.append((part.store, version))
                drop(part, committed: true)
            } catch {
                core.external.didNotCommit(part.store)
                failure = (part.store, error)
                lost.insert(index)
                rollBack(part)
            }
        }
        publish(committed)
        finish { member in
            guard let failure, member.stores.contains(where: lost.contains) else { return nil }
            let committed = member.changes.filter { !lost.contains($0.store.index) }.map(\.store.url)
            guard !committed.isEmpty else { return failure.error }
            var error = failure.error as? StoreError ?? StoreError(.io, "\(failure.error)")
            error.message += " Already committed: \(committed.joined(separator: ", ")); not: \(failure.store.url) and any after it."
            return error
        }
        if let failure, stores.contains(where: lost.contains) { throw failure.error }
        return versions
    }

    /// Notifies observers of the committed changes, in the order of the transactions.
    private func publish(_ committed: [(store: PersistentStore, version: UInt64)]) {
        core.snapshots.noteCommit(core.logger)
        core.external.publish(committed) {
            let table = core.table.withLock { $0 }
            return members.map { member in
                let touched = member.touched.touched
                let parts: [CommittedChanges] = member.changes.compactMap { store, changes in
                    guard let version = committed.first(where: { $0.store === store })?.version else { return nil }
                    return CommittedChanges(
                        store: store, version: version, changes: changes, touched: touched.filter { store.slots.contains($0.slot) },
                        deletedKinds: member.deletedKinds)
                }
                return Commit(sourceIdentifier: member.origin?.source, userInfo: member.origin?.userInfo ?? [:], parts: parts, table: table)
            }
        }
    }

    // MARK: Row ids

    /// Reserves row ids for an unqueued transaction.
    /// - Parameter done: receives the ids after their reservation is committed.
    func reserve(_ count: Int, _ entry: StoreEntity, done: @escaping (Result<[Int64], any Error>) -> Void) {
        do {
            let part = try part(entry.store)
            let keys = try (0..<count).map { _ in try part.newKey(entry.entity) }
            part.didReserve()
            members.append(
                Member(
                    changes: [], touched: MemberLog(), deletedKinds: [:], stores: [entry.store.index], origin: nil, site: .framework
                ) { error in
                    done(error.map { .failure($0) } ?? .success(keys))
                })
        } catch {
            done(.failure(error))
        }
    }

    private func rollBack(_ part: StorePart) {
        part.writer.rollback()
        drop(part, committed: false)
    }

    private func drop(_ part: StorePart, committed: Bool) {
        part.store.writers.end(core.lane)
        part.returnIDs(committed: committed)
        parts[part.store.index] = nil
    }

    /// Acknowledges all members in order and resets the group.
    private func finish(_ outcome: (Member) -> (any Error)?) {
        let ended = members
        members = []
        memberBytes = 0
        runs = 0
        isOpen = false
        let logger = core.logger
        let isLogging = logger.isEnabled(.debug)
        for member in ended {
            let failure = outcome(member)
            if let failure { logger.writeCommitFailure(failure, member.site) } else if isLogging { log(member, logger) }
            member.acknowledge(failure)
        }
    }

    private func log(_ member: Member, _ logger: any StoreLogger) {
        for (store, changes) in member.changes {
            var counts: [ChangeSet.Kind: Int] = [:]
            for change in changes.changes { counts[change.kind, default: 0] += 1 }
            let values = changes.values.isEmpty ? "" : ", \(changes.values.count) named values set"
            logger.write(
                .debug, member.site,
                "Committed to \(store.url): \(counts[.insert] ?? 0) inserted, \(counts[.update] ?? 0) updated, \(counts[.delete] ?? 0) deleted"
                    + values)
        }
    }
}
