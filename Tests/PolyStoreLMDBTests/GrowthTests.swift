import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// A map that is too small grows without loss of data.
@Suite struct GrowthTests {
    private static let small = 1 << 20

    @Test func aTransactionTwentyTimesTheMapKeepsEverything() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small)
        let transaction = try store.backend.beginWrite()
        let first = try transaction.reserveIDs(try store.entity("Note"), count: 2000)
        #expect(first == 1)
        for part in Int64(0)..<20 {
            let changes = Changes(store.schema)
            for id in part * 100 + 1...part * 100 + 100 { try changes.insert("Note", id, Notes.values(id, size: 10_000)) }
            if part > 0 {
                try changes.update("Note", part, ["size": .integer(-part)])
                try changes.delete("Note", part * 100)
            }
            try transaction.apply(changes.set)
            #expect(try transaction.count(FetchRequest(try store.entity("Note"))) == Int(part + 1) * 100 - Int(part))
        }
        #expect(try transaction.commit(.full) == 1)
        #expect(try engine(store).mapSize >= 20 << 20)
        let expected = (Int64(1)...2000).filter { $0 % 100 != 0 || $0 == 2000 }
        #expect(try store.wholeNotes() == expected)
        #expect(try store.values("Note", 7)?["size"] == .integer(-7))
        let next = try store.backend.beginWrite()
        #expect(try next.reserveIDs(try store.entity("Note"), count: 1) == 2001, "ids that were taken before the map grew stay taken")
        next.rollback()
        #expect(try store.backend.verify() == [])
        try store.backend.close()
        let reopened = try notes(folder.file(), mapSize: Self.small)
        #expect(try reopened.wholeNotes() == expected)
    }

    @Test func aRefusedChangeSetThatMadeTheMapGrowLeavesNothing() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small)
        let transaction = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        for id in Int64(1)...300 { try changes.insert("Note", id, Notes.values(id, size: 10_000)) }
        try transaction.apply(changes.set)
        let refused = Changes(store.schema)
        for id in Int64(301)...600 { try refused.insert("Note", id, Notes.values(id, size: 10_000)) }
        try refused.insert("Note", 1000, ["title": .text("note 1")])
        #expect(failure { try transaction.apply(refused.set) }?.code == .constraint)
        _ = try transaction.commit(.relaxed)
        #expect(try store.wholeNotes() == Array(1...300))
        #expect(try store.backend.verify() == [])
    }

    @Test func growthDuringALongReadIsFull() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small) { $0.growthTimeout = .milliseconds(50) }
        try store.addNotes(1...3, size: 100)
        let reader = try store.backend.beginRead()
        let error = failure { try store.addNotes(10...500, size: 10_000) }
        #expect(error?.code == .full)
        #expect(error?.location == folder.file())
        // The reader's snapshot is unchanged, and the transaction is rolled back.
        #expect(try reader.ids(FetchRequest(try store.entity("Note"))) == [1, 2, 3])
        reader.end()
        try store.addNotes(10...500, size: 10_000)
        #expect(try store.wholeNotes() == [1, 2, 3] + Array(10...500))
        #expect(try store.backend.verify() == [])
    }

    @Test func growthWaitsForAReaderThatEnds() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small) { $0.growthTimeout = .seconds(3600) }
        try store.addNotes(1...3, size: 100)
        let reader = try store.backend.beginRead()
        let writer = Concurrent { failure { try store.addNotes(10...500, size: 10_000) } }
        #expect(!writer.hasEnded(within: 100), "the map cannot grow under a reader")
        #expect(try reader.ids(FetchRequest(try store.entity("Note"))) == [1, 2, 3])
        reader.end()
        #expect(writer.wait() == nil)
        #expect(try store.wholeNotes() == [1, 2, 3] + Array(10...500))
    }

    /// Inserts notes in one transaction, with a map of 1 MiB.
    private func growths(_ count: Int64) throws -> (inApply: Bool, atCommit: Bool) {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small)
        let transaction = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        for id in 1...count { try changes.insert("Note", id, Notes.values(id, size: 900)) }
        try transaction.apply(changes.set)
        let applied = try engine(store).mapSize
        _ = try transaction.commit(.relaxed)
        #expect(try store.wholeNotes().count == Int(count))
        return (applied > Self.small, try engine(store).mapSize > applied)
    }

    @Test func growthAtTheCommitKeepsEverything() throws {
        // Finds the most notes that can be applied without growth; the commit needs additional pages.
        var (fits, grows) = (Int64(100), Int64(1100))
        while grows - fits > 1 {
            let middle = (fits + grows) / 2
            if try growths(middle).inApply { grows = middle } else { fits = middle }
        }
        #expect(try (0..<6).contains { try growths(fits - $0).atCommit })
    }

    @Test func writersOfOneProcessDoNotInterruptAGrowingWriter() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: Self.small)
        let other = try notes(folder.file(), mapSize: Self.small)
        let writers = (Int64(0)..<4).map { number in
            Concurrent {
                failure {
                    for round in Int64(0)..<10 {
                        let first = number * 1000 + round * 20 + 1
                        try (number % 2 == 0 ? store : other).addNotes(first...first + 19, size: 9_000)
                    }
                }
            }
        }
        for writer in writers { #expect(writer.wait() == nil) }
        #expect(try store.wholeNotes().count == 800)
        #expect(try store.backend.verify() == [])
    }

    @Test func refusedMapSizeIsHalvedUntilItFits() throws {
        let folder = try Folder()
        let store = try notes(folder.file(), mapSize: 1 << 50)
        try store.addNotes(1...3, size: 100)
        #expect(try store.wholeNotes() == [1, 2, 3])
        #expect(try engine(store).mapSize < 1 << 50)
    }

    #if canImport(Glibc)
        /// LMDB unmaps its file before it maps a larger range.
        @Test(arguments: [
            (missing: 0, whileLimited: ["full", "100", "written"]), (missing: 768, whileLimited: ["full", "100", "written"]),
        ])
        func growthThatTheSystemRefusesIsFullAndReadsContinue(missing: Int, whileLimited: [String]) throws {
            let folder = try Folder()
            let child = try Child("grow", "lmdb", folder.file(), "\(missing)")
            #expect(child.lines() == whileLimited + ["120"])
            #expect(child.wait() == 0)
            #expect(try notes(folder.file()).backend.verify() == [])
        }
    #endif
}
