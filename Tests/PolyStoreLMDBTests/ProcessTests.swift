import CLMDB
import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// Several processes use one file.
@Suite struct ProcessTests {
    @Test func commitsOfAChildProcessAreVisibleAndSnapshotsAreUnchanged() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...10, size: 100)
        let snapshot = try store.backend.beginRead()
        let child = try Child("write", "lmdb", folder.file(), "11", "60", "2000")
        while let line = child.line(), let id = Int64(line) {
            #expect(try store.wholeNotes().contains(id), "an acknowledged commit is missing")
            // Both processes write in turn.
            try store.addNotes(id + 1000...id + 1000, size: 100)
        }
        #expect(child.wait() == 0)
        #expect(try snapshot.ids(FetchRequest(try store.entity("Note"))) == Array(1...10))
        snapshot.end()
        #expect(try store.wholeNotes() == Array(1...60) + Array(1011...1060))
        #expect(try store.backend.verify() == [])
    }

    /// The child opens with a map of 1 MiB and grows it; this process must grow its own map to read the new pages.
    @Test func mapEnlargedByAChildProcessIsAdopted() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: 1 << 20)
        try store.addNotes(1...10, size: 100)
        let child = try Child("write", "lmdb", folder.file(), "11", "60", "200000")
        #expect(child.lines().last == "done")
        #expect(try store.wholeNotes() == Array(1...60), "a reader follows")
        let second = try Child("write", "lmdb", folder.file(), "61", "120", "200000")
        #expect(second.lines().last == "done")
        try store.addNotes(121...121, size: 100)
        #expect(try store.wholeNotes() == Array(1...121), "a writer follows")
        #expect(try engine(store).mapSize > 20 << 20)
        #expect(try store.backend.verify() == [])
    }

    @Test func killedWriterHasNoEffectAndReleasesItsLock() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...10, size: 100)
        let child = try Child("block", "lmdb", folder.file(), "11", "60", "2000")
        #expect(child.line() == "ready")
        child.kill()
        try store.addNotes(100...100, size: 100)
        #expect(try store.wholeNotes() == Array(1...10) + [100])
        #expect(try store.backend.verify() == [])
    }

    /// Reader slots of dead processes would prevent the reuse of their pages.
    @Test func readersOfKilledProcessesAreCleared() throws {
        let folder = try Folder()
        let first = try notes(folder.file())
        try first.addNotes(1...10, size: 100)
        for _ in 0..<3 {
            let child = try Child("read", "lmdb", folder.file())
            #expect(child.line() == "1")
            child.kill()
        }
        try first.backend.close()
        // Another process keeps the lock file in use; otherwise it is recreated.
        let holder = try Child("read", "lmdb", folder.file())
        #expect(holder.line() == "1")
        let store = try notes(folder.file())
        var dead: Int32 = -1
        mdb_reader_check(try engine(store).environment, &dead)
        #expect(dead == 0, "opening clears them")
        try holder.goOn()
        #expect(holder.wait() == 0)
    }

    @Test func readersOfKilledProcessesAreReplaced() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.maximumReaders = 6 }
        try store.addNotes(1...10, size: 100)
        for _ in 0..<4 {
            let child = try Child("read", "lmdb", folder.file())
            #expect(child.line() == "1")
            child.kill()
        }
        var readers: [any ReadTransaction] = []
        for _ in 0..<6 { readers.append(try store.backend.beginRead()) }
        for reader in readers { #expect(try reader.count(FetchRequest(try store.entity("Note"))) == 10) }
        for reader in readers { reader.end() }
    }

    /// The file is validated while another process writes the validated pages and grows the map.
    @Test(arguments: [false, true])
    func openingBesideAWriterAlwaysSucceeds(isReadOnly: Bool) throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: 1 << 20)
        try store.addNotes(1...10, size: 100)
        try store.backend.close()
        let child = try Child("write", "lmdb", folder.file(), "11", "250", "30000")
        let ended = Concurrent { child.lines().last }
        var openings = 0
        repeat {
            var options = LMDBOptions()
            options.mapSize = 1 << 20
            let opened = try Store(.lmdb(file: folder.file(), options: options).readOnly(isReadOnly), try Notes.schema())
            #expect(try opened.wholeNotes().count >= 10)
            try opened.backend.close()
            openings += 1
        } while !ended.hasEnded(within: 0)
        #expect(ended.wait() == "done")
        #expect(child.wait() == 0)
        #expect(try notes(folder.file()).wholeNotes() == Array(1...250), "after \(openings) openings")
    }
}
