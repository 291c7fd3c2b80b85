import PolyStoreBackend

/// The names and SQL of a link table.
struct LinkSQL: Sendable {
    /// The quoted name.
    let name: String
    let plainName: String
    let creation: [String]
    /// The name of the index by target; `nil` for a symmetric table, which has none.
    let inverseName: String?
    /// ``LinkTable/index``.
    var index: Int { table.index }
    private let table: LinkTable

    init(_ link: LinkTable, names: inout SQLNameSpace) {
        table = link
        plainName = names.claim(link.name)
        name = SQLNames.quoted(plainName)
        var columns = ["source INTEGER", "target INTEGER"]
        if link.ordersTargets { columns.append("targetPosition INTEGER NOT NULL") }
        if link.ordersSources { columns.append("sourcePosition INTEGER NOT NULL") }
        var creation = ["CREATE TABLE \(name) (\(columns.joined(separator: ", ")), PRIMARY KEY (source, target)) WITHOUT ROWID"]
        inverseName = link.isSymmetric ? nil : names.claim(plainName + "_inverse")
        if let inverseName {
            let fields = link.ordersSources ? "target, sourcePosition, source" : "target, source"
            creation.append("CREATE INDEX \(SQLNames.quoted(inverseName)) ON \(name) (\(fields))")
        }
        self.creation = creation
    }

    /// The position columns, in the order in which ``addSQL`` binds them after source and target.
    var positions: [String] { (table.ordersTargets ? ["targetPosition"] : []) + (table.ordersSources ? ["sourcePosition"] : []) }

    /// Inserts a pair. A null position keeps that of an existing pair and is 0 for a new one.
    var addSQL: String {
        guard !positions.isEmpty else { return "INSERT OR IGNORE INTO \(name) (source, target) VALUES (?, ?)" }
        let values = positions.indices.map { "coalesce(?\($0 + 3), 0)" }
        let moved = positions.enumerated().map { "\($0.element) = coalesce(?\($0.offset + 3), \($0.element))" }
        return
            "INSERT INTO \(name) (source, target, \(positions.joined(separator: ", "))) VALUES (?1, ?2, \(values.joined(separator: ", "))) "
            + "ON CONFLICT (source, target) DO UPDATE SET \(moved.joined(separator: ", "))"
    }
    var removeSQL: String { "DELETE FROM \(name) WHERE source = ? AND target = ?" }

    /// - Parameter ordered: Whether to sort by position, which is then the second column.
    func targetsSQL(reversed: Bool, ordered: Bool) -> String {
        let (here, there) = reversed ? ("target", "source") : ("source", "target")
        guard ordered else { return "SELECT \(there) FROM \(name) WHERE \(here) = ? ORDER BY \(there)" }
        return "SELECT \(there), \(there)Position FROM \(name) WHERE \(here) = ? ORDER BY \(there)Position, \(there)"
    }
}

/// The tables of a store, computed once when it is opened.
final class StoreTables: Sendable {
    /// The file format that this version writes.
    static let format = 1
    /// The application id in the file header: "POLY".
    static let applicationID: Int32 = 0x504F_4C59

    let schema: ResolvedSchema
    /// The entity tables, by ``Entity/index``.
    let entities: [EntityTable]
    /// The link tables, by ``LinkTable/index``.
    let links: [LinkSQL]

    /// - Throws: `invalidSchema` for names that SQLite does not allow.
    init(_ schema: ResolvedSchema) throws {
        self.schema = schema
        var names = SQLNameSpace()
        for entity in schema.entities {
            try SQLNames.check(entity)
            _ = names.claim(entity.name)
        }
        // Sorted by name, because the order of the list may differ between launches.
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

    /// Returns the table of an entity.
    /// - Throws: `misuse` for an entity of another schema.
    func table(_ entity: Entity) throws -> EntityTable {
        if entity.index < entities.count {
            let table = entities[entity.index]
            if table.entity === entity || table.entity.description == entity.description { return table }
        }
        throw StoreError(.misuse, "The entity \(entity.name) is not of the schema that the store was opened with.", entity: entity.name)
    }

    /// The statements that create all tables of a new file.
    var creationSQL: [String] {
        [
            "CREATE TABLE polystore_metadata (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
            "CREATE TABLE polystore_state (version INTEGER, nan TEXT)",
            "INSERT INTO polystore_state (version, nan) VALUES (0, NULL)",
            "CREATE TABLE polystore_sequence (entity TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID",
        ] + entities.flatMap(\.creationSQL) + links.flatMap(\.creation)
    }
}
