import CSQLite
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// The reading connections of a store.
@Suite struct ReaderTests {
    private static func store(_ folder: Folder) throws -> Store {
        let schema = try Models.single("Note", [.attribute(AttributeDescription(name: "title", type: .string, isOptional: true))])
        let store = try Store(folder.file("test.sqlite"), schema)
        try store.write { try $0.insert("Note", 1) }
        return store
    }

    @Test func idleConnectionsThatFailAreReplaced() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        let pool = store.backend.pool
        let connections = try (0..<3).map { _ in try pool.borrowReader() }
        for connection in connections {
            // Every statement of this connection fails with SQLITE_INTERRUPT.
            sqlite3_progress_handler(connection.handle, 1, { _ in 1 }, nil)
            pool.giveBack(reader: connection)
        }
        #expect(pool.readSessions == ReadSessions(active: 0, idle: 3, maximumIdle: 8))
        for _ in 0..<2 { #expect(try store.ids(FetchRequest(try store.entity("Note"))) == [1]) }
        #expect(pool.readSessions == ReadSessions(active: 0, idle: 1, maximumIdle: 8))
    }

    @Test func readersAfterAFailureOfTheStoreBeginAgain() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        try store.backend.close()
        for _ in 0..<2 { expectError(.closed) { try store.backend.beginRead() } }
        #expect(store.backend.pool.readSessions.active == 0)
    }
}
