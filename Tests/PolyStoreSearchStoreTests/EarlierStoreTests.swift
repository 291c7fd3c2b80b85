import CSQLite
import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreSearch
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreSQLite

/// Stores of earlier releases, which have no full-text indexes, and of later ones.
@Suite struct EarlierStoreTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// A store without full-text indexes has the format that earlier releases open, also after it had one.
    @Test(arguments: Backend.persistent) func indexIsAddedToAStoreOfAnEarlierReleaseAndDropped(_ backend: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        try FileManager.default.copyItem(atPath: "\(Self.golden)/\(backend)-1.store", toPath: path)
        let plain = try Golden.schema()
        var description = plain.description
        let person = try #require(description.entities.firstIndex { $0.name == "Person" })
        description.entities[person].searchIndexes = [SearchIndexDescription(fields: ["name"])]
        let indexed = try ResolvedSchema(description)
        for _ in 1...2 {
            var store = try Store(backend.store(at: path), plain)
            store.waitForIndexes()
            try Golden.check(store)
            try store.backend.close()
            store = try Store(backend.store(at: path), plain)
            #expect(store.backend.metadata.format == 1)
            try store.backend.close()
            store = try Store(backend.store(at: path), indexed)
            store.waitForIndexes()
            try Golden.check(store)
            let entity = try store.entity("Person")
            let condition = try SearchCondition(Search("a*"), in: entity.searchIndexes[0], of: entity)
            #expect(try store.read { try $0.differences(condition) } == [])
            try store.backend.close()
            store = try Store(backend.store(at: path), indexed)
            #expect(store.backend.metadata.format > 1)
            try store.backend.close()
        }
    }

    /// A later release raises the number of the format for what this one does not maintain, as this one does for full-text indexes.
    @Test(arguments: Backend.persistent, [false, true])
    func storeOfALaterFormatIsRefusedByNameAndUnchanged(_ backend: Backend, isSearched: Bool) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let schema = try Texts.schema(isSearched ? [Texts.both] : [])
        var store = try Store(backend.store(at: path), schema)
        let newest = backend == .sqlite ? StoreTables.format : KeyValueBackend.format
        let own = store.backend.metadata.format
        #expect(own == (isSearched ? newest : 1))
        try store.write { try $0.insert("Note", 1, ["title": .text("lazy"), "code": .integer(1)]) }
        try store.backend.close()
        try Self.setFormat(newest + 1, backend, path)
        let before = try Self.contents(backend, path)
        for configuration in [backend.store(at: path), backend.store(at: path).resettingOnModelMismatch()] {
            for other in [schema, try Texts.schema([]), try Texts.schema([Texts.both, Texts.titles])] {
                let error = failure { _ = try Store(configuration, other) }
                #expect(error?.code == .incompatibleSchema)
                let wording = "has format \(newest + 1), and this version reads up to \(newest). Update the library."
                #expect(error?.message.contains(path) == true && error?.message.contains(wording) == true, "\(String(describing: error))")
            }
        }
        #expect(try Self.contents(backend, path) == before)
        try Self.setFormat(own, backend, path)
        store = try Store(backend.store(at: path), schema)
        #expect(try store.values("Note", 1)?["title"] == .text("lazy"))
        #expect(try store.backend.verify() == [])
    }

    /// Sets the number of the format in the files of a closed store.
    private static func setFormat(_ number: Int, _ backend: Backend, _ path: String) throws {
        if backend == .sqlite {
            var handle: OpaquePointer?
            try #require(sqlite3_open(path, &handle) == SQLITE_OK)
            defer { sqlite3_close(handle) }
            let sql = "UPDATE polystore_metadata SET value = \(number) WHERE key = 'format'"
            return try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        }
        try withEngine(backend, path) { handle in
            try handle.write { try $0.put(Keyspace.Metadata.format.key(), BigEndianInteger.bytes(UInt32(number))) }
        }
    }

    /// Returns the keys and values of an engine; for SQLite the bytes of its file.
    private static func contents(_ backend: Backend, _ path: String) throws -> [[UInt8]: [UInt8]] {
        if backend == .sqlite { return [[]: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))] }
        return try withEngine(backend, path) { handle in
            let snapshot = try handle.engine.snapshot()
            defer { snapshot.end() }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            var found: [[UInt8]: [UInt8]] = [:]
            var hasKey = try [UInt8](repeating: 0, count: 1).withUnsafeBytes { try cursor.seek($0) }
            while hasKey {
                found[[UInt8](cursor.key)] = [UInt8](cursor.value)
                hasKey = try cursor.next()
            }
            return found
        }
    }

    private static func withEngine<Result>(_ backend: Backend, _ path: String, _ body: (EngineHandle) throws -> Result) throws -> Result {
        let handle =
            backend == .lmdb
            ? try EngineHandle.lmdb(path: path, options: LMDBOptions(), isReadOnly: false)
            : try EngineHandle.levelDB(path: path, options: LevelDBOptions())
        defer { handle.release() }
        return try body(handle)
    }
}
