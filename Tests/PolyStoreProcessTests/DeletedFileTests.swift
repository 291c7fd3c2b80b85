import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

/// The files of an open store are removed. The engine would write to them without an error, and acknowledged commits would be lost.
@Suite struct DeletedFileTests {

    private static func names(_ folder: Folder) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    @Test(arguments: Backend.persistent, [Durability.full, .relaxed])
    func aCommitToADeletedStoreIsRefused(engine: Backend, durability: Durability) throws {
        let folder = try Folder()
        let store = try engine.notes(folder.file("store"))
        try store.add("Note", 1, durability)
        for name in try Self.names(folder) { try FileManager.default.removeItem(atPath: folder.file(name)) }
        for id in 2...3 as ClosedRange<Int64> {
            let error = failure { try store.add("Note", id, durability) }
            #expect(error?.code == .io)
            #expect(error?.message.contains("deleted") == true, "\(String(describing: error))")
        }
        try store.backend.close()
        #expect(try Self.names(folder) == [], "closing removes every file")
        let new = try engine.notes(folder.file("store"))
        #expect(try new.ids("Note") == [])
        try new.add("Note", 1)
    }

    /// Maintenance of deleted files would say nothing about what the path holds.
    @Test(arguments: Backend.persistent)
    func maintenanceOfADeletedStoreIsRefused(engine: Backend) throws {
        let folder = try Folder()
        let store = try engine.notes(folder.file("store"))
        for id in 1...3 as ClosedRange<Int64> { try store.add("Note", id) }
        for name in try Self.names(folder) { try FileManager.default.removeItem(atPath: folder.file(name)) }
        for _ in 0..<2 {
            for work in [{ try store.backend.compact() }, { _ = try store.backend.verify() }] as [() throws -> Void] {
                let error = failure { try work() }
                #expect(error?.code == .io)
                #expect(error?.message.contains("deleted") == true, "\(String(describing: error))")
            }
        }
        #expect(try Self.names(folder) == [])
        try store.backend.close()
    }

    /// LevelDB keeps the folder's path locked in this process.
    @Test func aDeletedLevelDBStoreThatIsOpenIsNotBlamedOnAnotherProcess() throws {
        let folder = try Folder()
        let store = try Backend.levelDB.notes(folder.file("store"))
        try store.add("Note", 1)
        try FileManager.default.removeItem(atPath: folder.file("store"))
        let error = failure { _ = try Backend.levelDB.notes(folder.file("store")) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("this process") == true, "\(String(describing: error))")
        try store.backend.close()
        #expect(try Backend.levelDB.notes(folder.file("store")).ids("Note") == [])
    }

    /// Another store at the same path, as from a backup copied over an open one.
    @Test(arguments: Backend.persistent)
    func aCommitToAReplacedStoreIsRefused(engine: Backend) throws {
        let folder = try Folder()
        let other = try engine.notes(folder.file("other"))
        try other.add("Note", 7)
        try other.backend.close()
        let store = try engine.notes(folder.file("store"))
        try store.add("Note", 1)
        for name in try Self.names(folder) where name.hasPrefix("store") { try FileManager.default.removeItem(atPath: folder.file(name)) }
        for name in try Self.names(folder) where name.hasPrefix("other") {
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("store" + name.dropFirst(5)))
        }
        #expect(failure { try store.add("Note", 2) }?.code == .io)
        try store.backend.close()
        let new = try engine.notes(folder.file("store"))
        #expect(try new.ids("Note") == [7])
        #expect(try new.backend.verify() == [])
    }

    /// The auxiliary files: SQLite's log, LMDB's lock file, the lock file in LevelDB's folder.
    @Test(arguments: [(Backend.sqlite, "store-wal"), (.lmdb, "store-lock"), (.levelDB, "store/polystore.lock")])
    func aFileBesideTheStoreIsMissed(engine: Backend, name: String) throws {
        let folder = try Folder()
        let store = try engine.notes(folder.file("store"))
        try store.add("Note", 1)
        try FileManager.default.removeItem(atPath: folder.file(name))
        let error = failure { try store.add("Note", 2) }
        #expect(error?.code == .io)
        #expect(error?.message.contains(name) == true, "\(String(describing: error))")
        // SQLite opens the log with each new connection.
        if engine != .sqlite { #expect(try store.ids("Note") == [1], "reading continues") }
    }

    /// A renamed store is complete at its new path, and writes under the old path are refused.
    @Test(arguments: Backend.persistent)
    func aMovedStoreIsRefusedAndCompleteAtItsNewPath(engine: Backend) throws {
        let folder = try Folder()
        let store = try engine.notes(folder.file("store"))
        try store.add("Note", 1)
        for name in try Self.names(folder) {
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("moved" + name.dropFirst(5)))
        }
        #expect(failure { try store.add("Note", 2) }?.code == .io)
        try store.backend.close()
        let moved = try engine.notes(folder.file("moved"))
        #expect(try moved.ids("Note") == [1])
        try moved.add("Note", 2)
    }
}
