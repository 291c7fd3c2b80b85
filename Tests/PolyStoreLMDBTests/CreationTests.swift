import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// An interrupted creation is completed; similar files of other programs are left unchanged.
@Suite struct CreationTests {
    private static func page(_ number: Int, mapSize: UInt64 = 1 << 30) -> [UInt8] {
        var page = LMDBCreation.initialPage(number, pageSize: 4096)
        withUnsafeBytes(of: mapSize) { page.replaceSubrange(32..<40, with: $0) }
        return page
    }

    private static let none = [UInt8](repeating: 0, count: 4096)

    private static let interrupted: [(name: String, bytes: [UInt8])] = [
        ("one page", page(0)),
        ("one page of zeros", none),
        ("two pages of zeros", none + none),
        ("the first page, and zeros", page(0) + none),
        ("zeros, and the second page", none + page(1)),
        ("one sector", Array(page(0).prefix(512))),
        ("a page and a sector", page(0) + page(1).prefix(512)),
    ]

    @Test(arguments: interrupted)
    func interruptedCreationsAreRepeated(name: String, bytes: [UInt8]) throws {
        let folder = try Folder()
        try folder.write(Data(bytes))
        let error = failure { _ = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema()) }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains("Open it for writing") == true)
        #expect(try folder.bytes() == Data(bytes))
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 100, .full)
        try store.backend.close()
        #expect(try notes(folder.file()).wholeNotes() == [1, 2, 3])
    }

    /// After a failed flush, the system may still show pages that are not on the disk.
    @Test func failedCreationIsRepeated() throws {
        let folder = try Folder()
        let file = LMDBFile(storePath: StorePath(path: folder.file()))
        let complete = Data(Self.page(0) + Self.page(1))
        for bytes in [complete, complete.prefix(5000), Data(Self.none)] {
            try folder.write(bytes)
            file.forgetCreation()
            #expect(try folder.bytes().isEmpty)
        }
        // A file with a transaction is never emptied.
        let store = try notes(folder.file())
        try store.addNotes(1...3, size: 100, .full)
        try store.backend.close()
        let before = try folder.bytes()
        file.forgetCreation()
        #expect(try folder.bytes() == before)
        for foreign in Self.foreign where foreign.name != "zeros that end within a sector" {
            try folder.write(Data(foreign.bytes))
            file.forgetCreation()
            #expect(try folder.bytes() == Data(foreign.bytes), "\(foreign.name)")
        }
    }

    @Test func fileThatAnotherProcessCreatesIsNotEmptied() throws {
        let folder = try Folder()
        let child = try Child("open", "lmdb", folder.file())
        #expect(child.line() == "ok")
        // The first pages of a file without a transaction, while LMDB holds its lock.
        let complete = Data(Self.page(0) + Self.page(1))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file()))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: complete)
        LMDBFile(storePath: StorePath(path: folder.file())).forgetCreation()
        #expect(try folder.bytes() == complete)
        child.kill()
    }

    private static let foreign: [(name: String, bytes: [UInt8])] = [
        ("zeros, and text", none + Array("text".utf8) + [UInt8](repeating: 0, count: 508)),
        ("many zeros", [UInt8](repeating: 0, count: 70_000)),
        ("zeros that end within a sector", [UInt8](repeating: 0, count: 100)),
        ("the first page, and text", page(0) + [UInt8](repeating: 65, count: 4096)),
        ("the first page with text behind its head", page(0).dropLast(4) + Array("text".utf8)),
    ]

    @Test(arguments: foreign)
    func otherFilesAreUnchanged(name: String, bytes: [UInt8]) throws {
        let folder = try Folder()
        try folder.write(Data(bytes))
        for isReadOnly in [true, false] {
            let error = failure {
                _ = try Store(.lmdb(file: folder.file()).readOnly(isReadOnly).resettingOnModelMismatch(), try Notes.schema())
            }
            #expect(error?.code == .notAStore || error?.code == .corrupt, "\(String(describing: error))")
        }
        #expect(try folder.bytes() == Data(bytes))
        #expect(folder.names == ["store"])
    }

    @Test func emptyFileOpenedReadOnlyIsNotAStore() throws {
        let folder = try Folder()
        try folder.write(Data())
        let error = failure { _ = try Store(.lmdb(file: folder.file()).readOnly(), try Notes.schema()) }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains("is empty") == true)
        #expect(try folder.bytes().isEmpty)
        #expect(folder.names == ["store"])
    }

    @Test func concurrentOpeningsRepeatAnInterruptedCreationOnce() throws {
        let folder = try Folder()
        try folder.write(Data(Self.page(0)))
        let children = try (0..<6).map { try Child("write", "lmdb", folder.file(), "\($0 * 10 + 1)", "\($0 * 10 + 10)", "100") }
        for child in children { #expect(child.lines().last == "done") }
        #expect(try notes(folder.file()).wholeNotes() == Array(1...60))
    }
}
