import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Volume {
    var title: String = ""
    @Relationship(inverse: "volumes") var author: Author?
}

@Model
final class Author {
    @Attribute(.unique) var name: String = ""
    @Relationship var volumes: Set<Volume>
}

@Model(subentities: "Town", "Region")
class Place {
    var name: String = ""
}

@Model
final class Town: Place {
    var inhabitants: Int = 0
}

@Model
final class Region: Place {
    var area: Double = 0
}

@Model
final class Trip {
    var number: Int = 0
    @Relationship var destination: Place?
}

/// Mappings that insert into entities that exist already, and entities that become subentities.
@Suite
struct ExistingEntityMappingTests {
    private static let library = Schema("New", Volume.self, Author.self)
    private static let atlas = Schema("New", Place.self, Trip.self)

    private static func text(_ name: String) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: .string, defaultValue: .text("")))
    }

    /// Fills a store; each object is a list of values in the order of its fields.
    private func fill(_ store: StoreConfiguration, _ entities: [EntityDescription], _ objects: [String: [[Value]]]) throws {
        let schema = try ResolvedSchema(SchemaDescription(name: "Old", entities: entities))
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        for entity in schema.entities {
            let rows = objects[entity.name] ?? []
            guard !rows.isEmpty else { continue }
            _ = try writer.reserveIDs(entity, count: rows.count)
            for (index, row) in rows.enumerated() {
                try changes.insert(entity, rowID: Int64(index + 1)) { builder in
                    for (field, value) in zip(entity.fields, row) where !value.isNull { try builder.set(field, value) }
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    private func fillLibrary(_ store: StoreConfiguration) throws {
        try fill(
            store,
            [
                EntityDescription(name: "Volume", properties: [Self.text("title"), Self.text("author")]),
                EntityDescription(
                    name: "Author",
                    properties: [.attribute(AttributeDescription(name: "name", type: .string, isUnique: true, defaultValue: .text("")))]),
            ],
            [
                "Volume": [
                    [.text("Emma"), .text("Austen")], [.text("Persuasion"), .text("Austen")], [.text("Dracula"), .text("Stoker")],
                    [.text("Ulysses"), .text("Joyce")],
                ], "Author": [[.text("Joyce")], [.text("Austen")]],
            ])
    }

    /// Migrates the library, and returns a line for each volume and each author.
    private func migrateLibrary(_ backend: Backend, _ parts: [EntityMapping], after: (@Sendable (MigrationContext) throws -> Void)? = nil)
        async throws -> [String]
    {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fillLibrary(store)
        let mapping = SchemaMapping(from: "Old", to: "New", parts, after: after)
        let stack = try DataStack(SchemaHistory(Self.library, mappings: [mapping]), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store).isPossible)
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        return try await stack.read { context in
            try context.fetchAll(From<Volume>()).map { "\($0.objectID.rowID) \($0.title) \($0.author?.name ?? "-")" }
                + context.fetchAll(From<Author>()).map { "\($0.objectID.rowID) \($0.name) \($0.volumes.count)" }
        }
    }

    private static let expected = [
        "1 Emma Austen", "2 Persuasion Austen", "3 Dracula Stoker", "4 Ulysses Joyce", "1 Joyce 1", "2 Austen 2", "3 Stoker 1",
    ]

    @Sendable private static func addAuthor(_ old: OldObject, _ migration: MigrationContext) throws {
        let volume = try migration.copy(old, to: "Volume")
        let name = old["author"] ?? ""
        let author = try migration.first("Author", where: "name", equals: name) ?? migration.insert("Author")
        author["name"] = name
        volume.set("author", to: author)
    }

    @Test("a text becomes an object of an existing entity, whose objects are found", arguments: Backend.persistent)
    func textBecomesObject(_ backend: Backend) async throws {
        #expect(try await migrateLibrary(backend, [.transform("Volume", using: Self.addAuthor)]) == Self.expected)
    }

    @Test("an entity that a transform names keeps its own objects", arguments: Backend.persistent)
    func namedEntityKeepsItsObjects(_ backend: Backend) async throws {
        let found = try await migrateLibrary(backend, [.transform("Volume", to: "Volume", "Author", using: Self.addAuthor)])
        // Row ids are reserved for copies of volumes among the authors.
        #expect(found.dropLast() == Self.expected.dropLast())
        #expect(found.last?.hasSuffix(" Stoker 1") ?? false, "\(found)")
    }

    @Test("an object is inserted and another is changed after everything else", arguments: Backend.persistent)
    func insertsAfterwards(_ backend: Backend) async throws {
        let found = try await migrateLibrary(backend, []) { migration in
            try migration.insert("Author")["name"] = "Shelley"
            try migration.first("Author", where: "name", equals: "Joyce")?["name"] = "James Joyce"
        }
        #expect(found.suffix(3) == ["1 James Joyce 0", "2 Austen 0", "3 Shelley 0"])
    }

    @Test("a name in renaming that does not exist is an error that names it", arguments: [["titel": "title"], ["title": "titel"]])
    func typo(_ renaming: [String: String]) async throws {
        let folder = try Folder()
        let store = Backend.sqlite.store(in: folder)
        try fillLibrary(store)
        let mapping = SchemaMapping(from: "Old", to: "New", [.copy("Volume", renaming: renaming)])
        let stack = try DataStack(SchemaHistory(Self.library, mappings: [mapping]), logger: SilentLogger())
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
        #expect(error?.code == .invalidSchema)
        #expect(error?.message.contains("\"titel\"") ?? false, "\(error?.message ?? "")")
    }

    // MARK: Subentities

    private func fillAtlas(_ store: StoreConfiguration) throws {
        try fill(
            store,
            [
                EntityDescription(
                    name: "Town",
                    properties: [
                        Self.text("name"), .attribute(AttributeDescription(name: "inhabitants", type: .int64, defaultValue: .integer(0))),
                    ]),
                EntityDescription(
                    name: "Trip",
                    properties: [
                        .attribute(AttributeDescription(name: "number", type: .int64, defaultValue: .integer(0))),
                        .relationship(RelationshipDescription(name: "destination", destination: "Town", isToMany: false)),
                    ]),
            ],
            [
                "Town": [[.text("Oslo"), .integer(7)], [.text("Rome"), .integer(28)]],
                "Trip": [[.integer(1), .integer(2)], [.integer(2), .null]],
            ])
    }

    private func migrateAtlas(_ backend: Backend, _ parts: [EntityMapping]?) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fillAtlas(store)
        let mappings = parts.map { [SchemaMapping(from: "Old", to: "New", $0)] } ?? []
        let stack = try DataStack(SchemaHistory(Self.atlas, mappings: mappings), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store).findings == [])
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        let found = try await stack.read { context in
            try context.fetchAll(From<Town>()).map { "\($0.objectID.rowID) \($0.name) \($0.inhabitants)" }
                + context.fetchAll(From<Trip>()).map { "\($0.number) \($0.destination?.name ?? "-")" }
        }
        #expect(found == ["1 Oslo 7", "2 Rome 28", "1 Rome", "2 -"])
    }

    @Test("an entity becomes a subentity of the same name without a mapping", arguments: Backend.persistent)
    func inferredSubentity(_ backend: Backend) async throws { try await migrateAtlas(backend, nil) }

    @Test("an entity is copied to a subentity", arguments: Backend.persistent)
    func copiedToSubentity(_ backend: Backend) async throws { try await migrateAtlas(backend, [.copy("Town", to: "Town")]) }

    @Test("an entity is transformed to a subentity", arguments: Backend.persistent)
    func transformedToSubentity(_ backend: Backend) async throws {
        try await migrateAtlas(
            backend, [.transform("Town", to: "Town") { old, migration in try migration.copy(old, to: "Town") }])
    }

    @Test("a mapping cannot copy to an abstract or unknown subentity")
    func unknownSubentity() async throws {
        let folder = try Folder()
        let store = Backend.sqlite.store(in: folder)
        try fillAtlas(store)
        let mapping = SchemaMapping(from: "Old", to: "New", [.copy("Town", to: "Village")])
        let stack = try DataStack(SchemaHistory(Self.atlas, mappings: [mapping]), logger: SilentLogger())
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
        #expect(
            error?.message.contains("no entity Village in the new version, which has Place, Town, Region, Trip") ?? false,
            "\(error?.message ?? "")")
    }
}
