import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLevelDB

/// Failures are reported, acknowledged commits are not lost, and reads are never wrong.
@Suite struct FailureTests {
    /// LevelDB would continue to acknowledge writes after a damaged log, and lose them.
    @Test(arguments: [60_000, 300_000, 2_000_000])
    func afterAFailedWriteLaterWritesFailAndAcknowledgedCommitsRemain(limit: Int) throws {
        let folder = try Folder()
        let lines = try Child("limited", "leveldb", folder.file(), "\(limit)", "7000").lines()
        let acknowledged = lines.prefix { Int64($0) != nil }.compactMap { Int64($0) }
        let failures = lines.dropFirst(acknowledged.count).dropLast()
        #expect(acknowledged.count > 3)
        #expect(failures.count == 10)
        #expect(failures.allSatisfy { $0.hasSuffix(" full") || $0.hasSuffix(" io") }, "\(failures)")
        #expect(lines.last == "whole \(acknowledged.count)", "committed changes can still be read")
        let store = try notes(folder.file())
        let found = try store.wholeNotes()
        #expect(Array(found.prefix(acknowledged.count)) == acknowledged)
        // The first failed commit may be complete; later ones are absent.
        #expect(found.count <= acknowledged.count + 1)
        #expect(try store.backend.verify() == [])
        try store.addNotes(1000...1010, size: 7000, .full)
        #expect(try store.wholeNotes().count == found.count + 11)
    }

    /// One call fails, and the disk works again: LevelDB would acknowledge what it writes behind the incomplete record, and lose it.
    @Test(.enabled(if: FileFaults.areAvailable), arguments: [Durability.relaxed, .full])
    func afterOneFailedCallNothingIsWrittenUntilTheStoreIsOpenedAgain(durability: Durability) throws {
        var failedCalls = 0
        for at in 1...20 {
            let folder = try Folder()
            let store = try notes(folder.file())
            try store.addNotes(1...3, size: 300, .full)
            let faults = FileFaults(.space, below: folder, at: at, error: EIO)
            let error = failure { try store.addNotes(4...4, size: 300, durability) }
            faults.end()
            guard faults.failed == 1 else { break }
            failedCalls += 1
            // A commit that does not need the call is acknowledged.
            guard let error else { continue }
            #expect(error.code == .io, "call \(at): \(error)")
            for id in Int64(5)...7 {
                let later = failure { try store.addNotes(id...id, size: 300, .full) }
                #expect(later?.code == .io && later?.message.contains("open it again") == true, "call \(at): \(String(describing: later))")
            }
            #expect(try store.wholeNotes().prefix(3) == [1, 2, 3])
            try? store.backend.close()
            let again = try notes(folder.file())
            let found = try again.wholeNotes()
            #expect(found == [1, 2, 3] || found == [1, 2, 3, 4], "call \(at)")
            #expect(try again.backend.verify() == [])
            try again.addNotes(8...9, size: 300, .full)
            #expect(try again.wholeNotes() == found + [8, 9])
        }
        #expect(failedCalls > 0)
    }

    @Test func transactionAboveTheLimitIsFullAndCanContinue() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.maximumTransactionSize = 1 << 20 }
        let transaction = try store.backend.beginWrite()
        func changes(_ ids: ClosedRange<Int64>, size: Int) throws -> ChangeSet {
            let changes = Changes(store.schema)
            for id in ids { try changes.insert("Note", id, Notes.values(id, size: size)) }
            return changes.set
        }
        try transaction.apply(try changes(1...10, size: 50_000))
        for _ in 0..<3 {
            let error = failure { try transaction.apply(try changes(11...40, size: 50_000)) }
            #expect(error?.code == .full)
            #expect(error?.message.contains("1 MiB") == true)
        }
        #expect(try transaction.count(FetchRequest(try store.entity("Note"))) == 10)
        try transaction.apply(try changes(11...15, size: 50_000))
        _ = try transaction.commit(.full)
        #expect(try store.wholeNotes() == Array(1...15))
        try store.addNotes(16...20, size: 50_000)
        #expect(try store.backend.verify() == [])
    }

    /// A flipped byte of any table gives an error, a finding, or correct data.
    @Test func flippedBytesAreNeverWrongData() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.writeBufferSize = 64 << 10 }
        for round in Int64(0)..<20 { try store.addNotes(round * 20 + 1...round * 20 + 20, size: 700) }
        let all = try store.wholeNotes()
        try store.backend.close()
        let tables = try FileManager.default.contentsOfDirectory(atPath: folder.file()).filter { $0.hasSuffix(".ldb") }.sorted()
        #expect(!tables.isEmpty)
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var detected = 0
        for round in 0..<60 {
            let copy = folder.file("copy \(round)")
            try FileManager.default.copyItem(atPath: folder.file(), toPath: copy)
            let table = URL(fileURLWithPath: copy + "/" + tables[random(tables.count)])
            var bytes = try Data(contentsOf: table)
            // The blocks, their index and the footer; each round flips another byte.
            bytes[random(bytes.count)] ^= UInt8(1 << random(8))
            try bytes.write(to: table)
            do {
                let store = try notes(copy)
                defer { try? store.backend.close() }
                let findings = try store.backend.verify()
                if findings.isEmpty { #expect(try store.wholeNotes() == all, "round \(round)") } else { detected += 1 }
                var found = all
                let error = failure { found = try store.wholeNotes() }
                #expect(found == all, "round \(round)")
                #expect(error == nil || error?.code == .corrupt, "\(String(describing: error))")
            } catch let error as StoreError {
                detected += 1
                #expect(error.code == .corrupt, "\(error)")
            }
        }
        // The number depends on LevelDB: it compacts in the background, and does not detect damage in data that it no longer reads.
        #expect(detected > 0)
    }

    @Test func truncatedLogIsCompleteUpToItsEnd() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        for id in Int64(1)...40 { try store.addNotes(id...id, size: 500) }
        // A copy of the open store has the state after a crash.
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.file()).first { $0.hasSuffix(".log") })
        let length = try Data(contentsOf: URL(fileURLWithPath: folder.file() + "/" + name)).count
        for cut in stride(from: 0, to: length, by: length / 25) {
            let copy = folder.file("copy \(cut)")
            try FileManager.default.copyItem(atPath: folder.file(), toPath: copy)
            truncate(copy + "/" + name, off_t(cut))
            do {
                let store = try notes(copy)
                defer { try? store.backend.close() }
                let found = try store.wholeNotes()
                #expect(found == Array((1...40).prefix(found.count)), "a prefix of the commits")
                #expect(try store.backend.verify() == [])
            } catch let error as StoreError {
                #expect(error.code == .corrupt, "\(error)")
            }
        }
    }

    @Test func aMissingTableIsCorrupt() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.writeBufferSize = 64 << 10 }
        for round in Int64(0)..<20 { try store.addNotes(round * 20 + 1...round * 20 + 20, size: 700) }
        try store.backend.close()
        let table = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.file()).first { $0.hasSuffix(".ldb") })
        try FileManager.default.removeItem(atPath: folder.file() + "/" + table)
        #expect(failure { _ = try notes(folder.file()) }?.code == .corrupt)
    }
}
