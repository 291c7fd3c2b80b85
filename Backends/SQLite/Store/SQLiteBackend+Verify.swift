import PolyStoreBackend

extension SQLiteBackend {
    /// Runs SQLite's integrity check of every page and index, then checks the tables of this library.
    ///
    /// The integrity check counts as half of the work. SQLite does not report its progress, but calls back so that it can be cancelled.
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        // Plain indexes may still be under construction, and a read-only store may lack them. Read before the snapshot begins, because the snapshot may be
        // older than the completion of an index.
        try pool.checkMayBeVerified()
        let isIndexing = pool.isReadOnly || pool.indexBuilder?.isRunning == true
        let connection = try pool.borrowReader()
        defer { pool.giveBack(reader: connection) }
        do {
            _ = try connection.begin(writing: false)
            defer { connection.rollback() }
            let failures = connection.failedReads
            let tableCount = pool.tables.entities.count + pool.tables.links.count
            var progress = MaintenanceProgress(activity: "pages", total: 2 * tableCount)
            var findings: [String] = []
            try connection.interruptible(
                by: { try report(progress) },
                during: {
                    findings = try connection.texts("PRAGMA integrity_check").filter { $0 != "ok" }
                    // The check lists pages that it could not read, which need not be damaged.
                    try connection.checkReads(since: failures, "Verifying the store")
                    let missing = try missingObjects(connection, isIndexing: isIndexing)
                    findings += missing
                    guard missing.isEmpty else { return }
                    progress.completed = tableCount
                    for table in pool.tables.entities {
                        progress.activity = table.entity.name
                        findings += try danglingReferences(of: table, connection)
                        findings += try contradictions(of: table, connection)
                        progress.completed += 1
                    }
                    findings += try searchFindings(connection, report: { try report(progress) })
                    for (link, table) in zip(pool.tables.schema.links, pool.tables.links) {
                        progress.activity = link.name
                        findings += try danglingReferences(of: link, table, connection)
                        if link.isSymmetric { findings += try contradictions(of: link, table, connection) }
                        progress.completed += 1
                    }
                })
            try report(progress)
            let stored = try MetadataTable(connection: connection).read()
            if stored.schema.versionHash != stored.schemaHash {
                findings.append("The schema in polystore_metadata does not have its hash.")
            }
            if stored.storeID != metadata.storeID { findings.append("The store's id has changed since it was opened.") }
            if try connection.integer("SELECT count(*) FROM polystore_state") != 1 {
                findings.append("polystore_state has not exactly one row.")
            }
            findings += try NamedValueTable(connection: connection).findings()
            findings += try LogTable(connection: connection).findings()
            return findings
        } catch let error as StoreError where error.code == .corrupt {
            return [error.description]
        }
    }

    private func missingObjects(_ connection: Connection, isIndexing: Bool) throws -> [String] {
        let existing = Set(try connection.texts("SELECT name FROM sqlite_master"))
        var findings: [String] = []
        for table in pool.tables.entities {
            if !existing.contains(table.entity.name) { findings.append("The table \(table.entity.name) is missing.") }
            for index in table.indexes where !existing.contains(index.plainName) && (index.isUnique || !isIndexing) {
                findings.append("The index \(index.plainName) is missing.")
            }
        }
        findings += try missingSearchTables(connection, existing, isIndexing: isIndexing)
        for link in pool.tables.links where !existing.contains(link.plainName) {
            findings.append("The table \(link.plainName) is missing.")
        }
        return findings
    }

    /// Returns a sentence for each reference of a table to a missing object, for at most a thousand per relationship.
    private func danglingReferences(of table: EntityTable, _ connection: Connection) throws -> [String] {
        let id = SQLNames.objectID
        var findings: [String] = []
        for relationship in table.entity.relationships {
            guard case .foreignKey(let field) = relationship.storage else { continue }
            let (target, column) = (pool.tables.entities[relationship.destination], table.columns[field])
            let first = SQLNames.literal(table.entity.name + " ")
            let second = SQLNames.literal(" refers by \(relationship.name) to \(target.entity.name) ")
            findings += try connection.texts(
                "SELECT \(first) || s.\(id) || \(second) || s.\(column) || ', which is not in the store.' FROM \(table.name) AS s "
                    + "WHERE s.\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(target.name) AS t WHERE t.\(id) = s.\(column)) "
                    + "LIMIT 1000")
        }
        return findings
    }

    /// Returns a sentence for each missing object at an end of a link, for at most a thousand per end.
    private func danglingReferences(of link: LinkTable, _ table: LinkSQL, _ connection: Connection) throws -> [String] {
        let id = SQLNames.objectID
        var findings: [String] = []
        for (end, entity) in [("source", pool.tables.entities[link.source]), ("target", pool.tables.entities[link.target])] {
            findings += try connection.texts(
                "SELECT DISTINCT \(SQLNames.literal("\(link.name) links \(entity.entity.name) ")) || l.\(end) || ', which is not in the store.' "
                    + "FROM \(table.name) AS l WHERE NOT EXISTS (SELECT 1 FROM \(entity.name) AS t WHERE t.\(id) = l.\(end)) LIMIT 1000")
        }
        return findings
    }

    /// Returns a sentence for each to-one relationship whose to-one inverse does not lead back, for at most a thousand per relationship.
    private func contradictions(of table: EntityTable, _ connection: Connection) throws -> [String] {
        let id = SQLNames.objectID
        var findings: [String] = []
        for relationship in table.entity.relationships {
            guard case .foreignKey(let field) = relationship.storage, let inverse = relationship.inverse else { continue }
            let (target, column) = (pool.tables.entities[relationship.destination], table.columns[field])
            let back = target.entity.relationships[inverse]
            guard case .foreignKey(let backField) = back.storage else { continue }
            let first = SQLNames.literal(table.entity.name + " ")
            let second = SQLNames.literal(" leads by \(relationship.name) to \(target.entity.name) ")
            let third = SQLNames.literal(", whose inverse \(back.name) does not lead back.")
            findings += try connection.texts(
                "SELECT \(first) || s.\(id) || \(second) || s.\(column) || \(third) FROM \(table.name) AS s "
                    + "JOIN \(target.name) AS t ON t.\(id) = s.\(column) WHERE t.\(target.columns[backField]) IS NOT s.\(id) LIMIT 1000")
        }
        return findings
    }

    /// Returns a sentence for each pair of a symmetric relationship that exists in one direction only, for at most a thousand.
    private func contradictions(of link: LinkTable, _ table: LinkSQL, _ connection: Connection) throws -> [String] {
        let name = SQLNames.literal("\(link.name) is symmetric and links ")
        return try connection.texts(
            "SELECT \(name) || l.source || ' with ' || l.target || ', but not the other way round.' FROM \(table.name) AS l "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS b WHERE b.source = l.target AND b.target = l.source) LIMIT 1000")
    }
}
