import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

// Growth of the map, and the replacement of an environment that LMDB has disabled. Both wait until no transaction runs.
extension LMDBEngine {
    /// Resolves the condition that prevented a transaction from beginning.
    func recover(_ code: Int32, _ generation: Int, _ doing: String) throws {
        switch code {
        case MDB_MAP_RESIZED: try resize { try LMDBEnvironment.neededSize($0, location) }
        case MDB_PANIC: try replaceEnvironment(generation)
        default: throw StoreError(lmdb: code, doing, path: location)
        }
    }

    /// Doubles the map size.
    func makeRoom() throws {
        try resize { environment in
            // Readers of terminated processes would prevent the reuse of free pages.
            var dead: Int32 = 0
            mdb_reader_check(environment, &dead)
            let (size, isTooLarge) = size(of: environment).multipliedReportingOverflow(by: 2)
            guard !isTooLarge else { throw StoreError(lmdb: ENOMEM, "Making room", path: location) }
            return size
        }
    }

    func hasRoom(for bytes: Int) -> Bool {
        gate.withLock {
            guard let environment else { return true }
            var info = MDB_envinfo()
            var stat = MDB_stat()
            mdb_env_info(environment, &info)
            mdb_env_stat(environment, &stat)
            // Free pages within the file are not counted.
            let (used, isTooLarge) = (info.me_last_pgno + 1).multipliedReportingOverflow(by: Int(stat.ms_psize))
            return !isTooLarge && info.me_mapsize - used >= bytes
        }
    }

    func size(of environment: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return info.me_mapsize
    }

    /// Blocks new transactions, waits for running ones, and runs a closure with the lock held.
    func change(until deadline: Deadline, refusal: (Int) -> StoreError, _ body: () throws -> Void) throws {
        try gate.withLock {
            while isChanging { gate.wait() }
            // The lost transaction never releases the map.
            if isWriterLost { throw lostWriter }
            isChanging = true
            defer {
                isChanging = false
                gate.broadcast()
            }
            while running > 0 { guard gate.wait(until: deadline) else { throw refusal(running) } }
            dropIdle()
            try body()
        }
    }

    /// Changes the map size.
    func resize(to size: (OpaquePointer) throws -> Int) throws {
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .full,
                "The map of \(location) must grow, and \(running) transactions did not end in time. End long reads, or open the store with a larger mapSize.",
                location: location)
        }
        try change(until: Deadline(after: options.growthTimeout), refusal: refusal) {
            guard let environment else { return }
            let old = self.size(of: environment)
            let new = try size(environment)
            if new == old { return }
            mappedPages.forget()
            let code = mdb_env_set_mapsize(environment, new)
            if code == MDB_SUCCESS { return }
            // LMDB unmaps the old map before it requests the new one: without a map, the next read would crash.
            closeEnvironment()
            mapSize = old
            _ = try? reopen()
            throw StoreError(lmdb: code, "Making room", path: location)
        }
    }

    /// Replaces an environment that LMDB has disabled because a write of the page with the last transaction failed. The map and the last committed state are
    /// unchanged.
    func replaceEnvironment(_ failed: Int) throws {
        let deadline = gate.withLock {
            let deadline = replacement ?? Deadline(after: options.growthTimeout)
            if generation == failed { replacement = deadline }
            return deadline
        }
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .io,
                "An earlier commit to \(location) could not be written to the disk, and LMDB begins no transaction until its file is opened again. "
                    + "This happens automatically when the \(running) transactions that are open have ended.", location: location,
                engineCode: Int(MDB_PANIC), underlying: String(cString: mdb_strerror(MDB_PANIC)))
        }
        try change(until: deadline, refusal: refusal) {
            guard generation == failed, let environment else { return }
            mapSize = size(of: environment)
            closeEnvironment()
            _ = try reopen()
        }
    }

    /// Closes the environment. Call it with the lock held while no transaction runs.
    func closeEnvironment() {
        guard let closed = environment else { return }
        environment = nil
        mappedPages.forget()
        mdb_env_close(closed)
        if let lockTest { LMDBFile.close(lockTest) }
        lockTest = nil
    }

    /// Reopens the environment. Call it with the lock held while none is open.
    func reopen() throws -> OpaquePointer {
        let opened: LMDBEnvironment.Opened
        do {
            opened = try opener.open(mapSize: mapSize, identity: identity, mustExist: true)
        } catch is LMDBFile.Replaced {
            throw StoreError(
                .io, "The file \(location) was replaced by another one while the store was open. Close the store, and open it again.",
                location: location)
        }
        environment = opened.environment
        generation += 1
        isFlushed = false
        // Compaction replaces both files.
        if files.count > 0 { files = try WatchedFiles([location, location + "-lock"]) }
        replacement = nil
        return opened.environment
    }
}
