import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreSQLite
import TestSupport
import Testing

/// Files with several names: hard links. The logs and locks of an engine are named after the path, so processes must not use different names of one file.
@Suite struct LinkedFileTests {
    static let engines = Backend.shared

    private static func link(_ path: String, _ other: String) throws {
        try FileManager.default.linkItem(atPath: path, toPath: other)
    }

    /// Opens a store read-only, with the option for files with several names.
    private static func reader(_ engine: Backend, _ path: String) throws -> Store {
        try Store(configuration(engine, path).readOnly(), try Notes.schema())
    }

    private static func configuration(_ engine: Backend, _ path: String) -> StoreConfiguration {
        var (sqlite, lmdb) = (SQLiteOptions(), LMDBOptions())
        (sqlite.readsHardLinkedFiles, lmdb.readsHardLinkedFiles) = (true, true)
        return engine == .lmdb ? .lmdb(file: path, options: lmdb) : .sqlite(file: path, options: sqlite)
    }

    private static func filled(_ engine: Backend, _ path: String) throws {
        let store = try engine.notes(path)
        try store.addNotes(1...3, size: 100)
        try store.backend.close()
    }

    private static func inode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
    }

    /// Without the refusal, both processes acknowledge commits, and half of them are lost.
    @Test(arguments: engines) func anotherProcessIsRefusedUnderEveryName(_ engine: Backend) throws {
        let folder = try Folder()
        let (first, second) = (folder.file("first"), folder.file("second"))
        let child = try Child("insert", engine.rawValue, first, "Note", "3")
        #expect(child.line() == "1")
        // The link is made while the store is open; the next opening finds it.
        try Self.link(first, second)
        for path in [first, second] {
            #expect(try Child("open", engine.rawValue, path).lines() == ["io"])
            for isReadOnly in [false, true] {
                let error = try #require(failure { _ = try engine.notes(path) { isReadOnly ? $0.readOnly() : $0 } })
                #expect(error.code == .io && error.location == path)
                let other = path == first ? second : first
                for part in ["has 2 names", "inode \(try Self.inode(first))", other, "-inum", "copy the file", "readsHardLinkedFiles"] {
                    #expect(error.message.contains(part), "\(part): \(error.message)")
                }
            }
        }
        // The process that has the store open continues.
        for id in ["2", "3"] {
            try child.goOn()
            #expect(child.line() == id)
        }
        #expect(child.wait() == 0)
        #expect(failure { _ = try engine.notes(second) }?.code == .io)
        try FileManager.default.removeItem(atPath: second)
        #expect(try engine.notes(first).wholeNotes() == [1, 2, 3])
    }

    @Test(arguments: engines) func aRefusedFileIsUnchanged(_ engine: Backend) throws {
        let folder = try Folder()
        try Self.filled(engine, folder.file("first"))
        try Self.link(folder.file("first"), folder.file("second"))
        let (names, bytes) = (folder.names, try folder.bytes("first"))
        for name in ["first", "second"] { #expect(failure { _ = try engine.notes(folder.file(name)) }?.code == .io) }
        #expect(folder.names == names)
        #expect(try folder.bytes("first") == bytes)
        // The ways out: another file, or one name.
        try FileManager.default.copyItem(atPath: folder.file("first"), toPath: folder.file("copy"))
        #expect(try engine.notes(folder.file("copy")).wholeNotes() == [1, 2, 3])
        try FileManager.default.removeItem(atPath: folder.file("first"))
        #expect(try engine.notes(folder.file("second")).wholeNotes() == [1, 2, 3])
    }

    /// A process that has the file open uses the path of the first opening for every other name.
    @Test(arguments: engines) func twoNamesInOneProcessAreOneStore(_ engine: Backend) throws {
        let folder = try Folder()
        let first = try engine.notes(folder.file("first"))
        try first.addNotes(1...1, size: 100)
        try Self.link(folder.file("first"), folder.file("second"))
        let second = try engine.notes(folder.file("second"))
        let reader = try engine.notes(folder.file("second")) { $0.readOnly() }
        for id in Int64(2)...21 {
            try (id % 2 == 0 ? second : first).addNotes(id...id, size: 3000, .full)
            for store in [first, second, reader] { #expect(try store.wholeNotes() == Array(1...id)) }
        }
        try first.backend.close()
        try second.addNotes(22...22, size: 100, .full)
        #expect(try reader.wholeNotes().last == 22)
        for store in [second, reader] { try store.backend.close() }
        #expect(failure { _ = try engine.notes(folder.file("first")) }?.code == .io)
        try FileManager.default.removeItem(atPath: folder.file("second"))
        #expect(try engine.notes(folder.file("first")).wholeNotes() == Array(1...22))
    }

    @Test(arguments: engines) func symbolicLinksAreOneNameInAllProcesses(_ engine: Backend) throws {
        let folder = try Folder()
        try Self.filled(engine, folder.file("store"))
        try FileManager.default.createSymbolicLink(atPath: folder.file("symbolic"), withDestinationPath: folder.file("store"))
        let child = try Child("write", engine.rawValue, folder.file("symbolic"), "10", "30", "500")
        let store = try engine.notes(folder.file("store"))
        for id in Int64(40)...60 {
            while let error = failure({ try store.addNotes(id...id, size: 500) }) { #expect(error.code == .conflict) }
        }
        #expect(child.lines().last == "done")
        try store.backend.close()
        #expect(try engine.notes(folder.file("symbolic")).wholeNotes() == Array(1...3) + Array(10...30) + Array(40...60))
    }

    /// A copy is linked under its name, and its temporary name is removed afterwards. A kill in between leaves both.
    @Test(arguments: engines) func aCopyWhoseProcessWasKilledBeforeItsEndIsOpened(_ engine: Backend) throws {
        let folder = try Folder()
        try Self.filled(engine, folder.file("source"))
        let source = try engine.notes(folder.file("source"))
        try source.backend.copy(to: folder.file("copy"), reporting: { _ in })
        try source.backend.close()
        let temporary = folder.file("copy.\(UInt64.max).partial")
        for name in ["copy", "renamed"] {
            if name != "copy" { try FileManager.default.moveItem(atPath: folder.file("copy"), toPath: folder.file(name)) }
            try Self.link(folder.file(name), temporary)
            // The temporary name itself is not one to open.
            #expect(failure { _ = try engine.notes(temporary) }?.code == .io)
            // A read-only opening removes nothing.
            let reader = try engine.notes(folder.file(name)) { $0.readOnly() }
            #expect(try reader.wholeNotes() == [1, 2, 3])
            try reader.backend.close()
            #expect(FileManager.default.fileExists(atPath: temporary))
            let store = try engine.notes(folder.file(name))
            #expect(!FileManager.default.fileExists(atPath: temporary))
            #expect(try store.wholeNotes() == [1, 2, 3])
            try store.backend.close()
        }
        // A temporary name does not hide another one, and another file with such a name is kept.
        try Self.link(folder.file("renamed"), temporary)
        try Self.link(folder.file("renamed"), folder.file("other"))
        try folder.write(Data("x".utf8), to: "renamed.7.partial")
        let error = try #require(failure { _ = try engine.notes(folder.file("renamed")) })
        #expect(error.message.contains("has 2 names") && error.message.contains(folder.file("other")), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: temporary))
        #expect(try folder.bytes("renamed.7.partial").count == 1)
        // Names that only resemble temporary ones are not removed.
        try FileManager.default.removeItem(atPath: folder.file("other"))
        for name in ["renamed.partial", "renamed.x1.partial", "renamed.7.partial2", ".partial", "renamed.+7.partial"] {
            try Self.link(folder.file("renamed"), folder.file(name))
            #expect(failure { _ = try engine.notes(folder.file("renamed")) }?.code == .io, "\(name)")
            #expect(FileManager.default.fileExists(atPath: folder.file(name)))
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
    }

    @Test(arguments: engines) func aSecondNameIsNoTargetOfACopy(_ engine: Backend) throws {
        let folder = try Folder()
        let store = try engine.notes(folder.file("first"))
        try store.addNotes(1...3, size: 100)
        try Self.link(folder.file("first"), folder.file("second"))
        #expect(failure { try store.backend.copy(to: folder.file("second"), reporting: { _ in }) }?.code == .io)
        // A copy is another file.
        try store.backend.copy(to: folder.file("third"), reporting: { _ in })
        try store.backend.close()
        #expect(try engine.notes(folder.file("third")).wholeNotes() == [1, 2, 3])
    }

    // MARK: Reading

    @Test(arguments: engines) func anOptionAllowsReading(_ engine: Backend) throws {
        let folder = try Folder()
        let (first, second) = (folder.file("first"), folder.file("second"))
        try Self.filled(engine, first)
        try Self.link(first, second)
        let names = folder.names
        let children = [try Child("linked", engine.rawValue, first), try Child("linked", engine.rawValue, second)]
        for child in children { #expect(child.line() == "[1, 2, 3]") }
        let reader = try Self.reader(engine, second)
        #expect(try reader.wholeNotes() == [1, 2, 3])
        #expect(failure { _ = try reader.backend.beginWrite() }?.code == .readOnly)
        // Nothing is created beside the second name.
        #expect(folder.names.filter { $0.hasPrefix("second") } == ["second"] && folder.names.count <= names.count)
        // The option does not allow writing.
        let writing = Self.configuration(engine, first)
        #expect(failure { _ = try Store(writing, try Notes.schema()) }?.code == (engine == .lmdb ? .busy : .io))
        for child in children {
            try child.goOn()
            #expect(child.lines() == ["[1, 2, 3]"])
        }
        try reader.backend.close()
        #expect(failure { _ = try Store(writing, try Notes.schema()) }?.code == .io)
    }

    @Test(arguments: engines) func aNameIsNotReadWhileAnotherProcessHasTheStoreOpen(_ engine: Backend) throws {
        let folder = try Folder()
        let (first, second) = (folder.file("first"), folder.file("second"))
        let child = try Child("insert", engine.rawValue, first, "Note", "2")
        #expect(child.line() == "1")
        try Self.link(first, second)
        for path in [first, second] {
            #expect(failure { _ = try Self.reader(engine, path) }?.code == .busy)
            #expect(try Child("linked", engine.rawValue, path).lines() == ["busy"])
        }
        try child.goOn()
        #expect(child.line() == "2")
        #expect(child.wait() == 0)
        if engine == .sqlite {
            // The process has ended without closing the store, so its commits are in the log of the first name.
            #expect(failure { _ = try Self.reader(engine, second) }?.code == .io)
            try FileManager.default.removeItem(atPath: second)
            try engine.notes(first).backend.close()
            try Self.link(first, second)
        }
        #expect(try Self.reader(engine, second).wholeNotes() == [1, 2])
    }

    /// Names in other folders cannot be found. SQLite's locks are on the file itself; a change of the file is noticed with both engines.
    @Test(arguments: engines) func aChangeUnderAnotherNameIsNoticed(_ engine: Backend) throws {
        let (folder, elsewhere) = (try Folder(), try Folder())
        let (first, second) = (folder.file("first"), elsewhere.file("second"))
        let child = try Child("insert", engine.rawValue, first, "Note", "2")
        #expect(child.line() == "1")
        try Self.link(first, second)
        if engine == .sqlite {
            #expect(failure { _ = try Self.reader(engine, second) }?.code == .busy)
            try child.goOn()
            #expect(child.line() == "2")
            #expect(child.wait() == 0)
            try FileManager.default.removeItem(atPath: second)
            try engine.notes(first).backend.close()
            try Self.link(first, second)
            let reader = try Self.reader(engine, second)
            #expect(try reader.wholeNotes() == [1, 2])
            // Without the first name, the file can be written.
            try FileManager.default.removeItem(atPath: first)
            let writer = try engine.notes(second)
            try writer.addNotes(3...3, size: 100)
            #expect(failure { _ = try reader.wholeNotes() }?.code == .busy)
            try writer.backend.close()
            #expect(failure { _ = try reader.wholeNotes() }?.code == .busy)
            try reader.backend.close()
            #expect(try engine.notes(second).wholeNotes() == [1, 2, 3])
        } else {
            let reader = try Self.reader(engine, second)
            #expect(try reader.wholeNotes() == [1])
            try child.goOn()
            #expect(child.line() == "2")
            #expect(child.wait() == 0)
            #expect(failure { _ = try reader.wholeNotes() }?.code == .busy)
            try reader.backend.close()
            #expect(try Self.reader(engine, second).wholeNotes() == [1, 2])
        }
    }

    /// The commits of a killed process are in the log beside the name that it used.
    @Test func aNameWhoseLogIsBesideAnotherIsRefused() throws {
        let folder = try Folder()
        let (first, second) = (folder.file("first"), folder.file("second"))
        let child = try Child("insert", "sqlite", first, "Note", "2")
        #expect(child.line() == "1")
        child.kill()
        try Self.link(first, second)
        let error = try #require(failure { _ = try Self.reader(.sqlite, second) })
        #expect(error.code == .io && error.message.contains("in the log of another of its names, \(first)"), "\(error)")
        let reader = try Self.reader(.sqlite, first)
        #expect(try reader.wholeNotes() == [1])
        try reader.backend.close()
        try FileManager.default.removeItem(atPath: second)
        #expect(try Backend.sqlite.notes(first).wholeNotes() == [1])
    }

    /// A folder has no hard links, and LevelDB's lock is in it. Links of the files in it, as backup programs make them, do not prevent its use.
    @Test func aLevelDBFolderWithLinkedFilesIsOpened() throws {
        let folder = try Folder()
        try Self.filled(.levelDB, folder.file("store"))
        try FileManager.default.createDirectory(atPath: folder.file("links"), withIntermediateDirectories: false)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.file("store")) {
            try Self.link(folder.file("store") + "/" + name, folder.file("links") + "/" + name)
        }
        let store = try Backend.levelDB.notes(folder.file("store"))
        try store.addNotes(4...4, size: 100)
        #expect(try store.wholeNotes() == [1, 2, 3, 4])
    }

    /// A store that was moved while it is open cannot be opened under its new name in the same process: its log has the old name.
    @Test func aMovedStoreIsOpenedWhenItWasClosed() throws {
        let folder = try Folder()
        let store = try Backend.sqlite.notes(folder.file("old"))
        try store.addNotes(1...1, size: 100)
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.moveItem(atPath: folder.file("old" + suffix), toPath: folder.file("new" + suffix))
        }
        let error = try #require(failure { _ = try Backend.sqlite.notes(folder.file("new")) })
        #expect(error.code == .busy && error.message.contains(folder.file("old")), "\(error)")
        try store.backend.close()
        #expect(try Backend.sqlite.notes(folder.file("new")).wholeNotes() == [1])
    }
}
