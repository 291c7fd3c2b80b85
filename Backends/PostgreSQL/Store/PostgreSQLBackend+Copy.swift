import PolyStoreBackend

extension PostgreSQLBackend {
    /// Copies the tables of one snapshot into another schema, of the same database or of another one, in one transaction. Nothing of the copy remains if it fails, or if this process ends.
    /// - Parameter location: The URL of the copy. What it does not name of timeouts and connections is that of this store.
    /// - Throws: `misuse` for a text that is not the URL of a store in PostgreSQL, `io` if the schema contains tables.
    func copy(to location: String, reporting report: MaintenanceReport) throws {
        if pool.isClosed { throw StoreError(.closed, "The store \(pool.location) is closed.", location: pool.location) }
        let target = try destination(location)
        let reader = try PostgreSQLReadTransaction(pool)
        defer { reader.end() }
        let writer = try target.connect()
        let contents = try target.contents(writer)
        switch contents {
        case .store, .foreign: throw taken(target)
        case .absent, .empty: break
        }
        let tables = StoreTables(pool.tables.schema, in: target.options.schema)
        var metadata = metadata
        metadata.format = tables.storeFormat
        let copy = StoreCopy(
            session: reader.session, writer: writer, tables: tables, metadata: metadata,
            search: try SearchCopy(reader.searches()?.indexes ?? [], to: tables, location: pool.location))
        do {
            try copy.run(createsSchema: contents == .absent, report)
            try commit(writer, target, createsSchema: contents == .absent)
        } catch let error as StoreError {
            writer.post([.once("ROLLBACK")])
            // Another process has created a store there meanwhile.
            throw ["42P07", "42P06", "23505"].contains(error.sqlState) ? taken(target) : error
        }
    }

    /// Commits the copy. If the response is lost, looks whether the copy is there.
    private func commit(_ writer: Connection, _ target: Database, createsSchema: Bool) throws {
        do { try writer.run([.once("COMMIT")]) } catch let error as StoreError where writer.failure != nil {
            guard (try? contains(target, createsSchema: createsSchema)) == true else { throw error }
        }
    }

    /// Returns whether the copy is in the target. Waits for the end of its transaction, which has created the same name.
    private func contains(_ target: Database, createsSchema: Bool) throws -> Bool {
        let connection = try target.connect()
        let tables = StoreTables(pool.tables.schema, in: target.options.schema)
        let creation = createsSchema ? "CREATE SCHEMA \(tables.namespace)" : "CREATE TABLE \(tables.own("metadata")) ()"
        do { try connection.run([.once("BEGIN"), target.waitingForWriters, .once(creation)]) } catch let error as StoreError
            where ["42P07", "42P06", "23505"].contains(error.sqlState)
        {
            try connection.run([.once("ROLLBACK")])
            guard case .store = try target.contents(connection) else { return false }
            return try connection.rows("SELECT \"storeID\" FROM \(tables.own("metadata"))").text(0, 0) == metadata.storeID
        }
        try connection.run([.once("ROLLBACK")])
        return false
    }

    private func destination(_ location: String) throws -> Database {
        let url = try StoreURL(location)
        guard url.engine == "postgresql" else {
            throw StoreError(
                .misuse,
                "A store in PostgreSQL is copied to another schema of a database: postgresql://HOST/DATABASE?schema=NAME. For a file use pg_dump.",
                location: pool.location)
        }
        var defaults = pool.database.options
        defaults.schema = PostgreSQLOptions().schema
        return try StoreEngine.database(url, defaults)
    }

    private func taken(_ target: Database) -> StoreError {
        StoreError(
            .io,
            "Cannot copy the store \(pool.location) to \(target.location): the schema \(target.options.schema) contains tables. Choose another schema, or remove them.",
            location: target.location)
    }
}

/// A copy that is being made.
private struct StoreCopy {
    /// The snapshot that is copied.
    let session: Session
    let writer: Connection
    /// The tables of the copy.
    let tables: StoreTables
    let metadata: StoreMetadata
    let search: SearchCopy

    /// Creates the tables, copies the rows, and creates the indexes, in a transaction that the caller commits.
    func run(createsSchema: Bool, _ report: MaintenanceReport) throws {
        let indexes = Set(tables.indexSQL)
        let creation = (createsSchema ? ["CREATE SCHEMA \(tables.namespace)"] : []) + tables.creationSQL.filter { !indexes.contains($0) }
        try writer.run(
            [.once("BEGIN")] + (creation + ["DELETE FROM \(tables.own("state"))"]).map { .once($0) }
                + MetadataTable(connection: writer, tables: tables).insertion(metadata, ownsSchema: createsSchema)
                + search.preparation)
        // The snapshot exists from its first statement on.
        _ = try session.rows("SELECT version FROM \(session.tables.own("state"))")
        let original = session.tables
        for (name, columns) in [
            ("state", "version, \"lastLogEntry\""), ("sequence", "entity, next"), ("values", "name, value"),
            ("log", "position, version, entry"),
        ] {
            try copy(original.own(name), tables.own(name), columns, "polystore_\(name)", report)
        }
        for (table, new) in zip(original.entities, tables.entities) {
            let columns = ([SQLNames.objectID] + table.columns).joined(separator: ", ")
            try copy(table.name, new.name, columns, table.entity.name, report)
        }
        for (table, new) in zip(original.links, tables.links) {
            let columns = (["source", "target"] + table.positions).joined(separator: ", ")
            try copy(table.name, new.name, columns, table.plainName, report)
        }
        if let condition = search.condition {
            let columns = "\"index\", entity, fields, stemming, \"isComplete\", built"
            try copy("\(original.search) WHERE \(condition)", tables.search, columns, "polystore_search", report)
            try copy("\(original.searchPages) WHERE \(condition)", tables.searchPages, "\"index\", k, v", "polystore_search_pages", report)
        }
        try report(MaintenanceProgress(activity: "indexes"))
        try writer.run(tables.indexSQL.map { .once($0) })
    }

    /// The number of rows between two reports, and of bytes that are sent together.
    private static let (rowsPerReport, chunk) = (1000, 1 << 16)

    /// Copies the rows of a table as the server sends them.
    private func copy(_ from: String, _ to: String, _ columns: String, _ activity: String, _ report: MaintenanceReport) throws {
        var progress = MaintenanceProgress(activity: activity)
        try report(progress)
        let buffer = ByteBuffer(capacity: Self.chunk + 1024)
        try writer.copyIn("COPY \(to) (\(columns)) FROM STDIN (FORMAT binary)") { put in
            try session.connection.copyOut("COPY (SELECT \(columns) FROM \(from)) TO STDOUT (FORMAT binary)") { row in
                buffer.append(row)
                progress.completed += 1
                if progress.completed % Self.rowsPerReport == 0 { try report(progress) }
                return try buffer.count < Self.chunk || put(buffer)
            }
            if buffer.count > 0 { _ = try put(buffer) }
        }
    }
}
