import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLevelDB

/// One process at a time can open a store, with one database in it.
@Suite struct SharingTests {
    @Test func oneFolderUnderSeveralNamesIsOneStore() throws {
        let folder = try Folder()
        let first = try notes(folder.file())
        try FileManager.default.createSymbolicLink(atPath: folder.file("symbolic"), withDestinationPath: folder.file())
        let stores = [first, try notes(folder.file()), try notes(folder.file("symbolic"))]
        for (number, store) in stores.enumerated() {
            #expect(try engine(store) === engine(first))
            try store.addNotes(Int64(number + 1)...Int64(number + 1), size: 100)
        }
        for store in stores { #expect(try store.wholeNotes() == [1, 2, 3]) }
        // Closing the first store does not affect the others.
        try stores[0].backend.close()
        try stores[1].addNotes(4...4, size: 100)
        #expect(try stores[2].wholeNotes() == [1, 2, 3, 4])
        try stores[1].backend.close()
        try stores[2].backend.close()
        #expect(try notes(folder.file()).wholeNotes() == [1, 2, 3, 4])
    }

    @Test func anotherProcessIsRefusedAndReleasesNoLock() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 100, .full)
        for _ in 0..<3 {
            // A refusal must not release the lock for the next attempt.
            #expect(try Child("open", "leveldb", folder.file()).lines() == ["busy"])
            try store.write(.full) { try $0.update("Note", 1, ["size": .integer(100)]) }
        }
        #expect(try store.wholeNotes() == [1, 2, 3])
        try store.backend.close()
        let child = try Child("open", "leveldb", folder.file())
        #expect(child.line() == "ok")
        for _ in 0..<3 {
            let error = failure { _ = try notes(folder.file()) }
            #expect(error?.code == .busy)
            #expect(error?.location == folder.file())
        }
        try child.goOn()
        #expect(child.wait() == 0)
        #expect(try notes(folder.file()).wholeNotes() == [1, 2, 3])
    }

    @Test func lockOfAKilledProcessIsReleased() throws {
        let folder = try Folder()
        let child = try Child("block", "leveldb", folder.file(), "1", "50", "1000")
        #expect(child.line() == "ready")
        #expect(failure { _ = try notes(folder.file()) }?.code == .busy)
        child.kill()
        let store = try notes(folder.file())
        #expect(try store.wholeNotes() == [])
        #expect(try store.backend.verify() == [])
    }

    @Test func readOnlyOpeningIsUnsupported() throws {
        let folder = try Folder()
        #expect(failure { _ = try Store(.levelDB(directory: folder.file()).readOnly(), try Notes.schema()) }?.code == .unsupported)
        #expect(folder.names == [])
    }
}
