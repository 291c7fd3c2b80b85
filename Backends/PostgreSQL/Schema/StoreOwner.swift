import CPostgreSQL
import PolyStoreBackend

/// The owner of a store, as seen by a user who creates further tables for it.
///
/// The server gives a table to the user who creates it. Without a right on it the owner of the store, and the other users, could not use the store any more.
struct StoreOwner {
    /// The rights on a table that a writer needs.
    static let rights = ["SELECT", "INSERT", "UPDATE", "DELETE"]

    /// The name of the owner, quoted where needed.
    private let name: String
    /// The name of the user, quoted where needed.
    private let user: String
    /// A Boolean value that indicates whether the user may make the owner of the store that of a table, and has the rights of the owner.
    private let receivesTables: Bool

    private var isUser: Bool { name == user }

    /// Returns the owner of the table with the named values, which exists from the beginning; nil without that table.
    static func read(_ schema: String, _ connection: Connection) throws -> StoreOwner? {
        let becoming = PQserverVersion(connection.handle) >= 160_000 ? "SET" : "MEMBER"
        let rows = try connection.rows(
            """
            SELECT quote_ident(pg_catalog.pg_get_userbyid(c.relowner)), quote_ident(current_user),
            pg_catalog.pg_has_role(c.relowner, 'USAGE') AND pg_catalog.pg_has_role(c.relowner, '\(becoming)')
            AND (u.rolsuper OR pg_catalog.has_schema_privilege(c.relowner, n.oid, 'CREATE'))
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_roles u ON u.rolname = current_user
            WHERE n.nspname = $1 AND c.relname = 'polystore_values'
            """, [.text(schema)])
        guard rows.count == 1, let name = rows.text(0, 0), let user = rows.text(0, 1) else { return nil }
        return StoreOwner(name: name, user: user, receivesTables: rows.bool(0, 2))
    }

    /// Returns the statements that give tables to the owner, or all rights on them if that is not allowed, and give others the rights that they have on other tables.
    /// - Parameters:
    ///   - tables: The quoted names of the tables, which the user has created, and the names of those with the rights of others; nil if others receive none.
    ///   - schema: The name of the schema of both.
    func statements(_ tables: [(table: String, model: String?)], in schema: String, _ connection: Connection) throws -> [String] {
        var sql: [String] = []
        if !isUser {
            sql = tables.map { table, _ in
                receivesTables
                    ? "ALTER TABLE \(table) OWNER TO \(name)"
                    : "GRANT \(Self.rights.joined(separator: ", ")) ON \(table) TO \(name) WITH GRANT OPTION"
            }
        }
        return try sql + grants(tables, in: schema, connection)
    }

    /// Returns the statements that give the functions of the schema to the owner, or the right to call them if that is not allowed.
    func statements(ofFunctionsIn namespace: String) -> [String] {
        if isUser { return [] }
        return receivesTables ? ServerFunctions.owning(in: namespace, by: name) : ServerFunctions.granting(in: namespace, to: name)
    }

    /// Returns the statements that give others than the owner of the new tables the rights that they have on other ones. The owner of one has all rights.
    private func grants(_ tables: [(table: String, model: String?)], in schema: String, _ connection: Connection) throws -> [String] {
        let models = ArrayParameter(.text)
        for (_, model) in tables {
            guard var model else {
                models.appendNull()
                continue
            }
            models.append { buffer in model.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
        }
        let kinds = Self.rights.map { "'\($0)'" }.joined(separator: ", ")
        let rows = try connection.rows(
            """
            SELECT DISTINCT m.position, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END, a.kind, a.grants
            FROM unnest($2::text[]) WITH ORDINALITY AS m(name, position) JOIN pg_catalog.pg_class c ON c.relname = m.name::name
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL
            (SELECT e.grantee, e.privilege_type, e.is_grantable FROM pg_catalog.aclexplode(c.relacl) e WHERE e.grantee <> c.relowner
            UNION ALL SELECT c.relowner, k.kind, true FROM unnest(ARRAY[\(kinds)]) AS k(kind)) AS a(grantee, kind, grants)
            WHERE n.nspname = $1 AND a.kind IN (\(kinds)) ORDER BY 1, 2, 3, 4
            """, [.text(schema), models.parameter])
        let owner = isUser || !receivesTables ? user : name
        return (0..<rows.count).compactMap { row in
            guard let position = rows.integer(row, 0), let grantee = rows.text(row, 1), let kind = rows.text(row, 2), grantee != owner
            else {
                return nil
            }
            return "GRANT \(kind) ON \(tables[Int(position) - 1].table) TO \(grantee)\(rows.bool(row, 3) ? " WITH GRANT OPTION" : "")"
        }
    }
}
