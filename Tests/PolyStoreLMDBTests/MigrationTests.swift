import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLMDB

/// Migrations of a file that several processes use, and of copies of it.
@Suite struct MigrationTests {
    private func migrated(_ file: String) throws -> Store {
        let store = try Store(.lmdb(file: file), try NoteMigration.target())
        (store.backend as? KeyValueBackend)?.waitForBackgroundWork()
        return store
    }

    private func expectMigrated(_ file: String, notes: Int, memos: Int) throws {
        let store = try migrated(file)
        #expect(try store.wholeNotes().count == notes)
        #expect(try store.ids("Memo").count == memos)
        #expect(try store.ids("Note", .compare(try store.field("Note", "stars"), .equal, .integer(3))).count == notes)
        #expect(try store.backend.verify() == [])
        try store.backend.close()
    }

    @Test func aStoreIsMigrated() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...30, size: 100)
        try store.addNotes(31...32, size: 200_000)
        let migration = try store.backend.beginMigration(NoteMigration.change())
        try NoteMigration.writeMemos(25, migration)
        #expect(folder.names == ["store", "store-lock", "store-migration"])
        try migration.commit()
        #expect(folder.names == ["store", "store-lock"])
        #expect(failure { _ = try notes(folder.file()) }?.code == .migrationRequired)
        try expectMigrated(folder.file(), notes: 32, memos: 25)
        let store2 = try migrated(folder.file())
        try store2.write { try $0.update("Note", 31, ["body": .blob(Notes.body(31, size: 100_000)), "stars": .integer(9)]) }
        #expect(try store2.wholeNotes().count == 32)
        #expect(try store2.ids("Note", .compare(try store2.field("Note", "stars"), .equal, .integer(9))) == [31])
        #expect(try store2.backend.verify() == [])
    }

    /// The map is too small for a batch.
    @Test func theMapGrowsInABatch() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: 1 << 20)
        try store.addNotes(1...10, size: 1000)
        let migration = try store.backend.beginMigration(NoteMigration.change())
        migration.source.end()
        let changes = Changes(try NoteMigration.target())
        for id in Int64(1)...20_000 { try changes.insert("Memo", id, ["text": .text("memo \(id) of a batch that is larger than the map")]) }
        try migration.target.apply(changes.set)
        try migration.commit()
        try expectMigrated(folder.file(), notes: 10, memos: 20_000)
    }

    @Test func anotherProcessCannotWriteMeanwhile() throws {
        let folder = try Folder()
        try notes(folder.file()).addNotes(1...10, size: 100)
        let child = try Child("migrate", "lmdb", folder.file(), "30")
        #expect(child.line() == "begun")
        #expect(child.line() == "saved")
        // Opened before and during the migration.
        let store = try notes(folder.file()) { $0.migrationTimeout = .milliseconds(100) }
        #expect(try store.wholeNotes().count == 10)
        let error = failure { try store.addNotes(11...11, size: 10) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("migration") == true)
        #expect(failure { _ = try store.backend.beginMigration(NoteMigration.change()) }?.code == .busy)
        let reader = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema())
        #expect(try reader.wholeNotes().count == 10)
        let snapshot = try store.backend.beginRead()
        for _ in 0..<2 {
            try child.goOn()
            #expect(child.line() == "saved")
        }
        #expect(try store.wholeNotes().count == 10)
        try child.goOn()
        #expect(child.line() == "done")
        #expect(child.wait() == 0)
        #expect(try snapshot.ids(FetchRequest(try store.entity("Note"))).count == 10)
        snapshot.end()
        #expect(failure { _ = try store.wholeNotes() }?.code == .differentStoreAtURL)
        #expect(failure { try store.addNotes(11...11, size: 10) }?.code == .differentStoreAtURL)
        try store.backend.close()
        try reader.backend.close()
        try expectMigrated(folder.file(), notes: 10, memos: 30)
    }

    @Test func waitingWriterContinuesAfterARollback() throws {
        let folder = try Folder()
        try notes(folder.file()).addNotes(1...10, size: 100)
        let child = try Child("migrate", "lmdb", folder.file(), "30")
        #expect(child.line() == "begun")
        #expect(child.line() == "saved")
        let store = try notes(folder.file())
        let writing = Concurrent { failure { try store.addNotes(11...11, size: 10) } }
        Thread.sleep(forTimeInterval: 0.2)
        child.kill()
        #expect(writing.wait() == nil)
        (store.backend as? KeyValueBackend)?.waitForBackgroundWork()
        #expect(try store.wholeNotes() == Array(1...11))
        #expect(try store.backend.verify() == [])
    }

    /// The process is killed after each of its batches.
    @Test(arguments: 1...3)
    func aKilledMigrationIsResumedOrRemoved(_ batches: Int) throws {
        for resumes in [true, false] {
            let folder = try Folder()
            try notes(folder.file()).addNotes(1...10, size: 100)
            let child = try Child("migrate", "lmdb", folder.file(), "30")
            #expect(child.line() == "begun")
            for batch in 1...batches {
                #expect(child.line() == "saved")
                if batch < batches { try child.goOn() }
            }
            child.kill()
            if resumes {
                let configuration = StoreConfiguration.lmdb(file: folder.file())
                let backend = try configuration.open(
                    schema: Notes.schema(), configurationName: nil, logger: SilentLogger(), keepsInterruptedMigration: true)
                let migration = try backend.beginMigration(NoteMigration.change())
                #expect(migration.savedPosition == [UInt8(batches * 10 + 1)])
                try NoteMigration.writeMemos(30, migration)
                try migration.commit()
                try expectMigrated(folder.file(), notes: 10, memos: 30)
            } else {
                let store = try notes(folder.file())
                (store.backend as? KeyValueBackend)?.waitForBackgroundWork()
                #expect(try store.wholeNotes().count == 10)
                #expect(try store.backend.verify() == [])
                #expect(store.backend.metadata.format == 1 || batches > 0)
            }
        }
    }

    // MARK: Copies

    @Test func aCopyIsAStoreOfItsOwn() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...40, size: 100)
        try store.addNotes(41...41, size: 300_000)
        let transaction = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        try changes.insert("Note", 99, Notes.values(99, size: 10))
        try transaction.apply(changes.set)
        try store.backend.copy(to: folder.file("copy"))
        _ = try transaction.commit(.relaxed)
        #expect(folder.names == ["copy", "store", "store-lock"])
        #expect(try folder.mode("copy") == 0o600)
        let copy = try notes(folder.file("copy"))
        #expect(copy.backend.metadata == store.backend.metadata)
        #expect(try copy.wholeNotes() == Array(1...41))
        #expect(try copy.backend.verify() == [])
        try copy.addNotes(50...50, size: 100)
        #expect(try store.wholeNotes() == Array(1...41) + [99])
        let error = failure { try store.backend.copy(to: folder.file("copy")) }
        #expect(error?.code == .io)
        #expect(failure { try store.backend.copy(to: folder.file("missing/copy")) }?.code == .io)
        #expect(store.backend.capabilities.has(.copying))
    }

    @Test func aCopyIsConsistentWhileOthersWrite() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...10, size: 100)
        let child = try Child("write", "lmdb", folder.file(), "11", "200", "3000")
        for number in 0..<5 { try store.backend.copy(to: folder.file("copy \(number)")) }
        #expect(child.lines().last == "done")
        var last = 0
        for number in 0..<5 {
            let copy = try notes(folder.file("copy \(number)"))
            let count = try copy.wholeNotes().count
            #expect(count >= last)
            last = count
            #expect(try copy.backend.verify() == [])
        }
    }
}
