import PolyStoreBackend

/// Objects of others in the schema of a store, with names that the tables and indexes of the store receive at the end of a migration.
struct NameConflicts {
    /// The tables with the names that they receive.
    let final: StoreTables
    /// The quoted names of the tables that the migration removes before, with their indexes.
    let former: [String]

    private var names: [String] {
        final.entities.flatMap { [$0.plainName, $0.keyName] + $0.indexes.map(\.plainName) }
            + final.links.flatMap { [$0.plainName] + $0.indexNames }
    }

    /// Returns the first such object, with its kind and the statement that renames it; nil if there is none.
    func first(_ connection: Connection) throws -> String? {
        let (names, former) = (ArrayParameter(.text), ArrayParameter(.text))
        for (texts, array) in [(self.names, names), (self.former, former)] {
            for var text in texts { array.append { buffer in text.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } } }
        }
        // A type is one that no table has as the type of its rows.
        let found = try connection.rows(
            """
            SELECT c.relname::text, c.relkind::text, t.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
            WHERE n.nspname = $1 AND c.relname = ANY($2) AND NOT EXISTS
            (SELECT 1 FROM unnest($3) AS f(name) WHERE pg_catalog.to_regclass(f.name) = coalesce(i.indrelid, c.oid))
            UNION ALL SELECT t.typname::text, 't', NULL FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
            WHERE n.nspname = $1 AND t.typname = ANY($2) AND t.typrelid = 0 AND t.typelem = 0
            ORDER BY 1 LIMIT 1
            """, [.text(final.plainSchema), names.parameter, former.parameter])
        guard found.count > 0, let name = found.text(0, 0) else { return nil }
        let kind = Self.kinds[found.text(0, 1) ?? ""] ?? "TABLE"
        let table = found.text(0, 2).map { " of the table \($0)" } ?? ""
        return
            "the \(kind.lowercased()) \(name)\(table), which is not of the store and has the name that one of its tables or indexes receives. "
            + "Rename it (ALTER \(kind) \(final.namespace).\(SQLNames.quoted(name)) RENAME TO …), and open the store again"
    }

    private static let kinds = [
        "i": "INDEX", "I": "INDEX", "v": "VIEW", "m": "MATERIALIZED VIEW", "S": "SEQUENCE", "f": "FOREIGN TABLE", "c": "TYPE", "t": "TYPE",
    ]

    /// Returns whether the server refuses a name because an object has it.
    static func isRefusal(_ error: StoreError) -> Bool { ["42P07", "42710"].contains(error.sqlState) }
}
