import PolyStoreBackend

/// The rows that a context has fetched ahead, by object: what objects are made of, and faults filled with, without a query.
@usableFromInline
final class FetchedRows {
    private let arena = RecordArena()
    private var rows: [ObjectKey: RecordedChanges.Place] = [:]
    /// Relationships of objects that were only needed on the way: no object of theirs keeps the lists.
    var lists: Set<MemberKey> = []

    func add(_ object: ObjectKey, _ record: RecordView) {
        rows[object] = RecordedChanges.Place(offset: arena.append(record.bytes), count: record.count)
    }

    func contains(_ object: ObjectKey) -> Bool { rows[object] != nil }

    /// Valid until more rows are added.
    func record(_ object: ObjectKey, _ entry: StoreEntity) -> RecordView? {
        rows[object].map { arena.view($0.offset, $0.count, entry.entity.layout) }
    }
}

extension Context {
    /// The object of a row that was fetched ahead; nil where there is none, or it cannot be read.
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

    /// Called when the context is about to show another version.
    final func forgetRowsAhead() {
        guard let rowsAhead else { return }
        for key in rowsAhead.lists { memberLists[key] = nil }
        self.rowsAhead = nil
    }
}
