import PolyStoreBackend
import Testing

/// The declaration of indexes on fields of JSON attributes, and their stored form.
@Suite struct JSONIndexSchemaTests {
    private static func schema(_ indexes: [IndexDescription]) -> SchemaDescription {
        SchemaDescription(
            name: "S",
            entities: [
                EntityDescription(
                    name: "Person",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string)),
                        .attribute(AttributeDescription(name: "address", type: .json, isOptional: true)),
                        .relationship(RelationshipDescription(name: "boss", destination: "Person", isToMany: false)),
                    ], indexes: indexes)
            ])
    }

    private static let city = IndexDescription.Part.json("address", ["city"], as: .string)

    struct Wrong: Sendable, CustomTestStringConvertible {
        let index: IndexDescription
        let says: [String]
        var testDescription: String { says.joined(separator: ", ") }
    }

    static let wrong: [Wrong] = [
        Wrong(index: IndexDescription(parts: [city], isUnique: true), says: ["Person.address.city", "cannot be unique", "attribute"]),
        Wrong(index: IndexDescription(parts: ["name", city], isUnique: true), says: ["Person.address.city", "cannot be unique"]),
        Wrong(index: IndexDescription(parts: [.json("name", ["city"], as: .string)]), says: ["Person.name.city", "only JSON has fields"]),
        Wrong(index: IndexDescription(parts: [.json("boss", ["city"], as: .string)]), says: ["Person.boss.city", "only JSON has fields"]),
        Wrong(index: IndexDescription(parts: [.json("home", ["city"], as: .string)]), says: ["Person", "home", "not an attribute"]),
        Wrong(index: IndexDescription(parts: [.json("address", [], as: .json)]), says: ["Person.address", "not a single value"]),
        Wrong(
            index: IndexDescription(parts: [.json("address", ["tags"], as: .json)]), says: ["Person.address.tags", "not a single value"]),
        Wrong(
            index: IndexDescription(parts: [.json("address", Array(repeating: "a", count: 201), as: .string)]),
            says: ["Person.address.a", "201 keys is too long"]),
        Wrong(index: IndexDescription(parts: [city, "name", city]), says: ["Person", "twice"]),
    ]

    @Test(arguments: wrong) func isRefusedAndNamed(_ wrong: Wrong) throws {
        let error = try #require(throws: StoreError.self) { try ResolvedSchema(Self.schema([wrong.index])) }
        #expect(error.code == .invalidSchema)
        for part in wrong.says { #expect(error.message.contains(part), "\(error.message) does not say \(part)") }
    }

    @Test func aTestOfElementsIsRefused() throws {
        var part = Self.city
        part.json = JSONField(["tags"], .contains(.text("a"), .string))
        let error = try #require(throws: StoreError.self) { try ResolvedSchema(Self.schema([IndexDescription(parts: [part])])) }
        #expect(error.message.contains("not a single value"), "\(error)")
    }

    @Test func indexesAreResolvedByFieldAndKeys() throws {
        let person = try ResolvedSchema(
            Self.schema([
                IndexDescription(parts: [Self.city]), IndexDescription(parts: ["name", .json("address", ["at", "lat"], as: .double)]),
                IndexDescription(fields: ["address"]), IndexDescription(parts: [.json("address", ["city"], as: .int32)]),
                IndexDescription(parts: [Self.city]),
            ])
        ).entities[0]
        #expect(
            person.indexes.map(\.name)
                == ["Person_boss", "Person_address.city", "Person_name_address.at.lat", "Person_address", "Person_address.city"])
        // Backends that do not know fields of JSON index the attributes.
        #expect(person.indexes.map(\.fields) == [[2], [1], [0, 1], [1], [1]])
        #expect(person.indexes.map(\.readsJSON) == [false, true, true, false, true])
        #expect(person.indexes[1].parts.map(\.json) == [JSONField(["city"], .value(.string))])
        #expect(person.indexes[2].parts.map(\.json) == [nil, JSONField(["at", "lat"], .value(.double))])
        // Smaller integers are read as int64.
        #expect(person.indexes[4].parts.map(\.json) == [JSONField(["city"], .value(.int64))])
    }

    /// The stored form of a model without such indexes is that of earlier releases, byte by byte.
    @Test func theStoredFormOfOtherIndexesIsUnchanged() {
        let schema = Self.schema([IndexDescription(fields: ["address", "name"]), IndexDescription(fields: ["name"], isUnique: true)])
        let stored = String(decoding: schema.encoded(), as: UTF8.self)
        #expect(
            stored.contains(
                "\"indexes\":[{\"fields\":[\"address\",\"name\"],\"isUnique\":false},{\"fields\":[\"name\"],\"isUnique\":true}]"),
            "\(stored)")
        #expect(!stored.contains("json\":") && !stored.contains("jsonIndexes"), "\(stored)")
        #expect(schema.versionHash == "35127c8b1a24a48f", "\(schema.versionHash)")
    }

    @Test func theDescriptionSurvivesEncoding() throws {
        let schema = Self.schema([
            IndexDescription(fields: ["name"]), IndexDescription(parts: [Self.city]), IndexDescription(fields: ["address"]),
            IndexDescription(parts: ["name", .json("address", [], as: .uuid)]),
            IndexDescription(parts: [.json("address", ["", "a.b"], as: .date)]),
        ])
        #expect(try SchemaDescription(encoded: schema.encoded()) == schema)
        #expect(try SchemaDescription(encoded: schema.encoded()).versionHash == schema.versionHash)
        let stored = String(decoding: schema.encoded(), as: UTF8.self)
        // What earlier releases read.
        #expect(
            stored.contains("\"indexes\":[{\"fields\":[\"name\"],\"isUnique\":false},{\"fields\":[\"address\"],\"isUnique\":false}]"),
            "\(stored)")
        #expect(
            stored.contains(
                "{\"index\":{\"fields\":[\"address\"],\"isUnique\":false,\"json\":[{\"keys\":[\"city\"],\"type\":\"string\"}]},\"position\":1}"
            ),
            "\(stored)")
    }

    @Test func everyDifferenceChangesTheHash() {
        let parts: [[IndexDescription.Part]] = [
            [], [Self.city], ["address"], [.json("address", ["city"], as: .int64)], [.json("address", ["cit", "y"], as: .string)],
            [.json("address", [], as: .string)], [Self.city, "name"], ["name", Self.city],
            [Self.city, .json("address", ["zip"], as: .string)],
        ]
        let hashes = parts.map { Self.schema($0.isEmpty ? [] : [IndexDescription(parts: $0)]).versionHash }
        #expect(Set(hashes).count == parts.count, "\(hashes)")
        // Plain indexes are not part of the data.
        for parts in parts where !parts.isEmpty {
            let schema = Self.schema([IndexDescription(parts: parts)])
            #expect(schema.hasSameData(as: Self.schema([])))
        }
    }

    @Test func aDamagedStoredFormIsAnError() {
        let stored = String(decoding: Self.schema([IndexDescription(parts: [Self.city])]).encoded(), as: UTF8.self)
        let damaged = stored.replacing("\"json\":[{", with: "\"json\":[null,{")
        #expect(damaged != stored)
        #expect(throws: StoreError.self) { try SchemaDescription(encoded: Array(damaged.utf8)) }
    }
}
