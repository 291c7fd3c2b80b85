import EngineTestSupport
import Foundation
import PolyStoreBackend
import Synchronization
import TestSupport
import Testing

@testable import PolyStoreLevelDB

/// Compaction beside a writer. It makes LevelDB start new logs and remove earlier ones at any time.
@Suite struct CompactionBesideWritersTests {
    /// The logs of a folder that a test creates, grows and removes as LevelDB does.
    private final class Logs {
        let folder: Folder
        private let descriptor: Int32
        /// Runs after a listing, before its logs are opened.
        var afterListing: (Int) -> Void = { _ in }
        private var listings = 0

        init() throws {
            folder = try Folder()
            descriptor = open(folder.file("polystore.lock"), O_RDWR | O_CREAT, 0o600)
        }

        deinit { close(descriptor) }

        func path(_ log: UInt64) -> String { folder.file(LevelDBFiles.log(log)) }

        func append(_ log: UInt64, _ count: Int) throws {
            close(open(path(log), O_WRONLY | O_CREAT, 0o600))
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path(log)))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(count: count))
            try handle.close()
        }

        func remove(_ log: UInt64) { try? FileManager.default.removeItem(atPath: path(log)) }

        func durability() throws -> LevelDBDurability {
            try LevelDBDurability(StorePath(path: folder.path), lockFile: descriptor) { [unowned self] path in
                let found = try LevelDBFiles(path).logs
                listings += 1
                afterListing(listings)
                return found
            }
        }

        var mark: LevelDBMark? { LevelDBMark.read(descriptor) }
    }

    @Test func logRemovedAfterTheListingIsReplacedByItsSuccessor() throws {
        let logs = try Logs()
        try logs.append(3, 0)
        let durability = try logs.durability()
        // The commit is in log 5. A compaction starts log 7 and removes log 5 between the listing and the opening.
        try logs.append(5, 100)
        logs.remove(3)
        logs.afterListing = { listing in
            guard listing == 2 else { return }
            try? logs.append(7, 0)
            logs.remove(5)
        }
        try durability.commit(.full)
        #expect(logs.mark == LevelDBMark(log: 7, size: 0))
        try logs.append(7, 50)
        try durability.prepare(.full)
        try durability.commit(.full)
        #expect(logs.mark == LevelDBMark(log: 7, size: 50))
        durability.end(flushes: true)
    }

    /// Relaxed commits in the earlier log are flushed by the first full commit after LevelDB has begun a new one.
    @Test func theLogOfRelaxedCommitsIsKeptUntilItIsFlushed() throws {
        let logs = try Logs()
        try logs.append(3, 0)
        let durability = try logs.durability()
        try logs.append(3, 100)
        try durability.commit(.relaxed)
        try logs.append(5, 100)
        try durability.commit(.relaxed)
        #expect(openLogs(logs.folder) == ["000003.log", "000005.log"])
        try logs.append(5, 100)
        try durability.commit(.full)
        // A log is closed when it is flushed.
        #expect(openLogs(logs.folder) == ["000005.log"])
        #expect(logs.mark == LevelDBMark(log: 5, size: 200))
        durability.end(flushes: true)
        #expect(openLogs(logs.folder) == [])
    }

    /// A commit may be in a log between the known one and the newest, so that log is flushed too.
    @Test func severalNewLogsAreKeptUntilTheyAreFlushed() throws {
        let logs = try Logs()
        try logs.append(3, 0)
        let durability = try logs.durability()
        try logs.append(5, 100)
        try logs.append(7, 0)
        try durability.commit(.relaxed)
        #expect(openLogs(logs.folder) == ["000005.log", "000007.log"])
        try logs.append(7, 10)
        try durability.commit(.full)
        #expect(openLogs(logs.folder) == ["000007.log"])
        #expect(logs.mark == LevelDBMark(log: 7, size: 10))
        durability.end(flushes: true)
        #expect(openLogs(logs.folder) == [])
    }

    @Test func missingLogsAreAnError() throws {
        let logs = try Logs()
        try logs.append(3, 0)
        let durability = try logs.durability()
        logs.remove(3)
        for _ in 0..<2 {
            let error = failure { try durability.prepare(.full) }
            #expect(error?.code == .io && error?.message.contains("removed or replaced") == true, "\(String(describing: error))")
        }
        durability.end(flushes: true)
        #expect(openLogs(logs.folder) == [])
    }

    /// The names of the logs in a folder that this process has open, sorted.
    private func openLogs(_ folder: Folder) -> [String] {
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.compactMap { link in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + link)) ?? ""
            guard target.hasPrefix(folder.path), target.contains(".log") else { return nil }
            return String(target.dropFirst(folder.path.count + 1))
        }.sorted()
    }

    @Test func writersContinueBesideCompactions() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        let compactions = Ring.size(150, thorough: 600)
        let isDone = Atomic(false)
        let errors = Protected<[String]>([])
        let written = Protected<Int64>(0)
        onThreads(2) { thread in
            defer { isDone.store(true, ordering: .releasing) }
            do {
                if thread == 0 {
                    while written.withLock({ $0 }) == 0, !isDone.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.001) }
                    for _ in 0..<compactions where !isDone.load(ordering: .acquiring) { try store.backend.compact() }
                } else {
                    var id: Int64 = 0
                    while !isDone.load(ordering: .acquiring) {
                        id += 1
                        try store.addNotes(id...id, size: 300, id % 4 == 0 ? .full : .relaxed)
                        written.withLock { $0 = id }
                    }
                }
            } catch { errors.withLock { $0.append("\(error)") } }
        }
        #expect(errors.withLock { $0 } == [])
        let all = Array(1...max(1, written.withLock { $0 }))
        #expect(try store.wholeNotes() == all)
        try store.backend.close()
        #expect(try notes(folder.file()).wholeNotes() == all)
    }
}
