import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

// Write transactions: they begin only behind a durable state, and what they report decides whether the state is durable.
extension LMDBEngine {
    func beginWrite() throws -> any EngineWriter {
        while true {
            if gate.withLock({ isWriterLost }) { throw lostWriter }
            let entry = try enter(reader: false)
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(entry.environment, nil, 0, &transaction)
            guard code == MDB_SUCCESS, let transaction else {
                leave(entry.generation)
                try recover(code, entry.generation, "Writing")
                continue
            }
            guard gate.withLock({ generation == entry.generation }) else {
                // The file was replaced while this writer waited for its turn.
                mdb_txn_abort(transaction)
                leave(entry.generation)
                continue
            }
            do {
                if !entry.isFlushed { try flushCommitted(entry.environment) }
            } catch {
                mdb_txn_abort(transaction)
                leave(entry.generation)
                throw error
            }
            return LMDBWriter(self, transaction, generation: entry.generation)
        }
    }

    var lostWriter: StoreError {
        StoreError(
            .misuse,
            "A write transaction of \(location) was ended on another thread than the one that began it, which LMDB does not allow. "
                + "Close the store and open it again.", location: location)
    }

    /// Ensures that the last committed state is durable before pages of older states are overwritten.
    func flushCommitted(_ environment: OpaquePointer) throws {
        var descriptor: mdb_filehandle_t = -1
        try LMDBResult.check(mdb_env_get_fd(environment, &descriptor), "Writing", location)
        do {
            try opener.file.flushMetas(descriptor)
            if gate.withLock({ isFolderUnflushed }) { try opener.file.storePath.flushFolder() }
        } catch let error as StoreError {
            throw StoreError(
                error.code, "Nothing can be written to \(location), because its last committed state cannot be flushed: \(error.message)",
                location: location,
                engineCode: error.engineCode, underlying: error.underlying)
        }
        gate.withLock { (isFlushed, isFolderUnflushed) = (true, false) }
    }

    /// Ends a write transaction.
    /// - Parameters:
    ///   - code: The result of the commit.
    ///   - generation: The generation of the transaction's environment.
    ///   - writtenKeys: The number of written keys that have not been passed to ``didWrite(_:)``.
    /// - Returns: the error of a failed commit.
    @discardableResult
    func finishWriting(_ code: Int32 = MDB_SUCCESS, generation: Int, writtenKeys: Int = 0) -> (any Error)? {
        // LMDB reports the same error for a full disk and for an I/O error if the system writes only a part.
        var isFull = false
        var descriptor: mdb_filehandle_t = -1
        if code == EIO, mdb_env_get_fd(environment, &descriptor) == MDB_SUCCESS { isFull = LMDBFile.isFull(descriptor) }
        gate.withLock {
            if generation != self.generation { return leaveRetired(generation) }
            // System error codes come from writing or flushing.
            if code > 0 { isFlushed = false }
            mappedPages.didWrite(writtenKeys)
            running -= 1
            gate.broadcast()
        }
        return LMDBResult.failure(isFull ? ENOSPC : code, "Committing", location)
    }

    /// Counts written keys. The write transaction calls it regularly, so that a large transaction does not make the whole file resident.
    func didWrite(_ keys: Int) { gate.withLock { mappedPages.didWrite(keys) } }

    func reportLostWriter() { gate.withLock { isWriterLost = true } }

    func setRelaxed(_ isRelaxed: Bool) {
        // Data pages become durable before the meta page that refers to them: a power failure may lose commits but cannot tear one. With `MDB_NOSYNC` it could.
        mdb_env_set_flags(environment, UInt32(MDB_NOMETASYNC), isRelaxed ? 1 : 0)
    }
}
