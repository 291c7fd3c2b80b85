import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

@Suite struct ReaderTests {
    @Test func manyReadersAtOnceEachSeeTheirVersion() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        let request = FetchRequest(try store.entity("Note"))
        var readers: [any ReadTransaction] = []
        for id in Int64(1)...300 {
            try store.addNotes(id...id, size: 50)
            readers.append(try store.backend.beginRead())
        }
        for (number, reader) in readers.enumerated() { #expect(try reader.count(request) == number + 1) }
        for reader in readers { reader.end() }
        #expect(try store.wholeNotes().count == 300)
    }

    @Test func moreReadersThanSlotsIsBusyUntilOneEnds() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.maximumReaders = 10 }
        try store.addNotes(1...3, size: 50)
        for _ in 0..<2 {
            var readers: [any ReadTransaction] = []
            var error: StoreError?
            while error == nil, readers.count < 100 { error = failure { readers.append(try store.backend.beginRead()) } }
            #expect(error?.code == .busy)
            #expect(readers.count == 10)
            // Writing needs no reader slot.
            try store.write { try $0.update("Note", 1, ["size": .integer(50)]) }
            readers.removeLast().end()
            readers.append(try store.backend.beginRead())
            for reader in readers { reader.end() }
        }
        #expect(try store.wholeNotes() == [1, 2, 3])
    }

    @Test func closingWaitsForRunningTransactions() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 50)
        let request = FetchRequest(try store.entity("Note"))
        let reader = try store.backend.beginRead()
        let cursor = try reader.fetch(request)
        #expect(try cursor.next())
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        try changes.insert("Note", 4, Notes.values(4, size: 10))
        try writer.apply(changes.set)
        try store.backend.close()
        try store.backend.close()
        #expect(failure { _ = try store.backend.beginRead() }?.code == .closed)
        #expect(try reader.ids(request) == [1, 2, 3])
        #expect(try cursor.next())
        _ = try writer.commit(.full)
        #expect(try reader.ids(request) == [1, 2, 3])
        reader.end()
        reader.end()
        #expect(failure { _ = try cursor.next() }?.code == .closed)
        #expect(try notes(folder.file()).wholeNotes() == [1, 2, 3, 4])
    }

    @Test func releasedReadersAreEnded() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.maximumReaders = 5 }
        try store.addNotes(1...3, size: 50)
        for _ in 0..<50 {
            let reader = try store.backend.beginRead()
            _ = try reader.fetch(FetchRequest(try store.entity("Note"))).next()
            let writer = try store.backend.beginWrite()
            let changes = Changes(store.schema)
            try changes.delete("Note", 1)
            try writer.apply(changes.set)
        }
        #expect(try store.wholeNotes() == [1, 2, 3])
    }
}
