import CSQLite
import PolyStoreBackend

/// Migrates the tables of a store from one schema to another, in the open transaction of a connection.
///
/// Tables that keep all their columns are altered in place, which writes no row unless a value replaces null. Other tables are created under their new name and
/// filled from the old table. A table that changes its name has a temporary name in between, so that tables can exchange names. Columns are read and written by
/// name, so their order may differ from that of a new store. The only other difference is the `DEFAULT` clause of added columns.
struct SchemaMigrator {
    let connection: Connection
    let change: SchemaChange
    let source: StoreTables
    let target: StoreTables
    /// The names of the tables and indexes of the store, case-folded as SQLite compares them.
    private let existing: Set<[UInt8]>
    private let entities: [CarriedTable?]

    init(_ connection: Connection, _ change: SchemaChange, source: StoreTables, target: StoreTables) throws {
        self.connection = connection
        self.change = change
        self.source = source
        self.target = target
        existing = Set(try connection.texts("SELECT name FROM sqlite_master").map(SQLNames.folded))
        entities = zip(change.entities, target.entities).map { part, table in
            guard case .carried(let entity, let fields) = part else { return nil }
            return CarriedTable(source: source.entities[entity], target: table, fields: fields)
        }
    }

    /// Migrates everything except the metadata.
    /// - Returns: the first unique index that migrated records violate; this index is then missing.
    func run() throws -> StoreError? {
        let kept = keptIndexes
        try dropIndexes(except: kept)
        try moveTables()
        for table in target.entities { try makeTable(table) }
        for table in target.links { try makeLinks(table) }
        try dropOldTables()
        try renameSequences()
        try renameMisorderedColumns()
        return try createIndexes(except: kept)
    }

    // MARK: - Names

    /// Returns the temporary name of a source table. The prefix is reserved for this library, so no entity can have the name.
    private func temporaryName(entity: Int) -> String { "\"polystore_old_entity_\(entity)\"" }
    private func temporaryName(links: Int) -> String { "\"polystore_old_links_\(links)\"" }

    // MARK: - Indexes

    /// The names of the indexes that are kept. SQLite updates them with their table.
    private var keptIndexes: Set<String> {
        var kept: Set<String> = []
        for case let table? in entities where table.isAltered {
            for index in table.target.indexes where existing.contains(SQLNames.folded(index.plainName)) && table.keeps(index) {
                kept.insert(index.plainName)
            }
        }
        for (part, table) in zip(change.links, target.links) {
            guard case .carried(let index, isReversed: false) = part, let name = table.inverseName, name == source.links[index].inverseName
            else { continue }
            kept.insert(name)
        }
        return kept
    }

    private func dropIndexes(except kept: Set<String>) throws {
        for name in source.entities.flatMap({ $0.indexes.map(\.plainName) }) + source.links.compactMap(\.inverseName)
        where !kept.contains(name) {
            try connection.execute("DROP INDEX IF EXISTS \(SQLNames.quoted(name))")
        }
    }

    private func createIndexes(except kept: Set<String>) throws -> StoreError? {
        var violation: StoreError?
        for table in target.entities {
            for (index, sql) in zip(table.indexes, table.indexSQL) where !kept.contains(index.plainName) {
                let code = sqlite3_exec(connection.handle, sql, nil, nil, nil)
                if code == SQLITE_OK { continue }
                let error = connection.error(code, "Creating the index \(index.plainName)")
                guard sqlite3_extended_errcode(connection.handle) == polystore_sqlite_constraint_unique else { throw error }
                if violation == nil { violation = try duplicate(of: index, table, error) }
            }
        }
        for table in target.links {
            guard let name = table.inverseName, !kept.contains(name) else { continue }
            for sql in table.creation.dropFirst() { try connection.execute(sql) }
        }
        return violation
    }

    /// Finds a record that violates a unique index.
    private func duplicate(of index: EntityTable.Index, _ table: EntityTable, _ failure: StoreError) throws -> StoreError {
        let columns = index.fields.map { table.columns[$0] }
        let id = SQLNames.objectID
        let found = try connection.texts(
            "SELECT min(\(id)) || ' ' || max(\(id)) FROM \(table.name) WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
                + "GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1")
        let ids = (found.first ?? "").split(separator: " ").compactMap { Int64($0) }
        let names = index.fields.map { table.entity.fields[$0].name }.joined(separator: ", ")
        var error = failure
        error.code = .constraint
        error.entity = table.entity.name
        error.attribute = names
        error.rowID = ids.last
        error.message = "\(table.entity.name).\(names) must be unique, and several objects have the same value."
        if ids.count == 2 {
            error.message = "\(table.entity.name).\(names) of object \(ids[1]) must be unique, and object \(ids[0]) has the same value."
        }
        error.message += " The store was not migrated."
        return error
    }

    // MARK: - Tables

    /// Gives every source table that is not kept under its name a temporary name, or drops it.
    private func moveTables() throws {
        var moved = Set<Int>()
        for case let table? in entities {
            moved.insert(table.source.entity.index)
            guard !table.isAltered || table.source.name != table.target.name else { continue }
            try rename(table.source.name, temporaryName(entity: table.source.entity.index))
        }
        for table in source.entities where !moved.contains(table.entity.index) { try connection.execute("DROP TABLE \(table.name)") }
        var movedLinks = Set<Int>()
        for (part, table) in zip(change.links, target.links) {
            guard case .carried(let index, let isReversed) = part else { continue }
            movedLinks.insert(index)
            guard isReversed || source.links[index].name != table.name else { continue }
            try rename(source.links[index].name, temporaryName(links: index))
        }
        for (index, table) in source.links.enumerated() where !movedLinks.contains(index) {
            try connection.execute("DROP TABLE \(table.name)")
        }
    }

    private func rename(_ name: String, _ newName: String) throws { try connection.execute("ALTER TABLE \(name) RENAME TO \(newName)") }

    private func makeTable(_ table: EntityTable) throws {
        guard let carried = entities[table.entity.index] else { return try connection.execute(table.tableSQL) }
        let hasMoved = !carried.isAltered || carried.source.name != table.name
        let name = hasMoved ? temporaryName(entity: carried.source.entity.index) : table.name
        if carried.isAltered {
            try carried.alter(name, connection)
            if hasMoved { try rename(name, table.name) }
        } else {
            try connection.execute(table.tableSQL)
            try carried.copyRows(from: name, connection)
        }
    }

    private func makeLinks(_ table: LinkSQL) throws {
        guard case .carried(let index, let isReversed) = change.links[table.index] else { return try connection.execute(table.creation[0]) }
        let name = temporaryName(links: index)
        if isReversed {
            try connection.execute(table.creation[0])
            let reversed = table.positions.map { $0 == "targetPosition" ? "sourcePosition" : "targetPosition" }
            try connection.execute(
                "INSERT INTO \(table.name) (\((["source", "target"] + table.positions).joined(separator: ", "))) "
                    + "SELECT \((["target", "source"] + reversed).joined(separator: ", ")) FROM \(name) ORDER BY target, source")
        } else if source.links[index].name != table.name {
            try rename(name, table.name)
        }
    }

    /// Drops the source tables whose rows were copied.
    private func dropOldTables() throws {
        for case let table? in entities where !table.isAltered {
            try connection.execute("DROP TABLE \(temporaryName(entity: table.source.entity.index))")
        }
        for case .carried(let index, isReversed: true) in change.links {
            try connection.execute("DROP TABLE \(temporaryName(links: index))")
        }
    }

    // MARK: - Sequences and misordered columns

    /// Renames the row id sequences to the names of the target entities.
    private func renameSequences() throws {
        var next: [Int64?] = []
        for table in source.entities { next.append(try IDSequence(connection: connection, table: table).peek()) }
        try connection.execute("DELETE FROM polystore_sequence")
        for (part, table) in zip(change.entities, target.entities) {
            let origin: Int? =
                switch part {
                case .empty(let rowIDsOf): rowIDsOf
                case .carried(let entity, _): entity
                }
            guard let origin, let value = next[origin] else { continue }
            try IDSequence(connection: connection, table: table).continue(at: value)
        }
    }

    /// Stores the names of the columns that SQLite orders differently under their target names.
    private func renameMisorderedColumns() throws {
        var before = MisorderedColumns(source)
        let stored = try connection.texts("SELECT coalesce(nan, '') FROM polystore_state").first ?? ""
        Array(stored.utf8).withUnsafeBytes { before.read($0, source) }
        var after = MisorderedColumns(target)
        for case let table? in entities {
            for (field, part) in zip(table.target.entity.fields, table.fields) where MisorderedColumns.canBeListed(field) {
                let isListed =
                    switch part {
                    case .constant(let value): value.isMisordered(as: field)
                    case .field(let index, let replacement):
                        before.listed[table.source.entity.index].contains(index) || replacement.isMisordered(as: field)
                    }
                if isListed { after.insert(field.index, of: table.target) }
            }
        }
        connection.misordered = after
        if !stored.isEmpty || !after.text.isEmpty { try connection.storeMisordered() }
    }
}

extension Value {
    /// Returns whether SQLite orders the stored form of the value differently; see ``MisorderedColumns``.
    fileprivate func isMisordered(as field: Field) -> Bool {
        switch self {
        case .real(let value): value.isNaN
        case .integer(let value): value < 0 && field.type == .uint64
        default: false
        }
    }
}
