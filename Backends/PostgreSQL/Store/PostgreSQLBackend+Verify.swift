import PolyStoreBackend

extension PostgreSQLBackend {
    /// Compares the tables with the schema, reads every row, and looks for references to missing objects.
    ///
    /// The pages and indexes of a server are checked by its own programs: `pg_amcheck`, and the checksums of pages.
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        let transaction = try PostgreSQLReadTransaction(pool)
        defer { transaction.end() }
        let verifier = StoreVerifier(session: transaction.session, metadata: metadata)
        let findings = try verifier.findings(report)
        return try verifier.hasTables ? findings + transaction.searchFindings(report) : findings
    }
}

/// Verifies the store that a snapshot shows.
private final class StoreVerifier {
    private let session: Session
    private let metadata: StoreMetadata
    /// A Boolean value that indicates whether all tables were found.
    private(set) var hasTables = false

    init(session: Session, metadata: StoreMetadata) { (self.session, self.metadata) = (session, metadata) }

    private var tables: StoreTables { session.tables }

    func findings(_ report: MaintenanceReport) throws -> [String] {
        var progress = MaintenanceProgress(activity: "tables", total: tables.entities.count + tables.links.count)
        try report(progress)
        var findings = try missingObjects()
        guard findings.isEmpty else { return findings }
        hasTables = true
        for table in tables.entities {
            progress.activity = table.entity.name
            findings += try unreadable(table) + danglingReferences(of: table) + contradictions(of: table)
            progress.completed += 1
            try report(progress)
        }
        for (link, table) in zip(tables.schema.links, tables.links) {
            progress.activity = link.name
            findings += try danglingReferences(of: link, table)
            if link.isSymmetric { findings += try contradictions(of: link, table) }
            progress.completed += 1
            try report(progress)
        }
        let stored = try session.rows("SELECT \"storeID\", (SELECT count(*) FROM \(tables.own("state"))) FROM \(tables.own("metadata"))")
        if stored.count != 1 {
            findings.append("polystore_metadata has not exactly one row.")
        } else {
            if stored.text(0, 0) != metadata.storeID { findings.append("The store's id has changed since it was opened.") }
            if stored.integer(0, 1) != 1 { findings.append("polystore_state has not exactly one row.") }
        }
        do { _ = try (session.logBounds(), session.valueNames(prefix: "")) } catch let error as StoreError where error.code == .corrupt {
            findings.append(error.message)
        }
        return findings
    }

    private func texts(_ sql: String, _ parameters: [Parameter] = []) throws -> [String] {
        let found = try session.rows(sql, parameters)
        return (0..<found.count).compactMap { found.text($0, 0) }
    }

    private func missingObjects() throws -> [String] {
        let sql =
            "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
        let existing = Set(try texts(sql, [.text(tables.plainSchema)]))
        let functions = Set(
            try texts(
                "SELECT p.proname::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1",
                [.text(tables.plainSchema)]))
        var findings = ServerFunctions.names.filter { !functions.contains($0) }.map { "The function \($0) is missing." }
        for table in tables.entities {
            if !existing.contains(table.plainName) { findings.append("The table \(table.plainName) is missing.") }
            for index in table.indexes where !existing.contains(index.plainName) {
                findings.append("The index \(index.plainName) is missing.")
            }
        }
        if session.state?.hasSearchIndexes ?? false {
            for name in ["polystore_search", "polystore_search_pages"] where !existing.contains(name) {
                findings.append("The table \(name) is missing.")
            }
        }
        for link in tables.links where !existing.contains(link.plainName) { findings.append("The table \(link.plainName) is missing.") }
        return findings
    }

    /// Reads every row of a table. Returns the first one that cannot be read.
    private func unreadable(_ table: EntityTable) throws -> [String] {
        let cursor = try session.scan(FetchRequest(table.entity)).cursor
        defer { cursor.close() }
        do { while try cursor.next() {} } catch let error as StoreError where error.code == .corrupt && error.engineCode == 0 {
            return [error.message]
        }
        return []
    }

    /// Returns a sentence for each reference of a table to a missing object, for at most a thousand per relationship.
    private func danglingReferences(of table: EntityTable) throws -> [String] {
        let id = SQLNames.objectID
        var findings: [String] = []
        for relationship in table.entity.relationships {
            guard case .foreignKey(let field) = relationship.storage else { continue }
            let (target, column) = (tables.entities[relationship.destination], table.columns[field])
            let first = SQLNames.literal(table.entity.name + " ")
            let second = SQLNames.literal(" refers by \(relationship.name) to \(target.entity.name) ")
            findings += try texts(
                "SELECT \(first) || s.\(id) || \(second) || s.\(column) || ', which is not in the store.' FROM \(table.name) AS s "
                    + "WHERE s.\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(target.name) AS t WHERE t.\(id) = s.\(column)) LIMIT 1000"
            )
        }
        return findings
    }

    /// Returns a sentence for each missing object at an end of a link, for at most a thousand per end.
    private func danglingReferences(of link: LinkTable, _ table: LinkSQL) throws -> [String] {
        var findings: [String] = []
        for (end, entity) in [("source", tables.entities[link.source]), ("target", tables.entities[link.target])] {
            let first = SQLNames.literal("\(link.name) links \(entity.entity.name) ")
            findings += try texts(
                "SELECT DISTINCT \(first) || l.\(end) || ', which is not in the store.' FROM \(table.name) AS l "
                    + "WHERE NOT EXISTS (SELECT 1 FROM \(entity.name) AS t WHERE t.\(SQLNames.objectID) = l.\(end)) LIMIT 1000")
        }
        return findings
    }

    /// Returns a sentence for each to-one relationship whose to-one inverse does not lead back, for at most a thousand per relationship.
    private func contradictions(of table: EntityTable) throws -> [String] {
        let id = SQLNames.objectID
        var findings: [String] = []
        for relationship in table.entity.relationships {
            guard case .foreignKey(let field) = relationship.storage, let inverse = relationship.inverse else { continue }
            let (target, column) = (tables.entities[relationship.destination], table.columns[field])
            let back = target.entity.relationships[inverse]
            guard case .foreignKey(let backField) = back.storage else { continue }
            let first = SQLNames.literal(table.entity.name + " ")
            let second = SQLNames.literal(" leads by \(relationship.name) to \(target.entity.name) ")
            let third = SQLNames.literal(", whose inverse \(back.name) does not lead back.")
            findings += try texts(
                "SELECT \(first) || s.\(id) || \(second) || s.\(column) || \(third) FROM \(table.name) AS s "
                    + "JOIN \(target.name) AS t ON t.\(id) = s.\(column) WHERE t.\(target.columns[backField]) IS DISTINCT FROM s.\(id) LIMIT 1000"
            )
        }
        return findings
    }

    /// Returns a sentence for each pair of a symmetric relationship that exists in one direction only, for at most a thousand.
    private func contradictions(of link: LinkTable, _ table: LinkSQL) throws -> [String] {
        let name = SQLNames.literal("\(link.name) is symmetric and links ")
        return try texts(
            "SELECT \(name) || l.source || ' with ' || l.target || ', but not the other way round.' FROM \(table.name) AS l "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS b WHERE b.source = l.target AND b.target = l.source) LIMIT 1000")
    }
}
