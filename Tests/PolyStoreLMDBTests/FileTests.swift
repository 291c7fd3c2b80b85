import CLMDB
import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// Creates a database of another program: plain LMDB.
private func plainDatabase(_ file: String, _ body: (OpaquePointer?, MDB_dbi) throws -> Void) throws {
    var environment: OpaquePointer?
    try #require(mdb_env_create(&environment) == 0)
    defer { mdb_env_close(environment) }
    mdb_env_set_mapsize(environment, 64 << 20)
    try #require(mdb_env_open(environment, file, UInt32(MDB_NOSUBDIR), 0o600) == 0)
    var transaction: OpaquePointer?
    try #require(mdb_txn_begin(environment, nil, 0, &transaction) == 0)
    var database: MDB_dbi = 0
    try #require(mdb_dbi_open(transaction, nil, 0, &database) == 0)
    try body(transaction, database)
    try #require(mdb_txn_commit(transaction) == 0)
}

private func put(_ transaction: OpaquePointer?, _ database: MDB_dbi, _ key: String, _ value: [UInt8]) {
    var (key, value) = ([UInt8](key.utf8), value)
    key.withUnsafeMutableBytes { key in
        value.withUnsafeMutableBytes { value in
            var (name, data) = (
                MDB_val(mv_size: key.count, mv_data: key.baseAddress), MDB_val(mv_size: value.count, mv_data: value.baseAddress)
            )
            #expect(mdb_put(transaction, database, &name, &data, 0) == 0)
        }
    }
}

@Suite struct FileTests {
    @Test func newFilesArePrivateByDefault() throws {
        let folder = try Folder()
        for (name, mode) in [("private", nil), ("shared", UInt32(0o640))] {
            let store = try notes(folder.file(name)) { if let mode { $0.fileMode = mode } }
            try store.addNotes(1...1, size: 10)
            for name in [name, name + "-lock"] { #expect(try folder.mode(name) == Int(mode ?? 0o600), "\(name)") }
        }
    }

    @Test func dataAndIdentityOutliveTheStore() throws {
        let folder = try Folder()
        var store = try notes(folder.file())
        let id = store.backend.metadata.storeID
        try store.addNotes(1...100, size: 5000, .full)
        try store.backend.close()
        #expect(failure { _ = try store.backend.beginRead() }?.code == .closed)
        #expect(failure { _ = try store.backend.beginWrite() }?.code == .closed)
        store = try notes(folder.file())
        #expect(store.backend.metadata.storeID == id)
        #expect(try store.wholeNotes() == Array(1...100))
        #expect(try store.read { try $0.version } == 1)
    }

    /// A file truncated at any length is refused or complete; reading past its end would crash the process.
    @Test func filesCutShortAreRefused() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        for round in Int64(0)..<6 { try store.addNotes(round * 20 + 1...round * 20 + 20, size: round % 2 == 0 ? 900 : 30_000, .full) }
        let all = try store.wholeNotes()
        try store.backend.close()
        let sound = try folder.bytes()
        let page = 4096
        let lengths =
            [1, 2, 23, 24, 150, page - 1] + stride(from: page, to: sound.count, by: sound.count / 150)
            + (1...40).map { sound.count - $0 * 517 }
        for length in lengths {
            try folder.write(sound.prefix(length), to: "cut")
            for isReadOnly in [false, true] {
                let configuration = StoreConfiguration.lmdb(file: folder.file("cut")).readOnly(isReadOnly)
                do {
                    let store = try Store(configuration, try Notes.schema())
                    #expect(try store.wholeNotes() == all, "\(length)")
                    try store.backend.close()
                } catch let error as StoreError {
                    #expect(error.code == .corrupt || error.code == .notAStore, "\(length): \(error)")
                    #expect(error.location == folder.file("cut"))
                }
            }
        }
        #expect(try folder.bytes() == sound)
    }

    /// The file can end before the last allocated page, if that page was freed before it was written.
    @Test func fileWithUnwrittenLastPagesOpens() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        var random = SystemRandomNumberGenerator()
        var found = 0
        for round in 0..<60 {
            // Free pages must exist, because released pages would be written otherwise.
            let transaction = try store.backend.beginWrite()
            for step in Int64(0)..<6 {
                let changes = Changes(store.schema)
                let id = Int64(round) * 10 + step + 1
                try changes.insert("Note", id, Notes.values(id, size: Int.random(in: 1000...60_000, using: &random)))
                try transaction.apply(changes.set)
                if step > 1 {
                    let changes = Changes(store.schema)
                    try changes.delete("Note", id)
                    try transaction.apply(changes.set)
                }
            }
            _ = try transaction.commit(.relaxed)
            if try isShort(folder, store) { found += 1 }
            if found > 3 { break }
        }
        #expect(found > 0, "no round produced a truncated file")
        let all = try store.wholeNotes()
        // A copy of the open file has the state after a crash.
        try folder.write(try folder.bytes(), to: "copy")
        let copy = try notes(folder.file("copy"))
        #expect(try copy.wholeNotes() == all)
        #expect(try copy.backend.verify() == [])
        try copy.addNotes(100_000...100_100, size: 5000)
        #expect(try copy.wholeNotes().count == all.count + 101)
    }

    private func isShort(_ folder: Folder, _ store: Store) throws -> Bool {
        var info = MDB_envinfo()
        mdb_env_info(try engine(store).environment, &info)
        return try folder.bytes().count < (info.me_last_pgno + 1) * 4096
    }

    @Test(arguments: [Data("hello".utf8), Data(repeating: 65, count: 100), Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })])
    func filesOfOtherFormatsAreUnchanged(bytes: Data) throws {
        let folder = try Folder()
        try folder.write(bytes)
        for isReadOnly in [false, true] {
            let error = failure {
                _ = try Store(.lmdb(file: folder.file()).readOnly(isReadOnly).resettingOnModelMismatch(), try Notes.schema())
            }
            #expect(error?.code == .notAStore)
            #expect(error?.location == folder.file())
        }
        #expect(try folder.bytes() == bytes)
        #expect(folder.names == ["store"])
    }

    @Test func foreignDatabasesAreUnchanged() throws {
        let folder = try Folder()
        try plainDatabase(folder.file()) { transaction, database in
            put(transaction, database, "mine", [1, 2, 3])
            put(transaction, database, "also mine", [UInt8](repeating: 7, count: 10_000))
        }
        let before = try folder.bytes()
        for isReadOnly in [false, true] {
            let error = failure {
                _ = try Store(.lmdb(file: folder.file()).readOnly(isReadOnly).resettingOnModelMismatch(), try Notes.schema())
            }
            #expect(error?.code == .notAStore)
        }
        #expect(try folder.bytes() == before)
    }

    @Test func anEmptyFileAndAnEmptyDatabaseBecomeStores() throws {
        let folder = try Folder()
        try folder.write(Data(), to: "file")
        try plainDatabase(folder.file("database")) { _, _ in }
        for name in ["file", "database"] {
            let store = try notes(folder.file(name))
            try store.addNotes(1...3, size: 10)
            #expect(try store.wholeNotes() == [1, 2, 3])
        }
    }

    @Test func unusablePathsAreNamedInErrors() throws {
        let folder = try Folder()
        try folder.write(Data("x".utf8), to: "plain")
        for path in [
            folder.path, folder.file("missing/store"), folder.file("plain/store"), "/dev/null", "/proc/store", folder.file("a\0b"),
        ] {
            let error = failure { _ = try notes(path) }
            #expect(error?.code == (path == folder.path ? .notAStore : .io), "\(path): \(String(describing: error))")
            #expect(error?.message.contains(path) == true)
        }
        #expect(failure { _ = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema()) }?.code == .io)
        #expect(folder.names == ["plain"])
    }

    @Test func oneFileUnderSeveralNamesIsOneStore() throws {
        let folder = try Folder()
        let first = try notes(folder.file())
        try first.addNotes(1...3, size: 100)
        try FileManager.default.createSymbolicLink(atPath: folder.file("symbolic"), withDestinationPath: folder.file())
        try FileManager.default.linkItem(atPath: folder.file(), toPath: folder.file("hard"))
        var stores = [first]
        for name in ["store", "symbolic", "hard"] {
            let store = try notes(folder.file(name))
            #expect(try engine(store) === engine(first), "\(name)")
            stores.append(store)
        }
        for (number, store) in stores.enumerated() { try store.addNotes(Int64(number + 10)...Int64(number + 10), size: 100) }
        for store in stores { #expect(try store.wholeNotes() == [1, 2, 3, 10, 11, 12, 13]) }
        // Closing the first store does not affect the others.
        try stores[0].backend.close()
        try stores[3].addNotes(20...20, size: 100)
        #expect(try stores[1].wholeNotes().last == 20)
        for store in stores { try store.backend.close() }
        // Another opening finds two names. Compaction would replace one of them.
        for name in ["store", "hard"] { #expect(failure { _ = try notes(folder.file(name)) }?.code == .io) }
        try FileManager.default.removeItem(atPath: folder.file("store"))
        #expect(try notes(folder.file("hard")).wholeNotes().count == 8)
    }

    @Test func aFileWithSeveralNamesIsNotCompacted() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 100)
        try FileManager.default.linkItem(atPath: folder.file(), toPath: folder.file("hard"))
        let error = try #require(failure { try store.backend.compact() })
        #expect(error.code == .io && error.message.contains("has 2 names") && error.message.contains(folder.file("hard")), "\(error)")
        try store.addNotes(4...4, size: 100)
        try FileManager.default.removeItem(atPath: folder.file("hard"))
        try store.backend.compact()
        #expect(try store.wholeNotes() == [1, 2, 3, 4])
    }

    @Test func aReadOnlyStoreReadsBesideAWriterAndNeverWrites() throws {
        let folder = try Folder()
        let writer = try notes(folder.file())
        try writer.addNotes(1...3, size: 100)
        let reader = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema())
        let snapshot = try reader.backend.beginRead()
        try writer.addNotes(4...5, size: 100)
        #expect(try snapshot.ids(FetchRequest(try reader.entity("Note"))) == [1, 2, 3])
        snapshot.end()
        #expect(try reader.wholeNotes() == [1, 2, 3, 4, 5])
        #expect(failure { _ = try reader.backend.beginWrite() }?.code == .readOnly)
        try writer.backend.close()
        try reader.backend.close()
        // While a read-only store is the only one, the process cannot open the file for writing.
        let alone = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema())
        #expect(try alone.wholeNotes().count == 5)
        #expect(failure { _ = try notes(folder.file()) }?.code == .busy)
        try alone.backend.close()
        try notes(folder.file()).addNotes(6...6, size: 100)
    }

    @Test(arguments: [Durability.relaxed, .full])
    func bothDurabilitiesCanFollowEachOther(_ last: Durability) throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        for id in Int64(1)...20 { try store.addNotes(id...id, size: 3000, id % 2 == 0 ? .full : .relaxed) }
        try store.addNotes(21...21, size: 3000, last)
        // The state after a crash of the process.
        try folder.write(try folder.bytes(), to: "copy")
        #expect(try notes(folder.file("copy")).wholeNotes() == Array(1...21))
        #expect(store.backend.capabilities.durabilities == [.full, .relaxed])
    }
}
