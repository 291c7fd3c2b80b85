import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// A damaged block gives an error or a finding, whichever operation meets it. It never gives an incomplete or outdated result.
@Suite struct DamageTests {
    /// Creates a store whose tables hold several versions of rows, and tombstones of deleted rows. All data is in table files.
    private static func fill(_ path: String) throws {
        let store = try notes(path) { $0.writeBufferSize = 64 << 10 }
        for round in Int64(0)..<12 { try store.addNotes(round * 100 + 1...round * 100 + 100, size: 150) }
        try store.write { changes in for id in stride(from: Int64(2), through: 1200, by: 3) { try changes.delete("Note", id) } }
        try store.write { changes in
            for id in stride(from: Int64(3), through: 1200, by: 3) { try changes.update("Note", id, ["size": .integer(id % 7)]) }
        }
        for round in Int64(12)..<15 { try store.addNotes(round * 100 + 1...round * 100 + 100, size: 150) }
        try store.backend.close()
        // Opening flushes the log to a table.
        try notes(path).backend.close()
    }

    /// Each operation returns a description of its result that can be compared.
    private static let operations: [(name: String, run: @Sendable (Store) throws -> String)] = [
        ("fetch all", { "\(try $0.wholeNotes())" }),
        (
            "fetch part by id",
            { store in
                "\(try store.ids(FetchRequest(try store.entity("Note"), predicate: .oneOf(.objectID, stride(from: Int64(1), through: 1500, by: 11).map { .integer($0) }))))"
            }
        ),
        (
            "fetch by index",
            { store in
                "\(try store.ids("Note", .compare(try store.field("Note", "size"), .equal, .integer(3))))"
            }
        ),
        ("count", { store in "\(try store.read { try $0.count(FetchRequest(try store.entity("Note"))) })" }),
        (
            "count by index",
            { store in
                let request = FetchRequest(
                    try store.entity("Note"), predicate: .compare(try store.field("Note", "size"), .less, .integer(150)))
                return "\(try store.read { try $0.count(request) })"
            }
        ),
        (
            "count by scan",
            { store in
                var request = FetchRequest(
                    try store.entity("Note"), predicate: .compare(try store.field("Note", "size"), .greaterOrEqual, .integer(0)))
                request.ignoresIndexes = true
                return "\(try store.read { try $0.count(request) })"
            }
        ),
        (
            "first ten descending",
            { store in
                var request = FetchRequest(try store.entity("Note"))
                request.sortKeys = [SortKey(try store.field("Note", "title"), ascending: false)]
                request.limit = 10
                return "\(try store.ids(request))"
            }
        ),
        (
            "all descending",
            { store in
                var request = FetchRequest(try store.entity("Note"))
                request.sortKeys = [SortKey(try store.field("Note", "size"), ascending: false)]
                return "\(try store.ids(request))"
            }
        ),
    ]

    /// Opens copies of a store, each with one flipped bit: in every table, at six offsets spread over the data blocks, which take up most of the file.
    /// - Returns: The number of copies for which opening or the body reports damage.
    private static func forEachDamage(of folder: Folder, _ body: (Store, _ what: String) throws -> Void) throws -> Int {
        let tables = try FileManager.default.contentsOfDirectory(atPath: folder.file()).filter { $0.hasSuffix(".ldb") }.sorted()
        #expect(!tables.isEmpty)
        var refused = 0
        for (round, table) in (0..<6).flatMap({ round in tables.map { (round, $0) } }) {
            let copy = folder.file("copy")
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: folder.file(), toPath: copy)
            let url = URL(fileURLWithPath: copy + "/" + table)
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count * (round * 2 + 1) / 14] ^= 0x10
            try bytes.write(to: url)
            do {
                let store = try notes(copy)
                defer { try? store.backend.close() }
                try body(store, "byte flipped in part \(round) of \(table)")
            } catch let error as StoreError {
                #expect(error.code == .corrupt, "\(error)")
                refused += 1
            }
        }
        return refused
    }

    @Test func skippedBlocksAreErrorsInEveryOperation() throws {
        let folder = try Folder()
        try Self.fill(folder.file())
        let sound = try notes(folder.file())
        let right = try Self.operations.map { try $0.run(sound) }
        #expect(try sound.backend.verify() == [])
        try sound.backend.close()
        var damaged = 0
        let refused = try Self.forEachDamage(of: folder) { store, what in
            var errors = 0
            for (operation, right) in zip(Self.operations, right) {
                do {
                    #expect(try operation.run(store) == right, "\(operation.name), \(what)")
                } catch let error as StoreError {
                    #expect(error.code == .corrupt, "\(operation.name): \(error)")
                    errors += 1
                }
            }
            // Damage is a finding of `verify`, which does not throw.
            let findings = try store.backend.verify()
            if errors > 0 {
                damaged += 1
                #expect(!findings.isEmpty)
            }
        }
        damaged += refused
        #expect(damaged > 0)
    }

    /// Uniqueness checks and index builds read ranges too.
    @Test func writersDoNotTreatSkippedKeysAsFree() throws {
        let folder = try Folder()
        try Self.fill(folder.file())
        _ = try Self.forEachDamage(of: folder) { store, _ in
            // Twelve existing titles: a cursor looks them up.
            let taken = failure {
                try store.write { changes in
                    for id in Int64(1)...12 { try changes.insert("Note", 5000 + id, ["title": .text("note \(id * 99 + 1)")]) }
                }
            }
            #expect(taken?.code == .constraint || taken?.code == .corrupt, "\(String(describing: taken))")
            let backend = try #require(store.backend as? KeyValueBackend)
            let rebuilt = failure { try backend.rebuildIndexes() }
            #expect(rebuilt == nil || rebuilt?.code == .corrupt, "\(String(describing: rebuilt))")
            if rebuilt == nil, try store.backend.verify().isEmpty {
                #expect(try store.ids("Note", .compare(try store.field("Note", "size"), .equal, .integer(150))).count == 700)
            }
        }
    }
}
