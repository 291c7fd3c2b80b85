import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

@Suite struct DescriptorTests {
    private static func notes() throws -> ResolvedSchema {
        try Models.single("Note", [.attribute(AttributeDescription(name: "title", type: .string, isOptional: true))])
    }

    #if os(Linux)
        /// Returns the number of this process's descriptors of files in a folder.
        private static func descriptors(_ folder: Folder) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0))?.hasPrefix(folder.path) == true
            }.count
        }

        /// Each snapshot has a connection. SQLite closes the descriptors of closed connections only when the last one of the file is closed.
        @Test func aPeakOfSnapshotsKeepsNoDescriptors() throws {
            let folder = try Folder()
            let store = try Store(folder.file("test.sqlite"), try Self.notes())
            try store.write { try $0.insert("Note", 1) }
            for round in 2...4 as ClosedRange<Int64> {
                let readers = try (0..<120).map { _ in try store.backend.beginRead() }
                #expect(try Self.descriptors(folder) >= 240)
                for reader in readers { reader.end() }
                #expect(try Self.descriptors(folder) <= 80)
                // New connections work.
                try store.write { try $0.insert("Note", round) }
                #expect(try store.ids(FetchRequest(try store.entity("Note"))) == Array(1...round))
            }
            try store.backend.close()
            #expect(folder.names == ["test.sqlite"])
            #expect(try Self.descriptors(folder) == 0)
        }
    #endif

    /// A limit of SQLite, whose message is only that it cannot open the file.
    @Test func pathThatIsTooLongForSQLiteIsNamedInTheError() throws {
        let folder = try Folder()
        var path = folder.path
        while path.utf8.count < 495 { path += "/" + String(repeating: "d", count: min(100, 498 - path.utf8.count)) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let longest = path + "/" + String(repeating: "f", count: 504 - path.utf8.count - 1)
        let store = try Store(longest, try Self.notes())
        try store.write { try $0.insert("Note", 1) }
        try store.backend.close()
        let error = try requireFailure { _ = try Store(longest + "f", try Self.notes()) }
        #expect(error.code == .io)
        #expect(error.message.contains("505 bytes") && error.message.contains("504"), "\(error)")
    }
}
