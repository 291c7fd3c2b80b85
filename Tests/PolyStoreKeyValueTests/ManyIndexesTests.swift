import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// A store with more than 255 indexes, so that index numbers differ in more than their last byte.
@Suite struct ManyIndexesTests {
    private static let indexesPerEntity = 100
    private static let entityNames = ["A", "B", "C", "D"]

    private static func schema() throws -> ResolvedSchema {
        func entity(_ name: String) -> EntityDescription {
            EntityDescription(
                name: name,
                properties: (0..<indexesPerEntity).map { number in
                    .attribute(AttributeDescription(name: "text\(number)", type: .string, isOptional: true, isIndexed: true))
                })
        }
        return try ResolvedSchema(SchemaDescription(name: "many", entities: entityNames.map(entity)))
    }

    /// Returns text longer than a key, so that its entries are truncated and the state of their index changes.
    private static func text(_ number: Int) -> Value { .text("\(number)" + String(repeating: "x", count: 600)) }

    private static func values() -> [String: Value] {
        Dictionary(uniqueKeysWithValues: (0..<indexesPerEntity).map { ("text\($0)", text($0)) })
    }

    @Test func oneTransactionChangesTheStateOfEveryIndex() throws {
        let opened = try Opened(TestEngine(), try Self.schema())
        try opened.store.write { changes in
            for name in Self.entityNames { try changes.insert(name, 1, Self.values()) }
        }
        let reopened = try Opened(opened.engine, try Self.schema())
        for opened in [opened, reopened] {
            let findings = try opened.backend.verify()
            #expect(findings == [])
            for name in Self.entityNames {
                for number in 0..<Self.indexesPerEntity {
                    let state = try #require(try opened.state("\(name)_text\(number)"))
                    #expect(state.holdsCutEntries)
                    #expect(state.name == "text\(number)")
                    let field = try opened.store.field(name, "text\(number)")
                    let found = try opened.store.ids(name, .compare(field, .equal, Self.text(number)))
                    #expect(found == [1])
                }
            }
        }
    }

    /// The keys of index states share the keyspace and the kind, but no byte of the number.
    @Test func listSortsKeysThatDifferInAnyByteAfterItsPrefix() {
        var list = WriteList(prefixCount: 2)
        for number: UInt32 in [256, 1, 70_000, 2, 255, 511, 65_536] {
            Keyspace.Metadata.indexState.key(number).withUnsafeBytes { key in
                BigEndianInteger.bytes(number).withUnsafeBytes { list.add(key, $0) }
            }
        }
        list.sort()
        let numbers = list.entries.compactMap { list.value($0).flatMap { BigEndianInteger.read($0, as: UInt32.self) } }
        #expect(numbers == [1, 2, 255, 256, 511, 65_536, 70_000])
    }
}
