import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Route {
    @Attribute(originalName: "end") var start: String = ""
    @Attribute(originalName: "start") var end: String = ""
    var length: Int = 0
}

@Model
final class Shelf {
    @Attribute(originalName: "b") var a: String = ""
    @Attribute(originalName: "c") var b: String = ""
    @Attribute(originalName: "a") var d: String = ""
}

@Model(originalName: "East")
final class West {
    var name: String = ""
    @Relationship(inverse: "partner") var partner: East?
}

@Model(originalName: "West")
final class East {
    var name: String = ""
    @Relationship var partner: West?
}

@Model
final class Twice {
    @Attribute(originalName: "old") var one: String = ""
    @Attribute(originalName: "old") var two: String = ""
}

@Model(originalName: "Old")
final class FirstHeir { var name: String = "" }

@Model(originalName: "Old")
final class SecondHeir { var name: String = "" }

/// Declared original names decide over equal names.
@Suite
struct RenamingTests {
    private func texts(_ names: String...) -> [PropertyDescription] {
        names.map { .attribute(AttributeDescription(name: $0, type: .string, defaultValue: .text(""))) }
    }

    @Test("two attributes exchange their names", arguments: Backend.persistent)
    func attributes(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let length = PropertyDescription.attribute(AttributeDescription(name: "length", type: .int64, defaultValue: .integer(0)))
        let old = SchemaDescription(name: "Old", entities: [EntityDescription(name: "Route", properties: texts("start", "end") + [length])])
        let before = try store.fill(ResolvedSchema(old), rows: 100)
        let stack = try DataStack(Schema("New", Route.self), logger: SilentLogger())
        // The versions differ in nothing but the declarations.
        let refusal = #expect(throws: StoreError.self) { try stack.addStore(store) }
        #expect(refusal?.code == .migrationRequired)
        #expect(try await stack.rehearseMigration(of: store, migrating: .lightweight).findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        let routes = try await stack.read { try $0.fetchAll(From<Route>()).map { ($0.objectID.rowID, $0.start, $0.end) } }
        #expect(routes.count == before.entities["Route"]?.count)
        for (id, start, end) in routes {
            #expect(before.entities["Route"]?[id]?["end"] == .value(.text(start)))
            #expect(before.entities["Route"]?[id]?["start"] == .value(.text(end)))
        }
        // Opening the store again exchanges nothing.
        try await stack.close()
        let again = try DataStack(Schema("New", Route.self), logger: SilentLogger())
        #expect(try again.requiredMigrationsAndWait(for: store) == [])
        try again.addStore(store)
        let reread = try await again.read { try $0.fetchAll(From<Route>()).map { ($0.objectID.rowID, $0.start, $0.end) } }
        #expect(reread.elementsEqual(routes, by: ==))
    }

    @Test("a declaration that a store has already is not applied again", arguments: Backend.persistent)
    func declarationIsAppliedOnce(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        var old = SchemaDescription(name: "Old", entities: Schema("New", Route.self).locked.entities)
        old["Route"].remove("length")
        let before = try store.fill(ResolvedSchema(old), rows: 20)
        let stack = try DataStack(Schema("New", Route.self), logger: SilentLogger())
        try await stack.addStore(store, migrating: .lightweight)
        for (id, start) in try await stack.read({ try $0.fetchAll(From<Route>()).map { ($0.objectID.rowID, $0.start) } }) {
            #expect(before.entities["Route"]?[id]?["start"] == .value(.text(start)))
        }
    }

    @Test("a chain of renames", arguments: Backend.persistent)
    func chain(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = SchemaDescription(name: "Old", entities: [EntityDescription(name: "Shelf", properties: texts("a", "b", "c"))])
        let before = try store.fill(ResolvedSchema(old), rows: 100)
        let stack = try DataStack(Schema("New", Shelf.self), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store, migrating: .lightweight).findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        for (id, a, b, d) in try await stack.read({ try $0.fetchAll(From<Shelf>()).map { ($0.objectID.rowID, $0.a, $0.b, $0.d) } }) {
            let row = before.entities["Shelf"]?[id]
            #expect(row?["b"] == .value(.text(a)) && row?["c"] == .value(.text(b)) && row?["a"] == .value(.text(d)))
        }
    }

    @Test("two entities exchange their names", arguments: Backend.persistent)
    func entities(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        func entity(_ name: String, _ other: String) -> EntityDescription {
            EntityDescription(
                name: name,
                properties: texts("name") + [
                    .relationship(RelationshipDescription(name: "partner", destination: other, isToMany: false, inverse: "partner"))
                ])
        }
        let schema = try ResolvedSchema(SchemaDescription(name: "Old", entities: [entity("East", "West"), entity("West", "East")]))
        let backendStore = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try backendStore.beginWrite()
        let changes = ChangeSet(schema)
        for entity in schema.entities {
            _ = try writer.reserveIDs(entity, count: 3)
            for id in 1...3 as ClosedRange<Int64> {
                try changes.insert(entity, rowID: id) {
                    try $0.set(entity.fields[0], .text("\(entity.name) \(id)"))
                    try $0.set(entity.fields[1], .integer(id))
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backendStore.close()
        let stack = try DataStack(Schema("New", West.self, East.self), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store, migrating: .lightweight).findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        let names = try await stack.read { context in
            try context.fetchAll(From<West>()).map { "\($0.name), \($0.partner?.name ?? "")" }
        }
        #expect(names == ["East 1, West 1", "East 2, West 2", "East 3, West 3"])
    }

    @Test("two claims to one original name are an error of the schema that names them")
    func twoClaims() {
        let property = #expect(throws: StoreError.self) { try DataStack(Schema("New", Twice.self), logger: SilentLogger()) }
        #expect(property?.code == .invalidSchema)
        #expect(
            property?.message.contains("Twice.one and Twice.two both have the original name old") ?? false, "\(property?.message ?? "")")
        let entity = #expect(throws: StoreError.self) {
            try DataStack(Schema("New", FirstHeir.self, SecondHeir.self), logger: SilentLogger())
        }
        #expect(entity?.code == .invalidSchema)
        #expect(entity?.message.contains("FirstHeir and SecondHeir both have the original name Old") ?? false, "\(entity?.message ?? "")")
    }
}
