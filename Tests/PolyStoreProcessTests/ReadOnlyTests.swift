import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

/// Read-only SQLite stores in folders without write permission. Another process opens them as another user, because the user of the tests may have every
/// permission.
@Suite struct ReadOnlyTests {
    private static let nobody = getuid() == 0 ? "65534" : "0"

    private static func permit(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Creates a folder that other users can enter.
    private static func folder() throws -> (Folder, String) {
        let folder = try Folder()
        try permit(0o755, folder.path)
        try FileManager.default.createDirectory(atPath: folder.file("inner"), withIntermediateDirectories: true)
        return (folder, folder.file("inner"))
    }

    @Test func aClosedStoreInAFolderThatTakesNoFilesIsRead() throws {
        let (folder, inner) = try Self.folder()
        defer { try? Self.permit(0o755, inner) }
        let path = inner + "/a store #1?.sqlite"
        let store = try Backend.sqlite.notes(path)
        try store.addNotes(1...3, size: 100)
        try store.backend.close()
        try Self.permit(0o444, path)
        try Self.permit(0o555, inner)
        #expect(try Child("readonly", "sqlite", path, Self.nobody).lines() == ["[1, 2, 3]"])
        withExtendedLifetime(folder) {}
    }

    /// The newest commits are in the log, which SQLite cannot read without creating a file.
    @Test func aStoreThatWasNotClosedReportsTheMissingFile() throws {
        let (folder, inner) = try Self.folder()
        defer { try? Self.permit(0o755, inner) }
        let path = inner + "/store"
        let store = try Backend.sqlite.notes(path)
        try store.addNotes(1...3, size: 100)
        for name in ["store", "store-wal"] {
            try FileManager.default.copyItem(atPath: inner + "/" + name, toPath: folder.file(name))
        }
        try store.backend.close()
        for name in ["store", "store-wal"] {
            try? FileManager.default.removeItem(atPath: inner + "/" + name)
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: inner + "/" + name)
            try Self.permit(0o444, inner + "/" + name)
        }
        try Self.permit(0o555, inner)
        let lines = try Child("readonly", "sqlite", path, Self.nobody).lines()
        #expect(lines.count == 1 && lines[0].hasPrefix("io: ") && lines[0].contains("log beside it"), "\(lines)")
    }
}
