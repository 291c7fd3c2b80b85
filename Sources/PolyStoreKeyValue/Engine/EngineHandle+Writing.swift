import PolyStoreBackend

extension EngineHandle {
    /// Runs and commits one transaction of the engine. Repeats it if the engine had to make room.
    /// - Parameter isCancelled: Polled while the call waits for the write lock.
    func write<Result>(isCancelled: (() -> Bool)? = nil, _ body: (any EngineWriter) throws -> Result) throws -> Result {
        try lockWriting(isCancelled: isCancelled)
        defer { unlockWriting() }
        return try writeLocked(body)
    }

    /// Like ``write(isCancelled:_:)``, for a caller that holds the write lock.
    func writeLocked<Result>(_ body: (any EngineWriter) throws -> Result) throws -> Result {
        _ = takeCache()
        while true {
            let writer = try beginEngineWrite()
            defer { writer.end() }
            do {
                let result = try body(writer)
                try engine.checkFiles()
                try writer.commit(.full)
                return result
            } catch is EngineOutOfRoom {
                writer.end()
                try (engine as? any TransactionalEngine)?.makeRoom()
            }
        }
    }

    /// Begins a write transaction: the engine's own, or an in-memory one over a snapshot.
    func beginEngineWrite() throws -> any EngineWriter {
        if let engine = engine as? any TransactionalEngine { return try engine.beginWrite() }
        return try OverlayTransaction(engine)
    }

    // MARK: Migrations

    /// Waits for the migration lock, which one process at a time can hold.
    /// - Throws: `busy` if another process holds it for too long.
    func lockMigration() throws {
        let deadline = Deadline(after: engine.traits.migrationTimeout)
        while try !engine.lockMigration() {
            if deadline.isPast { throw Self.isBeingMigrated(engine.location) }
            Deadline.pause(milliseconds: 10)
        }
    }

    /// Removes the staged data of an interrupted migration, or waits for a migration in progress elsewhere.
    /// - Parameter waits: Whether the caller waits for a migration in progress.
    /// - Returns: `false` if a migration is in progress and the caller does not wait.
    /// - Throws: `busy` if that takes too long; `differentStoreAtURL` if the migration was committed.
    @discardableResult
    func endInterruptedMigration(waits: Bool = true, _ check: (any EngineWriter) throws -> Void) throws -> Bool {
        if !waits, isBeingMigrated { return false }
        try lockWriting()
        defer { unlockWriting() }
        if waits { try lockMigration() } else if try !engine.lockMigration() { return false }
        defer { engine.unlockMigration() }
        try writeLocked { writer in
            try check(writer)
            try MigrationJournal.abandon(writer, location: engine.location)
        }
        setHasJournal(false)
        return true
    }
}
