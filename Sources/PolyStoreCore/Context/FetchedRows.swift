import PolyStoreBackend

/// The prefetched rows of a context by object. Objects are created from them, and faults loaded, without a query.
@usableFromInline
final class FetchedRows {
    private let arena = RecordArena()
    private var rows: [ObjectKey: RecordedChanges.Place] = [:]
    /// The member lists of intermediate objects of prefetched paths, which are not removed with an object.
    var lists: Set<MemberKey> = []

    func add(_ object: ObjectKey, _ record: RecordView) {
        rows[object] = RecordedChanges.Place(offset: arena.append(record.bytes), count: record.count)
    }

    func contains(_ object: ObjectKey) -> Bool { rows[object] != nil }

    /// Returns the prefetched record of an object. It is valid until more rows are added.
    func record(_ object: ObjectKey, _ entry: StoreEntity) -> RecordView? {
        rows[object].map { arena.view($0.offset, $0.count, entry.entity.layout) }
    }
}

extension Context {
    /// Returns the object of a prefetched row, or nil if there is none or it cannot be decoded.
    @usableFromInline
    final func ahead<T: Model>(_ type: T.Type, _ slot: Int32, _ key: Int64) -> T? {
        let entry = entry(slot)
        guard let record = rowsAhead?.record(ObjectKey(slot: slot, key: key), entry) else { return nil }
        let map = maps[Int(slot)]
        if map.isPolymorphic { return try? relative(type, entry, map, key, record) }
        if let living = living(type, slot, key) {
            do { try fill(living, entry, key, record) } catch { return nil }
            return living
        }
        return try? make(type, entry, map, key, record)
    }

    /// Called before the context shows another version.
    final func forgetRowsAhead() {
        guard let rowsAhead else { return }
        for key in rowsAhead.lists { forgetMembers(key) }
        self.rowsAhead = nil
    }
}
