import HistoryTestSupport
import PolyStore
import PolyStoreAttributes
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreHistory
@testable import PolyStoreKernel

/// The bytes of entries: encoded entries are decoded, other bytes are refused.
@Suite struct HistoryFormatTests {
    private static func record() -> HistoryRecord {
        HistoryRecord(
            head: HistoryRecord.Head(base: 300, time: -5, bytesBefore: 1 << 40, isInternal: false, author: "sync – 1"),
            groups: [
                .init(entity: "Person", kind: .inserted, keys: [], ids: [1, 2, 1 << 40, .max, .min]),
                .init(
                    entity: "Person", kind: .updated, keys: ["age", "friends"], ids: [7, 3],
                    values: [.integer(.min), nil, .null, nil]),
                .init(
                    entity: "Team", kind: .deleted, keys: ["a", "b", "c"], ids: [-1],
                    values: [.real(-0.5), .text("né"), .blob([0, 255])]),
                .init(entity: "Empty", kind: .deleted, keys: [], ids: []),
            ])
    }

    @Test func entriesReadBackAsWritten() throws {
        let record = Self.record()
        #expect(try HistoryRecord(record.encoded()) == record)
        #expect(HistoryRecord.Head(of: record.encoded()) == record.head)
    }

    /// The example of `docs/format.md`.
    @Test func theBytesAreThoseOfTheDocument() {
        let record = HistoryRecord(
            head: HistoryRecord.Head(base: 4, time: 1000, bytesBefore: 0, isInternal: false, author: "sync"),
            groups: [.init(entity: "Person", kind: .updated, keys: ["age"], ids: [12, 13])])
        let bytes = record.encoded()
        let expected: [UInt8] =
            [1, 1, 4, 0xd0, 0x0f, 0, 4] + Array("sync".utf8) + [2, 6] + Array("Person".utf8) + [3] + Array("age".utf8)
            + [1, 0, 1, 1, 1, 2, 24, 2]
        #expect(Array(bytes.dropLast(4)) == expected)
    }

    @Test func everyDamagedByteIsFound() {
        let bytes = Self.record().encoded()
        for position in bytes.indices {
            for bit in [UInt8(1), 0x80] {
                var damaged = bytes
                damaged[position] ^= bit
                #expect(throws: HistoryReader.Damage.self) { try HistoryRecord(damaged) }
            }
        }
        for count in bytes.indices { #expect(throws: HistoryReader.Damage.self) { try HistoryRecord(Array(bytes[..<count])) } }
    }

    /// Bytes with a valid checksum that are not an entry give an entry or an error, never a trap.
    @Test func anyBytesGiveAnEntryOrAnError() {
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0 ... .max, using: &random)
        var state = seed
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        let body = Array(Self.record().encoded().dropLast(4))
        for _ in 0..<20_000 {
            var bytes = HistoryBytes()
            var damaged = body
            for _ in 0...Int(next() % 3) {
                let position = Int(next() % UInt64(damaged.count))
                switch next() % 3 {
                case 0: damaged[position] = UInt8(truncatingIfNeeded: next())
                case 1: damaged.remove(at: position)
                default: damaged.insert(UInt8(truncatingIfNeeded: next()), at: position)
                }
            }
            for byte in damaged { bytes.append(byte) }
            do { _ = try HistoryRecord(bytes.sealed()) } catch is HistoryReader.Damage {
            } catch {
                #expect((error as? StoreError)?.code == .incompatibleSchema, "seed \(seed): \(error)")
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func aDamagedEntryIsCorruptAndCanBeDeleted(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await stack.perform { try $0.create(Into<Person>()).age = 1 }
        let token = try stack.historyTokenAndWait()
        let store = stack.stores[0]
        let writer = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        changes.appendLogEntry([1, 2, 3, 4, 5, 6, 7, 8])
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        writer.rollback()
        try await stack.perform { try $0.create(Into<Person>()).age = 2 }
        let error = await #expect(throws: StoreError.self) { try await stack.history(since: token) }
        #expect(error?.code == .corrupt && error?.message.contains("Entry 2") == true)
        try await stack.deleteHistory(before: try stack.historyTokenAndWait())
        #expect(try await stack.history().isEmpty)
        try await stack.perform { try $0.create(Into<Person>()).age = 3 }
        #expect(try await stack.history().summary == ["+Person 3"])
    }
}
