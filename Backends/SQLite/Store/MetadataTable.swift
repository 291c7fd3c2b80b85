import CSQLite
import PolyStoreBackend

/// The table `polystore_metadata`, which identifies the store, its format and its schema.
struct MetadataTable {
    let connection: Connection

    /// Reads the metadata.
    /// - Parameter request: The request that opens the store; `nil` decodes everything.
    /// - Throws: `corrupt` if a value is missing or has another type.
    func read(for request: OpenRequest? = nil) throws -> StoreMetadata {
        let format = try integer("format")
        // A newer format may have other values. Only its number is needed, because the store is rejected.
        guard format <= StoreTables.format else {
            return StoreMetadata(
                format: format, storeID: "", configurationName: nil, schema: SchemaDescription(name: "", entities: []), schemaHash: "")
        }
        let storeID = try text("storeID")
        let configuration = try value("configuration", SQLITE_TEXT).map { String(decoding: $0, as: UTF8.self) }
        let schema = try required("schema", SQLITE_BLOB)
        guard try text("schemaSum") == Self.sum(schema) else { throw corrupt("schema") }
        let hash = try text("schemaHash")
        if let request {
            return try StoreMetadata(
                format: format, storeID: storeID, configurationName: configuration, schemaHash: hash, request: request, schema: schema)
        }
        return StoreMetadata(
            format: format, storeID: storeID, configurationName: configuration, schema: try SchemaDescription(encoded: schema),
            schemaHash: hash)
    }

    /// Replaces the stored schema.
    func write(_ schema: ResolvedSchema) throws {
        try connection.execute("DELETE FROM polystore_metadata WHERE key IN ('format', 'schema', 'schemaSum', 'schemaHash')")
        try write("format", .integer(Int64(StoreTables.format(schema))))
        try writeSchema(schema.description, hash: schema.versionHash)
    }

    func write(_ metadata: StoreMetadata) throws {
        try write("format", .integer(Int64(metadata.format)))
        try write("storeID", .text(metadata.storeID))
        try write("configuration", metadata.configurationName.map(Binding.text))
        try writeSchema(metadata.schema, hash: metadata.schemaHash)
    }

    /// Replaces the name of the configuration; nil is the default one.
    func replaceConfiguration(_ name: String?) throws {
        try connection.execute("DELETE FROM polystore_metadata WHERE key = 'configuration'")
        try write("configuration", name.map(Binding.text))
    }

    private func writeSchema(_ schema: SchemaDescription, hash: String) throws {
        let bytes = schema.encoded()
        try write("schema", .blob(bytes))
        try write("schemaSum", .text(Self.sum(bytes)))
        try write("schemaHash", .text(hash))
    }

    /// Returns a checksum that detects damage without decoding.
    private static func sum(_ bytes: [UInt8]) -> String { String(bytes.withUnsafeBytes { RecordChecksum.crc32c($0) }, radix: 16) }

    private func write(_ key: String, _ value: Binding?) throws {
        let statement = try connection.prepare("INSERT INTO polystore_metadata (key, value) VALUES (?, ?)")
        defer { connection.finalize(statement) }
        var code = statement.bind(1, .text(key))
        if code == SQLITE_OK, let value { code = statement.bind(2, value) }
        guard code == SQLITE_OK else { throw connection.error(code, "Writing the store's metadata") }
        try connection.run(statement, "Writing the store's metadata")
    }

    private func integer(_ key: String) throws -> Int {
        // SQLite converts an integer to its digits when it is read as text.
        guard let number = Int(String(decoding: try required(key, SQLITE_INTEGER), as: UTF8.self)), number > 0 else { throw corrupt(key) }
        return number
    }

    private func text(_ key: String) throws -> String { String(decoding: try required(key, SQLITE_TEXT), as: UTF8.self) }

    private func required(_ key: String, _ type: Int32) throws -> [UInt8] {
        guard let value = try value(key, type) else { throw corrupt(key) }
        return value
    }

    /// - Returns: `nil` for null and for a missing row.
    private func value(_ key: String, _ type: Int32) throws -> [UInt8]? {
        let statement = try connection.prepare("SELECT value FROM polystore_metadata WHERE key = ?")
        defer { connection.finalize(statement) }
        var code = statement.bind(1, .text(key))
        if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
        switch code {
        case SQLITE_DONE: return nil
        case SQLITE_ROW: break
        default: throw connection.error(code, "Reading the store's metadata")
        }
        let found = sqlite3_column_type(statement.handle, 0)
        if found == SQLITE_NULL { return nil }
        guard found == type else { throw corrupt(key) }
        return [UInt8](statement.bytes(0))
    }

    private func corrupt(_ key: String) -> StoreError {
        StoreError(
            .corrupt, "\"\(key)\" in polystore_metadata of \(connection.path) is missing, damaged or of another kind.",
            location: connection.path
        )
    }
}
