import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Entries of indexes on fields of JSON attributes.
@Suite struct JSONIndexTests {
    private static func schema(_ parts: [IndexDescription.Part]...) throws -> ResolvedSchema {
        try Migrations.schema(
            EntityDescription(
                name: "Person",
                properties: [Migrations.attribute("name", .string), Migrations.attribute("address", .json)],
                indexes: parts.map { IndexDescription(parts: $0) }))
    }

    private static let city = IndexDescription.Part.json("address", ["city"], as: .string)

    private static func filled() throws -> Opened {
        let opened = try Opened(TestEngine(), schema([city], ["name", city]))
        try opened.store.write { changes in
            for id in 1...9 as ClosedRange<Int64> {
                try changes.insert("Person", id, ["name": .text("n\(id % 2)"), "address": .text("{\"city\":\"c\(id)\"}")])
            }
        }
        try #require(try opened.backend.verify() == [])
        return opened
    }

    /// Returns the key of an entry of the first index.
    private static func key(_ opened: Opened, _ city: Value, _ id: Int64) throws -> [UInt8] {
        let index = opened.backend.layout.indexes[0][0]
        let keys = KeyWriter()
        keys.begin(index.space, index.number)
        keys.append(city, type: .string)
        keys.append(id: id)
        return keys.bytes
    }

    @Test func theEntryIsThatOfAnAttributeOfTheType() throws {
        let opened = try Self.filled()
        for id in 1...9 as ClosedRange<Int64> { #expect(try opened.engine[Self.key(opened, .text("c\(id)"), id)] == []) }
        try opened.store.write { try $0.update("Person", 1, ["address": .text("{\"city\":1}")]) }
        #expect(try opened.engine[Self.key(opened, .text("c1"), 1)] == nil)
        #expect(try opened.engine[Self.key(opened, .null, 1)] == [])
        try opened.store.write { try $0.delete("Person", 1) }
        #expect(try opened.engine[Self.key(opened, .null, 1)] == nil)
        #expect(try opened.backend.verify() == [])
    }

    @Test func verificationFindsMissingAndWrongEntries() throws {
        for (damage, finding) in [
            ({ $0.engine[try Self.key($0, .text("c1"), 1)] = nil }, "The index Person_address.city has no entry for Person 1."),
            (
                { $0.engine[try Self.key($0, .text("c2"), 1)] = [] },
                "The index Person_address.city has an entry for Person 1 under another value."
            ),
            (
                { $0.engine[try Self.key($0, .text("c1"), 99)] = [] },
                "The index Person_address.city leads to Person 99, which is not there."
            ),
        ] as [((Opened) throws -> Void, String)] {
            let opened = try Self.filled()
            try damage(opened)
            #expect(try opened.backend.verify() == [finding])
            try opened.backend.rebuildIndexes()
            #expect(try opened.backend.verify() == [])
        }
    }

    /// The names in the catalogue distinguish every two indexes.
    @Test func namesInTheCatalogueAreUnique() throws {
        let lists: [[IndexDescription.Part]] = [
            ["address"], [Self.city], [.json("address", ["city"], as: .int64)], [.json("address", [], as: .string)],
            [.json("address", ["city", "x"], as: .string)], [.json("address", ["city:1:x"], as: .string)],
            [.json("address", ["a\0name"], as: .string)], [.json("address", ["a"], as: .string), "name"], [Self.city, "name"],
            ["name", Self.city],
        ]
        let entity = try Migrations.schema(
            EntityDescription(
                name: "Person",
                properties: [Migrations.attribute("name", .string), Migrations.attribute("address", .json)],
                indexes: lists.map { IndexDescription(parts: $0) })
        ).entities[0]
        #expect(Set(entity.indexes.map { IndexState.name($0, entity) }).count == lists.count)
        #expect(IndexState.name(entity.indexes[1], entity) == "address\0\0string:4:city")
    }

    /// An earlier release does not know the index: it reads a model without it, and removes it when it opens the store.
    @Test func aStoreThatIsOpenedWithoutTheIndexLosesItsEntries() throws {
        let opened = try Self.filled()
        try opened.backend.close()
        let without = try Opened(opened.engine, Self.schema())
        without.backend.waitForBackgroundWork()
        #expect(try opened.engine[Self.key(opened, .text("c1"), 1)] == nil)
        #expect(try without.backend.verify() == [])
        try without.store.write { try $0.update("Person", 1, ["address": .text("{\"city\":\"new\"}")]) }
        try without.backend.close()
        let again = try Opened(opened.engine, Self.schema([Self.city]))
        again.backend.waitForBackgroundWork()
        #expect(try again.backend.verify() == [])
        #expect(try again.engine[Self.key(again, .text("new"), 1)] == [])
    }
}
