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

private enum Kennel {
    @Model(subentities: "Hound")
    class Beast {
        var name: String = ""
        @Relationship(inverse: "beast") var keeper: Keeper?
    }

    @Model
    final class Hound: Beast {
        var speed: Int = 0
    }

    @Model
    final class Keeper {
        var name: String = ""
        @Relationship var beast: Beast?
    }

    static let schema = Schema("Kennel 2", Beast.self, Keeper.self)
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

    @Test(
        "of the objects that lead to one, the first whose class remains keeps it, at either end of the old relationship",
        arguments: Backend.persistent, [true, false])
    func removedClassIsNotChosen(_ backend: Backend, _ isNamedByBeasts: Bool) async throws {
        var old = SchemaDescription(name: "Kennel 1", entities: Kennel.schema.locked.entities)
        old["Beast"].hierarchy?.subentities.append(
            SubentityDescription(name: "Stray", parent: "Beast", isAbstract: false, properties: [], required: []))
        func change(_ entity: String, _ name: String, _ change: (inout RelationshipDescription) -> Void) {
            old[entity].properties = old[entity].properties.map { property in
                guard case .relationship(var relationship) = property, relationship.name == name else { return property }
                change(&relationship)
                return .relationship(relationship)
            }
        }
        if isNamedByBeasts {
            old["Keeper"].remove("beast")
            change("Beast", "keeper") { $0.inverse = nil }
        } else {
            old["Beast"].remove("keeper")
            old["Beast"].hierarchy?.properties.removeAll { $0 == "keeper" }
            change("Keeper", "beast") {
                $0.inverse = nil
                $0.isToMany = true
            }
        }
        let folder = try Folder()
        let store = backend.store(in: folder)
        let schema = try ResolvedSchema(old)
        let (beast, keeper) = (try #require(schema.entity(named: "Beast")), try #require(schema.entity(named: "Keeper")))
        let opened = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try opened.beginWrite()
        let changes = ChangeSet(schema)
        // The keepers 1 and 2 have three beasts each, the first of them a stray, and keeper 3 has strays only.
        let classes = ["Stray", "Hound", "Beast", "Stray", "Beast", "Hound", "Stray", "Stray", "Stray"]
        _ = try writer.reserveIDs(beast, count: classes.count)
        _ = try writer.reserveIDs(keeper, count: 3)
        for id in 1...Int64(3) {
            try changes.insert(keeper, rowID: id) { try $0.set(keeper.fields[0], .text("Keeper \(id)")) }
        }
        for (offset, name) in classes.enumerated() {
            let (id, owner) = (Int64(offset + 1), Int64(offset / 3 + 1))
            try changes.insert(beast, rowID: id) { builder in
                for field in beast.fields {
                    switch field.name {
                    case EntityHierarchy.classifier: try builder.set(field, .text(name))
                    case "name": try builder.set(field, .text("\(name) \(id)"))
                    case "speed": if name == "Hound" { try builder.set(field, .integer(id)) }
                    case "keeper": try builder.set(field, .integer(owner))
                    default: break
                    }
                }
            }
            if let table = schema.links.first {
                changes.link(ChangeSet.LinkChange(table: table.index, source: owner, target: id, isAddition: true))
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try opened.close()
        let stack = try DataStack(Kennel.schema, logger: SilentLogger())
        try await stack.upgradeStoreIfNeeded(store, migrating: .lightweight.allowingLostLinks())
        #expect(try stack.addStore(store).verifyAndWait() == [])
        let found = try await stack.read { context in
            try context.fetchAll(From<Kennel.Keeper>(), OrderBy(.ascending(\.name))).map { keeper in
                [keeper.beast?.objectID.rowID, keeper.beast?.keeper?.objectID.rowID]
            }
        }
        #expect(found == [[2, 1], [5, 2], [nil, nil]])
    }
}
