import PolyStoreBackend

/// The table `polystore_metadata`, which identifies the store, its format and its schema.
struct MetadataTable {
    let connection: Connection
    let tables: StoreTables

    /// The contents of the table, read with one statement.
    struct Contents {
        var metadata: StoreMetadata
        /// The number of migrations of the store, which distinguishes its tables from those that others know.
        var generation: Int64 = 0
        /// A Boolean value that indicates whether the tables still have the names that a migration gave them.
        var isStaged = false
    }

    /// The statements that read the metadata. A newer format may have other columns, so that the second one fails.
    var statements: [Statement] {
        [
            Statement("SELECT format FROM \(tables.own("metadata"))"),
            Statement(
                "SELECT \"storeID\", configuration, schema, \"schemaSum\", \"schemaHash\", generation, \"isStaged\" FROM \(tables.own("metadata"))"
            ),
        ]
    }

    /// Reads the metadata.
    /// - Parameter read: The results of ``statements``, as far as they have been executed.
    /// - Throws: `corrupt` if there is not one row, or a value is missing; `unsupported` for the format of a version from before the first release.
    func read(for request: OpenRequest, from read: [Rows] = []) throws -> Contents {
        let found = try read.first ?? connection.rows(statements[0])
        guard found.count == 1, let number = found.integer(0, 0), number > 0 else { throw corrupt("format") }
        let format = Int(number)
        // A newer format may have other columns. Only its number is needed, because the store is rejected.
        guard format <= StoreTables.searchFormat else {
            return Contents(
                metadata: StoreMetadata(
                    format: format, storeID: "", configurationName: nil, schema: SchemaDescription(name: "", entities: []), schemaHash: ""))
        }
        guard format >= StoreTables.format else {
            throw StoreError(
                .unsupported,
                "The store \(connection.location) was created by a version from before the first release of the backend, in the format \(format). "
                    + "Export its objects with that version, and import them into a new store.", location: connection.location)
        }
        let rows = try read.count > 1 ? read[1] : connection.rows(statements[1])
        guard rows.count == 1, let storeID = rows.text(0, 0) else { throw corrupt("storeID") }
        let schema = [UInt8](rows.bytes(0, 2))
        guard rows.text(0, 3) == Self.sum(schema) else { throw corrupt("schema") }
        guard let hash = rows.text(0, 4) else { throw corrupt("schemaHash") }
        let configuration = try rows.text(0, 1).map { text in
            guard let name = NULFreeText.decode(text) else { throw corrupt("configuration") }
            return name
        }
        guard let generation = rows.integer(0, 5) else { throw corrupt("generation") }
        return Contents(
            metadata: try StoreMetadata(
                format: format, storeID: storeID, configurationName: configuration, schemaHash: hash, request: request, schema: schema),
            generation: generation, isStaged: rows.bool(0, 6))
    }

    /// The statements that write the metadata of a new store.
    /// - Parameter ownsSchema: Whether the store created the schema of its tables, which is then removed with it.
    func insertion(_ metadata: StoreMetadata, ownsSchema: Bool) -> [Statement] {
        let bytes = metadata.schema.encoded()
        return [
            Statement(
                "INSERT INTO \(tables.own("metadata")) (format, \"storeID\", configuration, schema, \"schemaSum\", \"schemaHash\", \"ownsSchema\") "
                    + "VALUES ($1, $2, $3, $4, $5, $6, $7)",
                [
                    .small(Int32(metadata.format)), .text(metadata.storeID), metadata.configurationName.map { .text($0) } ?? .null(.text),
                    .bytes(bytes), .text(Self.sum(bytes)), .text(metadata.schemaHash), .bool(ownsSchema),
                ])
        ] + nameStatements
    }

    /// The statements that replace the stored schema.
    func replacement(_ schema: ResolvedSchema) -> [Statement] {
        let bytes = schema.description.encoded()
        return [
            Statement(
                "UPDATE \(tables.own("metadata")) SET format = $1, schema = $2, \"schemaSum\" = $3, \"schemaHash\" = $4",
                [.small(Int32(tables.storeFormat)), .bytes(bytes), .text(Self.sum(bytes)), .text(schema.versionHash)])
        ]
    }

    /// The statements that replace the stored schema and write the names of its tables.
    /// - Parameter former: The quoted names of the tables of the store before the migration that could not be removed, because others read them.
    func migration(_ schema: ResolvedSchema, keeping former: [String]) -> [Statement] {
        replacement(schema)
            + [
                .once("UPDATE \(tables.own("metadata")) SET generation = generation + 1, \"isStaged\" = \(!former.isEmpty)"),
                .once("DELETE FROM \(tables.own("names"))"),
            ] + nameStatements
            + former.map {
                Statement("INSERT INTO \(tables.own("names")) (kind, entity, name) VALUES ('former', '', $1)", [.text($0)])
            }
    }

    private var nameStatements: [Statement] {
        tables.nameRows.map { row in
            Statement(
                "INSERT INTO \(tables.own("names")) (kind, entity, property, name) VALUES ($1, $2, $3, $4)",
                [.text(row.kind), .text(row.entity), row.property.map { .text($0) } ?? .null(.text), .text(row.name)])
        }
    }

    /// Returns a checksum that detects damage without decoding.
    private static func sum(_ bytes: [UInt8]) -> String { String(bytes.withUnsafeBytes { RecordChecksum.crc32c($0) }, radix: 16) }

    private func corrupt(_ column: String) -> StoreError {
        StoreError(
            .corrupt,
            "\"\(column)\" in polystore_metadata of \(connection.location) is missing or damaged. Restore the store from a backup.",
            location: connection.location)
    }
}
