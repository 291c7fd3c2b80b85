import CSQLite
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// The full-text indexes of a store: `polystore_search` has a row for each, `polystore_search_fields` one for each of their fields, and `polystore_search_1` the pages of the index with the
/// number 1. The first index creates the tables, and the removal of the last one drops them; a store without them has no full-text indexes.
struct SearchTables {
    let connection: Connection

    /// Returns the name of the table of the pages of an index.
    static func pages(_ number: UInt32) -> String { "polystore_search_\(number)" }

    /// The values that determine the contents of an index.
    struct Name: Hashable {
        let entity: String
        let fields: [String]
        let stemming: String

        init(_ index: SearchIndex, of entity: Entity) {
            self.init(entity: entity.name, fields: index.fieldNames, stemming: index.options.stemming.rawValue)
        }

        init(entity: String, fields: [String], stemming: String) {
            (self.entity, self.fields, self.stemming) = (entity, fields, stemming)
        }

        /// Names in an order that does not depend on the order of declarations.
        fileprivate static func precedes(_ left: Name, _ right: Name) -> Bool {
            (left.entity, left.stemming) != (right.entity, right.stemming)
                ? (left.entity, left.stemming) < (right.entity, right.stemming) : left.fields.lexicographicallyPrecedes(right.fields)
        }
    }

    /// Returns the names of the full-text indexes of a model.
    static func names(_ schema: ResolvedSchema) -> Set<Name> {
        Set(schema.entities.flatMap { entity in entity.searchIndexes.map { Name($0, of: entity) } })
    }

    // MARK: Reading

    /// Returns whether the tables exist in the version that the connection reads.
    func exist() throws -> Bool {
        let statement = try connection.kept("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'polystore_search'")
        defer { statement.reset() }
        return try row(statement)
    }

    /// Returns the numbers of the indexes by their names.
    func numbers() throws -> [Name: UInt32] {
        guard try exist() else { return [:] }
        let fields = try fields()
        let statement = try connection.kept("SELECT number, entity, stemming FROM polystore_search ORDER BY number")
        defer { statement.reset() }
        var found: [Name: UInt32] = [:]
        while try row(statement) {
            guard let number = UInt32(exactly: sqlite3_column_int64(statement.handle, 0)), let names = fields[number] else {
                throw corrupt("The number or the fields of an index")
            }
            found[Name(entity: try text(statement, 1), fields: names, stemming: try text(statement, 2))] = number
        }
        return found
    }

    private func fields() throws -> [UInt32: [String]] {
        let statement = try connection.kept("SELECT number, field FROM polystore_search_fields ORDER BY number, position")
        defer { statement.reset() }
        var found: [UInt32: [String]] = [:]
        while try row(statement) {
            guard let number = UInt32(exactly: sqlite3_column_int64(statement.handle, 0)) else { throw corrupt("The number of an index") }
            found[number, default: []].append(try text(statement, 1))
        }
        return found
    }

    /// Returns the indexes for the schema of the connection, without those of other entities and fields.
    func indexes() throws -> [StoredSearchIndex] {
        let entities = Dictionary(connection.tables.schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return try numbers().sorted { $0.value < $1.value }.compactMap { name, number in
            guard let entity = entities[name.entity], let stemming = SearchOptions.Stemming(rawValue: name.stemming) else { return nil }
            let fields = name.fields.compactMap { entity.field(named: $0) }.filter { $0.type == .string }.map(\.index)
            guard fields.count == name.fields.count else { return nil }
            return StoredSearchIndex(number: number, entity: entity.index, fields: fields, options: SearchOptions(stemming: stemming))
        }
    }

    /// Returns how much of an index is built.
    func state(_ number: UInt32) throws -> SearchIndexState {
        let statement = try connection.kept("SELECT isComplete, built FROM polystore_search WHERE number = ?")
        defer { statement.reset() }
        sqlite3_bind_int64(statement.handle, 1, Int64(number))
        // Another process may have dropped the index.
        guard try row(statement) else { return .building(through: nil) }
        if sqlite3_column_int64(statement.handle, 0) != 0 { return .complete }
        return .building(
            through: sqlite3_column_type(statement.handle, 1) == SQLITE_NULL ? nil : sqlite3_column_int64(statement.handle, 1))
    }

    // MARK: Writing

    /// Sets how much of an index is built.
    func setState(_ number: UInt32, _ state: SearchIndexState) throws {
        let statement = try connection.kept("UPDATE polystore_search SET isComplete = ?, built = ? WHERE number = ?")
        sqlite3_bind_int64(statement.handle, 1, state == .complete ? 1 : 0)
        if case .building(let last?) = state {
            sqlite3_bind_int64(statement.handle, 2, last)
        } else {
            sqlite3_bind_null(statement.handle, 2)
        }
        sqlite3_bind_int64(statement.handle, 3, Int64(number))
        try connection.run(statement, "Writing the state of a full-text index")
    }

    /// Drops the indexes that a model does not have, and creates the others.
    /// - Parameters:
    ///   - state: The state of the new indexes.
    ///   - carried: Returns the name that an index gets; nil to drop it.
    func replace(with schema: ResolvedSchema, state: SearchIndexState, carrying carried: (Name) -> Name? = { $0 }) throws {
        let wanted = Self.names(schema)
        let present = try numbers().sorted { $0.value < $1.value }
        var next = (present.last?.value ?? 0) + 1
        var kept: Set<Name> = []
        for (name, number) in present {
            guard let new = carried(name), wanted.contains(new), kept.insert(new).inserted else {
                try drop(number)
                continue
            }
            if new != name { try rename(number, new) }
        }
        for name in wanted.subtracting(kept).sorted(by: Name.precedes) {
            try create(next, name, state)
            next += 1
        }
        if wanted.isEmpty, try exist() {
            try connection.execute("DROP TABLE polystore_search_fields")
            try connection.execute("DROP TABLE polystore_search")
        }
        connection.searchIndexes = try indexes()
    }

    private func create(_ number: UInt32, _ name: Name, _ state: SearchIndexState) throws {
        if try !exist() {
            try connection.execute(
                "CREATE TABLE polystore_search (number INTEGER PRIMARY KEY, entity TEXT NOT NULL, stemming TEXT NOT NULL, "
                    + "isComplete INTEGER NOT NULL, built INTEGER)")
            try connection.execute(
                "CREATE TABLE polystore_search_fields (number INTEGER, position INTEGER, field TEXT NOT NULL, "
                    + "PRIMARY KEY (number, position)) WITHOUT ROWID")
        }
        try createPages(number)
        let statement = try connection.kept("INSERT INTO polystore_search (number, entity, stemming, isComplete) VALUES (?, ?, ?, 0)")
        sqlite3_bind_int64(statement.handle, 1, Int64(number))
        try bind(statement, 2, name.entity)
        try bind(statement, 3, name.stemming)
        try connection.run(statement, "Adding a full-text index")
        try writeFields(number, name)
        try setState(number, state)
    }

    private func createPages(_ number: UInt32) throws {
        try connection.execute("CREATE TABLE IF NOT EXISTS \(Self.pages(number)) (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID")
    }

    /// Makes an index incomplete, so that it is built from its first document on.
    /// - Returns: Whether the store has the index. Another process may have dropped it.
    func restart(_ number: UInt32) throws -> Bool {
        guard try numbers().values.contains(number) else { return false }
        try createPages(number)
        try setState(number, .building(through: nil))
        return true
    }

    private func writeFields(_ number: UInt32, _ name: Name) throws {
        let statement = try connection.kept("INSERT INTO polystore_search_fields (number, position, field) VALUES (?, ?, ?)")
        for (position, field) in name.fields.enumerated() {
            sqlite3_bind_int64(statement.handle, 1, Int64(number))
            sqlite3_bind_int64(statement.handle, 2, Int64(position))
            try bind(statement, 3, field)
            try connection.run(statement, "Adding a full-text index")
        }
    }

    private func rename(_ number: UInt32, _ name: Name) throws {
        let statement = try connection.kept("UPDATE polystore_search SET entity = ? WHERE number = ?")
        try bind(statement, 1, name.entity)
        sqlite3_bind_int64(statement.handle, 2, Int64(number))
        try connection.run(statement, "Renaming a full-text index")
        try connection.execute("DELETE FROM polystore_search_fields WHERE number = \(number)")
        try writeFields(number, name)
    }

    private func drop(_ number: UInt32) throws {
        try connection.execute("DROP TABLE IF EXISTS \(Self.pages(number))")
        try connection.execute("DELETE FROM polystore_search WHERE number = \(number)")
        try connection.execute("DELETE FROM polystore_search_fields WHERE number = \(number)")
    }

    // MARK: Statements

    private func bind(_ statement: Statement, _ index: Int32, _ text: String) throws {
        let code = statement.bind(index, .text(text))
        guard code == SQLITE_OK else { throw connection.error(code, "Adding a full-text index") }
    }

    private func row(_ statement: Statement) throws -> Bool {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, "Reading the full-text indexes") }
        return code == SQLITE_ROW
    }

    private func text(_ statement: Statement, _ column: Int32) throws -> String {
        guard let text = String(validating: statement.bytes(column), as: UTF8.self) else { throw corrupt("A name") }
        return text
    }

    private func corrupt(_ what: String) -> StoreError {
        StoreError(.corrupt, "\(what) in the full-text indexes of \(connection.path) cannot be read.", location: connection.path)
    }
}

extension SearchTables {
    /// Keeps the indexes of carried entities whose texts are the same, drops the other ones of the source, and adds the new ones, which are built after the migration.
    func migrate(_ change: SchemaChange) throws {
        var names: [Name: Name] = [:]
        for entity in change.target.entities {
            for index in entity.searchIndexes {
                guard let (old, fields) = change.searchOrigin(of: index, entity) else { continue }
                let name = Name(entity: old.name, fields: fields, stemming: index.options.stemming.rawValue)
                if names[name] == nil { names[name] = Name(index, of: entity) }
            }
        }
        try replace(with: change.target, state: .building(through: nil)) { names[$0] }
    }
}
