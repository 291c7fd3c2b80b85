import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

/// A cursor over the keys of the file.
final class LMDBCursor: EngineCursor {
    private let snapshot: LMDBSnapshot
    private let handle: OpaquePointer
    private let location: String
    // The cursor is used by one thread, and no access overlaps another, so exclusivity checks are not needed.
    @exclusivity(unchecked) private var isOpen = true

    init(_ snapshot: LMDBSnapshot, _ handle: OpaquePointer, _ location: String) {
        self.snapshot = snapshot
        self.handle = handle
        self.location = location
        super.init()
    }

    deinit { close() }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        mdb_cursor_close(handle)
    }

    /// Abandons the cursor because its transaction cannot be ended any more.
    func abandon() { isOpen = false }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        // LMDB rejects empty keys; an empty key means the first one.
        if key.isEmpty { return try move(MDB_FIRST) }
        return try move(MDB_SET_RANGE, MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress)))
    }

    override func last() throws -> Bool { try move(MDB_LAST) }
    override func next() throws -> Bool { try move(MDB_NEXT) }
    override func previous() throws -> Bool { try move(MDB_PREV) }

    @inline(__always)
    private func move(_ operation: MDB_cursor_op, _ wanted: MDB_val = MDB_val()) throws -> Bool {
        guard isOpen, !snapshot.isEnded else { throw ended() }
        var found = wanted
        var data = MDB_val()
        let code = mdb_cursor_get(handle, &found, &data, operation)
        guard code == MDB_SUCCESS else {
            if code == MDB_NOTFOUND { return false }
            throw StoreError(lmdb: code, "Reading", path: location)
        }
        setCurrent(
            UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size),
            UnsafeRawBufferPointer(start: data.mv_data, count: data.mv_size))
        return true
    }

    override func next(into batch: EntryBatch) throws -> Int? {
        guard isOpen, !snapshot.isEnded else { throw ended() }
        var code: Int32 = 0
        let count = polystore_cursor_next_batch(
            handle, batch.keys, batch.keyCounts, batch.values, batch.valueCounts, EntryBatch.capacity, &code)
        if code != MDB_SUCCESS, code != MDB_NOTFOUND { throw StoreError(lmdb: code, "Reading", path: location) }
        return count
    }

    private func ended() -> StoreError {
        StoreError(.closed, "The transaction of this cursor over \(location) has ended.", location: location)
    }
}
