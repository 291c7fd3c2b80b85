import PolyStoreBackend
import PolyStoreQuery

extension StoreOpener {
    /// Reads the full-text indexes of the store, and whether all are complete.
    ///
    /// A user who may only read some of the tables searches without them. The indexes are nil then.
    func searchIndexes(_ connection: Connection, _ tables: StoreTables) throws -> (indexes: [StoredSearchIndex]?, areComplete: Bool) {
        if request.isReadOnly, try !connection.rows(SearchDefinition.right(tables)).bool(0, 0) {
            request.logger.write(
                .notice,
                "The user may not read the full-text indexes of \(database.location), so searches read all texts. Grant SELECT on polystore_search and polystore_search_pages, and open the store again."
            )
            return (nil, true)
        }
        let found = try SearchDefinition.read(connection.rows(SearchDefinition.reading(tables)), location: database.location)
        return (try found.map { try $0.resolved(tables.schema, location: database.location) }, found.allSatisfy(\.isComplete))
    }
}
