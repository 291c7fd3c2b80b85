#if canImport(Glibc)
    import CLMDB
    import EngineTestSupport
    import Foundation
    import Glibc
    import PolyStoreBackend
    import PolyStoreConformance
    import TestSupport
    import Testing

    @testable import PolyStoreLMDB

    /// Replaces a descriptor of the engine with one whose writes fail.
    private final class ReplacedDescriptor {
        private let descriptor: Int32
        private let kept: Int32

        /// - Parameter path: The file that the descriptor refers to from now on.
        init(_ descriptor: Int32, path: String, flags: Int32) throws {
            self.descriptor = descriptor
            kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            let other = open(path, flags | O_CLOEXEC)
            try #require(kept >= 0 && other >= 0)
            dup2(other, descriptor)
            close(other)
        }

        /// Restores the descriptor.
        func restore() {
            dup2(kept, descriptor)
            close(kept)
        }
    }

    private func dataDescriptor(_ store: Store) throws -> Int32 {
        var descriptor: Int32 = -1
        mdb_env_get_fd(try engine(store).environment, &descriptor)
        return descriptor
    }

    /// Returns the descriptor that LMDB writes the two meta pages through, with synchronous writes.
    private func metaDescriptor(_ store: Store) throws -> Int32 {
        let data = try dataDescriptor(store)
        var (ours, other) = (stat(), stat())
        fstat(data, &ours)
        return try #require(
            (0..<getdtablesize()).first {
                $0 != data && fstat($0, &other) == 0 && (other.st_dev, other.st_ino) == (ours.st_dev, ours.st_ino)
                    && fcntl($0, F_GETFL) & O_DSYNC != 0
            })
    }

    @Suite struct FailedWriteTests {
        @Test func readsAndWritesContinueAfterAFailedMetaWrite() throws {
            let folder = try Folder()
            let store = try notes(folder.file())
            try store.addNotes(1...10, size: 100, .full)
            _ = try ReplacedDescriptor(try metaDescriptor(store), path: folder.file(), flags: O_RDONLY)
            let error = failure { try store.addNotes(11...20, size: 100, .full) }
            #expect(error?.code == .io)
            #expect(try store.wholeNotes() == Array(1...10))
            try store.addNotes(21...30, size: 100, .full)
            #expect(try store.wholeNotes() == Array(1...10) + Array(21...30))
            #expect(try store.backend.verify() == [])
            try store.backend.close()
            #expect(try notes(folder.file()).wholeNotes() == Array(1...10) + Array(21...30))
        }

        @Test func aSnapshotOutlivesAFailedMetaWriteAndDelaysNewOnes() throws {
            let folder = try Folder()
            let store = try notes(folder.file()) { $0.growthTimeout = .milliseconds(50) }
            try store.addNotes(1...10, size: 100, .full)
            let snapshot = try store.backend.beginRead()
            _ = try ReplacedDescriptor(try metaDescriptor(store), path: folder.file(), flags: O_RDONLY)
            #expect(failure { try store.addNotes(11...20, size: 100, .full) }?.code == .io)
            for _ in 0..<3 {
                let error = failure { _ = try store.backend.beginRead() }
                #expect(error?.code == .io)
                #expect(error?.message.contains("earlier commit") == true)
            }
            #expect(failure { try store.addNotes(11...20, size: 100) }?.code == .io)
            #expect(try snapshot.ids(FetchRequest(try store.entity("Note"))) == Array(1...10))
            snapshot.end()
            #expect(try store.wholeNotes() == Array(1...10))
            try store.addNotes(11...20, size: 100)
            #expect(try store.wholeNotes() == Array(1...20))
        }

        /// Pages of older transactions are overwritten only when the newer ones are known to be durable.
        @Test func afterAFailedCommitNothingIsWrittenBeforeAFlushSucceeds() throws {
            let folder = try Folder()
            let store = try notes(folder.file())
            try store.addNotes(1...10, size: 100, .relaxed)
            let before = try folder.bytes()
            let replaced = try ReplacedDescriptor(try dataDescriptor(store), path: folder.file(), flags: O_RDONLY)
            for durability in [Durability.full, .relaxed, .full] {
                #expect(failure { try store.addNotes(11...20, size: 100, durability) }?.code == .io)
            }
            #expect(try folder.bytes() == before)
            #expect(try store.wholeNotes() == Array(1...10))
            replaced.restore()
            try store.addNotes(11...20, size: 100, .full)
            #expect(try store.wholeNotes() == Array(1...20))
        }

        /// A commit that failed may have written its meta page, so the one that counts may not be on the disk.
        @Test func theNextTransactionAfterAFailedCommitFlushesTheOneBefore() throws {
            let folder = try Folder()
            let store = try notes(folder.file())
            try store.addNotes(1...10, size: 100, .full)
            let probe = try #require(FlushProbe(folder: StorePath.resolve(folder.path)))
            try store.addNotes(11...11, size: 100, .relaxed)
            try store.addNotes(12...12, size: 100, .full)
            let replaced = try ReplacedDescriptor(try dataDescriptor(store), path: folder.file(), flags: O_RDONLY)
            #expect(failure { try store.addNotes(13...20, size: 100, .relaxed) }?.code == .io)
            replaced.restore()
            let before = probe.count
            let writer = try store.backend.beginWrite()
            #expect(probe.count > before)
            writer.rollback()
            try store.addNotes(13...20, size: 100, .full)
            #expect(try store.wholeNotes() == Array(1...20))
        }

        @Test func fullDiskIsReportedAndTheStoreContinues() throws {
            let folder = try Folder()
            let store = try notes(folder.file())
            try store.addNotes(1...10, size: 100, .full)
            let replaced = try ReplacedDescriptor(try dataDescriptor(store), path: "/dev/full", flags: O_RDWR)
            for _ in 0..<2 {
                let error = failure { try store.addNotes(11...20, size: 100, .full) }
                #expect(error?.code == .full)
                #expect(error?.location == folder.file())
            }
            #expect(try store.wholeNotes() == Array(1...10))
            replaced.restore()
            try store.addNotes(11...20, size: 100, .full)
            #expect(try store.wholeNotes() == Array(1...20))
        }

        /// The system writes a part, which LMDB reports as an I/O error, and refuses the rest.
        @Test func fileThatCannotGrowIsFull() throws {
            let folder = try Folder()
            let child = try Child("limited", "lmdb", folder.file(), "300000", "20000")
            let lines = child.lines()
            #expect(child.wait() == 0)
            let failures = lines.filter { $0.contains(" ") && !$0.hasPrefix("whole") }
            #expect(failures.count == 10)
            #expect(failures.allSatisfy { $0.hasSuffix(" full") }, "\(failures)")
            let written = lines.filter { Int64($0) != nil }
            #expect(lines.last == "whole \(written.count)")
            #expect(try notes(folder.file()).wholeNotes() == written.compactMap { Int64($0) })
        }
    }
#endif
