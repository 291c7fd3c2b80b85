import PolyStoreBackend

extension EngineHandle {
    /// One transaction of the engine, committed; begun again where the engine had to make room.
    func write<Result>(_ body: (any EngineWriter) throws -> Result) throws -> Result {
        takeTurn()
        defer { giveTurn() }
        _ = takeNotes()
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

    /// A write transaction, the engine's own or one in memory over a snapshot.
    func beginEngineWrite() throws -> any EngineWriter {
        if let engine = engine as? any TransactionalEngine { return try engine.beginWrite() }
        return try OverlayTransaction(engine)
    }
}
