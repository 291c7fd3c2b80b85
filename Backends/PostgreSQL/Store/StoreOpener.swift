import PolyStoreBackend

/// Opens or creates a store in a schema of a database. Leaves every other schema, and a schema with tables of others, unmodified.
struct StoreOpener {
    let database: Database
    let request: OpenRequest

    private var location: String { database.location }
    private var schemaName: String { database.options.schema }
    private var mayReset: Bool { request.resetsOnModelMismatch && !request.isReadOnly }

    func open() throws -> PostgreSQLBackend { try SpareConnections.using(database, open) }

    private func open(_ connection: Connection) throws -> PostgreSQLBackend {
        let tables = StoreTables(request.schema, in: schemaName)
        var found: MetadataTable.Contents
        // With one round trip; after an error, each statement whose result is missing is sent alone.
        let metadata = MetadataTable(connection: connection, tables: tables).statements
        let (early, failure) = try connection.attempt(
            [database.contentsStatement] + metadata + (request.isReadOnly ? [] : [rightsStatement]))
        guard let first = early.first else { throw failure ?? database.foreign }
        let contents = database.contents(first)
        switch contents {
        case .foreign: throw database.foreign
        case .absent, .empty:
            guard !request.isReadOnly else {
                throw StoreError(
                    .io, "The schema \(schemaName) of \(location) contains no store, and opening a store read-only does not create it.",
                    location: location)
            }
            found = try create(connection, tables, contents)
        case .store: found = try existing(connection, tables, early.dropFirst().prefix(metadata.count) + [])
        }
        if !request.isReadOnly {
            // The early response has the rights on the existing tables. They are read again if the model or the names of the tables have changed.
            let isUnchanged = early.count > 3 && early[2].text(0, 4) == request.schema.versionHash && !early[2].bool(0, 6)
            try checkRights(isUnchanged ? early[3] : connection.rows(rightsStatement))
        }
        found.metadata.schema = request.schema.description
        found.metadata.schemaHash = request.schema.versionHash
        let hasSearch = found.metadata.format >= StoreTables.searchFormat
        let search = try hasSearch ? searchIndexes(connection, tables) : (indexes: [], areComplete: true)
        let pool = ConnectionPool(
            database, tables, storeID: found.metadata.storeID, search: SearchCatalog(found.generation, search.indexes),
            generation: found.generation, isStaged: found.isStaged, first: connection, logger: request.logger)
        if found.isStaged, !request.isReadOnly { MigrationCompletion.runInBackground(pool, request.logger) }
        if !request.isReadOnly, !search.areComplete { SearchIndexBuilder(pool: pool, logger: request.logger).runInBackground() }
        return PostgreSQLBackend(pool: pool, metadata: found.metadata, isReadOnly: request.isReadOnly, logger: request.logger)
    }

    // MARK: Creation

    /// Creates the store, unless another process creates it meanwhile.
    private func create(_ connection: Connection, _ tables: StoreTables, _ contents: Database.Contents) throws -> MetadataTable.Contents {
        let metadata = StoreMetadata(format: tables.storeFormat, request: request)
        // The server checks the right to create a schema also if the schema exists.
        let createsSchema = contents == .absent
        let creation = createsSchema ? ["CREATE SCHEMA \(tables.namespace)"] : []
        do {
            try connection.run(
                [.once("BEGIN"), database.waitingForTables] + (creation + tables.creationSQL).map { .once($0) }
                    + MetadataTable(connection: connection, tables: tables).insertion(metadata, ownsSchema: createsSchema)
                    + [.once("COMMIT")])
            return MetadataTable.Contents(metadata: metadata)
        } catch let error as StoreError {
            // Waited for, because the connection is used further.
            _ = try? connection.run([.once("ROLLBACK")])
            // Two processes that create the same store: the names exist, or are inserted at the same time.
            if ["42P07", "42P06", "23505"].contains(error.sqlState) {
                switch try database.contents(connection) {
                case .store: return try existing(connection, tables)
                case .empty where createsSchema: return try create(connection, tables, .empty)
                default: break
                }
            }
            throw named(error, "create the store")
        }
    }

    // MARK: Existing stores

    /// - Parameter read: The results of ``MetadataTable/statements``, as far as they have been executed.
    private func existing(_ connection: Connection, _ tables: StoreTables, _ read: [Rows] = []) throws -> MetadataTable.Contents {
        do {
            var found = try MetadataTable(connection: connection, tables: tables).read(for: request, from: read)
            try check(found.metadata)
            if found.isStaged, !request.isReadOnly { found.isStaged = try !complete(connection) }
            // The indexes of tables with the names of a migration stay as they are.
            guard found.metadata.schemaHash != request.schema.versionHash, !request.isReadOnly, !found.isStaged else { return found }
            return try adopt(connection, tables)
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            return try reset(connection, tables, error)
        } catch let error as StoreError where error.sqlState == "42501" { throw named(error, "read the store") }
    }

    /// Completes a migration whose former tables others read at its commit.
    /// - Returns: `false` if others still read them, or the user may not rename the tables.
    private func complete(_ connection: Connection) throws -> Bool {
        do { return try MigrationCompletion.run(connection, database) } catch let error
            as StoreError where error.recovery != .connectionLost
        {
            request.logger.write(
                .warning,
                "The last migration of the store \(location) is not complete, and the tables keep other names than the model: \(error)")
            return false
        }
    }

    /// Replaces the tables of a store of another model with empty ones.
    private func reset(_ connection: Connection, _ tables: StoreTables, _ reason: StoreError) throws -> MetadataTable.Contents {
        request.logger.write(.notice, "The store \(location) was written for another model and is emptied, as asked: \(reason.message)")
        let metadata = StoreMetadata(format: tables.storeFormat, request: request)
        do {
            try connection.run([
                Self.beginning, database.endingWhenIdle, database.waitingForReaders,
                .once("LOCK TABLE \(tables.own("lock")), \(tables.own("state")), \(tables.own("metadata")) IN ACCESS EXCLUSIVE MODE"),
            ])
            // Another process may have reset the store meanwhile.
            let found = try MetadataTable(connection: connection, tables: tables).read(for: request)
            if found.metadata.schemaHash == request.schema.versionHash {
                try connection.run([.once("ROLLBACK")])
                return found
            }
            let ownsSchema = try StoreTables.ownsSchema(schemaName, connection)
            let removal = try StoreTables.removal(from: schemaName, connection)
            let owner = try StoreOwner.read(schemaName, connection)
            let rights = try owner?.statements(tables.names.map { ($0, nil) }, in: schemaName, connection) ?? []
            let functions = owner?.statements(ofFunctionsIn: tables.namespace) ?? []
            try connection.run(
                (removal + tables.creationSQL + rights + functions).map { .once($0) }
                    + MetadataTable(connection: connection, tables: tables).insertion(metadata, ownsSchema: ownsSchema)
                    + [.once("COMMIT")])
            return MetadataTable.Contents(metadata: metadata)
        } catch let error as StoreError {
            let error = database.namingHolders(in: error, connection)
            connection.post([.once("ROLLBACK")])
            throw named(error, "reset the store")
        }
    }

    private func check(_ metadata: StoreMetadata) throws {
        try metadata.check(request, supportedFormat: StoreTables.searchFormat, location: location, acceptsOtherIndexes: true)
    }

    /// Begins a transaction whose statements read what others committed while it waited for a lock.
    private static var beginning: Statement { .once("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") }

    /// Replaces the indexes of a store whose schema differs in nothing that concerns the data. Leaves those that both schemas have as they are.
    private func adopt(_ connection: Connection, _ tables: StoreTables) throws -> MetadataTable.Contents {
        do {
            try connection.run([
                Self.beginning, database.waitingForWriters, .once("LOCK TABLE \(tables.own("lock")) IN EXCLUSIVE MODE"),
                database.waitingForReaders,
            ])
            // Another process may have migrated or reset the store meanwhile, or adopted the same schema.
            var found = try MetadataTable(connection: connection, tables: tables).read(for: request)
            try check(found.metadata)
            guard found.metadata.schemaHash != request.schema.versionHash else {
                try connection.run([.once("ROLLBACK")])
                return found
            }
            let stored = StoreTables(try ResolvedSchema(found.metadata.schema), in: schemaName)
            // By bytes: names that are canonically equivalent are different ones.
            let (old, new) = (Set(stored.indexSQL.map { Array($0.utf8) }), Set(tables.indexSQL.map { Array($0.utf8) }))
            let removals = stored.entities.flatMap { table in
                table.indexes.filter { !new.contains(Array(table.creationSQL($0, schema: stored.namespace).utf8)) }
                    .map { table.removalSQL($0, schema: stored.namespace) }
            }
            let search = try SearchAdoption(tables, found, connection)
            (found.generation, found.metadata.format) = (search.generation, search.format)
            try connection.run(
                (removals + tables.indexSQL.filter { !old.contains(Array($0.utf8)) }).map { .once($0) } + search.statements
                    + MetadataTable(connection: connection, tables: tables).replacement(request.schema) + [.once("COMMIT")])
            return found
        } catch let error as StoreError {
            let error = database.namingHolders(in: error, connection)
            connection.post([.once("ROLLBACK")])
            throw named(error, "replace the indexes of the store")
        }
    }

    // MARK: Rights

    /// The statement that reads what the user and the server allow.
    private var rightsStatement: Statement {
        Statement(
            """
            SELECT pg_catalog.pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', current_user::text, ARRAY(
            SELECT c.relname::text FROM pg_catalog.pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1)
            AND c.relkind = 'r' AND NOT (pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_table_privilege(c.oid, 'INSERT')
            AND pg_catalog.has_table_privilege(c.oid, 'UPDATE') AND pg_catalog.has_table_privilege(c.oid, 'DELETE')) ORDER BY 1)::text
            """, [.text(schemaName)])
    }

    /// Checks that the user and the server allow writing.
    /// - Parameter rows: The result of ``rightsStatement``.
    private func checkRights(_ rows: Rows) throws {
        guard !rows.bool(0, 0) else {
            throw StoreError(
                .readOnly, "The server of \(location) is a standby, which only reads. Connect to the primary, or open the store read-only.",
                location: location)
        }
        guard !rows.bool(0, 1) else {
            throw StoreError(
                .readOnly,
                "The user \(rows.text(0, 2) ?? "") of \(location) begins transactions that only read (default_transaction_read_only). "
                    + "Change that, or open the store read-only.", location: location)
        }
        let missing = rows.text(0, 3) ?? "{}"
        guard missing == "{}" else {
            throw StoreError(
                .readOnly,
                "The user \(rows.text(0, 2) ?? "") may not write to the tables \(missing) of \(location). Grant SELECT, INSERT, UPDATE and DELETE on all tables of the schema "
                    + "\(schemaName), or open the store read-only.", location: location)
        }
    }

    /// Returns an error of missing rights with the operation that needs them.
    private func named(_ error: StoreError, _ operation: String) -> StoreError {
        var error = error
        if error.sqlState == "55P03" { error.message = "Cannot \(operation). \(error.message)" }
        guard error.sqlState == "42501", !error.message.hasPrefix("Cannot ") else { return error }
        error.message =
            "Cannot \(operation) \(location): \(error.underlying ?? "the user lacks a right"). Grant the right, or use another user. "
            + "To create a store, the user needs CREATE on the database, or on an empty schema \(schemaName)."
        return error
    }
}

extension StoreTables {
    /// Returns whether the schema was created by its store. The schema `public` never counts as such.
    static func ownsSchema(_ schemaName: String, _ connection: Connection) throws -> Bool {
        guard schemaName != "public" else { return false }
        return try connection.rows("SELECT \"ownsSchema\" FROM \(SQLNames.quoted(schemaName)).polystore_metadata").bool(0, 0)
    }

    /// Returns the schema of the store in a schema of the server.
    static func storedSchema(_ schemaName: String, _ connection: Connection) throws -> ResolvedSchema {
        let rows = try connection.rows("SELECT schema FROM \(SQLNames.quoted(schemaName)).polystore_metadata")
        guard rows.count == 1 else {
            throw StoreError(
                .corrupt, "polystore_metadata of \(connection.location) does not have one row.", location: connection.location)
        }
        return try ResolvedSchema(SchemaDescription(encoded: [UInt8](rows.bytes(0, 0))))
    }

    /// Returns the statements that remove the tables of the store in a schema, whatever model they belong to.
    static func removal(from schemaName: String, _ connection: Connection) throws -> [String] {
        let namespace = SQLNames.quoted(schemaName)
        let schema = try storedSchema(schemaName, connection)
        let isStaged = try connection.rows("SELECT \"isStaged\" FROM \(namespace).polystore_metadata").bool(0, 0)
        // Until a migration is complete, a table with a name of the model is a former one or does not belong to the store.
        let tables = StoreTables(schema, in: schemaName, isStaged: isStaged)
        let found = try connection.rows("SELECT name FROM \(tables.own("names")) WHERE kind = 'former'")
        let former = (0..<found.count).compactMap { found.text($0, 0).flatMap(NULFreeText.decode) }
        // First those that every transaction locks, in the same order.
        let own = (StoreTables.ownNames + StoreTables.searchNames).map { tables.own($0) }
        // Views of others on these tables are removed with them.
        let names = tables.entities.map(\.name) + tables.links.map(\.name)
        return (own + former + names).map { "DROP TABLE IF EXISTS \($0) CASCADE" }
            + ServerFunctions.removal(from: namespace)
    }
}
