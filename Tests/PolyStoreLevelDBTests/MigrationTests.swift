import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// Migrations and copies of a folder.
@Suite struct MigrationTests {
    private func migrated(_ folder: String) throws -> Store {
        let store = try Store(.levelDB(directory: folder), try NoteMigration.target())
        (store.backend as? KeyValueBackend)?.waitForBackgroundWork()
        return store
    }

    @Test func aStoreIsMigrated() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...30, size: 100)
        try store.addNotes(31...32, size: 200_000)
        let migration = try store.backend.beginMigration(NoteMigration.change())
        try NoteMigration.writeMemos(25, migration)
        try migration.commit()
        #expect(failure { _ = try notes(folder.file()) }?.code == .migrationRequired)
        let after = try migrated(folder.file())
        #expect(try after.wholeNotes().count == 32)
        #expect(try after.ids("Memo").count == 25)
        #expect(try after.ids("Note", .compare(try after.field("Note", "stars"), .equal, .integer(3))).count == 32)
        try after.write { try $0.update("Note", 31, ["body": .blob(Notes.body(31, size: 100_000)), "stars": .integer(9)]) }
        #expect(try after.wholeNotes().count == 32)
        #expect(try after.backend.verify() == [])
        try after.backend.close()
        #expect(try migrated(folder.file()).ids("Memo").count == 25)
    }

    @Test func aKilledMigrationIsResumedOrRemoved() throws {
        for resumes in [true, false] {
            let folder = try Folder()
            do {
                let store = try notes(folder.file())
                try store.addNotes(1...10, size: 100)
                try store.backend.close()
            }
            let child = try Child("migrate", "leveldb", folder.file(), "30")
            #expect(child.line() == "begun")
            #expect(child.line() == "saved")
            child.kill()
            if resumes {
                let configuration = StoreConfiguration.levelDB(directory: folder.file())
                let backend = try configuration.open(
                    schema: Notes.schema(), configurationName: nil, logger: SilentLogger(), keepsInterruptedMigration: true)
                let migration = try backend.beginMigration(NoteMigration.change())
                #expect(migration.savedPosition == [11])
                try NoteMigration.writeMemos(30, migration)
                try migration.commit()
                #expect(try migrated(folder.file()).ids("Memo").count == 30)
            } else {
                let store = try notes(folder.file())
                (store.backend as? KeyValueBackend)?.waitForBackgroundWork()
                #expect(try store.wholeNotes().count == 10)
                #expect(try store.backend.verify() == [])
            }
        }
    }

    @Test func aCopyIsAStoreOfItsOwn() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...40, size: 100)
        try store.addNotes(41...60, size: 300_000)
        try store.backend.copy(to: folder.file("copy"))
        #expect(folder.names == ["copy", "store"])
        let copy = try notes(folder.file("copy"))
        #expect(copy.backend.metadata == store.backend.metadata)
        #expect(try copy.wholeNotes() == Array(1...60))
        #expect(try copy.backend.verify() == [])
        try copy.addNotes(70...70, size: 100)
        try copy.backend.close()
        #expect(try notes(folder.file("copy")).wholeNotes().count == 61)
        #expect(try store.wholeNotes() == Array(1...60))
        #expect(failure { try store.backend.copy(to: folder.file("copy")) }?.code == .io)
        #expect(folder.names == ["copy", "store"])
    }
}
