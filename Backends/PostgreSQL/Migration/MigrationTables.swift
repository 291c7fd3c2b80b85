import PolyStoreBackend

/// The tables of a migration: those of the store before it, those that it fills, and the names that these have after it.
struct MigrationTables {
    private let change: SchemaChange
    private let source: StoreTables
    /// The tables that the migration fills.
    let staged: StoreTables
    private let final: StoreTables

    init(_ change: SchemaChange, in plainSchema: String) {
        self.change = change
        source = StoreTables(change.source, in: plainSchema)
        staged = StoreTables(change.target, in: plainSchema, isStaged: true)
        final = StoreTables(change.target, in: plainSchema)
    }

    // MARK: Filling

    /// Creates the tables, fills those that are carried over, and creates the indexes.
    ///
    /// A statement of the migration waits for a table that another session has locked for a limited time.
    /// - Returns: The first unique index that migrated records violate. This index is then missing.
    func fill(_ connection: Connection, _ database: Database) throws -> StoreError? {
        var statements = [database.waitingForTables]
        statements += staged.entities.map { Statement.once($0.tableSQL) } + staged.links.flatMap(\.creation).map { .once($0) }
        for (table, part) in zip(staged.entities, change.entities) {
            if case .carried(let entity, let fields) = part { statements.append(try copy(source.entities[entity], to: table, fields)) }
        }
        for (table, part) in zip(staged.links, change.links) {
            guard case .carried(let index, let isReversed) = part else { continue }
            let ends = isReversed ? ["target", "source"] : ["source", "target"]
            let positions = table.positions.map { name in
                guard isReversed else { return name }
                return name == "\"targetPosition\"" ? "\"sourcePosition\"" : "\"targetPosition\""
            }
            statements.append(
                .once(
                    "INSERT INTO \(table.name) (\((["source", "target"] + table.positions).joined(separator: ", "))) "
                        + "SELECT \((ends + positions).joined(separator: ", ")) FROM \(source.links[index].name)"))
        }
        try connection.run(statements + sequenceStatements)
        var violation: StoreError?
        for table in staged.entities {
            for index in table.indexes {
                let sql = table.creationSQL(index, schema: staged.namespace)
                do { try connection.run([.once("SAVEPOINT polystore"), .once(sql), .once("RELEASE SAVEPOINT polystore")]) } catch let error
                    as StoreError where error.sqlState == "23505"
                {
                    try connection.run([.once("ROLLBACK TO SAVEPOINT polystore"), .once("RELEASE SAVEPOINT polystore")])
                    if violation == nil { violation = try duplicate(of: index, table, error, connection) }
                }
            }
        }
        return violation
    }

    /// Returns the statement that copies the rows of a table.
    private func copy(_ old: EntityTable, to table: EntityTable, _ fields: [SchemaChange.FieldSource]) throws -> Statement {
        var parameters: [Parameter] = []
        func place(_ value: Value, _ field: Field) throws -> String {
            parameters.append(try Self.parameter(value, field))
            return "$\(parameters.count)"
        }
        let values = try zip(fields, table.entity.fields).map { part, field in
            switch part {
            case .constant(let value): return value.isNull ? "NULL" : try place(value, field)
            case .field(let index, let replacement):
                let column = old.columns[index]
                guard !replacement.isNull, old.entity.fields[index].isOptional else { return column }
                return "coalesce(\(column)::\(table.formats[field.index].type.name), \(try place(replacement, field)))"
            }
        }
        return Statement(
            "INSERT INTO \(table.name) (\(([SQLNames.objectID] + table.columns).joined(separator: ", "))) "
                + "SELECT \(([SQLNames.objectID] + values).joined(separator: ", ")) FROM \(old.name) ORDER BY \(SQLNames.objectID)",
            parameters)
    }

    /// Returns a constant as the server stores it.
    private static func parameter(_ value: Value, _ field: Field) throws -> Parameter {
        switch (value, field.type) {
        case (.integer(let integer), .bool): return .bool(integer != 0)
        case (.integer(let integer), .uint64): return .unsigned(UInt64(bitPattern: integer))
        case (.integer(let integer), _): return .integer(integer)
        case (.real(let real), _): return .real(Value.normalized(real))
        case (.text(let text), _): return .text(text)
        case (.blob(let bytes), .uuid): return .uuid(bytes)
        case (.blob(let bytes), .decimal):
            guard let decimal = Parameter.decimal(bytes) else {
                throw StoreError(.misuse, "The value of \(field.name) is not a decimal.", attribute: field.name)
            }
            return decimal
        case (.blob(let bytes), _): return .bytes(bytes)
        case (.null, _): throw StoreError(.misuse, "\(field.name) has no value.", attribute: field.name)
        }
    }

    /// Gives the row id sequences the names of the target entities.
    private var sequenceStatements: [Statement] {
        let table = staged.own("sequence")
        let pairs: [(old: String, new: String)] = zip(change.entities, change.target.entities).compactMap { part, entity in
            switch part {
            case .empty(let origin): origin.map { (change.source.entities[$0].name, entity.name) }
            case .carried(let origin, _): (change.source.entities[origin].name, entity.name)
            }
        }
        let old = ArrayParameter(.text)
        let new = ArrayParameter(.text)
        for pair in pairs {
            for (name, array) in [(pair.old, old), (pair.new, new)] {
                var name = name
                array.append { buffer in name.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
            }
        }
        // The aggregation ends before the first row is inserted, so that every name is free.
        return [
            Statement(
                "WITH removed AS (DELETE FROM \(table) RETURNING entity, next), former AS MATERIALIZED "
                    + "(SELECT array_agg(entity) AS entities, array_agg(next) AS ids FROM removed) INSERT INTO \(table) (entity, next) "
                    + "SELECT names.new, s.next FROM former CROSS JOIN unnest(former.entities, former.ids) AS s(entity, next) "
                    + "JOIN unnest($1::text[], $2::text[]) AS names(old, new) ON names.old COLLATE \"C\" = s.entity",
                [old.parameter, new.parameter])
        ]
    }

    /// Finds a record that violates a unique index.
    private func duplicate(
        of index: EntityTable.Index, _ table: EntityTable, _ failure: StoreError, _ connection: Connection
    ) throws -> StoreError {
        let columns = index.fields.map { table.columns[$0] }
        let id = SQLNames.objectID
        let found = try connection.rows(
            "SELECT min(\(id)), max(\(id)) FROM \(table.name) WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
                + "GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1")
        let names = index.fields.map { table.entity.fields[$0].name }.joined(separator: ", ")
        var error = failure
        (error.entity, error.attribute) = (table.entity.name, names)
        error.message = "\(table.entity.name).\(names) must be unique, and several objects have the same value. The store was not migrated."
        if found.count > 0, let first = found.integer(0, 0), let second = found.integer(0, 1) {
            error.rowID = second
            error.message =
                "\(table.entity.name).\(names) of object \(second) must be unique, and object \(first) has the same value. The store was not migrated."
        }
        return error
    }

    // MARK: Replacing

    /// Removes the former tables and gives the new ones their names, unless others read the former tables for a while.
    /// - Returns: The statements that complete the commit.
    func replacement(_ connection: Connection, _ database: Database) throws -> [Statement] {
        let former = source.entities.map(\.name) + source.links.map(\.name)
        let metadata = MetadataTable(connection: connection, tables: final)
        // Before the tables are replaced, and as well if that happens later.
        try checkNames(connection)
        let search = try SearchMigration(change, final, connection)
        try connection.run(search.statements + rights(connection).map { .once($0) })
        do {
            try connection.run(
                [.once("SAVEPOINT polystore_names"), database.endingWhenIdle, database.waitingBriefly]
                    + MigrationCompletion(staged: staged, final: final).statements(removing: former + search.removed))
            return metadata.migration(change.target, keeping: [])
        } catch let error as StoreError where error.sqlState == "55P03" {
            try connection.run([.once("ROLLBACK TO SAVEPOINT polystore_names"), database.waitingForTables])
            return metadata.migration(change.target, keeping: former + search.removed)
        }
    }

    /// Returns the statements that give the new tables the owner of the store, and the rights that others have on the tables whose rows they receive.
    private func rights(_ connection: Connection) throws -> [String] {
        let entities = zip(staged.entities, change.entities).map { table, part -> (table: String, model: String?) in
            if case .carried(let entity, _) = part { (table.name, source.entities[entity].plainName) } else { (table.name, nil) }
        }
        let links = zip(staged.links, change.links).map { table, part -> (table: String, model: String?) in
            if case .carried(let link, _) = part { (table.name, source.links[link].plainName) } else { (table.name, nil) }
        }
        return try StoreOwner.read(final.plainSchema, connection)?.statements(entities + links, in: final.plainSchema, connection) ?? []
    }

    private var conflicts: NameConflicts {
        NameConflicts(final: final, former: source.entities.map(\.name) + source.links.map(\.name))
    }

    /// Checks that the names that the tables and indexes receive are free, or those of former tables.
    private func checkNames(_ connection: Connection) throws {
        guard let found = try conflicts.first(connection) else { return }
        throw StoreError(
            .io,
            "Cannot complete the migration of the store \(connection.location): the schema contains \(found). The store was not migrated.",
            location: connection.location)
    }

    /// Returns an error of the commit in the words of a migration. Ends the transaction if it looks for the cause.
    func explained(_ error: StoreError, _ connection: Connection) -> StoreError {
        var error = error
        let start = "Cannot complete the migration of the store \(connection.location): "
        if error.sqlState == "2BP01" {
            error.message =
                start + "other objects of the database, such as views, depend on its tables. The store was not migrated. Remove them first."
        } else if NameConflicts.isRefusal(error) {
            // The object has been created since the migration began.
            _ = try? connection.run([.once("ROLLBACK")])
            if let found = try? conflicts.first(connection) {
                error.message = start + "the schema contains \(found). The store was not migrated."
            }
        }
        return error
    }
}
