import PolyStoreBackend

/// The positions in ordered relationships that a transaction writes to one store.
struct PendingPositions {
    /// A field of an object.
    struct PositionField: Hashable {
        let entityIndex: Int32
        let field: Int
        let rowID: Int64
    }

    struct Pair: Hashable {
        let table: Int
        let source: Int64
        let target: Int64
    }

    struct PairPositions {
        var target: Int64?
        var source: Int64?
    }

    /// The positions of one-to-many relationships; removed as they are written.
    var fields: [PositionField: Int64] = [:]
    /// The positions in link tables.
    var links: [Pair: PairPositions] = [:]

    /// Removes and returns the positions of an object.
    /// - Parameter mask: the fields to write. Adds the fields of changed positions, and those of relationships that are set to nil.
    mutating func take(_ entry: StoreEntity, _ object: some Model, _ mask: inout FieldMask) -> [(field: Int, position: Int64)] {
        var found: [(field: Int, position: Int64)] = []
        for position in entry.positions {
            if let written = fields.removeValue(
                forKey: PositionField(entityIndex: entry.entityIndex, field: position.field, rowID: object._$state.rowID))
            {
                found.append((position.field, written))
                mask.insert(position.field)
            } else if mask.contains(position.foreignKey), object._$toOne(position.relationship).rowID == 0 {
                mask.insert(position.field)
            }
        }
        return found
    }
}
