import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

// The programs of docs/guides/migrating.md.

/// The first version of the guide's application, as its stores describe it.
let guests1 = LockedSchema(
    "Guests 1",
    entities: [
        EntityDescription(
            name: "Guest",
            properties: [
                .attribute(AttributeDescription(name: "name", type: .string)),
                .attribute(AttributeDescription(name: "nights", type: .int16)),
                .attribute(AttributeDescription(name: "room", type: .string)),
            ])
    ])

enum Version2 {
    @Model
    final class Guest {
        var name: String = ""
        @Attribute(originalName: "nights") var stay: Int = 1
        var room: String = ""
        @Attribute(.indexed) var email: String?
    }

    static let schema = Schema("Guests 2", Guest.self)
}

let guests2 = Version2.schema.locked

@Model
final class Guest {
    var firstName: String = ""
    var lastName: String = ""
    var stay: Int = 1
    @Attribute(.indexed) var email: String?
    @Relationship(inverse: "guests") var room: Room?
}

@Model
final class Room {
    @Attribute(.unique) var number: String
    @Relationship var guests: Set<Guest>
}

let guests3 = Schema("Guests 3", Guest.self, Room.self)

let splitRooms = SchemaMapping(
    from: "Guests 2", to: "Guests 3",
    [
        .transform("Guest", to: "Guest") { old, migration in
            let guest = try migration.copy(old, to: "Guest")
            let names = (old["name"]?.string ?? "").split(separator: " ", maxSplits: 1)
            guest["firstName"] = .text(names.first.map(String.init) ?? "")
            guest["lastName"] = .text(names.count > 1 ? String(names[1]) : "")
            let number = old["room"] ?? ""
            let room = try migration.first("Room", where: "number", equals: number) ?? migration.insert("Room")
            room["number"] = number
            guest.set("room", to: room)
        }
    ])

let guestHistory = SchemaHistory(
    guests1, guests2, guests3,
    migrationChain: ["Guests 1", "Guests 2", "Guests 3"],
    mappings: [splitRooms])

struct MigratingGuideTests {
    /// Creates a store of the first version.
    private func fill(_ file: String, _ count: Int) throws {
        let schema = try ResolvedSchema(guests1.description(ofConfiguration: nil))
        let backend = try StoreConfiguration.sqlite(file: file).open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let guest = schema.entities[0]
        _ = try writer.reserveIDs(guest, count: count)
        for id in 1...Int64(count) {
            try changes.insert(guest, rowID: id) { builder in
                try builder.set(guest.fields[0], .text("Ada Guest \(id)"))
                try builder.set(guest.fields[1], .integer(id % 9))
                try builder.set(guest.fields[2], .text("\(100 + id % 4)"))
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backend.close()
    }

    @Test("the second version: a change that is inferred")
    func inferred() async throws {
        let folder = try Folder()
        let file = folder.path + "/guests.sqlite"
        try fill(file, 10)
        let stack = try DataStack(Version2.schema)
        try await stack.addStore(.sqlite(file: file), migrating: .lightweight)
        let stays = try await stack.read { try $0.fetchAll(From<Version2.Guest>()).map(\.stay) }
        #expect(stays == [1, 2, 3, 4, 5, 6, 7, 8, 0, 1])
    }

    @Test("an earlier version is refused, and the way back can be allowed")
    func back() async throws {
        let folder = try Folder()
        let file = folder.path + "/guests.sqlite"
        try fill(file, 10)
        try await DataStack(guestHistory).upgradeStoreIfNeeded(.sqlite(file: file))
        let stack = try DataStack(Version2.schema)
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(.sqlite(file: file), migrating: .lightweight) }
        #expect(error?.code == .incompatibleSchema)
        let run = stack.startAddingStore(.sqlite(file: file), migrating: .lightweight(allowsDowngrade: true))
        _ = try await run.value
        for finding in run.report?.findings ?? [] { print(finding.message, finding.count) }
        #expect(run.report?.findings.contains { $0.kind == .lost && $0.entity == "Room" && $0.count == 4 } == true)
        #expect(try await stack.read { try $0.fetchCount(From<Version2.Guest>()) } == 10)
    }

    @Test("examining a store before migrating")
    func looking() async throws {
        let folder = try Folder()
        let file = folder.path + "/guests.sqlite"
        try fill(file, 10)
        let stack = try DataStack(guestHistory)
        let steps = try await stack.requiredMigrations(for: .sqlite(file: file))
        if steps.contains(where: \.isHeavyweightMigration) {
            // Show a screen with the progress.
        }
        #expect(steps.map(\.isHeavyweightMigration) == [false, true])
        let report = try await stack.rehearseMigration(of: .sqlite(file: file))
        for finding in report.findings { print(finding.message, finding.count, finding.rowIDs) }
        guard report.isPossible else { return }
        #expect(report.steps[0].changes.contains("Guest.nights is renamed stay"))
        #expect(report.steps[0].changes.contains("Guest.stay changes from int16 to int64"))
    }

    @Test("the third version: an entity is split")
    func split() async throws {
        let folder = try Folder()
        let file = folder.path + "/guests.sqlite"
        try fill(file, 100)
        let stack = try DataStack(guestHistory)
        let run = stack.startAddingStore(.sqlite(file: file), migrating: .chain.keepingCopy(at: file + ".before"))
        for await progress in run.updates { print(progress) }
        _ = try await run.value
        let rooms = try await stack.read { context in
            try context.fetchAll(From<Room>(), OrderBy(.ascending(\.number))).map { "\($0.number): \($0.guests.count)" }
        }
        #expect(rooms == ["100: 25", "101: 25", "102: 25", "103: 25"])
        #expect(FileManager.default.fileExists(atPath: file + ".before"))
    }
}
