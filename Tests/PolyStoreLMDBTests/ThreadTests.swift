import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// LMDB's write transactions belong to the thread that began them.
@Suite struct ThreadTests {
    private static func begin(_ store: Store) throws -> any WriteTransaction {
        let begun = onAnotherThread { Result { Transferred(value: try store.backend.beginWrite()) } }
        return try begun.get().value
    }

    @Test func useOnAnotherThreadIsMisuseWithoutOtherEffects() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        let changes = Transferred(value: Changes(store.schema))
        try changes.value.insert("Note", 1, Notes.values(1, size: 10))
        let transaction = Transferred(value: try store.backend.beginWrite())
        let error = onAnotherThread { failure { try transaction.value.apply(changes.value.set) } }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("thread") == true)
        transaction.value.rollback()
        try store.addNotes(1...3, size: 10)
        #expect(try store.wholeNotes() == [1, 2, 3])
    }

    @Test func committingOnAnotherThreadIsMisuse() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        let transaction = try Self.begin(store)
        #expect(failure { _ = try transaction.commit(.full) }?.code == .misuse)
        #expect(failure { try store.addNotes(1...1, size: 10) }?.code == .misuse, "an error instead of a deadlock")
        #expect(try store.wholeNotes() == [])
    }

    @Test func endOnAnotherThreadIsReportedToTheNextWriter() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 10)
        try Self.begin(store).rollback()
        for _ in 0..<2 {
            let error = failure { try store.addNotes(4...4, size: 10) }
            #expect(error?.code == .misuse)
            #expect(error?.message.contains("open it again") == true)
        }
        // Reads continue to work, and reopening restores writes.
        #expect(try store.wholeNotes() == [1, 2, 3])
        try store.backend.close()
        let reopened = try notes(folder.file())
        try reopened.addNotes(4...4, size: 10)
        #expect(try reopened.wholeNotes() == [1, 2, 3, 4])
        #expect(try reopened.backend.verify() == [])
    }

    @Test func releaseOnAnotherThreadEndsTheTransaction() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        do { _ = try Self.begin(store) }
        #expect(failure { try store.addNotes(4...4, size: 10) }?.code == .misuse)
    }

    @Test func waitingWriterReceivesTheErrorToo() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        let transaction = try Self.begin(store)
        let waiting = Concurrent { failure { try store.addNotes(1...1, size: 10) } }
        #expect(!waiting.hasEnded(within: 100), "one writer at a time")
        transaction.rollback()
        #expect(waiting.wait()?.code == .misuse)
    }

    @Test func cursorsOfALostTransactionCanBeReleased() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...100, size: 10)
        let transaction = try Self.begin(store)
        var cursor: RecordCursor? = try transaction.fetch(FetchRequest(try store.entity("Note")))
        #expect(try cursor?.next() == true)
        transaction.rollback()
        #expect(failure { _ = try cursor?.next() }?.code == .closed)
        try store.backend.close()
        cursor = nil
    }

    @Test func readersCanMoveBetweenThreads() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...100, size: 10)
        let reader = Transferred(value: try store.backend.beginRead())
        let entity = try store.entity("Note")
        let request = FetchRequest(entity)
        for _ in 0..<3 {
            let found = onAnotherThread { Result { try reader.value.ids(request).count } }
            #expect(try found.get() == 100)
        }
        onAnotherThread { reader.value.end() }
        #expect(failure { _ = try reader.value.ids(request) }?.code == .closed)
    }
}
