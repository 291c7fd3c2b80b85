import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

// Readers and the use of the environment: each transaction enters the gate, and leaves it when it ends.
extension LMDBEngine {
    func snapshot() throws -> any EngineSnapshot {
        let reader = try beginReader()
        return LMDBSnapshot(self, reader.transaction, generation: reader.generation)
    }

    func beginReader() throws -> (transaction: OpaquePointer, generation: Int) {
        if let stamp, try opener.file.storePath.stamp() != stamp {
            throw StoreError(
                .busy,
                "The store \(location) was opened without locks, because its file has several names, and another process has written to it. "
                    + "Close it and open it again.", location: location)
        }
        var hasCleared = false
        while true {
            let entry = try enter()
            var transaction = entry.reader
            let code =
                entry.reader.map { mdb_txn_renew($0) } ?? mdb_txn_begin(entry.environment, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_SUCCESS, let transaction {
                gate.withLock { reading += 1 }
                return (transaction, entry.generation)
            }
            if let kept = entry.reader { mdb_txn_abort(kept) }
            if code == MDB_READERS_FULL, !hasCleared {
                // Clears the readers of terminated processes and the idle readers of this process.
                hasCleared = true
                var dead: Int32 = 0
                mdb_reader_check(entry.environment, &dead)
                gate.withLock { dropIdle() }
                leave(entry.generation)
                continue
            }
            leave(entry.generation)
            try recover(code, entry.generation, "Reading")
        }
    }

    struct Entry {
        let environment: OpaquePointer
        let generation: Int
        let isFlushed: Bool
        /// An idle reader to reuse.
        let reader: OpaquePointer?
    }

    /// Waits until no change of the environment is in progress.
    func enter(reader: Bool = true) throws -> Entry {
        try gate.withLock {
            while isChanging { gate.wait() }
            let environment = try environment ?? reopen()
            running += 1
            return Entry(
                environment: environment, generation: generation, isFlushed: isFlushed, reader: reader ? idle.popLast() : nil)
        }
    }

    func leave(_ generation: Int) {
        gate.withLock {
            if generation != self.generation { return leaveRetired(generation) }
            running -= 1
            gate.broadcast()
        }
    }

    /// Resets a reader and keeps it for reuse.
    func giveBack(reader: OpaquePointer, generation: Int) {
        mdb_txn_reset(reader)
        gate.withLock {
            reading -= 1
            guard generation == self.generation else {
                mdb_txn_abort(reader)
                return leaveRetired(generation)
            }
            // Aborting needs the environment, which may be replaced as soon as no transaction runs.
            if idle.count < Self.mostIdle { idle.append(reader) } else { mdb_txn_abort(reader) }
            running -= 1
            gate.broadcast()
        }
    }

    /// Ends the use of the environment of a replaced file. Call it with the lock held.
    func leaveRetired(_ generation: Int) {
        retired[generation]?.running -= 1
        guard let environment = retired[generation], environment.running == 0 else { return }
        retired[generation] = nil
        environment.close()
    }

    /// Aborts the idle readers. Call it with the lock held.
    func dropIdle() {
        for reader in idle { mdb_txn_abort(reader) }
        idle = []
    }
}
