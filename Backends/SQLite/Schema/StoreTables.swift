import PolyStoreBackend

/// A link table's names and SQL.
struct LinkSQL: Sendable {
    /// Quoted.
    let name: String
    let plainName: String
    let creation: [String]

    init(_ link: LinkTable, names: inout SQLNameSpace) {
        plainName = names.claim(link.name)
        name = SQLNames.quoted(plainName)
        var creation = ["CREATE TABLE \(name) (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID"]
        if !link.isSymmetric {
            creation.append("CREATE INDEX \(SQLNames.quoted(names.claim(plainName + "_inverse"))) ON \(name) (target, source)")
        }
        self.creation = creation
    }

    var addSQL: String { "INSERT OR IGNORE INTO \(name) (source, target) VALUES (?, ?)" }
    var removeSQL: String { "DELETE FROM \(name) WHERE source = ? AND target = ?" }

    func targetsSQL(reversed: Bool) -> String {
        reversed
            ? "SELECT source FROM \(name) WHERE target = ? ORDER BY source" : "SELECT target FROM \(name) WHERE source = ? ORDER BY target"
    }
}

/// All tables of a store, worked out once when it is opened.
final class StoreTables: Sendable {
    /// The layout of the file that this version writes.
    static let format = 1
    /// "POLY", in the file's header.
    static let applicationID: Int32 = 0x504F_4C59

    let schema: ResolvedSchema
    /// By ``Entity/index``.
    let entities: [EntityTable]
    /// By ``LinkTable/index``.
    let links: [LinkSQL]

    /// - Throws: `invalidSchema` for names that SQLite cannot have.
    init(_ schema: ResolvedSchema) throws {
        self.schema = schema
        var names = SQLNameSpace()
        for entity in schema.entities {
            try SQLNames.check(entity)
            _ = names.claim(entity.name)
        }
        // By name and not in the order of the list, which may differ from one start to the next.
        var links: [LinkSQL?] = Array(repeating: nil, count: schema.links.count)
        for link in schema.links.sorted(by: { $0.name < $1.name }) { links[link.index] = LinkSQL(link, names: &names) }
        self.links = links.compactMap { $0 }
        var tables: [EntityTable?] = Array(repeating: nil, count: schema.entities.count)
        for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
            let indexes = entity.indexes.map { index in
                let name = names.claim(index.name)
                return EntityTable.Index(name: SQLNames.quoted(name), plainName: name, fields: index.fields, isUnique: index.isUnique)
            }
            tables[entity.index] = EntityTable(entity, indexes: indexes)
        }
        entities = tables.compactMap { $0 }
    }

    /// The table of an entity.
    /// - Throws: `misuse` for an entity of another schema.
    func table(_ entity: Entity) throws -> EntityTable {
        if entity.index < entities.count {
            let table = entities[entity.index]
            if table.entity === entity || table.entity.description == entity.description { return table }
        }
        throw StoreError(.misuse, "The entity \(entity.name) is not of the schema that the store was opened with.", entity: entity.name)
    }

    /// Everything of a new file.
    var creationSQL: [String] {
        [
            "CREATE TABLE polystore_metadata (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
            "CREATE TABLE polystore_state (version INTEGER, nan TEXT)",
            "INSERT INTO polystore_state (version, nan) VALUES (0, NULL)",
            "CREATE TABLE polystore_sequence (entity TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID",
        ] + entities.flatMap(\.creationSQL) + links.flatMap(\.creation)
    }
}
