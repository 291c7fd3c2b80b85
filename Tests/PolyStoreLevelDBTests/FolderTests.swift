import CLevelDB
import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLevelDB

@Suite struct FolderTests {
    @Test func newFoldersArePrivateByDefault() throws {
        let folder = try Folder()
        try notes(folder.file("private")).addNotes(1...1, size: 10)
        try notes(folder.file("shared")) { $0.folderMode = 0o750 }.addNotes(1...1, size: 10)
        #expect(try folder.mode("private") == 0o700)
        #expect(try folder.mode("shared") == 0o750)
    }

    @Test func dataAndIdentityOutliveTheStore() throws {
        let folder = try Folder()
        var store = try notes(folder.file())
        let id = store.backend.metadata.storeID
        try store.addNotes(1...100, size: 5000, .full)
        try store.backend.close()
        #expect(failure { _ = try store.backend.beginRead() }?.code == .closed)
        store = try notes(folder.file())
        #expect(store.backend.metadata.storeID == id)
        #expect(try store.wholeNotes() == Array(1...100))
    }

    /// LevelDB creates world-readable files, so the permissions of the folder protect them.
    @Test func anEmptyFolderBecomesAPrivateStore() throws {
        let folder = try Folder()
        for (name, mode, wanted) in [("default", nil, 0o700), ("shared", UInt32(0o750), 0o750), ("open", UInt32(0o777), 0o755)] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            let store = try notes(folder.file(name)) { if let mode { $0.folderMode = mode } }
            try store.addNotes(1...1, size: 10)
            #expect(try folder.mode(name) == wanted)
        }
    }

    @Test func trailingSlashNamesTheSameFolder() throws {
        let folder = try Folder()
        let location = StoreConfiguration.levelDB(directory: folder.file()).location
        for slashes in ["/", "//"] {
            #expect(StoreConfiguration.levelDB(directory: folder.file() + slashes).location == location)
            let store = try notes(folder.file() + slashes)
            try store.backend.close()
            #expect(StoreConfiguration.levelDB(directory: folder.file() + slashes).location == location)
        }
    }

    @Test func foreignFoldersAndFilesAreUnchanged() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file("other"), withIntermediateDirectories: false)
        try folder.write(Data("mine".utf8), to: "other/letter.txt")
        try folder.write(Data("mine".utf8), to: "plain")
        for name in ["other", "plain"] {
            let error = failure { _ = try notes(folder.file(name)) }
            #expect(error?.code == .notAStore)
            #expect(error?.location == folder.file(name))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("other")) == ["letter.txt"])
        #expect(try folder.bytes("plain") == Data("mine".utf8))
    }

    @Test func foreignDatabasesKeepTheirData() throws {
        let folder = try Folder()
        let options = leveldb_options_create()
        defer { leveldb_options_destroy(options) }
        leveldb_options_set_create_if_missing(options, 1)
        var message: UnsafeMutablePointer<CChar>?
        let database = try #require(leveldb_open(options, folder.file(), &message))
        let writing = leveldb_writeoptions_create()
        leveldb_put(database, writing, "mine", 4, "also mine", 9, &message)
        leveldb_writeoptions_destroy(writing)
        leveldb_close(database)
        let error = failure { _ = try Store(.levelDB(directory: folder.file()).resettingOnModelMismatch(), try Notes.schema()) }
        #expect(error?.code == .notAStore)
        let again = try #require(leveldb_open(options, folder.file(), &message))
        defer { leveldb_close(again) }
        let reading = leveldb_readoptions_create()
        defer { leveldb_readoptions_destroy(reading) }
        var count = 0
        let found = try #require(leveldb_get(again, reading, "mine", 4, &count, &message))
        defer { leveldb_free(found) }
        #expect(String(decoding: UnsafeRawBufferPointer(start: found, count: count), as: UTF8.self) == "also mine")
    }

    @Test func unusablePathsAreNamedInErrors() throws {
        let folder = try Folder()
        try folder.write(Data("x".utf8), to: "plain")
        for path in [folder.file("missing/store"), folder.file("plain/store"), "/proc/store", folder.file("a\0b")] {
            let error = failure { _ = try notes(path) }
            #expect(error?.code == .io, "\(path): \(String(describing: error))")
            #expect(error?.message.contains(path) == true)
        }
        #expect(folder.names == ["plain"])
    }

    /// LevelDB's messages contain the path, which must not affect the error code.
    @Test func wordsInAPathDoNotAffectTheErrorCode() throws {
        let folder = try Folder()
        for name in ["padlock", "checksum", "quota", "No space left"] {
            try notes(folder.file(name)).backend.close()
            // CURRENT names a MANIFEST that does not exist.
            try folder.write(Data("MANIFEST-999999\n".utf8), to: name + "/CURRENT")
            let error = failure { _ = try notes(folder.file(name)) }
            #expect(error?.code == .corrupt || error?.code == .io, "\(name): \(String(describing: error))")
            #expect(error?.code == failure { _ = try notes(folder.file(name)) }?.code)
        }
    }

    @Test func releasedTransactionsAndCursorsDoNotKeepTheDatabaseOpen() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...100, size: 100)
        let request = FetchRequest(try store.entity("Note"))
        var kept: [RecordCursor] = []
        for round in 0..<20 {
            let reader = try store.backend.beginRead()
            let cursor = try reader.fetch(request)
            #expect(try cursor.next())
            if round % 2 == 0 { kept.append(cursor) }
            if round % 3 == 0 { reader.end() }
            let writer = try store.backend.beginWrite()
            let changes = Changes(store.schema)
            try changes.delete("Note", 1)
            try writer.apply(changes.set)
        }
        try store.backend.close()
        // Scans that outlive their transaction throw.
        for cursor in kept { _ = failure { while try cursor.next() {} } }
        kept = []
        let child = try Child("open", "leveldb", folder.file())
        #expect(child.line() == "ok", "the database and its lock are free")
        try child.goOn()
        #expect(child.wait() == 0)
        #expect(try notes(folder.file()).wholeNotes().count == 100)
    }

    @Test func closingWaitsForRunningTransactions() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 50)
        let request = FetchRequest(try store.entity("Note"))
        let reader = try store.backend.beginRead()
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        try changes.insert("Note", 4, Notes.values(4, size: 10))
        try writer.apply(changes.set)
        try store.backend.close()
        #expect(failure { _ = try store.backend.beginRead() }?.code == .closed)
        #expect(try reader.ids(request) == [1, 2, 3])
        _ = try writer.commit(.full)
        #expect(try reader.ids(request) == [1, 2, 3])
        reader.end()
        #expect(failure { _ = try reader.ids(request) }?.code == .closed)
        #expect(try notes(folder.file()).wholeNotes() == [1, 2, 3, 4])
    }
}
