import PolyStoreBackend

/// The tables of a store, computed once when it is opened.
final class StoreTables: Sendable {
    /// The newest file format that this version reads and writes. Stores with full-text indexes have it.
    static let format = 2
    /// The format of all other stores, which earlier versions can read too.
    static let plainFormat = 1

    /// Returns the format of a store of a schema.
    static func format(_ schema: ResolvedSchema) -> Int {
        schema.entities.contains { !$0.searchIndexes.isEmpty } ? format : plainFormat
    }

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
            // SQLite would order unsigned integers with a sign, so conditions on them are evaluated without an index.
            let indexes = entity.indexes.filter { !$0.parts.contains { $0.json?.type == .uint64 } }.map { index in
                let name = names.claim(index.name)
                return EntityTable.Index(
                    modelName: index.name, name: SQLNames.quoted(name), plainName: name, fields: index.fields,
                    components: index.parts.map { entity.field(of: $0).index }, parts: index.parts, isUnique: index.isUnique)
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
