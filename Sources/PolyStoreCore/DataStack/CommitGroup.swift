import Dispatch
import PolyStoreBackend

/// When a group takes no more transactions, so that the first of them does not wait for ever.
package struct GroupLimits: Sendable {
    /// So many have run.
    package var transactions: Int
    /// They have written so many bytes of records.
    package var bytes: Int
    /// So long ago the first one has ended.
    package var nanoseconds: UInt64

    package init(transactions: Int = 256, bytes: Int = 4 << 20, nanoseconds: UInt64 = 10_000_000) {
        self.transactions = transactions
        self.bytes = bytes
        self.nanoseconds = nanoseconds
    }
}

/// Transactions that ran one after another over the same write transactions of the stores, to be committed by one commit of each store.
///
/// Each sees what its predecessors applied. One that fails leaves nothing behind and the others as they are. All are acknowledged after the
/// commit, in their order, and none if it fails.
final class CommitGroup: @unchecked Sendable {  // whoever has the lane has it, and nobody else
    /// A transaction that waits for the commit.
    private final class Member {
        let changes: [(store: PersistentStore, changes: ChangeSet)]
        let touched: MemberLog
        /// The entities of deleted objects of hierarchies.
        let deletedKinds: [ObjectKey: String]
        /// The stores whose state it depends on, by index.
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
    // Whoever has the group uses it alone, and no access to one of these lasts longer than a line: exclusivity checks could find nothing.

    /// By store; nil where nothing is under way.
    @exclusivity(unchecked) var parts: [StorePart?] = []
    @exclusivity(unchecked) private var members: [Member] = []
    @exclusivity(unchecked) private var memberBytes = 0
    @exclusivity(unchecked) private var runs = 0
    @exclusivity(unchecked) private var firstEnd: UInt64 = 0

    init(_ core: StackCore) {
        self.core = core
        limits = core.groupLimits.withLock { $0 }
    }

    /// Whether anything is under way that a commit, or a rollback, must end.
    @exclusivity(unchecked) private(set) var isOpen = false

    /// Whether another thread may go on with it.
    var isTransferable: Bool { parts.allSatisfy { $0?.store.capabilities.has(.transferableWriter) ?? true } }

    /// Whether one more transaction may join, which asks for a durability. One that asks for more than the others in a store that they changed does
    /// not: they would wait for a flush that they did not ask for.
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

    /// The store's write transaction, begun at the first touch: from then on nobody else writes, so what is read here stays true.
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

    /// Runs a transaction and applies what it changed.
    ///
    /// Not generic, as the types of a result would be looked up in each transaction: the body keeps what it returns, and nobody uses it
    /// before `done`.
    /// - Parameter done: gets the error, if there is one: now, if it depends on nothing that is still to be committed, otherwise after the
    ///   commit.
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

    /// Runs a transaction that says itself when it is to be committed.
    /// - Parameter done: gets nil where it never said so.
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

    /// Checks and applies what a transaction changed: the point from which it is no longer cancelled.
    private func write(
        _ transaction: Transaction, _ order: TransactionOrder
    ) throws -> [(store: PersistentStore, changes: ChangeSet)] {
        let changes = try transaction.changeSets()
        if let ticket = order.ticket, ticket.isCancelled { throw Ticket.error }
        for (store, set) in changes where store.history != nil { try begunPart(store.index)?.record(set, transaction) }
        if order.isRehearsal { try rehearse(changes) }
        try apply(changes, order.durability, transaction.touchedStores)
        return changes
    }

    /// Applies a transaction's change sets, to find out whether the stores accept them, and undoes them.
    /// - Throws: ``Rehearsal`` where they do; the error of the store where it does not.
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

    /// Ends a transaction, and sees to it that it is acknowledged when its time has come.
    private func conclude(
        _ transaction: Transaction, _ changes: [(store: PersistentStore, changes: ChangeSet)], _ failure: (any Error)?,
        _ done: @escaping ((any Error)?) -> Void
    ) {
        // One that touched no store waits for all before it, so that a caller can wait for them by an empty transaction; it does not fail with them.
        let touched = transaction.touchedStores
        let isEmpty = touched.isEmpty
        let stores = isEmpty ? Array(parts.indices) : touched
        let published = transaction.published
        let site = transaction.site
        transaction.end()
        if let failure { core.logger.writeFailure(failure, site) }
        runs += 1
        if runs == 1 { firstEnd = DispatchTime.now().uptimeNanoseconds }
        // What was seen of transactions that may still fail must not get out before they are committed, be it a value or an error.
        guard stores.contains(where: { begunPart($0)?.isChanged ?? false }) else { return done(failure) }
        memberBytes += changes.reduce(0) { $0 + $1.changes.byteCount }
        members.append(
            Member(
                changes: changes, touched: published.log, deletedKinds: published.deletedKinds, stores: stores,
                origin: transaction.origin, site: site
            ) { [failure] error in done(failure ?? (isEmpty ? nil : error)) })
    }

    /// Applies a transaction's change sets to all stores, or to none.
    private func apply(
        _ sets: [(store: PersistentStore, changes: ChangeSet)], _ durability: Durability?, _ stores: [Int]
    ) throws {
        guard let (store, failure) = firstFailure(sets) else {
            for (store, changes) in sets { begunPart(store.index)?.didApply(changes, durability) }
            return
        }
        // A rule that was broken is the transaction's own fault, and the store's write transaction goes on. Of anything else nobody knows what
        // it has left.
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
        // It may only have been too much together with the others.
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

    /// Undoes what the failing transaction did to a store, and keeps what the others did.
    private func restore(_ index: Int) throws {
        guard let part = begunPart(index) else { return }
        if part.isChanged { try part.beginAgain() } else { rollBack(part) }
    }

    /// Ends everything without a commit.
    private func giveUp(_ error: any Error) {
        for case let part? in parts { rollBack(part) }
        finish { _ in error }
    }

    // MARK: The commit

    /// Commits store by store in the order of the stack, then acknowledges.
    ///
    /// One store is all or nothing. Over several, a failure leaves those before it committed; the error says which.
    func commit() { _ = try? commitAhead([]) }

    /// - Parameter stores: of a transaction that is not a member yet, but depends on what the members did to these.
    /// - Returns: the versions of the stores afterwards.
    /// - Throws: what the commit of one of them threw.
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

    /// Tells those who follow what was committed, in the order of the transactions.
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

    // MARK: Ids

    /// Takes ids out of a sequence for somebody outside of the line.
    /// - Parameter done: gets them when their reservation is committed.
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

    /// Acknowledges all in their order, and begins anew.
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
