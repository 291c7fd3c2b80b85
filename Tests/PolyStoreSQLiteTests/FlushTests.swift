import CFlushProbe
import CSQLite
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// A failed flush: the system discards the pages, so the next flush succeeds although they were not written.
///
/// One test at a time, because the method that replaces SQLite's is a C function, which counts in static variables.
@Suite(.serialized) struct FlushTests {
    fileprivate static func notes() throws -> ResolvedSchema {
        try Models.single("Note", [.attribute(AttributeDescription(name: "title", type: .string, isOptional: true))])
    }

    fileprivate static func add(_ store: Store, _ id: Int64, _ durability: Durability) throws {
        try store.write(durability) { try $0.insert("Note", id, ["title": .text("note \(id)")]) }
    }

    fileprivate static func ids(_ store: Store) throws -> [Int64] { try store.ids(FetchRequest(try store.entity("Note"))) }

    /// Every sequence of commits that a failed flush can affect.
    @Test(arguments: [[Durability.full], [.relaxed, .full], [.relaxed, .relaxed, .full], [.full, .relaxed, .full]])
    func afterAFailedFlushNothingIsWrittenUntilTheStoreIsOpenedAgain(before: [Durability]) throws {
        let folder = try Folder()
        var store = try Store(folder.file("test.sqlite"), try Self.notes())
        var id: Int64 = 0
        for durability in before.dropLast() {
            id += 1
            try Self.add(store, id, durability)
        }
        let faults = try FailingFlushes(store, failing: 1)
        defer { faults.end() }
        let error = try requireFailure { try Self.add(store, id + 1, .full) }
        #expect(error.code == .io)
        for durability in Durability.allCases {
            let refused = try requireFailure { try Self.add(store, id + 2, durability) }
            #expect(refused.code == .io)
            #expect(refused.message.contains("open it again"), "\(refused)")
        }
        #expect(faults.asked == 1, "called once")
        let seen = try Self.ids(store)
        #expect(seen == Array(1..<id + 1) || seen == Array(1...id + 1), "reading continues")
        #expect(try store.backend.verify() == [])
        let log = try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite") + "-wal"))
        try store.backend.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite") + "-wal")) == log, "closing does not change the log")

        store = try Store(folder.file("test.sqlite"), try Self.notes())
        #expect(try Self.ids(store).starts(with: 1..<id + 1), "acknowledged commits are present")
        try Self.add(store, 100, .full)
        #expect(try Self.ids(store).last == 100)
        try store.backend.close()
        #expect(folder.names == ["test.sqlite"])
        #expect(try Store(folder.file("test.sqlite"), try Self.notes()).backend.verify() == [])
    }

    /// Log contents of another process may not be durable: they are rewritten before the first write.
    @Test func logFramesOfOtherConnectionsAreRewritten() throws {
        let folder = try Folder()
        let left = try Store(folder.file("left"), try Self.notes())
        for id in 1...3 as ClosedRange<Int64> { try Self.add(left, id, .relaxed) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.file("left") + suffix, toPath: folder.file("test.sqlite") + suffix)
        }
        let wal = folder.file("test.sqlite") + "-wal"
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: wal)
        func changed() throws -> Bool { try FileManager.default.attributesOfItem(atPath: wal)[.modificationDate] as? Date != past }

        let store = try Store(folder.file("test.sqlite"), try Self.notes())
        let bytes = try Data(contentsOf: URL(fileURLWithPath: wal))
        #expect(try Self.ids(store) == [1, 2, 3])
        #expect(try !changed(), "reading writes nothing")
        try store.backend.beginWrite().rollback()
        #expect(try changed())
        #expect(try Data(contentsOf: URL(fileURLWithPath: wal)) == bytes)
        try store.backend.close()
        #expect(folder.names.filter { $0.hasPrefix("test") } == ["test.sqlite"], "closing copies the log into the database")
    }

    /// Checkpointing fails when it flushes the log: the relaxed commit is acknowledged, the next commit is refused.
    @Test func failedCheckpointIsReported() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.notes())
        try Self.add(store, 1, .relaxed)
        let faults = try FailingFlushes(store, failing: .max)
        defer { faults.end() }
        let text = String(repeating: "x", count: 100_000)
        var id: Int64 = 2
        var refusal: StoreError?
        while refusal == nil, id < 1000 {
            do { try store.write(.relaxed) { try $0.insert("Note", id, ["title": .text(text)]) } } catch let error as StoreError {
                refusal = error
            }
            id += 1
        }
        #expect(refusal?.code == .io)
        #expect(faults.asked == 1)
        #expect(try Self.ids(store).count == Int(id) - 2, "every commit that was acknowledged can be read")
    }
}

#if os(Linux)
    /// The folder cannot be flushed, so a power cut may remove the log, and SQLite ignores that.
    @Suite struct FolderFlushTests {
        /// A store in a folder whose flushes can fail.
        private final class FailingFolder {
            private let folder: Folder
            private let probe: Int32

            init() throws {
                folder = try Folder()
                try FileManager.default.createDirectory(atPath: folder.file("inner"), withIntermediateDirectories: true)
                probe = polystore_flush_probe_begin(URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path)
                try #require(probe >= 0)
            }

            deinit { polystore_flush_probe_end(probe) }

            /// Lets the flushes fail with an error number; 0 for none.
            func failFlushes(_ error: Int32) { polystore_flush_probe_fail_folders(probe, error) }

            func open() throws -> Store { try Store(folder.file("inner/test.sqlite"), try FlushTests.notes()) }
        }

        @Test func openingAndCommitsFailWhileTheFolderCannotBeFlushed() throws {
            let folder = try FailingFolder()

            folder.failFlushes(EIO)
            #expect(try requireFailure { _ = try folder.open() }.code == .io)
            folder.failFlushes(ENOSPC)
            #expect(try requireFailure { _ = try folder.open() }.code == .full)
            folder.failFlushes(0)
            try folder.open().backend.close()

            // The first commit after an opening creates the log.
            var store = try folder.open()
            folder.failFlushes(EIO)
            #expect(try requireFailure { try FlushTests.add(store, 1, .full) }.code == .io)
            folder.failFlushes(0)
            #expect(try requireFailure { try FlushTests.add(store, 2, .full) }.message.contains("open it again"))
            try store.backend.close()
            store = try folder.open()
            try FlushTests.add(store, 3, .full)
            #expect(try FlushTests.ids(store).last == 3)
            #expect(try store.backend.verify() == [])
        }

        @Test(arguments: [EINVAL, EACCES, ENOTSUP]) func folderWithoutFlushesIsAccepted(_ error: Int32) throws {
            let folder = try FailingFolder()
            folder.failFlushes(error)
            let store = try folder.open()
            try FlushTests.add(store, 1, .full)
            #expect(try FlushTests.ids(store) == [1])
        }
    }
#endif

/// Makes flushes of a store's write-ahead log fail, by replacing the method table of the open file.
private final class FailingFlushes {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let plain: UnsafePointer<sqlite3_io_methods>
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>
    /// Used by one test at a time.
    nonisolated(unsafe) private static var left = 0
    nonisolated(unsafe) private static var count = 0

    var asked: Int { Self.count }

    init(_ store: Store, failing: Int) throws {
        let connection = try store.backend.pool.borrowWriter()
        defer { store.backend.pool.giveBackWriter() }
        // The file is open after the first read.
        _ = try connection.begin(writing: false)
        connection.rollback()
        var found: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &found)
        file = try #require(found)
        plain = try #require(file.pointee.pMethods)
        methods = .allocate(capacity: 1)
        methods.initialize(to: plain.pointee)
        methods.pointee.xSync = { _, _ in
            FailingFlushes.count += 1
            guard FailingFlushes.left > 0 else { return SQLITE_OK }
            FailingFlushes.left -= 1
            return SQLITE_IOERR | 4 << 8
        }
        Self.left = failing
        Self.count = 0
        file.pointee.pMethods = UnsafePointer(methods)
    }

    /// Call it when the store is closed, or at the end of the test. The table is kept, because the file may still be open.
    func end() { Self.left = 0 }
}
