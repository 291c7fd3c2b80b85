import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// The tables of the full-text indexes. They exist while the store has such an index.
extension StoreTables {
    /// The format of a store with full-text indexes. Earlier releases, which would not maintain them, refuse it.
    static let searchFormat = 3
    /// The increment of the generation of a store when its full-text indexes change. The bits below count the migrations.
    ///
    /// Earlier releases that have the store open compare the whole number, and refuse to continue.
    static let searchGeneration: Int64 = 1 << 32

    /// The number of migrations in a generation.
    static func migrations(_ generation: Int64) -> Int64 { generation & (searchGeneration - 1) }

    /// The format that a store of the schema has.
    var storeFormat: Int { schema.entities.allSatisfy(\.searchIndexes.isEmpty) ? Self.format : Self.searchFormat }

    /// The table with a row for each full-text index.
    var search: String { own("search") }
    /// The table with the pages of all full-text indexes.
    var searchPages: String { own("search_pages") }

    /// The statements that create the tables.
    ///
    /// A page of an index is at most half as large as one of the server, and is kept in the table itself: elsewhere it would be divided, and read through another index.
    var searchCreation: [String] {
        [
            """
            CREATE TABLE \(search) ("index" integer PRIMARY KEY, entity text COLLATE "C" NOT NULL, fields text[] NOT NULL, stemming text NOT NULL,
            "isComplete" boolean NOT NULL, built bigint)
            """,
            "CREATE TABLE \(searchPages) (\"index\" integer NOT NULL, k bytea NOT NULL, v bytea NOT NULL, PRIMARY KEY (\"index\", k)) WITH (toast_tuple_target = 8160)",
            "ALTER TABLE \(searchPages) ALTER COLUMN v SET STORAGE EXTERNAL",
        ]
    }

    /// The full-text indexes of the schema as the store keeps them, numbered from 1.
    var searchDefinitions: [SearchDefinition] {
        var found: [SearchDefinition] = []
        for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
            for index in entity.searchIndexes {
                let definition = SearchDefinition(entity: entity.name, fields: index.fieldNames, options: index.options)
                if !found.contains(where: { $0.isSame(as: definition) }) { found.append(definition) }
            }
        }
        for position in found.indices { found[position].number = Int32(position + 1) }
        return found
    }

    /// The statements that create the tables of a store without objects, whose full-text indexes are complete.
    var emptySearchCreation: [String] {
        storeFormat == Self.format ? [] : searchCreation + searchDefinitions.map { $0.insertion(isComplete: true, self) }
    }
}

/// A row of the table of the full-text indexes.
struct SearchDefinition {
    var number: Int32 = 0
    var entity: String
    var fields: [String]
    var options: SearchOptions
    /// A Boolean value that indicates whether the index contains all objects.
    var isComplete = false

    /// Returns whether two definitions determine the same contents.
    func isSame(as other: SearchDefinition) -> Bool {
        Array(entity.utf8) == Array(other.entity.utf8) && fields.map { Array($0.utf8) } == other.fields.map { Array($0.utf8) }
            && options == other.options
    }

    /// The statement that reads the table.
    static func reading(_ tables: StoreTables) -> Statement {
        Statement(
            "SELECT \"index\", entity, array_to_json(fields)::text, stemming, \"isComplete\" FROM \(tables.search) ORDER BY \"index\"")
    }

    /// The statement that determines whether the user may read the full-text indexes.
    /// - Parameter isWriting: Whether it determines whether the user may maintain them too.
    static func right(_ tables: StoreTables, isWriting: Bool = false) -> Statement {
        let kinds = isWriting ? StoreOwner.rights : ["SELECT"]
        let rights = [tables.search, tables.searchPages].flatMap { table in
            kinds.map { "pg_catalog.has_table_privilege(\(SQLNames.literal(table)), '\($0)')" }
        }
        return Statement("SELECT \(rights.joined(separator: " AND "))")
    }

    /// Returns the statement that adds the row.
    func insertion(isComplete: Bool, _ tables: StoreTables) -> String {
        let names = fields.map { SQLNames.literal(NULFreeText.encode($0)) }.joined(separator: ", ")
        return
            "INSERT INTO \(tables.search) (\"index\", entity, fields, stemming, \"isComplete\") VALUES (\(number), \(SQLNames.literal(NULFreeText.encode(entity))), "
            + "ARRAY[\(names)]::text[], \(SQLNames.literal(options.stemming.rawValue)), \(isComplete))"
    }

    /// Returns the statement that gives the row with the number the other values.
    func renaming(_ tables: StoreTables) -> String {
        let names = fields.map { SQLNames.literal(NULFreeText.encode($0)) }.joined(separator: ", ")
        return
            "UPDATE \(tables.search) SET entity = \(SQLNames.literal(NULFreeText.encode(entity))), fields = ARRAY[\(names)]::text[] WHERE \"index\" = \(number)"
    }

    /// Reads the rows of the table.
    /// - Throws: `corrupt` for a row that is not a definition.
    static func read(_ rows: Rows, location: String) throws -> [SearchDefinition] {
        try (0..<rows.count).map { row in
            let names = (try? JSONDecoder().decode([String].self, from: Data(rows.bytes(row, 2))))?.map(NULFreeText.decode)
            guard let number = rows.integer(row, 0).flatMap({ Int32(exactly: $0) }), number > 0,
                let entity = rows.text(row, 1).flatMap(NULFreeText.decode), let names, !names.contains(nil),
                let stemming = rows.text(row, 3).flatMap(SearchOptions.Stemming.init)
            else {
                throw StoreError(.corrupt, "A row of polystore_search in \(location) cannot be read.", location: location)
            }
            return SearchDefinition(
                number: number, entity: entity, fields: names.compactMap { $0 }, options: SearchOptions(stemming: stemming),
                isComplete: rows.bool(row, 4))
        }
    }

    /// Returns the index with the positions of a schema.
    /// - Throws: `corrupt` if the schema does not have its fields.
    func resolved(_ schema: ResolvedSchema, location: String) throws -> StoredSearchIndex {
        let found = schema.entities.first { Array($0.name.utf8) == Array(entity.utf8) }
        let positions = fields.map { name in found?.fields.first { Array($0.name.utf8) == Array(name.utf8) }?.index }
        guard let found, !positions.isEmpty, !positions.contains(nil) else {
            throw StoreError(
                .corrupt,
                "polystore_search of \(location) has an index of \(entity) (\(fields.joined(separator: ", "))), which the store's model does not have.",
                entity: entity, location: location)
        }
        return StoredSearchIndex(number: UInt32(number), entity: found.index, fields: positions.compactMap { $0 }, options: options)
    }
}
