import CSQLite
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

@Suite struct OpeningTests {
    private static func note(_ name: AttributeType = .string) throws -> ResolvedSchema {
        try Models.single("Note", [.attribute(AttributeDescription(name: "title", type: name, isOptional: true))])
    }

    @Test func dataAndIdentityOutliveTheStore() throws {
        let folder = try Folder()
        let file = folder.file("test.sqlite")
        var store = try Store(file, try Self.note())
        let id = store.backend.metadata.storeID
        #expect(try store.write(.full) { try $0.insert("Note", 7, ["title": .text("kept")]) } == 1)
        try store.backend.close()
        #expect(folder.names == ["test.sqlite"], "the side files are gone after a clean end")
        #expect(try requireFailure { _ = try store.backend.beginRead() }.code == .closed)
        #expect(try requireFailure { _ = try store.backend.beginWrite() }.code == .closed)

        store = try Store(file, try Self.note())
        #expect(store.backend.metadata.storeID == id)
        #expect(try store.values("Note", 7) == ["title": .text("kept")])
        #expect(try store.read { try $0.version } == 1)
        #expect(try store.backend.verify() == [])
    }

    @Test func newFilesArePrivateAndInWALMode() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.note())
        try store.write { try $0.insert("Note", 1) }
        #expect(folder.names == ["test.sqlite", "test.sqlite-shm", "test.sqlite-wal"])
        for name in folder.names {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        let plain = try PlainSQL(folder.file("test.sqlite"))
        #expect(try plain.rows("PRAGMA journal_mode") == ["wal"])
        #expect(try plain.rows("PRAGMA application_id") == ["\(0x504F_4C59)"])
    }

    @Test func pageSizeIsTakenForNewFiles() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.pageSize = 16384
        _ = try Store(folder.file("test.sqlite"), try Self.note(), options: options)
        #expect(try PlainSQL(folder.file("test.sqlite")).rows("PRAGMA page_size") == ["16384"])
    }

    @Test func anEmptyFileBecomesAStore() throws {
        let folder = try Folder()
        try Data().write(to: URL(fileURLWithPath: folder.file("test.sqlite")))
        let store = try Store(folder.file("test.sqlite"), try Self.note())
        try store.write { try $0.insert("Note", 1) }
        #expect(try store.values("Note", 1) == [:])
    }

    @Test(arguments: [Data("hello".utf8), Data(repeating: 65, count: 100), Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })])
    func filesOfOtherFormatsAreUnchanged(bytes: Data) throws {
        let folder = try Folder()
        let url = URL(fileURLWithPath: folder.file("test.sqlite"))
        try bytes.write(to: url)
        for isReadOnly in [false, true] {
            let error = try requireFailure {
                _ = try Store(folder.file("test.sqlite"), try Self.note()) { $0.readOnly(isReadOnly).resettingOnModelMismatch() }
            }
            #expect(error.code == .notAStore)
            #expect(error.location == folder.file("test.sqlite"))
        }
        #expect(try Data(contentsOf: url) == bytes)
        #expect(folder.names == ["test.sqlite"])
    }

    /// SQLite does not notice that a flush of the folder failed. A power cut after it leaves the length of the first page without its bytes, and no journal.
    @Test(arguments: [512, 1024, 4096, 65536])
    func pageOfZerosIsAnInterruptedCreation(length: Int) throws {
        let folder = try Folder()
        let url = URL(fileURLWithPath: folder.file("test.sqlite"))
        try Data(count: length).write(to: url)
        #expect(try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note()) { $0.readOnly() } }.code == .notAStore)
        #expect(try Data(contentsOf: url) == Data(count: length))
        let store = try Store(folder.file("test.sqlite"), try Self.note())
        try store.write { try $0.insert("Note", 1) }
        #expect(try store.values("Note", 1) == [:])
        try store.backend.close()
        #expect(try Store(folder.file("test.sqlite"), try Self.note()).values("Note", 1) == [:])
    }

    /// Zeros of a length that no first page has, a page with one other byte, and zeros beside a log are left as they are.
    @Test func otherFilesOfZerosAreUnchanged() throws {
        var nearly = Data(count: 4096)
        nearly[4095] = 1
        for (bytes, log) in [(Data(count: 1000), nil), (Data(count: 131072), nil), (nearly, nil), (Data(count: 1024), Data("log".utf8))] {
            let folder = try Folder()
            let url = URL(fileURLWithPath: folder.file("test.sqlite"))
            try bytes.write(to: url)
            try log?.write(to: URL(fileURLWithPath: folder.file("test.sqlite-wal")))
            #expect(try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note()) }.code == .notAStore)
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func foreignDatabasesAreUnchanged(mode: String) throws {
        let folder = try Folder()
        let plain = try PlainSQL(folder.file("test.sqlite"))
        try plain.rows("PRAGMA journal_mode = \(mode)")
        try plain.rows("CREATE TABLE Note (title TEXT)")
        try plain.rows("INSERT INTO Note VALUES ('mine')")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite")))
        let error = try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note()) { $0.resettingOnModelMismatch() } }
        #expect(error.code == .notAStore)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite"))) == before)
        #expect(try plain.rows("SELECT title FROM Note") == ["mine"])
        #expect(try plain.rows("PRAGMA journal_mode") == [mode.lowercased()])
    }

    @Test func foreignLogIsUnchanged() throws {
        let folder = try Folder()
        let other = try PlainSQL(folder.file("test.sqlite"))
        try other.rows("PRAGMA journal_mode = WAL")
        try other.rows("CREATE TABLE Note (title TEXT)")
        // The files of a crashed program: a database whose newest pages are in its log only.
        let left = try Folder()
        for name in ["test.sqlite", "test.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: left.file(name))
        }
        func bytes() throws -> [Data] {
            try ["test.sqlite", "test.sqlite-wal"].map { try Data(contentsOf: URL(fileURLWithPath: left.file($0))) }
        }
        let before = try bytes()
        #expect(try requireFailure { _ = try Store(left.file("test.sqlite"), try Self.note()) }.code == .notAStore)
        #expect(try bytes() == before)
    }

    @Test func unusablePathsAreNamedInErrors() throws {
        let folder = try Folder()
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.file("plain")))
        for path in [
            folder.path, folder.file("missing/test.sqlite"), folder.file("plain/test.sqlite"), "/dev/null", "/proc/test.sqlite",
            folder.file("a\0b"),
        ] {
            let error = try requireFailure { _ = try Store(path, try Self.note()) }
            #expect(error.code == (path == folder.path ? .notAStore : .io), "\(path): \(error)")
            #expect(error.message.contains(path), "\(error)")
        }
        #expect(try requireFailure { _ = try Store("", try Self.note()) }.code == .io)
        #expect(folder.names == ["plain"])
    }

    @Test func locationsAreAbsoluteAndWithoutLinks() throws {
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.path)
        let expected = StoreConfiguration.sqlite(file: folder.file("a.sqlite")).location
        #expect(expected.hasPrefix("/"))
        #expect(StoreConfiguration.sqlite(file: folder.file("link/a.sqlite")).location == expected)
        #expect(StoreConfiguration.sqlite(url: URL(fileURLWithPath: folder.file("a.sqlite"))).location == expected)
        #expect(StoreConfiguration.sqlite(file: "here.sqlite").location.hasPrefix("/"))
        #expect(StoreConfiguration.sqlite(file: "a").engine == "sqlite")
    }

    @Test func otherModelsAreRefusedOrReset() throws {
        let folder = try Folder()
        var store = try Store(folder.file("test.sqlite"), try Self.note())
        let id = store.backend.metadata.storeID
        try store.write { try $0.insert("Note", 1) }
        try store.backend.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite")))

        let error = try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note(.int64)) }
        #expect(error.code == .migrationRequired)
        #expect(error.message.contains("Note.title was string and is int64"))
        #expect(
            try requireFailure {
                _ = try Store(folder.file("test.sqlite"), try Self.note(.int64)) { $0.readOnly().resettingOnModelMismatch() }
            }.code
                == .migrationRequired)
        #expect(
            try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note(), configuration: "other") }.code
                == .differentStoreAtURL)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite"))) == before)

        store = try Store(folder.file("test.sqlite"), try Self.note(.int64)) { $0.resettingOnModelMismatch() }
        #expect(store.backend.metadata.storeID != id)
        #expect(try store.values("Note", 1) == nil)
        try store.write { try $0.insert("Note", 1, ["title": .integer(3)]) }
    }

    @Test(arguments: [
        ("UPDATE polystore_metadata SET value = 3 WHERE key = 'format'", StoreError.Code.incompatibleSchema),
        ("UPDATE polystore_metadata SET value = 'x' WHERE key = 'format'", .corrupt),
        ("DELETE FROM polystore_metadata WHERE key = 'storeID'", .corrupt),
        ("UPDATE polystore_metadata SET value = x'00' WHERE key = 'schema'", .corrupt),
        ("DELETE FROM polystore_metadata", .corrupt),
        ("DROP TABLE polystore_metadata", .notAStore),
    ])
    func damagedMetadataIsRefused(sql: String, code: StoreError.Code) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.note())
        try store.backend.close()
        try PlainSQL(folder.file("test.sqlite")).rows(sql)
        #expect(
            try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note()) { $0.resettingOnModelMismatch() } }.code == code
        )
    }

    @Test func readOnlyStoresRead() throws {
        let folder = try Folder()
        #expect(try requireFailure { _ = try Store(folder.file("test.sqlite"), try Self.note()) { $0.readOnly() } }.code == .io)
        #expect(folder.names == [])
        let writer = try Store(folder.file("test.sqlite"), try Self.note())
        try writer.write { try $0.insert("Note", 1, ["title": .text("a")]) }
        // While the writer is open, and after it is closed.
        for closesFirst in [false, true] {
            if closesFirst { try writer.backend.close() }
            let reader = try Store(folder.file("test.sqlite"), try Self.note()) { $0.readOnly() }
            #expect(try reader.values("Note", 1) == ["title": .text("a")])
            #expect(try requireFailure { _ = try reader.backend.beginWrite() }.code == .readOnly)
            #expect(try reader.backend.verify() == [])
            try reader.backend.close()
        }
    }

    @Test(arguments: ["sqlite_notes", "SQLite_x", "polystore_state", "PolyStore_x"])
    func reservedNamesAreRefused(name: String) throws {
        let folder = try Folder()
        let error = try requireFailure { _ = try Store(folder.file("test.sqlite"), try Models.single(name, [])) }
        #expect(error.code == .invalidSchema)
        #expect(error.entity == name)
        #expect(folder.names == [])
    }

    @Test func derivedNamesNeverCollide() throws {
        let folder = try Folder()
        func entity(_ name: String, _ attributes: [String], indexes: [IndexDescription] = []) -> EntityDescription {
            EntityDescription(
                name: name,
                properties: attributes.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true, isIndexed: true)) },
                indexes: indexes)
        }
        let entities = [
            entity("A", ["b", "b_c", "c"], indexes: [IndexDescription(fields: ["b", "c"])]), entity("A_b", ["c"]), entity("a_C", ["x"]),
            entity("sqlite", ["x"]), entity("polystore", ["state"]),
        ]
        for order in [entities, entities.reversed()] {
            let store = try Store(folder.file("test.sqlite"), try ResolvedSchema(SchemaDescription(name: "names", entities: order)))
            #expect(try store.backend.verify() == [])
            try store.write { changes in for entity in order { try changes.insert(entity.name, Int64.random(in: 1...Int64.max)) } }
            try store.backend.close()
        }
    }
}
