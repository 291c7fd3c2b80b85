import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Vessel {
    var name: String = ""
    @Relationship(min: 1) var mates: Set<Mate>
}

@Model
final class Mate {
    var name: String = ""
    @Relationship(inverse: "mates", required: true) var vessel: Vessel?
}

/// Links that the closures of a mapping create.
@Suite
struct MappingLinkTests {
    // MARK: Order

    @Test(
        "an object that a closure adds to an ordered relationship follows the existing ones", arguments: Backend.persistent, [false, true])
    func order(_ backend: Backend, _ copiesTargets: Bool) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        var old = SchemaDescription(name: "Old", entities: SchemaDescription.current.entities)
        old["Member"].remove("score")
        let schema = try ResolvedSchema(old)
        try fillClub(store, schema)
        var parts: [EntityMapping] = [
            .transform("Club", to: "Club") { old, migration in
                let club = try migration.copy(old, to: "Club")
                for number in 1...2 {
                    let member = try migration.insert("Member")
                    member["email"] = .text("new \(number)")
                    club.add(member, to: "members")
                }
            },
            .update("Badge") { _, _ in },
        ]
        let addBadge: EntityMapping.Transform = { old, migration in
            let member = try migration.copy(old, to: "Member")
            guard old.rowID == 1 else { return }
            for number in 1...2 {
                let badge = try migration.insert("Badge")
                badge["code"] = .text("new \(number)")
                member.add(badge, to: "badges")
            }
        }
        if !copiesTargets { parts.append(.transform("Member", to: "Member", using: addBadge)) }
        let mapping = SchemaMapping(from: "Old", to: "Current", parts)
        let stack = try DataStack(SchemaHistory(currentSchema, mappings: [mapping]), logger: SilentLogger())
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        try await stack.read { context in
            let club = try context.fetchOne(From<Club>())
            #expect(club?.members.map(\.email) == ["m3", "m1", "m2", "new 1", "new 2"])
            let codes = try context.fetchOne(From<Member>())?.badges.map(\.code)
            #expect(codes == (copiesTargets ? ["b3", "b1", "b2"] : ["b3", "b1", "b2", "new 1", "new 2"]))
        }
        try stack.closeAndWait()
        // No two objects have one position.
        let new = try ResolvedSchema(SchemaDescription(name: "Current", entities: currentSchema.locked.entities))
        let opened = try store.open(schema: new, configurationName: nil, logger: SilentLogger())
        defer { try? opened.close() }
        let reader = try opened.beginRead()
        defer { reader.end() }
        for (entity, name) in [("Club", "members"), ("Member", "badges")] {
            let relationship = try #require(new.entity(named: entity)?.relationship(named: name))
            let positions = try reader.related(relationship, of: [1]).positions(of: 1)
            #expect(Set(positions).count == positions.count, "\(entity).\(name): \(positions)")
        }
    }

    /// Creates a club with the members 3, 1 and 2, and the badges 3, 1 and 2 of member 1.
    private func fillClub(_ store: StoreConfiguration, _ schema: ResolvedSchema) throws {
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let positions: [Int64: Int64] = [3: 0, 1: 1, 2: 2]
        for (name, count) in [("Club", 1), ("Member", 3), ("Badge", 3)] as [(String, Int64)] {
            let entity = try #require(schema.entity(named: name))
            _ = try writer.reserveIDs(entity, count: Int(count))
            for id in 1...count {
                try changes.insert(entity, rowID: id) { builder in
                    for field in entity.fields {
                        if field.positionAlong != nil {
                            let along = entity.relationships[field.positionAlong ?? 0]
                            if along.name == "club" || along.name == "society" { try builder.set(field, .integer(positions[id] ?? 0)) }
                        } else if field.relationship != nil {
                            if field.name == "club" { try builder.set(field, .integer(1)) }
                        } else if field.name == "email" {
                            try builder.set(field, .text("m\(id)"))
                        } else if field.name == "code" {
                            try builder.set(field, .text("b\(id)"))
                        } else if let value = field.defaultValue, !value.isNull {
                            try builder.set(field, value)
                        }
                    }
                }
            }
        }
        let badges = try #require(schema.entity(named: "Member")?.relationship(named: "badges"))
        if case .link(let table, let isReversed) = badges.storage {
            for id in 1...3 as ClosedRange<Int64> {
                changes.link(
                    ChangeSet.LinkChange(
                        table: table, source: isReversed ? id : 1, target: isReversed ? 1 : id, isAddition: true,
                        targetPosition: isReversed ? nil : positions[id], sourcePosition: isReversed ? positions[id] : nil))
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    // MARK: Required links

    private static let schema = Schema("New", Vessel.self, Mate.self)

    /// Creates three vessels and three mates, which have no relationship in the earlier version.
    private func fillVessels(_ store: StoreConfiguration) throws -> ResolvedSchema {
        let name = PropertyDescription.attribute(AttributeDescription(name: "name", type: .string, defaultValue: .text("")))
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Old",
                entities: [EntityDescription(name: "Vessel", properties: [name]), EntityDescription(name: "Mate", properties: [name])]))
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        for entity in schema.entities {
            _ = try writer.reserveIDs(entity, count: 3)
            for id in 1...3 as ClosedRange<Int64> {
                try changes.insert(entity, rowID: id) { try $0.set(entity.fields[0], .text("\(entity.name) \(id)")) }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        return schema
    }

    /// Gives each mate but those in a list the vessel with the same number.
    @Sendable private static func join(_ migration: MigrationContext, except: [Int64] = []) throws {
        try migration.forEachOldObject("Mate") { old in
            guard !except.contains(old.rowID), let mate = try migration.object("Mate", copiedFrom: old) else { return }
            mate.set("vessel", to: try migration.first("Vessel", where: "name", equals: .text("Vessel \(old.rowID)")))
        }
    }

    private static let mappings: [(String, [EntityMapping], (@Sendable (MigrationContext) throws -> Void)?)] = [
        ("after", [], { try join($0) }),
        (
            "another entity",
            [
                .transform("Vessel", to: "Vessel") { old, migration in
                    let vessel = try migration.copy(old, to: "Vessel")
                    let mate = try migration.first("Mate", where: "name", equals: .text("Mate \(old.rowID)"))
                    if let mate { vessel.add(mate, to: "mates") }
                }
            ], nil
        ),
    ]

    @Test("a closure provides the targets of a required relationship and of one with a least count", arguments: Backend.persistent, [0, 1])
    func provided(_ backend: Backend, _ index: Int) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try fillVessels(store)
        let (name, parts, after) = Self.mappings[index]
        let mapping = SchemaMapping(from: "Old", to: "New", parts, after: after)
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store).findings == [], "\(name)")
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [], "\(name)")
        let vessels = try await stack.read { try $0.fetchAll(From<Mate>()).map { $0.vessel?.name } }
        #expect(vessels == ["Vessel 1", "Vessel 2", "Vessel 3"], "\(name)")
    }

    @Test("what a closure leaves without a target is refused at the end", arguments: Backend.persistent, [true, false])
    func notProvided(_ backend: Backend, _ writes: Bool) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = try fillVessels(store)
        let before = try store.contents(old)
        let mapping = SchemaMapping(from: "Old", to: "New", after: { if writes { try Self.join($0, except: [2]) } })
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store)
        #expect(!rehearsal.isPossible, "\(rehearsal)")
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
        #expect(error?.code == .constraint && error?.rowID == (writes ? 2 : 1), "\(error?.message ?? "")")
        #expect(try store.contents(old).differences(from: before) == [])
    }

    @Test("an update cannot provide the targets of another entity, and the refusal says what can", arguments: Backend.persistent)
    func updateOfAnother(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try fillVessels(store)
        let mapping = SchemaMapping(from: "Old", to: "New", [.update("Vessel") { _, new in new["name"] = "x" }])
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store)
        let refused = rehearsal.findings.filter { $0.kind == .refused }
        #expect(refused.map { "\($0.entity).\($0.property ?? "") \($0.rowIDs)" } == ["Mate.vessel [1, 2, 3]"], "\(rehearsal)")
        #expect(refused.first?.message.contains("a transform of Mate") ?? false, "\(rehearsal)")
    }
}
