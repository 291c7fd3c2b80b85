import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@Suite struct TemporaryEntryTests {
    /// Leaves an entry as a terminated process does.
    private func left(_ path: String, isFolder: Bool = false) throws -> String {
        let entry = try TemporaryEntry(beside: StorePath(path: path), isFolder: isFolder, mode: isFolder ? 0o700 : 0o600)
        entry.end()
        return entry.storePath.path
    }

    @Test(
        arguments: [
            "store", "a.b.c", "naïve", "nai\u{308}ve", "日本語", "with space", "-", ".hidden", "x.5.partial",
            String(repeating: "é", count: 127),
            String(repeating: "e\u{301}", count: 80), String(repeating: "x", count: 255),
        ])
    func leftoversAreRecognizedByTheirNames(name: String) throws {
        let folder = try Folder()
        for isFolder in [false, true] {
            let path = try left(folder.file(name), isFolder: isFolder)
            #expect(folder.names.count == 1)
            #expect(StorePath(path: folder.file("other")).removeLeftovers() == [path])
            #expect(folder.names == [])
        }
    }

    /// The system returns the entries of a folder in several buffers. Each ends after a name.
    @Test func allNamesOfALargeFolderAreRead() throws {
        let folder = try Folder()
        let names = Set((0..<3_000).map { "\($0)" + String(repeating: "x", count: $0 % 240) })
        for name in names { close(creat(folder.file(name), 0o600)) }
        #expect(try Set(StorePath(path: folder.path).names()) == names)
        let leftover = try left(folder.file("store"))
        #expect(StorePath(path: folder.file("store")).removeLeftovers() == [leftover])
        #expect(Set(folder.names) == names)
    }

    @Test func anEntryInUseIsKept() throws {
        let folder = try Folder()
        let entry = try TemporaryEntry(beside: StorePath(path: folder.file()), mode: 0o600)
        #expect(StorePath(path: folder.file()).removeLeftovers() == [])
        // Under another name of the folder.
        let link = try Folder()
        try FileManager.default.createSymbolicLink(atPath: link.file("link"), withDestinationPath: folder.path)
        #expect(StorePath(path: link.file("link/store")).removeLeftovers() == [])
        #expect(folder.names.count == 1)
        entry.remove()
        entry.remove()
        #expect(folder.names == [])
    }

    @Test func aLeftoverThatAnotherDescriptorHasLockedIsKept() throws {
        let folder = try Folder()
        for isFolder in [false, true] {
            let path = try left(folder.file(), isFolder: isFolder)
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            #expect(flock(descriptor, LOCK_SH | LOCK_NB) == 0)
            #expect(StorePath(path: folder.file()).removeLeftovers() == [])
            StorePath.closeLocked(descriptor)
            #expect(StorePath(path: folder.file()).removeLeftovers() == [path])
        }
    }

    @Test func aLeftoverIsRemovedWithItsContentsAndSideFiles() throws {
        let (folder, outside) = (try Folder(), try Folder())
        try outside.write(Data("kept".utf8), to: "file")
        let path = try left(folder.file(), isFolder: true)
        try FileManager.default.createDirectory(atPath: path + "/copy", withIntermediateDirectories: false)
        for name in ["copy/CURRENT", "copy/000003.log", "copy-lock"] { try Data().write(to: URL(fileURLWithPath: path + "/" + name)) }
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: outside.path)
        let file = try left(folder.file())
        for suffix in ["-lock", "-old-lock", "-wal"] { try Data().write(to: URL(fileURLWithPath: file + suffix)) }
        #expect(StorePath(path: folder.file()).removeLeftovers().sorted() == [path, file].sorted())
        #expect(folder.names == [])
        #expect(outside.names == ["file"])
        // Without its file, too.
        try Data().write(to: URL(fileURLWithPath: file + "-old-lock"))
        #expect(StorePath(path: folder.file()).removeLeftovers() == [file + "-old-lock"])
    }

    @Test func othersFilesAreKept() throws {
        let folder = try Folder()
        let path = try left(folder.file())
        let name = URL(fileURLWithPath: path).lastPathComponent
        try FileManager.default.removeItem(atPath: path)
        // A symbolic link, a name of another store, a number that is not the one of the name, and other suffixes.
        let number = try #require(UInt64(name.split(separator: ".")[1]))
        let others = [
            name.replacingOccurrences(of: "store.", with: "Store."), "store.\(number ^ 1).partial", "store.0\(number).partial", name + "-x",
        ]
        for other in others { try folder.write(Data(), to: other) }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file(others[0]))
        #expect(StorePath(path: folder.file()).removeLeftovers() == [])
        #expect(folder.names == (others + [name]).sorted())
    }
}
