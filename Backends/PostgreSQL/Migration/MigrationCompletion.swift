import Foundation
import PolyStoreBackend

/// The end of a migration: it removes the former tables and gives the new ones the names of the model. The server permits that at a moment without any snapshot: each one locks `polystore_state`. Until then the
/// migrated store has tables with the names of the migration, and snapshots from before read the former tables.
struct MigrationCompletion {
    let staged: StoreTables
    let final: StoreTables

    init(staged: StoreTables, final: StoreTables) { (self.staged, self.final) = (staged, final) }

    init(_ schema: ResolvedSchema, in plainSchema: String) {
        self.init(staged: StoreTables(schema, in: plainSchema, isStaged: true), final: StoreTables(schema, in: plainSchema))
    }

    /// The statements of a transaction that replace the tables.
    /// - Parameter former: The quoted names of the former tables.
    func statements(removing former: [String]) -> [Statement] {
        var sql = ["LOCK TABLE \(final.own("state")), \(final.own("metadata")) IN ACCESS EXCLUSIVE MODE"]
        sql += former.map { "DROP TABLE \($0)" }
        for (old, new) in zip(staged.entities, final.entities) {
            sql.append("ALTER TABLE \(old.name) RENAME TO \(SQLNames.quoted(new.plainName))")
            sql.append(rename(old.keyName, new.keyName))
            sql += zip(old.indexes, new.indexes).map { rename($0.plainName, $1.plainName) }
        }
        for (old, new) in zip(staged.links, final.links) {
            sql.append("ALTER TABLE \(old.name) RENAME TO \(SQLNames.quoted(new.plainName))")
            sql += zip(old.indexNames, new.indexNames).map { rename($0, $1) }
        }
        return sql.map { .once($0) }
    }

    private func rename(_ old: String, _ new: String) -> String {
        "ALTER INDEX \(staged.namespace).\(SQLNames.quoted(old)) RENAME TO \(SQLNames.quoted(new))"
    }

    /// Completes the migration in a transaction of its own, unless another process has done that.
    ///
    /// The names are those of the stored model, which can have other plain indexes than the one that the store was opened with.
    /// - Returns: `false` if others still read the former tables.
    /// - Throws: An error that names an object of others with a name that a table or an index receives. It is left unchanged, because others use its name.
    static func run(_ connection: Connection, _ database: Database) throws -> Bool {
        func own(_ name: String) -> String { "\(SQLNames.quoted(database.options.schema)).polystore_\(name)" }
        var conflicts: NameConflicts?
        do {
            try connection.run(
                database.beginning("ISOLATION LEVEL READ COMMITTED READ WRITE") + [
                    database.endingWhenIdle, database.waitingBriefly,
                    .once("LOCK TABLE \(own("state")), \(own("metadata")) IN ACCESS EXCLUSIVE MODE"),
                ])
            guard try connection.rows("SELECT \"isStaged\" FROM \(own("metadata"))").bool(0, 0) else {
                try connection.run([.once("ROLLBACK")])
                return true
            }
            let completion = MigrationCompletion(
                try StoreTables.storedSchema(database.options.schema, connection), in: database.options.schema)
            let found = try connection.rows("SELECT name FROM \(own("names")) WHERE kind = 'former'")
            let former = (0..<found.count).compactMap { found.text($0, 0).flatMap(NULFreeText.decode) }
            conflicts = NameConflicts(final: completion.final, former: former)
            try connection.run(
                completion.statements(removing: former) + [
                    .once("DELETE FROM \(own("names")) WHERE kind = 'former'"),
                    .once("UPDATE \(own("metadata")) SET \"isStaged\" = false"), .once("COMMIT"),
                ])
            return true
        } catch let error as StoreError {
            _ = try? connection.run([.once("ROLLBACK")])
            if error.sqlState == "55P03" { return false }
            guard NameConflicts.isRefusal(error), let conflict = try conflicts?.first(connection) else { throw error }
            var named = error
            named.message =
                "Cannot complete the last migration of the store \(connection.location), whose tables keep the names of the migration: the schema contains \(conflict)."
            throw named
        }
    }

    /// The time between two attempts, in milliseconds.
    private static let pauses = (first: 1000, longest: 60_000)

    /// Completes the migration on a thread of its own when that becomes possible, unless the store is closed before.
    ///
    /// The reason that prevents the completion is logged once, unless it is a snapshot.
    static func runInBackground(_ pool: ConnectionPool, _ logger: any StoreLogger) {
        Thread.detachNewThread {
            var pause = pauses.first
            var logged: String?
            while pool.isStaged {
                var left = pause
                while left > 0, !pool.isClosed {
                    Deadline.pause(milliseconds: min(left, 200))
                    left -= 200
                }
                if pool.isClosed { return }
                do { if try run(pool.database.connect(), pool.database) { pool.didRename() } } catch let error as StoreError
                    where NameConflicts.isRefusal(error) && error.message != logged
                {
                    logged = error.message
                    logger.write(.warning, error.message)
                } catch {
                    // The server may answer at the next attempt.
                }
                pause = min(2 * pause, pauses.longest)
            }
        }
    }
}
