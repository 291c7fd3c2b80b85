import PolyStoreBackend

/// The values that distinguish the opened store from another one at the same path, and from the same store after a migration.
struct SQLiteStoreIdentity: Sendable {
    let storeID: String
    /// The hash of the stored schema, which can differ from that of `schema` if the data is the same.
    var schemaHash: String
    /// The schema that the store was opened for.
    let schema: SchemaDescription
}
