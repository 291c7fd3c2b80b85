import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Team {
    var name: String = ""
    @Relationship var players: Set<Player>
    @Relationship var captain: Player?
}

@Model
final class Player {
    var name: String = ""
    @Relationship(inverse: "players") var team: Team?
    @Relationship(inverse: "captain") var leads: Team?
    @Relationship(inverse: "rivals") var rivals: Set<Player>
}

@Model
final class Contract {
    var number: Int = 0
    @Relationship(required: true) var player: Player?
}

/// Relationships that get an inverse or another form keep their targets, or the migration is refused with the objects that do not fit.
@Suite
struct LinkMigrationTests {
    private static let schema = Schema("New", Team.self, Player.self)

    /// Returns the current version with other relationships.
    private static func earlier(_ team: [RelationshipDescription], _ player: [RelationshipDescription]) -> SchemaDescription {
        let name = PropertyDescription.attribute(AttributeDescription(name: "name", type: .string, defaultValue: .text("")))
        return SchemaDescription(
            name: "Old",
            entities: [
                EntityDescription(name: "Team", properties: [name] + team.map { .relationship($0) }),
                EntityDescription(name: "Player", properties: [name] + player.map { .relationship($0) }),
            ])
    }

    private static func one(_ name: String, _ destination: String, inverse: String? = nil) -> RelationshipDescription {
        RelationshipDescription(name: name, destination: destination, isToMany: false, inverse: inverse)
    }

    private static func many(_ name: String, _ destination: String, inverse: String? = nil) -> RelationshipDescription {
        RelationshipDescription(name: name, destination: destination, isToMany: true, inverse: inverse)
    }

    /// Creates teams and four players with the given targets.
    private func fill(
        _ store: StoreConfiguration, _ description: SchemaDescription, _ targets: [String: [Int64: [Int64]]], teams: Int64 = 2
    ) throws -> ResolvedSchema {
        let schema = try ResolvedSchema(description)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        for (entity, count) in zip(schema.entities, [teams, 4]) {
            _ = try writer.reserveIDs(entity, count: Int(count))
            for id in 1...count {
                try changes.insert(entity, rowID: id) { builder in
                    for field in entity.fields {
                        if field.relationship == nil {
                            try builder.set(field, .text("\(entity.name) \(id)"))
                        } else if let target = targets[field.name]?[id]?.first {
                            try builder.set(field, .integer(target))
                        }
                    }
                }
            }
            for relationship in entity.relationships {
                guard case .link(let table, _) = relationship.storage else { continue }
                for (source, list) in targets[relationship.name] ?? [:] {
                    for target in list {
                        changes.link(ChangeSet.LinkChange(table: table, source: source, target: target, isAddition: true))
                    }
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        return schema
    }

    /// Returns the targets of the current version, by property and row id.
    private func targets(_ stack: DataStack) async throws -> [String: [Int64: [Int64]]] {
        try await stack.read { context in
            var found: [String: [Int64: [Int64]]] = [:]
            for team in try context.fetchAll(From<Team>()) {
                let id = team.objectID.rowID
                found["players", default: [:]][id] = team.players.map(\.objectID.rowID).sorted()
                found["captain", default: [:]][id] = team.captain.map { [$0.objectID.rowID] } ?? []
            }
            for player in try context.fetchAll(From<Player>()) {
                let id = player.objectID.rowID
                found["team", default: [:]][id] = player.team.map { [$0.objectID.rowID] } ?? []
                found["leads", default: [:]][id] = player.leads.map { [$0.objectID.rowID] } ?? []
                found["rivals", default: [:]][id] = player.rivals.map(\.objectID.rowID).sorted()
            }
            return found.mapValues { $0.filter { !$0.value.isEmpty } }
        }
    }

    private func carries(
        _ backend: Backend, _ description: SchemaDescription, _ old: [String: [Int64: [Int64]]], _ expected: [String: [Int64: [Int64]]]
    ) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try fill(store, description, old)
        let stack = try DataStack(Self.schema, logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store, migrating: .lightweight)
        #expect(rehearsal.findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        var all = expected
        for name in ["players", "captain", "team", "leads", "rivals"] where all[name] == nil { all[name] = [:] }
        #expect(try await targets(stack) == all)
    }

    private func refuses(
        _ backend: Backend, _ description: SchemaDescription, _ old: [String: [Int64: [Int64]]], entity: String, _ property: String,
        _ ids: [Int64]
    ) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let schema = try fill(store, description, old)
        let before = try store.contents(schema)
        let stack = try DataStack(Self.schema, logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store, migrating: .lightweight)
        let refused = rehearsal.findings.filter { $0.kind == .refused }
        #expect(
            refused.map(\.entity) == [entity] && refused.map(\.property) == [property] && refused.map(\.rowIDs) == [ids], "\(rehearsal)")
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .lightweight) }
        #expect(error?.entity == entity && error?.attribute == property && error?.rowID == ids.first, "\(error?.message ?? "")")
        #expect(try store.contents(schema).differences(from: before) == [])
    }

    @Test("a to-many relationship gets a to-one inverse", arguments: Backend.persistent)
    func toManyGetsToOne(_ backend: Backend) async throws {
        let old = Self.earlier([Self.many("players", "Player"), Self.one("captain", "Player")], [])
        try await carries(
            backend, old, ["players": [1: [1, 2], 2: [4]]], ["players": [1: [1, 2], 2: [4]], "team": [1: [1], 2: [1], 4: [2]]])
        try await refuses(backend, old, ["players": [1: [1, 2], 2: [2, 4]]], entity: "Player", "team", [2])
    }

    @Test("two relationships become each other's inverse", arguments: Backend.persistent)
    func twoBecomeInverses(_ backend: Backend) async throws {
        let old = Self.earlier(
            [Self.many("players", "Player")], [Self.one("team", "Team"), Self.many("rivals", "Player", inverse: "rivals")])
        // Each end has pairs that the other does not have.
        try await carries(
            backend, old, ["players": [1: [1], 2: [4]], "team": [1: [1], 3: [2]]],
            ["players": [1: [1], 2: [3, 4]], "team": [1: [1], 3: [2], 4: [2]]])
        // The ends disagree.
        try await refuses(backend, old, ["players": [1: [1]], "team": [1: [2]]], entity: "Player", "team", [1])
    }

    @Test("a to-one relationship gets a to-one inverse", arguments: Backend.persistent)
    func toOneGetsToOne(_ backend: Backend) async throws {
        let old = Self.earlier(
            [Self.many("players", "Player", inverse: "team"), Self.one("captain", "Player")], [Self.one("team", "Team")])
        try await carries(backend, old, ["captain": [1: [3], 2: [1]]], ["captain": [1: [3], 2: [1]], "leads": [1: [2], 3: [1]]])
        try await refuses(backend, old, ["captain": [1: [3], 2: [3]]], entity: "Player", "leads", [3])
    }

    @Test("a to-many relationship becomes symmetric", arguments: Backend.persistent)
    func becomesSymmetric(_ backend: Backend) async throws {
        let old = Self.earlier(
            [Self.many("players", "Player", inverse: "team")], [Self.one("team", "Team"), Self.many("rivals", "Player")])
        try await carries(backend, old, ["rivals": [1: [2, 3], 3: [1]]], ["rivals": [1: [2, 3], 2: [1], 3: [1]]])
    }

    @Test("a to-many relationship becomes to-one: one target fits, several are refused", arguments: Backend.persistent)
    func toManyBecomesToOne(_ backend: Backend) async throws {
        let old = Self.earlier([Self.many("captain", "Player")], [])
        try await carries(backend, old, ["captain": [1: [3]]], ["captain": [1: [3]], "leads": [3: [1]]])
        try await refuses(backend, old, ["captain": [1: [3, 4]]], entity: "Team", "captain", [1])
    }

    @Test("a policy that allows lost links keeps one target and reports the objects", arguments: Backend.persistent)
    func lossIsReported(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try fill(
            store, Self.earlier([Self.many("players", "Player"), Self.one("captain", "Player")], []), ["players": [1: [1, 2], 2: [2, 4]]])
        let stack = try DataStack(Self.schema, logger: SilentLogger())
        let policy = MigrationPolicy.lightweight.allowingLostLinks()
        let rehearsal = try await stack.rehearseMigration(of: store, migrating: policy)
        #expect(rehearsal.findings.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rowIDs)" } == ["lost Player.team [2]"])
        let report = try await stack.upgradeStoreIfNeeded(store, migrating: policy)
        #expect(report.findings == rehearsal.findings)
        let added = try stack.addStore(store)
        #expect(try added.verifyAndWait() == [])
        let found = try await targets(stack)
        #expect(found["players"] == [1: [1, 2], 2: [4]])
        #expect(found["team"] == [1: [1], 2: [1], 4: [2]])
    }

    @Test("if links are lost, an object keeps its own target, and no two objects keep one that leads to one", arguments: Backend.persistent)
    func lossesAreChosen(_ backend: Backend) async throws {
        func migrated(
            _ old: SchemaDescription, _ contents: [String: [Int64: [Int64]]], lost: String
        ) async throws -> [String: [Int64: [Int64]]] {
            let folder = try Folder()
            let store = backend.store(in: folder)
            _ = try fill(store, old, contents)
            let stack = try DataStack(Self.schema, logger: SilentLogger())
            let report = try await stack.upgradeStoreIfNeeded(store, migrating: .lightweight.allowingLostLinks())
            #expect(report.findings.map { "\($0.entity).\($0.property ?? "") \($0.rowIDs)" } == [lost])
            #expect(try stack.addStore(store).verifyAndWait() == [])
            return try await targets(stack)
        }
        // The ends disagree: the player's own team remains, although the other team has the lower row id.
        let apart = Self.earlier([Self.many("players", "Player")], [Self.one("team", "Team")])
        let teams = try await migrated(apart, ["players": [1: [1]], "team": [1: [2]]], lost: "Player.team [1]")
        #expect(teams["team"] == [1: [2]] && teams["players"] == [2: [1]])
        // Two teams have one captain, who leads one team.
        let captains = try await migrated(
            Self.earlier([Self.one("captain", "Player")], []), ["captain": [1: [3], 2: [3]]], lost: "Player.leads [3]")
        #expect(captains["captain"] == [1: [3]] && captains["leads"] == [3: [1]])
    }

    @Test("an object to which many lead is read once, not once per batch", arguments: Backend.persistent, [true, false])
    func manyLeadToOne(_ backend: Backend, _ isNamedByTeams: Bool) async throws {
        let old =
            isNamedByTeams
            ? Self.earlier([Self.one("captain", "Player")], []) : Self.earlier([], [Self.many("leads", "Team")])
        /// Returns the numbers of rows and of records that the migration reads.
        func read(_ teams: Int64) async throws -> (rows: Int, records: Int) {
            let folder = try Folder()
            let store = backend.store(in: folder)
            let ids = Array(1...teams)
            let contents: [String: [Int64: [Int64]]] =
                isNamedByTeams ? ["captain": Dictionary(uniqueKeysWithValues: ids.map { ($0, [3]) })] : ["leads": [3: ids]]
            _ = try fill(store, old, contents, teams: teams)
            let counter = ReadCounter()
            let stack = try DataStack(Self.schema, logger: SilentLogger())
            try await stack.upgradeStoreIfNeeded(store.counting(counter), migrating: .lightweight.allowingLostLinks())
            try stack.addStore(store)
            let captains = try await stack.read { context in
                try context.fetchAll(From<Team>()).filter { $0.captain != nil }.map {
                    [$0.objectID.rowID, $0.captain?.objectID.rowID ?? 0, $0.captain?.leads?.objectID.rowID ?? 0]
                }
            }
            #expect(captains == [[1, 3, 1]])
            return (counter.rows, counter.records)
        }
        // Batches have at most 2,000 objects.
        let (few, many) = (try await read(4_000), try await read(12_000))
        #expect(Double(many.rows) < 3.3 * Double(few.rows), "\(few.rows), then \(many.rows)")
        #expect(few.records == 0 && many.records == 0, "\(few.records), then \(many.records) whole records")
    }

    @Test(
        "a closure of a mapping chooses among several owners, or the migration is refused", arguments: Backend.persistent,
        [(true, false), (false, false), (true, true), (false, true)])
    func closureChooses(_ backend: Backend, _ example: (chooses: Bool, losesLinks: Bool)) async throws {
        let (chooses, losesLinks) = example
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try fill(
            store, Self.earlier([Self.many("players", "Player"), Self.one("captain", "Player")], []), ["players": [1: [1, 2], 2: [2, 4]]])
        let mapping = SchemaMapping(
            from: "Old", to: "New",
            [
                .transform("Player", to: "Player") { old, migration in
                    let player = try migration.copy(old, to: "Player")
                    if chooses, old.rowID == 2 { player.set("team", to: try migration.first("Team", where: "name", equals: "Team 2")) }
                }
            ])
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        if losesLinks {
            // Either way the player loses a team; the closure decides which one.
            let policy = MigrationPolicy.chain.allowingLostLinks()
            let rehearsal = try await stack.rehearseMigration(of: store, migrating: policy)
            #expect(
                rehearsal.findings.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rowIDs)" } == ["lost Player.team [2]"],
                "\(rehearsal)")
            let report = try await stack.upgradeStoreIfNeeded(store, migrating: policy)
            #expect(report.findings == rehearsal.findings)
            #expect(try stack.addStore(store).verifyAndWait() == [])
            #expect(try await targets(stack)["team"] == [1: [1], 2: [chooses ? 2 : 1], 4: [2]])
            return
        }
        guard chooses else {
            let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
            #expect(error?.entity == "Player" && error?.attribute == "team" && error?.rowID == 2, "\(error?.message ?? "")")
            return
        }
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        let found = try await targets(stack)
        #expect(found["team"] == [1: [1], 2: [2], 4: [2]])
    }

    @Test("a required relationship is added", arguments: Backend.persistent)
    func requiredIsAdded(_ backend: Backend) async throws {
        let schema = Schema("New", Team.self, Player.self, Contract.self)
        var old = SchemaDescription(name: "Old", entities: schema.locked.entities)
        old["Contract"].remove("player")
        // The generated ends of two to-one relationships would contradict each other.
        old["Team"].remove("captain")
        old["Player"].remove("leads")
        let folder = try Folder()
        let store = backend.store(in: folder)
        let before = try store.fill(ResolvedSchema(old), rows: 5)
        let ids = before.entities["Contract"]?.keys.sorted() ?? []
        let stack = try DataStack(schema, logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store, migrating: .lightweight)
        #expect(rehearsal.findings.map(\.rowIDs) == [ids], "\(rehearsal)")
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .lightweight) }
        #expect(error?.entity == "Contract" && error?.attribute == "player" && error?.rowID == ids.first, "\(error?.message ?? "")")
        #expect(try store.contents(ResolvedSchema(old)).differences(from: before) == [])
    }
}
