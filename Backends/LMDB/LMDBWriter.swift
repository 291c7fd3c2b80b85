import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

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

    override init(_ engine: LMDBEngine, _ transaction: OpaquePointer, generation: Int) {
        super.init(engine, transaction, generation: generation)
    }

    override func cursor() throws -> EngineCursor {
        let cursor = try makeCursor()
        if cursors.count > 64 { cursors.removeAll { $0.cursor == nil } }
        cursors.append(WeakCursor(cursor: cursor))
        return cursor
    }

    var environment: OpaquePointer { mdb_txn_env(transaction) }

    private func checkThread() throws {
        try check()
        guard thread == polystore_thread_number() else {
            throw StoreError(
                .misuse, "A write transaction of \(engine.location) was used on another thread than the one that began it.",
                location: engine.location)
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
            try LMDBResult.check(mdb_cursor_open(transaction, engine.database, &position), "Writing", engine.location)
        }
        var key = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var data = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        try LMDBResult.check(mdb_cursor_put(position, &key, &data, 0), "Writing", engine.location)
    }

    func remove(_ key: UnsafeRawBufferPointer) throws {
        try checkThread()
        var key = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        let code = mdb_del(transaction, engine.database, &key, nil)
        if code != MDB_NOTFOUND { try LMDBResult.check(code, "Writing", engine.location) }
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
        if let error = engine.finishWriting(mdb_txn_commit(transaction), generation: generation, writtenKeys: writtenKeys) { throw error }
    }

    override func end() {
        guard !isEnded else { return }
        isEnded = true
        guard thread == polystore_thread_number() else {
            for cursor in cursors { cursor.cursor?.abandon() }
            // Aborting here would leave LMDB's lock owned by the other thread and block the next writer forever.
            engine.reportLostWriter()
            return
        }
        closeCursors()
        mdb_txn_abort(transaction)
        engine.finishWriting(generation: generation)
    }
}
