import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

/// SQLite stores that may only be read, in folders that take no files. In another process, as the user who runs tests may often do everything.
@Suite struct ReadOnlyTests {
    private static let nobody = getuid() == 0 ? "65534" : "0"

    private static func permit(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// A folder that others may enter.
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
        let store = try Engine.sqlite.notes(path)
        try store.addNotes(1...3, size: 100)
        try store.backend.close()
        try Self.permit(0o444, path)
        try Self.permit(0o555, inner)
        #expect(try Child("readonly", "sqlite", path, Self.nobody).lines() == ["[1, 2, 3]"])
        withExtendedLifetime(folder) {}
    }

    /// Its newest commits are in the log, and SQLite cannot read that one there.
    @Test func aStoreThatWasNotClosedSaysWhatIsMissing() throws {
        let (folder, inner) = try Self.folder()
        defer { try? Self.permit(0o755, inner) }
        let path = inner + "/store"
        let store = try Engine.sqlite.notes(path)
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
