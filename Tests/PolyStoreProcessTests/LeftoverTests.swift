import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

/// What a terminated process leaves beside a store while it copies or compacts.
@Suite(.enabled(if: FileFaults.areAvailable)) struct LeftoverTests {
    /// An engine and its work that writes beside a store.
    struct Work: Sendable, CustomTestStringConvertible {
        let engine: Backend
        let name: String
        var testDescription: String { "\(engine) \(name)" }
    }

    static let works = Backend.persistent.map { Work(engine: $0, name: "copy") } + [Work(engine: .lmdb, name: "compact")]

    private static func filled(_ engine: Backend, _ path: String) throws {
        let store = try engine.notes(path)
        try store.addNotes(1...4, size: 3000)
        try store.backend.close()
    }

    /// Opens a store for writing and closes it.
    private static func reopen(_ engine: Backend, _ path: String) throws {
        let store = try engine.notes(path)
        try store.backend.close()
    }

    /// The names in a folder, without the files of the stores that are closed.
    private static func others(_ folder: Folder) -> [String] {
        folder.names.filter { !["store", "store-lock", "other", "other-lock", "store.copy", "store.copy-lock"].contains($0) }
    }

    /// The process is killed before each of its calls that need disk space, and before that, a store in the folder is opened.
    @Test(arguments: works) func leftoversOfAKilledProcessAreRemovedAndThoseOfALiveOneAreKept(_ work: Work) throws {
        var states: Set<Int> = []
        var at = 1
        while true {
            let folder = try Folder()
            try Self.filled(work.engine, folder.file())
            try Self.filled(work.engine, folder.file("other"))
            let child = try Child("held", work.engine.rawValue, folder.file(), work.name, "\(at)")
            guard child.line() == "held" else { break }
            let used = folder.names
            try Self.reopen(work.engine, folder.file("other"))
            #expect(folder.names == used, "before call \(at)")
            if work.engine == .sqlite {
                try Self.reopen(work.engine, folder.file())
                #expect(Set(folder.names).isSuperset(of: used), "before call \(at)")
            }
            child.kill()
            states.insert(Self.others(folder).filter { $0.contains("partial") || $0.contains("-co") }.count)
            // Reading removes nothing.
            if work.engine != .levelDB {
                let left = Self.others(folder).filter { !$0.hasPrefix("store-") || $0.contains("-co") }
                let reader = try work.engine.notes(folder.file()) { $0.readOnly() }
                #expect(Set(folder.names).isSuperset(of: left), "before call \(at)")
                try reader.backend.close()
            }
            let store = try work.engine.notes(folder.file())
            #expect(try store.wholeNotes() == [1, 2, 3, 4])
            try store.backend.close()
            #expect(Self.others(folder) == [], "before call \(at)")
            at += at < 8 ? 1 : Ring.size(at / 2, thorough: 1)
        }
        #expect(states.contains { $0 > 0 }, "nothing was ever left")
    }

    /// The same openings, and the work then ends.
    @Test(arguments: works) func workInAnotherProcessIsNotDisturbedByOpenings(_ work: Work) throws {
        for at in 1...6 {
            let folder = try Folder()
            try Self.filled(work.engine, folder.file())
            let child = try Child("held", work.engine.rawValue, folder.file(), work.name, "\(at)")
            guard child.line() == "held" else { break }
            try Self.filled(work.engine, folder.file("other"))
            try child.goOn()
            #expect(child.line() == "done", "before call \(at)")
            try child.goOn()
            #expect(child.wait() == 0)
            #expect(try work.engine.notes(folder.file()).wholeNotes() == [1, 2, 3, 4])
            if work.name == "copy" { #expect(try work.engine.notes(folder.file("store.copy")).wholeNotes() == [1, 2, 3, 4]) }
            #expect(Self.others(folder).filter { $0.contains("partial") || $0.contains("-co") } == [])
        }
    }

    /// An opening in the process that works must not remove its files either, nor release their locks.
    @Test(arguments: works) func workInThisProcessIsNotDisturbedByOpenings(_ work: Work) throws {
        for at in 1...6 {
            let folder = try Folder()
            let other = folder.file("other")
            try Self.filled(work.engine, other)
            let store = try work.engine.notes(folder.file())
            try store.addNotes(1...4, size: 3000)
            nonisolated(unsafe) var isKept = true
            nonisolated(unsafe) var wasHeld = false
            let held = FileFaults(observing: .space, below: folder, at: at) {
                wasHeld = true
                let before = folder.names
                // The observed call can be one that this thread makes while it holds a lock.
                do { try LockOrder.reporting(to: { _ in }) { try Self.reopen(work.engine, other) } } catch { isKept = false }
                do { isKept = try Child("open", work.engine.rawValue, other).line() == "ok" && isKept } catch { isKept = false }
                isKept = isKept && Set(folder.names).isSuperset(of: before)
            }
            defer { held.end() }
            if work.name == "copy" { try store.backend.copy(to: folder.file("store.copy")) } else { try store.backend.compact() }
            #expect(isKept, "before call \(at)")
            guard wasHeld else { break }
            #expect(try store.wholeNotes() == [1, 2, 3, 4])
            if work.name == "copy" { #expect(try work.engine.notes(folder.file("store.copy")).wholeNotes() == [1, 2, 3, 4]) }
        }
    }

    /// Names that a person can choose. Some resemble those of temporary files.
    @Test(arguments: Backend.persistent) func filesOfOthersAreKept(_ engine: Backend) throws {
        let folder = try Folder()
        let names = [
            "store.partial", "store.5.partial", "store.\(UInt64.max).partial", "store.12345678901234567890.partial-lock", "store-compact",
            "store-compact-lock", "store-compact-old-lock", "store-copy-7", "store-migration", "store.rehearsal-1", ".7.partial",
            "store.007.partial", "store.5.partial-wal",
        ]
        for name in names { try folder.write(Data(name.utf8), to: name) }
        let store = try engine.notes(folder.file())
        try store.addNotes(1...4, size: 3000)
        try store.backend.compact()
        try store.backend.copy(to: folder.file("copy"))
        let migration = try store.backend.beginMigration(NoteMigration.change())
        try NoteMigration.writeMemos(4, migration)
        try migration.commit()
        try store.backend.close()
        try Self.reopen(engine, folder.file("copy"))
        try engine.store(at: folder.file("copy")).erase()
        try engine.store(at: folder.file()).erase()
        for name in names { #expect(try folder.bytes(name) == Data(name.utf8), "\(name)") }
        #expect(folder.names == names.sorted())
    }

    /// A process that is killed while it migrates a store leaves the file of its lock.
    @Test func fileOfTheMigrationLockIsRemovedUnlessItIsLocked() throws {
        let folder = try Folder()
        try Self.filled(.lmdb, folder.file())
        let descriptor = try StorePath(path: folder.file("store-migration")).openLocked(mode: 0o600)
        try Self.reopen(.lmdb, folder.file())
        #expect(folder.names.contains("store-migration"))
        StorePath.closeLocked(descriptor)
        let reader = try Backend.lmdb.notes(folder.file()) { $0.readOnly() }
        try reader.backend.close()
        #expect(folder.names.contains("store-migration"))
        try Self.reopen(.lmdb, folder.file())
        #expect(folder.names == ["store", "store-lock"])
    }
}
