import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

/// A transaction of LMDB that is read in place.
class LMDBSnapshot: EngineSnapshot {
    let engine: LMDBEngine
    let transaction: OpaquePointer
    /// The generation of the environment.
    let generation: Int
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) final var isEnded = false

    init(_ engine: LMDBEngine, _ transaction: OpaquePointer, generation: Int) {
        self.engine = engine
        self.transaction = transaction
        self.generation = generation
    }

    deinit { end() }

    final func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction of \(engine.location) has ended.", location: engine.location) }
    }

    final func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        try check()
        var wanted = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var found = MDB_val()
        let code = mdb_get(transaction, engine.database, &wanted, &found)
        if code == MDB_SUCCESS { return UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size) }
        if code == MDB_NOTFOUND { return nil }
        throw StoreError(lmdb: code, "Reading", path: engine.location)
    }

    func cursor() throws -> EngineCursor { try makeCursor() }

    final func makeCursor() throws -> LMDBCursor {
        try check()
        var made: OpaquePointer?
        let code = mdb_cursor_open(transaction, engine.database, &made)
        guard code == MDB_SUCCESS, let made else { throw StoreError(lmdb: code, "Reading", path: engine.location) }
        return LMDBCursor(self, made, engine.location)
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        engine.giveBack(reader: transaction, generation: generation)
    }
}
