import PolyStoreBackend

/// The tables of a store, computed once when it is opened.
final class StoreTables: Sendable {
    /// The format that this version writes.
    static let format = 2

    /// The beginning of the names of a migration's tables.
    private static let stage = "polystore_new_"

    let schema: ResolvedSchema
    /// The name of the schema on the server.
    let plainSchema: String
    /// The quoted name of the schema on the server.
    let namespace: String
    /// The entity tables, by `Entity.index`.
    let entities: [EntityTable]
    /// The link tables, by `LinkTable.index`.
    let links: [LinkSQL]

    /// - Parameter isStaged: Whether the tables and indexes have the names that a migration gives them until its commit. They contain nothing of the model's names, which the tables of the store
    ///   before the migration have.
    init(_ schema: ResolvedSchema, in plainSchema: String, isStaged: Bool = false) {
        self.schema = schema
        self.plainSchema = plainSchema
        let namespace = SQLNames.quoted(plainSchema)
        self.namespace = namespace
        var names = SQLNameSpace { !isStaged && SQLNames.isReserved($0) }
        // Sorted by name, because the order of the list may differ between launches.
        let sorted = schema.entities.sorted { $0.name < $1.name }
        var tableNames: [Int: String] = [:]
        for (position, entity) in sorted.enumerated() {
            tableNames[entity.index] = names.claim(isStaged ? "\(Self.stage)t\(position)" : entity.name)
        }
        var links = [LinkSQL?](repeating: nil, count: schema.links.count)
        for (position, link) in schema.links.sorted(by: { $0.name < $1.name }).enumerated() {
            links[link.index] = LinkSQL(
                link, called: isStaged ? "\(Self.stage)l\(position)" : link.name, schema: namespace, names: &names)
        }
        self.links = links.compactMap { $0 }
        var tables = [EntityTable?](repeating: nil, count: schema.entities.count)
        for entity in sorted {
            let name = tableNames[entity.index] ?? entity.name
            let key = names.claim(name + "_key")
            // An index on a field that the server does not read would serve no condition.
            let served = entity.indexes.filter { $0.parts.allSatisfy { $0.json.map(JSONFunction.reads) ?? true } }
            let indexes = served.map { index in
                EntityTable.Index(
                    modelName: index.name,
                    plainName: names.claim(isStaged ? "\(name)_\(SQLNames.shortened(index.name).suffix(16))" : index.name),
                    fields: index.parts.map { entity.field(of: $0).index }, isUnique: index.isUnique)
            }
            tables[entity.index] = EntityTable(entity, schema: namespace, plainName: name, keyName: key, indexes: indexes)
        }
        entities = tables.compactMap { $0 }
    }

    /// Returns the table of an entity.
    /// - Throws: `misuse` for an entity of another schema.
    func table(_ entity: Entity) throws -> EntityTable {
        if entity.index < entities.count {
            let table = entities[entity.index]
            if table.entity === entity || table.entity.description == entity.description { return table }
        }
        throw StoreError(.misuse, "The entity \(entity.name) is not of the schema that the store was opened with.", entity: entity.name)
    }

    /// Returns a table of this library with the schema.
    func own(_ name: String) -> String { "\(namespace).polystore_\(name)" }

    /// The names of the tables of this library that every store has. Those that every transaction locks are first, in the order of the locks.
    static let ownNames = ["lock", "state", "metadata", "names", "commits", "sequence", "values", "log"]
    /// The names of the tables of the full-text indexes.
    static let searchNames = ["search", "search_pages"]

    /// The quoted names of all tables.
    var names: [String] {
        (Self.ownNames + (storeFormat == Self.format ? [] : Self.searchNames)).map(own) + entities.map(\.name) + links.map(\.name)
    }

    /// The statements that create the indexes of the entities.
    var indexSQL: [String] { entities.flatMap { table in table.indexes.map { table.creationSQL($0, schema: namespace) } } }

    /// The statements that create all tables.
    var creationSQL: [String] {
        [
            """
            CREATE TABLE \(own("metadata")) (format integer NOT NULL, "storeID" text NOT NULL, configuration text, schema bytea NOT NULL,
            "schemaSum" text NOT NULL, "schemaHash" text NOT NULL, generation bigint NOT NULL DEFAULT 0, "ownsSchema" boolean NOT NULL,
            "isStaged" boolean NOT NULL DEFAULT false)
            """,
            "CREATE TABLE \(own("names")) (kind text NOT NULL, entity text COLLATE \"C\" NOT NULL, property text COLLATE \"C\", name text NOT NULL)",
            "CREATE TABLE \(own("lock")) ()",
            "CREATE TABLE \(own("state")) (version bigint NOT NULL, \"lastLogEntry\" bigint NOT NULL)",
            "INSERT INTO \(own("state")) VALUES (0, 0)",
            "CREATE TABLE \(own("commits")) (version bigint PRIMARY KEY, token bytea NOT NULL)",
            "CREATE TABLE \(own("sequence")) (entity text COLLATE \"C\" PRIMARY KEY, next bigint NOT NULL)",
            "CREATE TABLE \(own("values")) (name text COLLATE \"C\" PRIMARY KEY, value bytea NOT NULL)",
            "CREATE TABLE \(own("log")) (position bigint PRIMARY KEY, version bigint NOT NULL, entry bytea NOT NULL)",
        ] + ServerFunctions.creation(in: namespace) + entities.map(\.tableSQL) + indexSQL + links.flatMap(\.creation)
            + emptySearchCreation
    }

    /// The names on the server that differ from those of the model, in `polystore_names`.
    var nameRows: [(kind: String, entity: String, property: String?, name: String)] {
        var rows: [(kind: String, entity: String, property: String?, name: String)] = []
        for table in entities {
            if table.plainName != table.entity.name { rows.append(("table", table.entity.name, nil, table.plainName)) }
            for field in table.entity.fields where table.plainColumns[field.index] != field.name {
                rows.append(("column", table.entity.name, field.name, table.plainColumns[field.index]))
            }
        }
        for (link, table) in zip(schema.links, links) where table.plainName != link.name {
            rows.append(("link", schema.entities[link.source].name, link.name, table.plainName))
        }
        return rows
    }
}
