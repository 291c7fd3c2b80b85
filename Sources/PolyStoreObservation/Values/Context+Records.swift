import PolyStoreBackend
import PolyStoreKernel

extension Context {
    /// Returns the values of rows in the form that snapshots keep. A row that is not in the store has the record of an object without values.
    final func records<T: Model>(of rows: [RowReference], _ type: T.Type, _ shape: SnapshotShape) throws -> [RowReference: [UInt8]] {
        guard !shape.isEmpty else { return [:] }
        var found: [RowReference: [UInt8]] = [:]
        found.reserveCapacity(rows.count)
        for (entityIndex, rows) in Dictionary(grouping: rows, by: \.entityIndex) {
            let entry = entry(entityIndex)
            var recorder = SnapshotRecorder(shape, entry, as: type)
            try readRecords(of: rows.map(\.rowID), entry, shape.fields) { id, record in
                found[RowReference(entityIndex: entityIndex, rowID: id)] = try recorder.bytes(of: record)
            }
            for row in rows where found[row] == nil { found[row] = try recorder.emptyBytes() }
        }
        return found
    }

    private func readRecords(
        of ids: [Int64], _ entry: StoreEntity, _ fields: FieldMask?, _ body: (Int64, RecordView) throws -> Void
    ) throws {
        let storage = try storage(entry.store)
        // Looking up one record is cheaper than a query; a query is cheaper than many lookups.
        guard ids.count > Self.lookups else {
            for id in ids { if let record = try storage.record(entry.entity, rowID: id) { try body(id, record) } }
            return
        }
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            let batch = ids[start..<min(start + Self.batch, ids.count)]
            var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, batch.map { .integer($0) }))
            request.fields = fields
            let cursor = try storage.fetch(request)
            defer { cursor.close() }
            while try cursor.next() { try body(cursor.rowID, cursor.record) }
        }
    }

    /// The maximum number of records that are looked up one by one.
    private static var lookups: Int { 8 }
    /// The maximum number of records per query.
    private static var batch: Int { 512 }
}
