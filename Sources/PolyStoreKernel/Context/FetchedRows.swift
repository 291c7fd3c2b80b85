import PolyStoreBackend
import PolyStoreCollections

/// The prefetched rows of a context by object. Objects are created from them, and faults loaded, without a query.
@usableFromInline
package final class FetchedRows {
    private var arena = RecordArena()
    /// The places of the records of each entity in the arena.
    private var places: [Int32: RowRanges] = [:]
    /// The member lists of intermediate objects of prefetched paths, which are not removed with an object.
    var lists: Set<RelationshipKey> = []
    /// Rows that were read in advance; only those of the last such read are kept.
    var unasked: FetchedRows?

    func add(_ object: RowReference, _ record: RecordView) {
        places[object.entityIndex, default: RowRanges()].set(object.rowID, offset: arena.append(record.bytes), count: record.count)
    }

    var isEmpty: Bool { places.isEmpty }

    /// The size of all records in bytes.
    var byteCount: Int { arena.count }

    func removeAll() { (arena, places) = (RecordArena(), [:]) }

    func contains(_ object: RowReference) -> Bool { places[object.entityIndex]?[object.rowID] != nil }

    /// Returns the prefetched record of an object. It is valid until more rows are added.
    func record(_ object: RowReference, _ entry: StoreEntity) -> RecordView? {
        places[object.entityIndex]?[object.rowID].map { arena.view($0.offset, $0.count, entry.entity.layout) }
            ?? unasked?.record(object, entry)
    }
}

extension Context {
    /// Returns the object of a prefetched row, or nil if there is none or it cannot be decoded.
    @usableFromInline
    final func ahead<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowID: Int64) -> T? {
        let entry = entry(entityIndex)
        guard let record = graph.rowsAhead?.record(RowReference(entityIndex: entityIndex, rowID: rowID), entry) else { return nil }
        let map = identityMap(entityIndex)
        if map.isPolymorphic { return try? relative(type, entry, map, rowID, record) }
        if let registered = registered(type, entityIndex, rowID) {
            do { try fill(registered, entry, rowID, record) } catch { return nil }
            return registered
        }
        return try? make(type, entry, map, rowID, record)
    }

    /// Called before the context shows another version.
    final func forgetRowsAhead() {
        guard let rowsAhead = graph.rowsAhead else { return }
        for key in rowsAhead.lists { forgetMembers(key) }
        graph.rowsAhead = nil
    }
}
