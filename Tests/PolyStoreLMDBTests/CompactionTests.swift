import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreConformance
import Synchronization
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLMDB

/// The replacement of a file by its compacted copy, and what else has the store open meanwhile.
@Suite struct CompactionTests {
    /// Creates a store that consists mostly of free pages.
    private func sparse(_ file: String) throws -> Store {
        let store = try notes(file)
        try store.addNotes(1...500, size: 5000)
        try delete(11...500, store)
        return store
    }

    private func delete(_ ids: ClosedRange<Int64>, _ store: Store) throws {
        try store.write { changes in for id in ids { try changes.delete("Note", id) } }
    }

    private func size(_ file: String) throws -> Int { try StorePath(path: file).size() }

    /// The number of open files of this process that have no name any more and were in a folder.
    private func openDeletedFiles(_ folder: Folder) -> Int {
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.count { link in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + link)) ?? ""
            return target.hasPrefix(folder.path) && target.hasSuffix(" (deleted)")
        }
    }

    @Test func fileShrinksAndOpenReadersKeepTheirSnapshots() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let before = try size(folder.file())
        let old = try store.backend.beginRead()
        try store.backend.compact()
        #expect(try size(folder.file()) < before / 10, "\(before) bytes before")
        try store.addNotes(1001...1010, size: 5000)
        let middle = try store.backend.beginRead()
        try store.backend.compact()
        try delete(1...5, store)
        let note = try store.entity("Note")
        #expect(try old.ids(FetchRequest(note)) == Array(1...10))
        #expect(try middle.ids(FetchRequest(note)) == Array(1...10) + Array(1001...1010))
        #expect(try store.wholeNotes() == Array(6...10) + Array(1001...1010))
        #if os(Linux)
            #expect(openDeletedFiles(folder) > 0)
        #endif
        old.end()
        middle.end()
        // The replaced files are closed with their last readers.
        #expect(openDeletedFiles(folder) == 0)
        #expect(try store.backend.verify() == [])
        try store.backend.close()
        #expect(try notes(folder.file()).wholeNotes() == Array(6...10) + Array(1001...1010))
        #expect(folder.names == ["store", "store-lock"])
    }

    /// The process must not open the file a second time, because closing one of two environments would release the locks of the other.
    @Test func otherStoresOfTheProcessFollow() throws {
        let folder = try Folder()
        let first = try sparse(folder.file())
        let second = try notes(folder.file())
        try first.backend.compact()
        let third = try notes(folder.file())
        #expect(try engine(first) === engine(third) && engine(second) === engine(third))
        try second.addNotes(1001...1001, size: 10)
        try third.addNotes(1002...1002, size: 10)
        for store in [first, second, third] { #expect(try store.wholeNotes() == Array(1...10) + [1001, 1002]) }
        for store in [first, second, third] { try store.backend.close() }
        let reopened = try notes(folder.file())
        #expect(try reopened.wholeNotes() == Array(1...10) + [1001, 1002])
        #expect(try engine(reopened) !== engine(first))
    }

    @Test func refusedWhileAnotherProcessHasTheStoreOpen() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let before = try size(folder.file())
        let child = try Child("open", "lmdb", folder.file())
        #expect(child.line() == "ok")
        for _ in 0..<2 {
            let error = failure { try store.backend.compact() }
            #expect(error?.code == .busy && error?.message.contains("another process") ?? false, "\(String(describing: error))")
        }
        #expect(try size(folder.file()) == before)
        try store.addNotes(1001...1001, size: 10)
        // The other process still holds its lock, and this one its own: a third one does not believe that it is alone.
        let third = try Child("write", "lmdb", folder.file(), "1002", "1003", "10")
        #expect(third.lines().last == "done")
        try child.goOn()
        #expect(child.wait() == 0)
        try store.backend.compact()
        #expect(try size(folder.file()) < before / 10)
        #expect(try store.wholeNotes() == Array(1...10) + Array(1001...1003))
    }

    /// Without a flush of the folder, a power cut could bring the former file back, without the commits since.
    @Test(.enabled(if: FileFaults.areAvailable)) func theFolderIsFlushedAfterTheReplacement() throws {
        let folder = try Folder()
        let file = folder.file("inner/store")
        try FileManager.default.createDirectory(atPath: folder.file("inner"), withIntermediateDirectories: false)
        let store = try sparse(file)
        let path = StorePath(path: StorePath.resolve(file))
        let former = try path.identity()
        let probe = try #require(FlushProbe(folder: StorePath.resolve(folder.path)))
        var isFlushedAfterReplacement = false
        try probe.observing {
            if (try? path.identity()) != former { isFlushedAfterReplacement = true }
        } _: {
            try store.backend.compact()
        }
        #expect(isFlushedAfterReplacement)
        #expect(try store.wholeNotes() == Array(1...10))
    }

    /// The other process opens the file while it is copied, after compaction has found that no other process has it open.
    @Test(.enabled(if: FileFaults.areAvailable)) func refusedIfAnotherProcessOpensTheStoreDuringTheCopy() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let before = try size(folder.file())
        var child: Child?
        var line: String?
        let copying = FileFaults(observing: .space, below: folder, at: 1) {
            child = try? Child("open", "lmdb", folder.file())
            line = child?.line()
        }
        let error = failure { try store.backend.compact() }
        copying.end()
        let other = try #require(child)
        #expect(line == "ok")
        #expect(error?.code == .busy && error?.message.contains("another process") ?? false, "\(String(describing: error))")
        #expect(try size(folder.file()) == before)
        try store.addNotes(1001...1001, size: 10)
        try other.goOn()
        #expect(other.wait() == 0)
        #expect(try Child("write", "lmdb", folder.file(), "1002", "1003", "10").lines().last == "done")
        #expect(try store.wholeNotes() == Array(1...10) + Array(1001...1003))
        #expect(folder.names == ["store", "store-lock"])
    }

    @Test func processesThatOpenTheCompactedStoreShareIt() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let old = try store.backend.beginRead()
        try store.backend.compact()
        let child = try Child("write", "lmdb", folder.file(), "1001", "1040", "2000")
        while let line = child.line(), let id = Int64(line) {
            #expect(try store.wholeNotes().contains(id), "an acknowledged commit is missing")
            try store.addNotes(id + 1000...id + 1000, size: 100)
        }
        #expect(child.wait() == 0)
        old.end()
        #expect(try store.wholeNotes() == Array(1...10) + Array(1001...1040) + Array(2001...2040))
        #expect(try store.backend.verify() == [])
    }

    /// Several threads write, read and compact.
    @Test func nothingAcknowledgedIsLost() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let isDone = Atomic(false)
        let errors = Protected<[String]>([])
        onThreads(5) { thread in
            do {
                switch thread {
                case 0:
                    for _ in 0..<30 { try store.backend.compact() }
                    isDone.store(true, ordering: .releasing)
                case 1, 2:
                    var id = Int64(thread) * 1_000_000
                    while !isDone.load(ordering: .acquiring) {
                        try store.addNotes(id...id, size: 300)
                        guard try store.ids("Note").contains(id) else { throw StoreError(.corrupt, "\(id) is missing") }
                        id += 1
                    }
                    let expected = Array(Int64(thread) * 1_000_000..<id)
                    let found = try store.wholeNotes().filter { $0 / 1_000_000 == thread }
                    guard found == expected else { throw StoreError(.corrupt, "\(found.count) of \(expected.count) notes") }
                case 3:
                    var last: UInt64 = 0
                    while !isDone.load(ordering: .acquiring) {
                        let version = try store.read { try $0.version }
                        guard version >= last else { throw StoreError(.corrupt, "version \(version) after \(last)") }
                        last = version
                    }
                default:
                    while !isDone.load(ordering: .acquiring) {
                        let other = try notes(folder.file())
                        _ = try other.wholeNotes()
                        try other.backend.close()
                    }
                }
            } catch {
                errors.withLock { $0.append("\(thread): \(error)") }
                isDone.store(true, ordering: .releasing)
            }
        }
        #expect(errors.withLock { $0 } == [])
        #expect(try store.backend.verify() == [])
        #expect(openDeletedFiles(folder) == 0)
    }

    #if os(Linux)
        /// Opening the compacted file needs address space and descriptors. Without them nothing is replaced, and the store remains usable beside an old reader.
        @Test func compactionThatCannotOpenTheNewFileChangesNothing() throws {
            let folder = try Folder()
            let child = try Child("squeeze", "lmdb", folder.file())
            #expect(child.line() == "full")
            #expect(child.line() == "10")
            #expect(child.line() == "written")
            #expect(folder.names == ["store", "store-lock"])
            // A process that opens the store now uses the same lock file.
            #expect(try Child("write", "lmdb", folder.file(), "1002", "1003", "10").lines().last == "done")
            try child.goOn()
            #expect(child.line() == "13")
            #expect(child.line() == "compacted")
            #expect(child.line() == "failed")
            #expect(child.line() == "0 unreadable")
            #expect(child.line() == "10 before")
            #expect(child.line() == "whole")
            #expect(folder.names == ["store", "store-lock"])
            #expect(try Child("write", "lmdb", folder.file(), "1004", "1005", "10").lines().last == "done")
            try child.goOn()
            #expect(child.wait() == 0)
            let store = try notes(folder.file())
            #expect(Array(try store.wholeNotes().prefix(15)) == Array(1...10) + Array(1001...1005))
            #expect(try store.backend.verify() == [])
        }
    #endif

    @Test(.enabled(if: FileFaults.areAvailable)) func failedReplacementLeavesTheStoreAsItIs() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        var at = 1
        while true {
            // The calls that write the compacted file, and those that rename it and the lock files.
            let faults = FileFaults(.space, below: folder, at: at, error: EIO)
            let error = failure { try store.backend.compact() }
            let hasFailed = faults.failed > 0
            faults.end()
            guard hasFailed else {
                #expect(error == nil)
                break
            }
            #expect(error?.code == .io, "call \(at)")
            #expect(folder.names == ["store", "store-lock"], "call \(at)")
            #expect(try store.wholeNotes() == Array(1...10), "call \(at)")
            at += 1
        }
        #expect(at > 4)
        let child = try Child("write", "lmdb", folder.file(), "1002", "1003", "10")
        #expect(child.lines().last == "done")
        #expect(try store.wholeNotes() == Array(1...10) + Array(1002...1003))
        #expect(try store.backend.verify() == [])
    }

    @Test func filesOfAnInterruptedCompactionAreReplaced() throws {
        let folder = try Folder()
        let store = try sparse(folder.file())
        let left = try TemporaryEntry(beside: StorePath(path: folder.file()), mode: 0o600)
        left.end()
        for suffix in ["", "-lock", "-old-lock"] {
            try Data("left".utf8).write(to: URL(fileURLWithPath: left.storePath.path + suffix))
        }
        try store.backend.compact()
        #expect(folder.names == ["store", "store-lock"])
        // Interrupted after the lock file was renamed.
        try store.backend.close()
        try FileManager.default.moveItem(atPath: folder.file() + "-lock", toPath: left.storePath.path + "-old-lock")
        let reopened = try notes(folder.file())
        #expect(folder.names == ["store", "store-lock"])
        #expect(try reopened.wholeNotes() == Array(1...10))
        try reopened.backend.compact()
        #expect(folder.names == ["store", "store-lock"])
    }

    @Test func permissionsAndOwnersAreKept() throws {
        let folder = try Folder()
        try notes(folder.file()) { $0.fileMode = 0o640 }.backend.close()
        let isPrivileged = geteuid() == 0
        for name in ["store", "store-lock"] where isPrivileged {
            #expect(chown(folder.file(name), 12_345, 23_456) == 0)
        }
        // Opened with the default permissions, which are for new files.
        let store = try notes(folder.file())
        try store.addNotes(1...10, size: 10)
        try store.backend.compact()
        for name in ["store", "store-lock"] {
            #expect(try folder.mode(name) == 0o640, "\(name)")
            guard isPrivileged else { continue }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.ownerAccountID] as? Int == 12_345 && attributes[.groupOwnerAccountID] as? Int == 23_456, "\(name)")
        }
        #expect(try store.wholeNotes() == Array(1...10))
    }

    /// Kills a process that writes and compacts in turn, at moments that are spread over several compactions.
    @Test(arguments: 0..<12) func killedCompactionLosesNothing(run: Int) throws {
        let folder = try Folder()
        let child = try Child("compact", "lmdb", folder.file())
        var acknowledged: [Int64] = []
        for _ in 0..<(3 + run * 2) { if let id = child.line().flatMap(Int64.init) { acknowledged.append(id) } }
        Thread.sleep(forTimeInterval: Double(run) * 0.0007)
        child.kill()
        for line in child.lines() { if let id = Int64(line) { acknowledged.append(id) } }
        let store = try notes(folder.file())
        let found = try store.wholeNotes()
        #expect(Set(found).isSuperset(of: acknowledged))
        #expect(found.count <= acknowledged.count + 1)
        #expect(try store.backend.verify() == [])
        try store.backend.compact()
        #expect(try store.wholeNotes() == found)
        #expect(folder.names == ["store", "store-lock"])
    }
}
