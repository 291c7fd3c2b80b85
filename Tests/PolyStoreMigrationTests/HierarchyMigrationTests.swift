import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model(subentities: "Cat", "Dog")
class Animal {
    @Attribute(.indexed) var name: String = ""
    @Relationship(inverse: "pets") var owner: Owner?
    @Relationship(inverse: "playmates") var playmates: Set<Animal>
}

@Model(originalName: "Kitten")
final class Cat: Animal {
    var lives: Int = 9
}

@Model
final class Dog: Animal {
    var trick: String?
}

@Model
final class Owner {
    var name: String = ""
    @Relationship var favourite: Animal?
    @Relationship var pets: Set<Animal>
}

/// Changes of hierarchies, whose objects are in one entity.
@Suite
struct HierarchyMigrationTests {
    private static let schema = Schema("Animals 2", Animal.self, Owner.self)

    private func earlier(_ change: (inout EntityDescription, inout EntityHierarchy) -> Void) -> SchemaDescription {
        var description = SchemaDescription(name: "Animals 1", entities: Self.schema.locked.entities)
        var animal = description["Animal"]
        var hierarchy = animal.hierarchy ?? EntityHierarchy(isAbstract: false, properties: [], subentities: [])
        change(&animal, &hierarchy)
        if animal.hierarchy != nil { animal.hierarchy = hierarchy }
        description["Animal"] = animal
        return description
    }

    /// Creates animals of alternating classes, owners of all of them, and friends between neighbors.
    private func fill(_ store: StoreConfiguration, _ description: SchemaDescription, _ classes: [String], _ count: Int) throws {
        let schema = try ResolvedSchema(description)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let (animal, owner) = (try #require(schema.entity(named: "Animal")), try #require(schema.entity(named: "Owner")))
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        _ = try writer.reserveIDs(animal, count: count)
        _ = try writer.reserveIDs(owner, count: count)
        let parts = animal.description.hierarchy?.subentities ?? []
        for id in 1...Int64(count) {
            let kind = classes[Int(id) % classes.count]
            try changes.insert(animal, rowID: id) { builder in
                for field in animal.fields {
                    let owner = parts.first { $0.properties.contains(field.name) }?.name
                    if let owner, owner != kind { continue }
                    switch field.name {
                    case "_entity": try builder.set(field, .text(kind))
                    case "name": try builder.set(field, .text("\(kind) \(id)"))
                    case "lives": try builder.set(field, .integer(id))
                    case "trick", "depth": try builder.set(field, .text("text \(id)"))
                    case "owner": try builder.set(field, .integer(id))
                    default: break
                    }
                }
            }
            try changes.insert(owner, rowID: id) { builder in
                for field in owner.fields { try builder.set(field, field.name == "name" ? .text("Owner \(id)") : .integer(id)) }
            }
            if id > 1, let table = schema.links.first {
                changes.link(ChangeSet.LinkChange(table: table.index, source: id, target: id - 1, isAddition: true))
                changes.link(ChangeSet.LinkChange(table: table.index, source: id - 1, target: id, isAddition: true))
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backend.close()
    }

    /// Migrates a store, and checks every remaining animal.
    private func check(
        _ backend: Backend, _ description: SchemaDescription, classes: [String], removed: String? = nil,
        lives: (Int64) -> Int = { Int($0) },
        trick: (Int64) -> String? = { "text \($0)" }
    ) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let count = 60
        try fill(store, description, classes, count)
        let stack = try DataStack(Self.schema, logger: SilentLogger())
        if let removed {
            let report = try await stack.rehearseMigration(of: store, migrating: .lightweight)
            #expect(report.findings.first?.kind == .lost)
            #expect(report.findings.first?.entity == removed)
            #expect(report.findings.first?.count == count / classes.count)
        }
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        let kept = (1...Int64(count)).filter { classes[Int($0) % classes.count] != removed }
        let found = try await stack.read { context in
            try context.fetchAll(From<Animal>()).map { animal in
                var line = "\(animal.objectID.rowID) \(type(of: animal)) \(animal.name) \(animal.owner?.objectID.rowID ?? 0)"
                if let cat = animal as? Cat { line += " \(cat.lives)" }
                if let dog = animal as? Dog { line += " \(dog.trick ?? "none")" }
                return line + " \(animal.playmates.map(\.objectID.rowID).sorted())"
            }
        }
        let expected = kept.map { id in
            let old = classes[Int(id) % classes.count]
            let kind = old == "Kitten" ? "Cat" : old
            var line = "\(id) \(kind) \(old) \(id) \(id)"
            if kind == "Cat" { line += " \(lives(id))" }
            if kind == "Dog" { line += " \(trick(id) ?? "none")" }
            return line + " \([id - 1, id + 1].filter(kept.contains))"
        }
        #expect(found == expected)
        let favourites = try await stack.read { try $0.fetchAll(From<Owner>()).map { $0.favourite?.objectID.rowID ?? 0 } }
        #expect(favourites == (1...Int64(count)).map { kept.contains($0) ? $0 : 0 })
        let key = try await stack.perform { try $0.create(Into<Dog>()).objectID.rowID }
        #expect(key == Int64(count + 1))
    }

    @Test("a sub-entity is added", arguments: Backend.persistent)
    func added(_ backend: Backend) async throws {
        let old = earlier { animal, hierarchy in
            animal.remove("trick")
            hierarchy.subentities.removeAll { $0.name == "Dog" }
        }
        try await check(backend, old, classes: ["Animal", "Cat"])
    }

    @Test("a sub-entity is renamed", arguments: Backend.persistent)
    func renamed(_ backend: Backend) async throws {
        let old = earlier { _, hierarchy in
            for index in hierarchy.subentities.indices where hierarchy.subentities[index].name == "Cat" {
                hierarchy.subentities[index].name = "Kitten"
                hierarchy.subentities[index].originalName = nil
            }
        }
        try await check(backend, old, classes: ["Animal", "Kitten", "Dog"])
    }

    @Test("a sub-entity is removed: its objects are lost, and references to them are cleared", arguments: Backend.persistent)
    func removed(_ backend: Backend) async throws {
        let old = earlier { animal, hierarchy in
            animal.properties.insert(
                .attribute(AttributeDescription(name: "depth", type: .string, isOptional: true)), at: animal.properties.count - 1)
            hierarchy.subentities.append(
                SubentityDescription(name: "Fish", parent: "Animal", isAbstract: false, properties: ["depth"], required: []))
        }
        try await check(backend, old, classes: ["Animal", "Cat", "Dog", "Fish"], removed: "Fish")
    }

    @Test("an attribute of a sub-entity is added with a default: other classes do not have it", arguments: Backend.persistent)
    func attribute(_ backend: Backend) async throws {
        let old = earlier { animal, hierarchy in
            animal.remove("lives")
            for index in hierarchy.subentities.indices { hierarchy.subentities[index].properties.removeAll { $0 == "lives" } }
            for index in hierarchy.subentities.indices { hierarchy.subentities[index].required.removeAll { $0 == "lives" } }
        }
        try await check(backend, old, classes: ["Animal", "Cat", "Dog"], lives: { _ in 9 })
    }

    @Test("an entity outside a hierarchy becomes a hierarchy", arguments: Backend.persistent)
    func root(_ backend: Backend) async throws {
        let old = earlier { animal, hierarchy in
            for name in ["lives", "trick", EntityHierarchy.classifier] { animal.remove(name) }
            animal.hierarchy = nil
        }
        try await check(backend, old, classes: ["Animal"])
    }
}
