import PolyStoreBackend
import PolyStoreQuery

/// The write transaction of a store: a connection that holds the lock of the store's writers from its first request on.
final class PostgreSQLWriteTransaction: SessionTransaction, WriteTransaction {
    let session: Session
    let pool: ConnectionPool
    /// The beginning of the transaction; nil if it has begun when it was created.
    private let beginning: WriteBeginning?
    /// A version that no commit of the transaction can have.
    private let earlierVersion: UInt64
    /// Identifies the commit, so that its outcome can be found over another connection.
    private let token = PostgreSQLWriteTransaction.newToken()
    /// A Boolean value that indicates whether the outcome of the commit is unknown.
    @exclusivity(unchecked) private var isOutcomeUnknown = false
    private var connection: Connection { session.connection }

    // Each transaction executes these, so the server keeps them parsed.
    static var savepoint: Statement { Statement("SAVEPOINT polystore") }
    private static var release: Statement { Statement("RELEASE SAVEPOINT polystore") }
    private static var undo: Statement { Statement("ROLLBACK TO SAVEPOINT polystore") }

    /// Returns 16 random bytes, with two calls of the system.
    private static func newToken() -> [UInt8] {
        let numbers = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
        return withUnsafeBytes(of: numbers) { [UInt8]($0) }
    }

    /// Waits for the other writers of the store object. The transaction begins on the server with its first request, and waits there for those of others.
    /// - Parameter isAwaited: Whether to begin immediately, with a round trip.
    init(_ pool: ConnectionPool, isAwaited: Bool = false) throws {
        try pool.beginWriting()
        do {
            earlierVersion = pool.newestVersion
            if !isAwaited, !pool.isStaged, let known = pool.search.newest {
                let beginning = try pool.beginLater(Self.locking(pool), generation: known.generation)
                self.beginning = beginning
                session = Session(beginning, pool.tables, isWriting: true)
                session.searches = SessionSearches(session, known.indexes)
            } else {
                // The names of the tables, or the full-text indexes, are known only then.
                let (connection, state) = try pool.beginTransaction(Self.locking(pool))
                beginning = nil
                session = Session(connection, pool.tables, state: state, isWriting: true)
            }
        } catch {
            pool.endWriting()
            throw error
        }
        self.pool = pool
    }

    /// Continues a transaction for a migration, with the tables that it creates.
    init(continuing other: PostgreSQLWriteTransaction, _ tables: StoreTables) {
        (pool, beginning, earlierVersion) = (other.pool, nil, other.earlierVersion)
        session = Session(other.session.connection, tables, state: other.session.state, isWriting: true)
        // The migration writes the indexes at its commit.
        session.searches = SessionSearches(session, [])
        other.session.end()
    }

    var version: UInt64 { get throws { try session.version } }
    var knownVersion: UInt64? { session.knownVersion }

    /// The statements that begin a transaction and wait for the lock. None of them takes a snapshot, so the transaction reads what the writer before it has committed.
    private static func locking(_ pool: ConnectionPool) -> [Statement] {
        pool.database.beginning("ISOLATION LEVEL REPEATABLE READ READ WRITE") + [
            pool.database.waitingForWriters, Statement("LOCK TABLE \(pool.tables.own("lock")) IN EXCLUSIVE MODE"),
        ]
    }

    deinit { rollback() }

    // MARK: Writes

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        try session.check()
        let table = try session.tables.table(entity)
        guard count > 0 else { throw StoreError(.misuse, "\(count) ids of \(entity.name) were asked for.", entity: entity.name) }
        let full = StoreError(.full, "There are not \(count) ids of \(entity.name) left.", entity: entity.name)
        guard count < Int.max else { throw full }
        let found = try session.rows(
            "INSERT INTO \(session.tables.own("sequence")) AS s (entity, next) VALUES ($1, $2 + 1) "
                + "ON CONFLICT (entity) DO UPDATE SET next = s.next + $2 WHERE s.next <= 9223372036854775807 - $2 RETURNING next",
            [.text(table.entity.name), .integer(Int64(count))])
        guard found.count > 0 else { throw full }
        guard let next = found.integer(0, 0), next > Int64(count) else {
            throw StoreError(
                .corrupt, "The next id of \(entity.name) in polystore_sequence is not a positive integer.", entity: entity.name,
                location: pool.location)
        }
        return next - Int64(count)
    }

    func apply(_ changes: ChangeSet) throws { try apply(changes, copies: true) }

    /// - Parameter copies: Whether many rows are copied; see ``ChangeWriter/copies``.
    private func apply(_ changes: ChangeSet, copies: Bool) throws {
        try session.check()
        var writer = try writer(changes)
        writer.copies = copies
        if changes.isEmpty { return }
        let statements = try writer.statements()
        let texts = try readTexts([changes])
        let results: [Rows]
        do { results = try run(texts.beginning + statements + [Self.release]) } catch let error as StoreError {
            guard hasBegun else { return try session.ending { throw error } }
            if connection.failure == nil, error.sqlState == "0A000", statements.contains(where: { $0.copied != nil }) {
                _ = try session.ending { try connection.run([Self.undo, Self.release]) }
                return try apply(changes, copies: false)
            }
            throw try session.ending {
                guard connection.failure == nil, error.recovery == .permanent else { throw error }
                let explained = try writer.explain(error, connection, undo: Self.undo)
                try connection.run([Self.release])
                return explained
            }
        }
        // The objects are changed. After an error their texts are not in the indexes.
        try session.ending { try add(texts, results) }
    }

    /// - Throws: `misuse` for a change set of another schema.
    private func writer(_ changes: ChangeSet, following: ArraySlice<ChangeSet> = []) throws -> ChangeWriter {
        let schema = session.tables.schema
        for set in [changes] + following where set.schema !== schema && set.schema.description != schema.description {
            throw StoreError(
                .misuse, "The change set was made for another schema than the store was opened with.", location: pool.location)
        }
        return ChangeWriter(
            tables: session.tables, changes: changes, following: following, location: pool.location)
    }

    /// A Boolean value that indicates whether the transaction has begun on the server.
    private var hasBegun: Bool { session.knownVersion != nil }

    /// Sends statements, the first ones in one pipeline with the beginning of the transaction.
    @discardableResult
    func run(_ statements: [Statement]) throws -> [Rows] {
        // A copy cannot be part of a pipeline.
        if !hasBegun, statements.contains(where: { $0.copied != nil }) { _ = try version }
        return try session.first { try $0.run(statements) }
    }

    /// Returns the statements of change sets, in their order. Neighbours that only insert are written together.
    private func statements(_ sets: [ChangeSet]) throws -> [Statement] {
        var statements: [Statement] = []
        var rest = sets[...]
        while let first = rest.popFirst() {
            let following: ArraySlice<ChangeSet> = ChangeWriter.onlyInserts(first) ? rest.prefix(while: ChangeWriter.onlyInserts) : []
            rest = rest.dropFirst(following.count)
            statements += try writer(first, following: following).statements()
        }
        return statements
    }

    /// Applies the change sets and commits them with one round trip. If one is refused, each is applied alone.
    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        try session.check()
        if let statements = try? statements(sets) {
            do {
                let texts = try readTexts(sets, isCommitting: durability != nil)
                let applying = texts.beginning + statements
                var results = AppliedChangeSets(errors: sets.map { _ in nil })
                if let durability {
                    // The savepoint stays, so that an error of the commit's own statements can be undone too.
                    results.version = try commit(applying + flush(texts), durability)
                } else {
                    let rows = try run(applying + [Self.release])
                    try session.ending { try add(texts, rows) }
                }
                return results
            } catch let error as StoreError {
                guard session.failure == nil, connection.failure == nil, error.recovery == .permanent, !session.isEnded, hasBegun else {
                    return try session.ending { throw error }
                }
                try session.ending {
                    do { _ = try connection.run([Self.undo, Self.release]) } catch let undoing {
                        // The commit itself failed, which ended the transaction.
                        throw connection.failure == nil ? error : undoing
                    }
                    // Sets that are not committed with them have not been added.
                    if durability != nil { session.searches?.reset() }
                }
            }
        }
        var results = AppliedChangeSets(errors: [])
        for set in sets {
            do {
                try apply(set)
                results.errors.append(nil)
            } catch let error as StoreError where error.refusesChanges { results.errors.append(error) }
        }
        if let durability, results.errors.allSatisfy({ $0 == nil }) { results.version = try commit(durability) }
        return results
    }

    // MARK: End

    func commit(_ durability: Durability) throws -> UInt64 {
        try session.check()
        do { return try commit(flush(), durability) } catch {
            rollback(keeping: isOutcomeUnknown)
            throw error
        }
    }

    /// Sends statements with the commit.
    /// - Parameter keepsReaders: Whether snapshots that were begun before are to show the state before the commit. Those that begin while a migration is committed wait for it.
    func commit(_ statements: [Statement], _ durability: Durability, keepsReaders: Bool = true) throws -> UInt64 {
        let relaxed: [Statement] =
            durability == .relaxed ? [Statement("SET LOCAL synchronous_commit = off")] : pool.database.durableCommit
        if keepsReaders { pool.completeOpenings() }
        beginning?.repeats = false
        // The request of a migration begins with its own statement: once the server has received a part of a request, it does not end the transaction of a process that has stopped.
        let ordered = keepsReaders ? [Self.readingByKey] + statements : statements + [Self.readingByKey]
        let results: [Rows]
        do { results = try run(ordered + relaxed + [increment, .once("COMMIT")]) } catch var error as StoreError
            where (connection.failure != nil || [.connectionLost, .commitOutcomeUnknown].contains(error.recovery))
            && beginning?.wasSent ?? true
        {
            // The server ends a transaction that is not committed yet.
            connection.fail(error)
            error.recovery = .commitOutcomeUnknown
            error.message += " It is unknown whether the transaction was committed."
            isOutcomeUnknown = true
            throw error
        }
        // A transaction that the server had ended is rolled back by this command.
        guard results.last?.command == "COMMIT", let next = results[results.count - 2].integer(0, 0) else {
            throw StoreError(
                .conflict, "The server rolled the transaction of \(pool.location) back.", location: pool.location, recovery: .retryable)
        }
        pool.didSee(UInt64(bitPattern: next))
        pool.announce(connection)
        pool.watch.check(over: connection)
        finish()
        return UInt64(bitPattern: next)
    }

    /// The statement before those of a commit, which lets the server find the rows that it changes, and the tokens, by their keys.
    ///
    /// The server keeps the plan of a statement. One that it made while a table was small would read the whole table: that of the tokens contains a row for each commit since the last VACUUM.
    private static var readingByKey: Statement { Statement("SET LOCAL random_page_cost = 0") }

    /// The number of commits whose tokens are kept.
    private static let keptCommits = 1000

    /// The statement that increments the version and records the token. It fails if the outcome of the commit was requested before.
    var increment: Statement {
        let tables = session.tables
        let commits = tables.own("commits")
        // Of the old tokens one is removed by its key: a range would visit the entries of all that were removed since the last VACUUM.
        return Statement(
            "WITH state AS (UPDATE \(tables.own("state")) SET version = version + 1 RETURNING version), "
                + "old AS (DELETE FROM \(commits) WHERE version = (SELECT version FROM state) - \(Self.keptCommits) AND version > 0), "
                + "added AS (INSERT INTO \(commits) (version, token) SELECT version, $1 FROM state "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(commits) WHERE version < 0 AND token = $1) RETURNING version) "
                + "SELECT max(version), 1 / (CASE WHEN count(*) = 1 THEN 1 ELSE 0 END) FROM added", [.bytes(token)])
    }

    /// Looks for the token of the commit. If the server may not have begun the transaction yet, the commit is prevented: its token is written below a negative number.
    func commitOutcome() throws -> CommitOutcome {
        guard isOutcomeUnknown else { return .unknown }
        let other = try pool.database.connect()
        let commits = session.tables.own("commits")
        // A transaction that has the lock, or waits for it, has ended when this one gets it.
        let found = try other.run(
            Self.locking(pool) + [
                Statement(
                    "SELECT (SELECT version FROM \(session.tables.own("state"))), (SELECT version FROM \(commits) WHERE token = $1 AND version >= 0)",
                    [.bytes(token)])
            ]
        ).last
        if let version = found?.integer(0, 1) {
            pool.didSee(UInt64(bitPattern: version))
            // No other session announces it. Others also read the version regularly.
            _ = try? other.run([.once("COMMIT")] + pool.announcement)
            return .committed(version: UInt64(bitPattern: version))
        }
        guard let current = found?.integer(0, 0) else { return .unknown }
        // The token of an earlier commit may have been removed.
        let earlier = Int64(bitPattern: session.knownVersion ?? earlierVersion)
        guard current - earlier <= Self.keptCommits else { return .unknown }
        guard !hasBegun else { return .notCommitted }
        let ended = try other.run([
            Statement(
                "DELETE FROM \(commits) WHERE version < 0 AND version > (SELECT min(version) FROM \(commits)) + \(Self.keptRefusals)"),
            Statement(
                "INSERT INTO \(commits) (version, token) SELECT least(min(version), 0) - 1, $1 FROM \(commits) "
                    + "HAVING NOT EXISTS (SELECT 1 FROM \(commits) WHERE token = $1)", [.bytes(token)]),
            .once("COMMIT"),
        ])
        return ended.last?.command == "COMMIT" ? .notCommitted : .unknown
    }

    /// The number of tokens that are kept of commits that were prevented.
    private static let keptRefusals = 1000

    func rollback() { rollback(keeping: false) }

    /// - Parameter keeping: Whether the transaction is kept, so that the outcome of its commit can be requested.
    private func rollback(keeping: Bool) {
        guard !session.isEnded, !keeping else { return }
        session.end()
        if let beginning, beginning.outcome == nil {
            // Nothing was sent.
            guard connection.process.isCurrent else { return }
            pool.giveBack(connection)
            return pool.endWriting()
        }
        pool.rollback(connection) { [pool] in pool.endWriting() }
    }

    func finish() {
        session.end()
        pool.giveBack(connection)
        pool.endWriting()
    }
}
