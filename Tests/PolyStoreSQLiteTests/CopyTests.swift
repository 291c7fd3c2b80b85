import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Copies of a store.
@Suite struct CopyTests {
    @Test func aCopyHasNoSideFilesAndTheSamePermissions() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.pageSize = 8192
        let store = try Store(folder.file("test.sqlite"), try Models.company(), options: options)
        try store.write { changes in for id in 1...5000 as ClosedRange<Int64> { try changes.insert("Team", id, ["title": .text("\(id)")]) }
        }
        try store.backend.copy(to: folder.file("copy"))
        #expect(
            folder.names == ["copy", "test.sqlite", "test.sqlite-shm", "test.sqlite-wal"],
            "what was committed is in the log, and in the copy")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("copy"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try PlainSQL(folder.file("copy")).rows("PRAGMA page_size") == ["8192"])
        #expect(try PlainSQL(folder.file("copy")).rows("PRAGMA application_id") == ["\(0x504F_4C59)"])
        let copy = try Store(folder.file("copy"), try Models.company())
        #expect(try copy.read { try $0.count(FetchRequest(try copy.entity("Team"))) } == 5000)
        #expect(copy.backend.metadata.storeID == store.backend.metadata.storeID)
        #expect(try copy.backend.verify() == [])
        try copy.backend.close()
        let reading = try Store(folder.file("copy"), try Models.company()) { $0.readOnly() }
        #expect(try reading.read { try $0.count(FetchRequest(try reading.entity("Team"))) } == 5000)
    }

    /// Each copy made during commits of another thread contains a prefix of the commits.
    @Test func copiesAreConsistentWhileOthersCommit() async throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let writing = Task.detached {
            for id in 1...300 as ClosedRange<Int64> {
                try store.write { changes in
                    try changes.insert("Team", id, ["title": .text("\(id)")])
                    try changes.insert("Skill", id, ["title": .text(String(repeating: "x", count: 1000))])
                }
            }
        }
        for number in 1...10 {
            try store.backend.copy(to: folder.file("copy\(number)"))
            let copy = try Store(folder.file("copy\(number)"), try Models.company())
            let teams = try copy.ids(FetchRequest(try copy.entity("Team")))
            #expect(teams == Array(1..<Int64(teams.count + 1)))
            #expect(try copy.ids(FetchRequest(try copy.entity("Skill"))) == teams)
            #expect(try copy.read { try $0.version } == UInt64(teams.count))
            #expect(try copy.backend.verify() == [])
            try copy.backend.close()
        }
        try await writing.value
    }

    @Test func aCopyThatFailsLeavesNothing() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { try $0.insert("Team", 1) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("taken")))
        for path in [folder.file("taken"), folder.file("test.sqlite"), folder.path, folder.file("missing/copy"), ""] {
            #expect(try requireFailure { try store.backend.copy(to: path) }.code == .io, "\(path)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("taken"))) == Data("mine".utf8))
        #expect(folder.names == ["taken", "test.sqlite", "test.sqlite-shm", "test.sqlite-wal"])
    }
}
