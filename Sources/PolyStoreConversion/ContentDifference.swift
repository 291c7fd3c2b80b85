import PolyStoreBackend
import PolyStoreQuery

/// Finds what differs between the source of a conversion and its target.
struct ContentDifference {
    private let schema: ResolvedSchema
    private let location: String

    init(_ schema: ResolvedSchema, _ location: String) { (self.schema, self.location) = (schema, location) }

    /// Returns the error that names the first difference.
    func error(
        _ expected: StoreDigest, _ found: StoreDigest, _ source: any ReadTransaction, _ target: any ReadTransaction
    ) throws -> StoreError {
        for (entity, parts) in zip(schema.entities, zip(expected.entities, found.entities)) where parts.0 != parts.1 {
            let rowID = try firstDifference(entity, source, target)
            return error("\(entity.name) \(rowID.map(String.init) ?? "")", entity.name, rowID)
        }
        for (table, parts) in zip(schema.links, zip(expected.links, found.links)) where parts.0 != parts.1 {
            let entity = schema.entities[table.source].name
            let rowID = try firstDifference(table, source, target)
            return error("the relationship \(table.name) of \(entity) \(rowID.map(String.init) ?? "")", entity, rowID)
        }
        return error(expected.history != found.history ? "the history" : "the named values", nil, nil)
    }

    private func error(_ what: String, _ entity: String?, _ rowID: Int64?) -> StoreError {
        StoreError(
            .corrupt,
            "The conversion to \(location) was verified, and \(what) is not what the source has. The target stays incomplete: start the conversion over, and check the disk if this happens again.",
            entity: entity, rowID: rowID, location: location)
    }

    /// Returns the row id of the first object that only one side has or that has other values.
    private func firstDifference(_ entity: Entity, _ source: any ReadTransaction, _ target: any ReadTransaction) throws -> Int64? {
        let (left, right) = (try source.fetch(FetchRequest(entity)), try target.fetch(FetchRequest(entity)))
        defer {
            left.close()
            right.close()
        }
        let fields = entity.fields.map(UnitHashes.RecordField.init)
        while true {
            let (hasLeft, hasRight) = (try left.next(), try right.next())
            guard hasLeft, hasRight else { return hasLeft ? left.rowID : hasRight ? right.rowID : nil }
            if left.rowID != right.rowID { return min(left.rowID, right.rowID) }
            let hashes = [left, right].map { UnitHashes.record(0, fields, $0.rowID, $0.record) }
            if hashes[0] != hashes[1] { return left.rowID }
        }
    }

    /// Returns the row id of the first source whose links differ.
    private func firstDifference(_ table: LinkTable, _ source: any ReadTransaction, _ target: any ReadTransaction) throws -> Int64? {
        for isReversed in [false, true] where !isReversed || table.ordersSources {
            let relationship = try schema.relationship(over: table, isReversed: isReversed)
            let cursor = try source.fetch(FetchRequest(schema.entities[relationship.source], onlyIDs: true))
            defer { cursor.close() }
            while try cursor.next() {
                let sides = try [source, target].map { reader in
                    let found = try reader.related(relationship, of: [cursor.rowID])
                    return UnitHashes.links(
                        0, cursor.rowID, found[cursor.rowID], relationship.isOrdered ? found.positions(of: cursor.rowID) : [])
                }
                if sides[0] != sides[1] { return cursor.rowID }
            }
        }
        return nil
    }
}
