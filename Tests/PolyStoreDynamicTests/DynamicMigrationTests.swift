import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Stores that are created and migrated for a schema that is given as a value.
@Suite struct DynamicMigrationTests {
    private static func attribute(
        _ name: String, _ type: AttributeType = .string, optional: Bool = true, rules: [AttributeRule] = [], defaultValue: Value? = nil
    ) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: optional, defaultValue: defaultValue, rules: rules))
    }

    private static func version(_ name: String, _ properties: [PropertyDescription], entity: String = "Item") -> SchemaDescription {
        SchemaDescription(name: name, entities: [EntityDescription(name: entity, properties: properties)])
    }

    /// Creates a store of a schema with objects.
    private static func create(_ store: StoreConfiguration, _ schema: SchemaDescription, _ objects: [[String: QueryValue?]]) throws {
        let stack = try DataStack(Schema(schema))
        try stack.addStore(store)
        try Stored.closing(stack) { stack in
            try stack.performAndWait { transaction in
                for values in objects { try transaction.create(schema.entities[0].name, values) }
            }
        }
    }

    private static func rows(_ store: StoreConfiguration, _ entity: String) throws -> [QueryRow] {
        try Stored.closing(DataStack(opening: store)) { stack in
            try stack.readAndWait { try $0.fetchAll(EntityQuery(entity)).map { try $0.values() } }
        }
    }

    @Test(arguments: Engine.all)
    func storesAreCreatedAndMigratedForSchemasGivenAsValues(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        try Self.create(
            store, Self.version("1", [Self.attribute("title"), Self.attribute("price", .int32), Self.attribute("odd \"name\"")]),
            [["title": "a", "price": 3, "odd \"name\"": "x\0y"], ["title": nil]])
        var two = Self.version(
            "2",
            [
                Self.attribute("label"), Self.attribute("price", .double),
                Self.attribute("count", .int64, optional: false, defaultValue: .integer(7)),
            ],
            entity: "Article")
        two.entities.append(EntityDescription(name: "Shelf", properties: [Self.attribute("name")]))
        let renames = ["Article": "Item", "Article.label": "title"]
        let stack = try DataStack(Schema(json: Data(two.encoded()), renaming: renames))

        let rehearsal = try stack.rehearseMigrationAndWait(of: store, migrating: .lightweight)
        #expect(rehearsal.isPossible && rehearsal.steps.count == 1)
        #expect(rehearsal.findings.contains { $0.message.contains("odd \"name\"") }, "\(rehearsal)")
        #expect(try Self.rows(store, "Item").count == 2, "a rehearsal changes nothing")

        let report = try stack.upgradeStoreIfNeededAndWait(store, migrating: .lightweight)
        #expect(report.steps.count == 1, "\(report)")
        #expect(try Self.rows(store, "Article") == [["label": "a", "price": 3, "count": 7], ["count": 7]])
        #expect(try Self.rows(store, "Shelf").isEmpty)
        #expect(try stack.upgradeStoreIfNeededAndWait(store, migrating: .lightweight).steps.isEmpty)
    }

    @Test(arguments: Engine.all)
    func aMappingByNamesMigratesAStoreWithoutClasses(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        let one = Self.version("1", [Self.attribute("first"), Self.attribute("last")])
        try Self.create(store, one, [["first": "Ann", "last": "Lee"]])
        let history = SchemaHistory(
            try Schema(one), try Schema(Self.version("2", [Self.attribute("name")])), migrationChain: ["1", "2"],
            mappings: [
                SchemaMapping(
                    from: "1", to: "2",
                    [
                        .update("Item") { old, new in
                            new["name"] = .text([old["first"], old["last"]].map { $0?.string ?? "" }.joined(separator: " "))
                        }
                    ])
            ])
        try DataStack(history).upgradeStoreIfNeededAndWait(store)
        #expect(try Self.rows(store, "Item") == [["name": "Ann Lee"]])
    }

    @Test(arguments: Engine.all)
    func aMigrationThatTheObjectsViolateLeavesTheStore(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        try Self.create(store, Self.version("1", [Self.attribute("title")]), [["title": "a"], ["title": "a"]])
        var two = Self.version("2", [])
        two.entities[0].properties = [.attribute(AttributeDescription(name: "title", type: .string, isOptional: true, isUnique: true))]
        let stack = try DataStack(Schema(two))
        #expect(try !stack.rehearseMigrationAndWait(of: store, migrating: .lightweight).isPossible)
        let error = try requireFailure { try stack.upgradeStoreIfNeededAndWait(store, migrating: .lightweight) }
        #expect(error.code == .constraint && error.attribute == "title", "\(error)")
        #expect(try Self.rows(store, "Item").count == 2)
    }

    /// Stores hold the rules that they were created with. The policy writes others, and keeps every object.
    @Test(arguments: Engine.all)
    func rulesAndDefaultsAloneAreReplaced(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        let one = Self.version("1", [Self.attribute("size", .int64, optional: false, defaultValue: .integer(1))])
        let two = Self.version(
            "2", [Self.attribute("size", .int64, optional: false, rules: [.range(nil, .integer(9), of: .int64)], defaultValue: .integer(5))]
        )
        try Self.create(store, one, [["size": 4], ["size": 40]])
        let stack = try DataStack(SchemaHistory(Schema(one), Schema(two)))
        #expect(try stack.requiredMigrationsAndWait(for: store, migrating: .lightweight).isEmpty)
        _ = try Stored.closing(stack) { try $0.addStore(store) }
        #expect(try Stored.closing(DataStack(opening: store)) { $0.schema.name } == "1", "opening a store of the same data writes nothing")

        let policy = MigrationPolicy.lightweight.replacingDeclarations()
        #expect(try stack.requiredMigrationsAndWait(for: store, migrating: policy).map(\.destinationVersion) == ["2"])
        #expect(try stack.rehearseMigrationAndWait(of: store, migrating: policy).isPossible)
        let report = try stack.upgradeStoreIfNeededAndWait(store, migrating: policy)
        #expect(report.steps.map(\.rewrittenObjects) == [0] && report.findings.isEmpty, "\(report)")
        #expect(try stack.upgradeStoreIfNeededAndWait(store, migrating: policy).steps.isEmpty)
        #expect(try Self.rows(store, "Item") == [["size": 4], ["size": 40]])
        try Stored.closing(DataStack(opening: store, forWriting: true)) { stack in
            #expect(stack.schema.name == "2")
            let size = try stack.performAndWait { try $0.create("Item").value("size") }
            #expect(size == 5)
            let error = try requireFailure { try stack.performAndWait { _ = try $0.create("Item", ["size": 10]) } }
            #expect(error.code == .constraint && error.attribute == "size", "\(error)")
        }
    }

    /// An application does not write the declarations of its version over those of another that it does not know, which can be a later one.
    @Test(arguments: Engine.all)
    func declarationsOfUnknownVersionsAreNotReplaced(_ engine: Engine) async throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        func version(_ name: String, _ size: Int64) -> SchemaDescription {
            Self.version(name, [Self.attribute("size", .int64, optional: false, defaultValue: .integer(size))])
        }
        try Self.create(store, version("1", 1), [["size": 4]])
        let (one, two) = (try Schema(version("1", 1)), try Schema(version("2", 2)))
        let replacing = MigrationPolicy.lightweight.replacingDeclarations()
        try DataStack(SchemaHistory(one, two)).upgradeStoreIfNeededAndWait(store, migrating: replacing)
        func stored() throws -> String { try Stored.closing(DataStack(opening: store)) { $0.schema.name } }
        #expect(try stored() == "2")
        let logger = RecordingLogger(.notice)
        let older = try DataStack(one, logger: logger)
        #expect(try older.upgradeStoreIfNeededAndWait(store, migrating: replacing).steps.isEmpty)
        let added = try await older.addStore(store, migrating: replacing)
        try await older.removeStore(added, evenIfInUse: true)
        #expect(try stored() == "2")
        #expect(logger.messages.contains { $0.contains("does not list \"2\"") }, "\(logger.messages)")
        let downgrade = MigrationPolicy.lightweight(allowsDowngrade: true).replacingDeclarations()
        #expect(try older.upgradeStoreIfNeededAndWait(store, migrating: downgrade).steps.count == 1)
        #expect(try stored() == "1")
        #expect(try DataStack(Schema(version("1", 7))).upgradeStoreIfNeededAndWait(store, migrating: replacing).steps.count == 1)
        #expect(try Self.rows(store, "Item") == [["size": 4]])
    }

    @Test(arguments: Engine.shared)
    func aReadOnlyStoreKeepsItsDeclarationsAndOpens(_ engine: Engine) async throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        try Self.create(store, Self.version("1", [Self.attribute("size", .int64, defaultValue: .integer(1))]), [["size": 4]])
        var reading = store
        reading.isReadOnly = true
        let stack = try DataStack(Schema(Self.version("1", [Self.attribute("size", .int64, defaultValue: .integer(5))])))
        let added = try await stack.addStore(reading, migrating: .lightweight.replacingDeclarations())
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Item")) } == 1)
        try await stack.removeStore(added, evenIfInUse: true)
        #expect(try Self.rows(store, "Item") == [["size": 4]])
    }

    @Test func aBackendThatCannotMigrateKeepsItsDeclarationsAndOpens() async throws {
        let folder = try Folder()
        let inner = try Engine.files(.sqlite).store(in: folder)
        try Self.create(inner, Self.version("1", [Self.attribute("size", .int64, defaultValue: .integer(1))]), [["size": 4]])
        let store = StoreConfiguration(engine: "test", location: inner.location, isShared: true) { request in
            Unmigrated(try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger))
        }
        let logger = RecordingLogger(.notice)
        let stack = try DataStack(
            Schema(Self.version("1", [Self.attribute("size", .int64, defaultValue: .integer(5))])), logger: logger)
        try await stack.addStore(store, migrating: .lightweight.replacingDeclarations())
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Item")) } == 1)
        #expect(logger.messages.contains { $0.contains("cannot migrate its stores") }, "\(logger.messages)")
    }

    /// A default value reaches the store without an object that checks it: in a new object, and in the rows of a migration.
    @Test(arguments: Engine.all)
    func aDefaultValueOfAnotherTypeIsRefused(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        try Self.create(store, Self.version("1", [Self.attribute("title")]), [["title": "a"]])
        let wrong: [(AttributeType, Value)] = [
            (.int64, .text("7")), (.int8, .integer(300)), (.int8, .integer(-129)), (.uint32, .integer(-1)), (.bool, .integer(2)),
            (.double, .integer(1)), (.float, .real(1e300)), (.string, .integer(1)), (.string, .blob([1])), (.decimal, .blob([])),
            (.data, .text("x")), (.date, .text("2020")),
        ]
        for (type, value) in wrong {
            let two = Self.version("2", [Self.attribute("title"), Self.attribute("odd \"n\"", type, optional: false, defaultValue: value)])
            let error = try requireFailure {
                try DataStack(Schema(two)).upgradeStoreIfNeededAndWait(store, migrating: .lightweight)
            }
            #expect(error.code == .invalidSchema && error.entity == "Item" && error.attribute == "odd \"n\"", "\(type) \(value): \(error)")
        }
        let right: [(AttributeType, Value)] = [
            (.int8, .integer(-128)), (.uint64, .integer(-1)), (.bool, .integer(1)), (.double, .real(.infinity)), (.string, .text("\0'\"")),
            (.data, .blob([])),
        ]
        let properties = right.enumerated().map {
            Self.attribute("p\($0.offset)", $0.element.0, optional: false, defaultValue: $0.element.1)
        }
        let two = Self.version("2", [Self.attribute("title")] + properties)
        try DataStack(Schema(two)).upgradeStoreIfNeededAndWait(store, migrating: .lightweight)
        #expect(try Self.rows(store, "Item").first?.count == 1 + right.count)
    }

    /// Classes have their own rules, so a store whose stored rules differ opens with them without a migration.
    @Test(arguments: Engine.all)
    func replacedRulesDoNotMatterToClasses(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        var other = try stored.withClasses { try $0.schema.description(ofConfiguration: nil) }
        other.entities[0].properties = other.entities[0].properties.map { property in
            guard case .attribute(var attribute) = property, attribute.name == "age" else { return property }
            attribute.rules = [.range(nil, .integer(30), of: .int64)]
            return .attribute(attribute)
        }
        try DataStack(Schema(other)).upgradeStoreIfNeededAndWait(stored.configuration, migrating: .lightweight.replacingDeclarations())
        try stored.withClasses { stack in
            try stack.performAndWait { try $0.create(Person.self) { ($0.email, $0.age) = ("old", 99) } }
            #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 5)
            #expect(try stack.readAndWait { try $0.fetchOne(From<Department>().where("title == 'Research'"))?.people.count } == 3)
        }
        try stored.writing { stack in
            let error = try requireFailure { try stack.performAndWait { _ = try $0.create("Person", ["email": "x", "age": 31]) } }
            #expect(error.attribute == "age", "\(error)")
        }
    }

    @Test(arguments: Engine.all)
    func configurationsAreMigrated(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        let one = try DataStack(Schema(Self.version("1", [Self.attribute("title")]), configuration: "Cache"))
        try one.addStore(store, configuration: "Cache")
        try Stored.closing(one) { stack in try stack.performAndWait { _ = try $0.create("Item", ["title": "a"]) } }
        let two = try DataStack(Schema(Self.version("2", [Self.attribute("title"), Self.attribute("note")]), configuration: "Cache"))
        #expect(
            try requireFailure { try two.upgradeStoreIfNeededAndWait(store, migrating: .lightweight) }.code == .differentStoreAtURL)
        try two.upgradeStoreIfNeededAndWait(store, configuration: "Cache", migrating: .lightweight)
        #expect(try Self.rows(store, "Item") == [["title": "a"]])
    }

    @Test func anInvalidSchemaIsRefusedWithItsPlace() throws {
        func refused(_ json: String, _ text: String) throws {
            let error = try requireFailure { _ = try Schema(json: Data(json.utf8)) }
            #expect(error.code == .invalidSchema && error.message.contains(text), "\(error)")
        }
        try refused("{", "the text is not valid")
        try refused("[]", "the text is not valid")
        try refused(#"{"entities": []}"#, #"has no "name""#)
        try refused(#"{"name": "1", "entities": [{"name": "A", "indexes": [], "properties": [3]}]}"#, "entities[0].properties[0]")
        try refused(
            #"{"name": "1", "entities": [{"name": "A", "indexes": [], "properties": [{"attribute": {"_0": {"name": "a", "type": "txt"}}}]}]}"#,
            "entities[0].properties[0].attribute._0.type")
        let schema = Self.version("1", [Self.attribute("title")])
        let error = try requireFailure { _ = try Schema(schema, renaming: ["Item.name": "title"]) }
        #expect(error.code == .invalidSchema && error.message.contains("Item.name"), "\(error)")
        #expect(try Schema(Data(schema.encoded())).name == "1")
    }
}

/// A backend that cannot migrate its stores.
private final class Unmigrated: StorageBackend {
    private let inner: any StorageBackend

    init(_ inner: any StorageBackend) { self.inner = inner }

    var capabilities: Capabilities {
        var claims = inner.capabilities
        claims.features.remove(.migration)
        return claims
    }
    var metadata: StoreMetadata { inner.metadata }
    func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
    func close() throws { try inner.close() }
}

extension Schema {
    fileprivate init(_ json: Data) throws { try self.init(json: json) }
}
