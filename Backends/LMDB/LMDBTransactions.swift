import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A transaction of LMDB that is read in place.
class LMDBSnapshot: EngineSnapshot {
    fileprivate let engine: LMDBEngine
    let transaction: OpaquePointer
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) fileprivate(set) final var isEnded = false

    init(_ engine: LMDBEngine, _ transaction: OpaquePointer) {
        self.engine = engine
        self.transaction = transaction
    }

    deinit { end() }

    fileprivate func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction of \(engine.place) has ended.", url: engine.place) }
    }

    final func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        try check()
        var wanted = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var found = MDB_val()
        let code = mdb_get(transaction, engine.database, &wanted, &found)
        if code == MDB_SUCCESS { return UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size) }
        if code == MDB_NOTFOUND { return nil }
        throw StoreError(lmdb: code, "Reading", path: engine.place)
    }

    func cursor() throws -> EngineCursor { try makeCursor() }

    fileprivate final func makeCursor() throws -> LMDBCursor {
        try check()
        var made: OpaquePointer?
        let code = mdb_cursor_open(transaction, engine.database, &made)
        guard code == MDB_SUCCESS, let made else { throw StoreError(lmdb: code, "Reading", path: engine.place) }
        return LMDBCursor(self, made, engine.place)
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        engine.giveBack(reader: transaction)
    }
}

/// A cursor over the keys of the file.
final class LMDBCursor: EngineCursor {
    private let snapshot: LMDBSnapshot
    private let handle: OpaquePointer
    private let place: String
    // Used only by the methods below, never recursively.
    @exclusivity(unchecked) private var isOpen = true

    init(_ snapshot: LMDBSnapshot, _ handle: OpaquePointer, _ place: String) {
        self.snapshot = snapshot
        self.handle = handle
        self.place = place
        super.init()
    }

    deinit { close() }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        mdb_cursor_close(handle)
    }

    /// Abandons the cursor because its transaction cannot be ended any more.
    fileprivate func abandon() { isOpen = false }

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
            throw StoreError(lmdb: code, "Reading", path: place)
        }
        stand(
            on: UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size),
            UnsafeRawBufferPointer(start: data.mv_data, count: data.mv_size))
        return true
    }

    override func next(into batch: EntryBatch) throws -> Int? {
        guard isOpen, !snapshot.isEnded else { throw ended() }
        var code: Int32 = 0
        let count = polystore_cursor_walk(
            handle, batch.keys, batch.keyCounts, batch.values, batch.valueCounts, EntryBatch.capacity, &code)
        if code != MDB_SUCCESS, code != MDB_NOTFOUND { throw StoreError(lmdb: code, "Reading", path: place) }
        return count
    }

    private func ended() -> StoreError { StoreError(.closed, "The transaction of this walk over \(place) has ended.", url: place) }
}

/// LMDB's write transaction. It is bound to the thread that began it.
final class LMDBWriter: LMDBSnapshot, EngineWriter {
    private let thread = polystore_thread_number()
    /// The open cursors, which are closed explicitly because the end of the transaction would free them.
    private var cursors: [WeakCursor] = []
    /// The write cursor: keys arrive in order, so the next position is near the previous one.
    private var position: OpaquePointer?
    /// The number of keys written since mapped pages were last released.
    private var writtenKeys = 0

    private struct WeakCursor {
        weak var cursor: LMDBCursor?
    }

    override init(_ engine: LMDBEngine, _ transaction: OpaquePointer) { super.init(engine, transaction) }

    override func cursor() throws -> EngineCursor {
        let cursor = try makeCursor()
        if cursors.count > 64 { cursors.removeAll { $0.cursor == nil } }
        cursors.append(WeakCursor(cursor: cursor))
        return cursor
    }

    private func checkThread() throws {
        try check()
        guard thread == polystore_thread_number() else {
            throw StoreError(
                .misuse, "A write transaction of \(engine.place) was used on another thread than the one that began it.", url: engine.place)
        }
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try checkThread()
        writtenKeys &+= 1
        if writtenKeys == LMDBMappedPages.keysPerRelease {
            engine.didWrite(writtenKeys)
            writtenKeys = 0
        }
        if position == nil {
            try LMDBResult.check(mdb_cursor_open(transaction, engine.database, &position), "Writing", engine.place)
        }
        var key = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var data = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        try LMDBResult.check(mdb_cursor_put(position, &key, &data, 0), "Writing", engine.place)
    }

    func remove(_ key: UnsafeRawBufferPointer) throws {
        try checkThread()
        var key = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        let code = mdb_del(transaction, engine.database, &key, nil)
        if code != MDB_NOTFOUND { try LMDBResult.check(code, "Writing", engine.place) }
    }

    /// Closes all cursors of the transaction.
    private func closeCursors() {
        for cursor in cursors { cursor.cursor?.close() }
        cursors = []
        if let position { mdb_cursor_close(position) }
        position = nil
    }

    func commit(_ durability: Durability) throws {
        try checkThread()
        closeCursors()
        engine.setRelaxed(durability == .relaxed)
        isEnded = true
        // The transaction has ended regardless of the result.
        if let error = engine.finishWriting(mdb_txn_commit(transaction), writtenKeys: writtenKeys) { throw error }
    }

    override func end() {
        guard !isEnded else { return }
        isEnded = true
        guard thread == polystore_thread_number() else {
            for cursor in cursors { cursor.cursor?.abandon() }
            // Aborting here would leave LMDB's lock owned by the other thread and block the next writer forever.
            engine.reportStuck()
            return
        }
        closeCursors()
        mdb_txn_abort(transaction)
        engine.finishWriting()
    }
}
