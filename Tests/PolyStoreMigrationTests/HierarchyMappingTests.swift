import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model(isAbstract: true, subentities: "Island", "Stream")
class Landform {
    var name: String = ""
}

@Model
final class Island: Landform {
    var token: UUID = UUID()
    var area: Int = 1
    var ruler: String?
}

@Model
final class Stream: Landform {
    var length: Double = 5
}

@Model(subentities: "Gardener")
class Resident {
    var name: String = ""
    @Relationship var home: Resident?
}

@Model(subentities: "Florist")
class Gardener: Resident {
    var beds: Int = 4
    var badge: UUID = UUID()
    @Relationship var helper: Resident?
    @Relationship var pupils: Set<Resident>
}

@Model
final class Florist: Gardener {
    var shop: String?
}

/// What a mapping and the difference of two versions write into an entity that holds a class hierarchy is what the classes permit.
@Suite
struct HierarchyMappingTests {
    private static let schema = Schema("New", Landform.self)
    private static let kept = UUID()
    private static let islands: [Int64] = [1, 2, 4, 5]

    /// The earlier version: a token is optional, and there are fjords.
    private static func earlier(withFjords: Bool) -> SchemaDescription {
        var description = SchemaDescription(name: "Old", entities: schema.locked.entities)
        description["Landform"].attribute("token") {
            $0.isOptional = true
            $0.defaultExpression = nil
            $0.defaultValue = nil
        }
        guard var hierarchy = description["Landform"].hierarchy else { return description }
        for index in hierarchy.subentities.indices { hierarchy.subentities[index].required.removeAll { $0 == "token" } }
        if withFjords {
            hierarchy.subentities.append(
                SubentityDescription(name: "Fjord", parent: "Landform", isAbstract: false, properties: [], required: []))
        }
        description["Landform"].hierarchy = hierarchy
        return description
    }

    /// Creates islands 1, 2, 4 and 5, stream 3, and fjord 6 if the version has fjords. Island 2 has a token. Stream 3 and island 4 have the same name.
    private func fill(_ store: StoreConfiguration, withFjords: Bool = false) throws {
        let schema = try ResolvedSchema(Self.earlier(withFjords: withFjords))
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let entity = schema.entities[0]
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let count: Int64 = withFjords ? 6 : 5
        _ = try writer.reserveIDs(entity, count: Int(count))
        for id in 1...count {
            let kind = id == 6 ? "Fjord" : id == 3 ? "Stream" : "Island"
            try changes.insert(entity, rowID: id) { builder in
                for field in entity.fields {
                    switch field.name {
                    case "name": try builder.set(field, .text(id == 3 || id == 4 ? "Same" : "Name \(id)"))
                    case "token": if id == 2 { try builder.set(field, Self.kept.attributeValue) }
                    case "area": if kind == "Island" { try builder.set(field, .integer(id)) }
                    case "length": if kind == "Stream" { try builder.set(field, .real(3)) }
                    case EntityHierarchy.classifier: try builder.set(field, .text(kind))
                    default: break
                    }
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    private func stack(_ parts: [EntityMapping], after: (@Sendable (MigrationContext) throws -> Void)? = nil) throws -> DataStack {
        try DataStack(
            SchemaHistory(Self.schema, mappings: [SchemaMapping(from: "Old", to: "New", parts, after: after)]), logger: SilentLogger())
    }

    /// Returns the error of a migration with a mapping.
    private func failure(
        _ backend: Backend, withFjords: Bool = false, _ parts: [EntityMapping] = [],
        after: (@Sendable (MigrationContext) throws -> Void)? = nil
    ) async throws -> StoreError? {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, withFjords: withFjords)
        let stack = try stack(parts, after: after)
        return await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
    }

    @Test("each null of an attribute that becomes required has a value of its own", arguments: Backend.persistent)
    func freshValues(_ backend: Backend) async throws {
        let folder = try Folder()
        let between = LockedSchema("Between", entities: SchemaDescription(name: "New", entities: Self.schema.locked.entities).entities)
        let chain = SchemaHistory(Self.schema, between, migrationChain: ["Old", "Between", "New"])
        let histories = [("lightweight", SchemaHistory(Self.schema), MigrationPolicy.lightweight), ("chain", chain, .chain)]
        for (name, history, policy) in histories {
            let store = backend.store(in: folder, name)
            try fill(store)
            let stack = try DataStack(history, logger: SilentLogger())
            #expect(try await stack.rehearseMigration(of: store, migrating: policy).findings == [], "\(name)")
            let added = try await stack.addStore(store, migrating: policy)
            #expect(try added.verifyAndWait() == [], "\(name)")
            let tokens = try await stack.read { try $0.fetchAll(From<Island>()).map(\.token) }
            #expect(tokens.count == 4 && Set(tokens).count == 4 && tokens[1] == Self.kept, "\(name): \(tokens)")
            #expect(try await stack.read { try $0.fetchAll(From<Stream>()).map(\.length) } == [3], "\(name)")
            try stack.closeAndWait()
            let contents = try store.contents(try ResolvedSchema(SchemaDescription(name: "New", entities: Self.schema.locked.entities)))
            #expect(contents.entities["Landform"]?[3]?["token"] == .value(.null), "\(name)")
        }
    }

    /// Creates a resident, a gardener and a florist, in a version in which only florists have the attributes `beds` and `badge`.
    private func fillResidents(_ store: StoreConfiguration) throws {
        var description = SchemaDescription(name: "Old", entities: Schema("New", Resident.self).locked.entities)
        guard var hierarchy = description["Resident"].hierarchy else { return }
        for index in hierarchy.subentities.indices {
            let isFlorist = hierarchy.subentities[index].name == "Florist"
            for name in ["beds", "badge"] {
                hierarchy.subentities[index].properties.removeAll { $0 == name }
                hierarchy.subentities[index].required.removeAll { $0 == name }
                guard isFlorist else { continue }
                hierarchy.subentities[index].properties.append(name)
                hierarchy.subentities[index].required.append(name)
            }
        }
        description["Resident"].hierarchy = hierarchy
        let schema = try ResolvedSchema(description)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let entity = schema.entities[0]
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        _ = try writer.reserveIDs(entity, count: 3)
        for (id, kind) in [(1, "Resident"), (2, "Gardener"), (3, "Florist")] as [(Int64, String)] {
            try changes.insert(entity, rowID: id) { builder in
                for field in entity.fields {
                    switch field.name {
                    case "name": try builder.set(field, .text(kind))
                    case "beds": if id == 3 { try builder.set(field, .integer(30)) }
                    case "badge": if id == 3 { try builder.set(field, Self.kept.attributeValue) }
                    case EntityHierarchy.classifier: try builder.set(field, .text(kind))
                    default: break
                    }
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    @Test("an attribute that moves to a superentity has its default in the objects that receive it", arguments: Backend.persistent)
    func movedUp(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fillResidents(store)
        let stack = try DataStack(Schema("New", Resident.self), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store, migrating: .lightweight).findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        try stack.closeAndWait()
        let new = try ResolvedSchema(SchemaDescription(name: "New", entities: Schema("New", Resident.self).locked.entities))
        let rows = try store.contents(new).entities["Resident"]
        #expect(rows?[1]?["beds"] == .value(.null) && rows?[1]?["badge"] == .value(.null))
        #expect(rows?[2]?["beds"] == .value(.integer(4)) && rows?[2]?["badge"] != .value(.null))
        #expect(rows?[3]?["beds"] == .value(.integer(30)) && rows?[3]?["badge"] == .value(Self.kept.attributeValue))
    }

    @Test(
        "a closure cannot set a relationship that the object's entity does not have", arguments: Backend.persistent, ["helper", "pupils"])
    func relationshipOfAnother(_ backend: Backend, _ relationship: String) async throws {
        let folder = try Folder()
        for (name, isRefused) in [("Resident", true), ("Florist", false)] {
            let store = backend.store(in: folder, name)
            try fillResidents(store)
            let mapping = SchemaMapping(
                from: "Old", to: "New",
                after: { migration in
                    guard let object = try migration.first("Resident", where: "name", equals: .text(name)) else { return }
                    object.set("home", to: object)
                    if relationship == "helper" { object.set("helper", to: object) } else { object.add(object, to: "pupils") }
                })
            let stack = try DataStack(SchemaHistory(Schema("New", Resident.self), mappings: [mapping]), logger: SilentLogger())
            guard isRefused else {
                #expect(try await stack.addStore(store, migrating: .chain).verifyAndWait() == [])
                continue
            }
            let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
            #expect(error?.code == .misuse && error?.attribute == relationship, "\(error?.message ?? "")")
        }
    }

    @Test("an object that is copied to another subentity has the defaults that it requires", arguments: Backend.persistent)
    func copiedToAnother(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, withFjords: true)
        let stack = try stack([
            .transform("Landform", to: "Landform", "Island") { old, migration in
                try migration.copy(old, to: old.entityName == "Island" ? "Landform" : "Island")
            }
        ])
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        let islands = try await stack.read { try $0.fetchAll(From<Island>()).map { ($0.area, $0.token) } }
        #expect(islands.map(\.0) == [1, 2, 1, 4, 5, 1] && Set(islands.map(\.1)).count == 6)
    }

    @Test("an object of an abstract entity cannot be inserted", arguments: Backend.persistent)
    func abstractEntity(_ backend: Backend) async throws {
        let error = try await failure(backend) { try $0.insert("Landform")["name"] = "x" }
        #expect(error?.code == .misuse && error?.entity == "Landform", "\(error?.message ?? "")")
        #expect(error?.message.contains("abstract") ?? false, "\(error?.message ?? "")")
    }

    @Test("an inserted object has the defaults of its own entity only", arguments: Backend.persistent)
    func ownDefaults(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store)
        let stack = try stack([]) { migration in
            try migration.insert("Island")["name"] = "Inserted"
            try migration.insert("Stream")["name"] = "Inserted"
        }
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        try stack.closeAndWait()
        let contents = try store.contents(try ResolvedSchema(SchemaDescription(name: "New", entities: Self.schema.locked.entities)))
        let (island, stream) = (contents.entities["Landform"]?[6], contents.entities["Landform"]?[7])
        #expect(island?["area"] == .value(.integer(1)) && island?["token"] != .value(.null) && island?["length"] == .value(.null))
        #expect(stream?["area"] == .value(.null) && stream?["token"] == .value(.null) && stream?["length"] == .value(.real(5)))
    }

    @Test("a mapping cannot write null into a required attribute of a subentity", arguments: Backend.persistent, ["token", "area"])
    func requiredAttribute(_ backend: Backend, _ attribute: String) async throws {
        let error = try await failure(backend, [.update("Landform") { old, new in if old.entityName == "Island" { new[attribute] = nil } }])
        #expect(error?.code == .constraint && error?.attribute == attribute && error?.rowID == 1, "\(error?.message ?? "")")
        // Changed after it was written.
        let later = try await failure(backend) { try $0.first("Landform", where: "name", equals: "Name 2")?[attribute] = nil }
        #expect(later?.code == .constraint && later?.attribute == attribute && later?.rowID == 2, "\(later?.message ?? "")")
    }

    @Test("a mapping cannot write an attribute that the object's entity does not have", arguments: Backend.persistent)
    func attributeOfAnother(_ backend: Backend) async throws {
        let error = try await failure(backend, [.update("Landform") { _, new in new["length"] = .real(7) }])
        #expect(
            error?.code == .misuse && error?.attribute == "length" && error?.message.contains("Island") ?? false, "\(error?.message ?? "")")
    }

    @Test(
        "a mapping cannot change the entity of an object by an attribute", arguments: Backend.persistent, ["Landform", "Stream", "Other"])
    func entityOfObject(_ backend: Backend, _ name: String) async throws {
        let error = try await failure(backend) {
            try $0.first("Landform", where: "name", equals: "Name 2")?[EntityHierarchy.classifier] = .text(name)
        }
        #expect(error?.code == .misuse && error?.rowID == 2 && error?.message.contains("Island") ?? false, "\(error?.message ?? "")")
    }

    @Test("a lookup of a subentity finds its own objects", arguments: Backend.persistent)
    func lookUp(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store)
        let stack = try stack([]) { migration in
            for (entity, id) in [("Landform", 3), ("Stream", 3), ("Island", 4)] as [(String, Int64)] {
                let found = try migration.first(entity, where: "name", equals: "Same")
                #expect(found?.rowID == id, "\(entity)")
            }
            #expect(try migration.first("Stream", where: "name", equals: "Name 1") == nil)
            try migration.forEachOldObject("Landform") { old in
                let island = try migration.object("Island", copiedFrom: old)
                #expect((island == nil) == (old.entityName != "Island"))
            }
            try migration.first("Island", where: "name", equals: "Same")?["ruler"] = "found"
        }
        try await stack.addStore(store, migrating: .chain)
        let rulers = try await stack.read { try $0.fetchAll(From<Island>()).map(\.ruler) }
        #expect(rulers == [nil, nil, "found", nil])
    }

    @Test("an update of a hierarchy that loses a subentity removes and reports its objects", arguments: Backend.persistent)
    func removedSubentity(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, withFjords: true)
        let stack = try stack([.update("Landform") { old, new in new["name"] = .text("New \(old.rowID)") }])
        let rehearsal = try await stack.rehearseMigration(of: store)
        #expect(rehearsal.findings.map { "\($0.kind) \($0.entity) \($0.rowIDs)" } == ["lost Fjord [6]"], "\(rehearsal)")
        let report = try await stack.upgradeStoreIfNeeded(store, migrating: .chain)
        #expect(report.findings == rehearsal.findings)
        #expect(try stack.addStore(store).verifyAndWait() == [])
        let names = try await stack.read { try $0.fetchAll(From<Landform>()).map(\.name) }
        #expect(names == (1...5).map { "New \($0)" })
    }

    @Test("a copy of an object whose subentity is removed is refused with its subentity and row id", arguments: Backend.persistent)
    func copyOfRemovedSubentity(_ backend: Backend) async throws {
        let error = try await failure(
            backend, withFjords: true,
            [.transform("Landform", to: "Landform") { old, migration in try migration.copy(old, to: "Landform") }])
        #expect(error?.code == .misuse && error?.rowID == 6, "\(error?.message ?? "")")
        for part in ["Fjord", "object 6", "Island, Stream"] {
            #expect(error?.message.contains(part) ?? false, "\(error?.message ?? "")")
        }
    }
}
