import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import TestSupport
import Testing

/// What classes do not express, and where the source comes from.
@Suite struct LimitationTests {
    private static func source(_ entities: EntityDescription..., options: ModelSource.Options = ModelSource.Options()) throws -> ModelSource
    {
        try ModelSource(SchemaDescription(name: "Limits 1", entities: entities), options: options)
    }

    @Test func whatClassesDoNotExpressIsListedAndCommented() throws {
        let computed = AttributeDescription(name: "token", type: .int64, defaultValue: .integer(3), defaultExpression: .computed)
        let size = AttributeDescription(name: "size", type: .int64)
        let open = AttributeDescription(name: "width", type: .int64, rules: [.range(nil, nil, of: .int64)])
        let mixed = AttributeDescription(
            name: "price", type: .decimal,
            rules: [try #require(AttributeOption.range(0...).rule), try #require(AttributeOption.range(..<9.5).rule)])
        let thing = EntityDescription(
            name: "Thing",
            properties: [
                .attribute(computed), .attribute(size), .attribute(open), .attribute(mixed),
                .attribute(AttributeDescription(name: "address", type: .json, isOptional: true)),
                .relationship(RelationshipDescription(name: "party", destination: "Party", isToMany: false)),
            ], indexes: [IndexDescription(parts: [.json("address", ["city"], as: .string), "size"])])
        let classifier = AttributeDescription(name: EntityHierarchy.classifier, type: .string, isIndexed: true)
        let party = EntityDescription(
            name: "Party", properties: [.attribute(classifier)],
            hierarchy: EntityHierarchy(
                isAbstract: false, properties: [],
                subentities: [SubentityDescription(name: "Person", parent: "Party", isAbstract: false, properties: [], required: [])]))
        let source = try Self.source(thing, party)
        #expect(
            source.limitations.map { "\($0.entity).\($0.property ?? "")" } == [
                "Thing.token", "Thing.width", "Thing.address", "Thing.party", "Thing.",
            ])
        for limitation in source.limitations {
            let comment = "    // \(limitation.reason.prefix(1).uppercased())\(limitation.reason.dropFirst())\n"
            #expect(source.text.contains(comment), "\(limitation)")
        }
        #expect(source.text.contains("\n    var token: Int\n"))
        #expect(source.text.contains("\n    var size: Int\n"))
        #expect(source.text.contains("\n    @Attribute(.range(0...), .range(..<9.5)) var price: Decimal\n"))
        #expect(source.text.contains("\n    var address: RawJSON?\n"))
        #expect(source.schemaConstant == "Schema.limits1")
        #expect(source.classNames == ["Thing": "Thing", "Party": "Party", "Person": "Person"])
    }

    @Test func accessAndNamespaceAreThoseOfTheOptions() throws {
        let entity = EntityDescription(name: "Thing", properties: [.attribute(AttributeDescription(name: "size", type: .int64))])
        let source = try Self.source(entity, options: ModelSource.Options(access: .public, namespace: "Limits"))
        #expect(
            source.text == """
                import Foundation
                import PolyStore

                public enum Limits {
                    @Model
                    public final class Thing {
                        public var size: Int
                    }

                    public static let schema = Schema("Limits 1", Thing.self)
                }

                """)
        #expect(source.schemaConstant == "Limits.schema")
        for name in ["", "two words", "class", "Self", "Date", "1st", "a.b", "a\0"] {
            let error = failure { _ = try Self.source(entity, options: ModelSource.Options(namespace: name)) }
            #expect(error?.code == .invalidSchema, "\(name)")
        }
    }

    @Test func aSchemaWithoutEntitiesAndAnInvalidOne() throws {
        #expect(
            try Self.source().text == """
                import Foundation
                import PolyStore

                extension Schema {
                    static let limits1 = Schema("Limits 1")
                }

                """)
        let invalid = EntityDescription(
            name: "A", properties: [.relationship(RelationshipDescription(name: "b", destination: "B", isToMany: false))])
        #expect(failure { _ = try Self.source(invalid) }?.code == .invalidSchema)
    }

    /// Names that a macro or the compiler would read differently; each has another class or property already.
    @Test func namesAreUniqueAndNeverHideATypeOrAMember() throws {
        let odd = [
            "self", "Type", "hash", "description", "objectID2", "validate", "String", "PolyStore", "a b", "a-b", "aB", "?", "!", "", "9",
            "é", "\u{301}",
        ]
        let entities = odd.filter { !$0.isEmpty }.enumerated().map { number, name in
            EntityDescription(
                name: "\(name)",
                properties: odd.filter { !$0.isEmpty }.map { .attribute(AttributeDescription(name: $0, type: .int64)) })
        }
        let source = try ModelSource(SchemaDescription(name: "", entities: entities))
        #expect(Set(source.classNames.values).count == entities.count)
        for name in source.classNames.values { #expect(!["self", "Type", "hash", "String", "PolyStore"].contains(name)) }
        for name in ["self", "Type", "hash", "description", "validate", "String", "PolyStore"] {
            #expect(!source.text.contains("var \(name): "), "\(name)")
        }
    }

    @Test(arguments: Backend.persistent) func aStoreThatIsOpenedWithoutClassesGivesItsSource(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Library.schema)
        let store = try stack.addStore(backend.store(in: folder))
        let expected = try Library.schema.modelSource(ModelSource.Options(namespace: "Library")).text
        #expect(try store.modelSource(ModelSource.Options(namespace: "Library")).text == expected)
        try stack.closeAndWait()
        let opened = try DataStack(opening: backend.store(in: folder))
        let found = try #require(try opened.stores.first?.modelSource(ModelSource.Options(namespace: "Library")))
        #expect(found.text.contains("final class Author {"))
        #expect(found.limitations.isEmpty)
        try expectSameText(found.text, expected)
    }

    /// Compares two sources apart from the name of the schema, which a store does not keep.
    private func expectSameText(_ found: String, _ expected: String) throws {
        func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init).filter { !$0.contains("static let schema") } }
        #expect(lines(found) == lines(expected))
    }

    // MARK: JSON

    @Test(arguments: Backend.forObjectLayer) func propertiesOfRawJSONKeepTheText(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Types.schema)
        try stack.addStore(backend.store(in: folder))
        let text = "{\"b\":1.50,\"a\":[null,true]}"
        try stack.performAndWait { transaction in
            let object = try transaction.create(Into<Types.Everything>())
            #expect(object.jsonRequired.text == "null")
            #expect(object.jsonOptional == nil)
            #expect(object.jsonDefault0.text == "[\"a\",1]")
            object.jsonRequired = try RawJSON(text: text)
            object.jsonOptional = try RawJSON(encoding: ["x": 1])
            object.urlRequired = try #require(URL(string: "https://example.com"))
            object.stringRequired = "a"
            object.dataRequired = Data([1])
            object.uuidRequired = UUID()
            object.dateRequired = Date()
            object.decimalRequired = 1
            (object.boolRequired, object.int8Required, object.int16Required, object.int32Required, object.int64Required) = (
                true, 1, 1, 1, 1
            )
            (object.uint8Required, object.uint16Required, object.uint32Required, object.uint64Required) = (1, 1, 1, 1)
            (object.floatRequired, object.doubleRequired) = (1, 1)
        }
        try stack.readAndWait { context in
            let object = try #require(try context.fetchOne(From<Types.Everything>()))
            #expect(object.jsonRequired.text == text)
            #expect(try object.jsonOptional?.decoded(as: [String: Int].self) == ["x": 1])
        }
    }

    @Test func rawJSONIsAlwaysJSON() throws {
        #expect(failure { _ = try RawJSON(text: "{") }?.code == .invalidValue)
        #expect(failure { _ = try RawJSON(text: "") }?.code == .invalidValue)
        let literal: RawJSON = "not JSON"
        #expect(literal.text == "\"not JSON\"")
        #expect(try RawJSON(text: "7").decoded(as: Int.self) == 7)
        #expect(throws: DecodingError.self) { try literal.decoded(as: Int.self) }
    }
}
