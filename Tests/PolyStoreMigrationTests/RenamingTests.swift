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

// Two versions that differ in the meaning of their names.

private enum Former {
    @Model(subentities: "Coach", "Tram")
    class Vehicle {
        var label: String = ""
    }

    @Model
    final class Coach: Vehicle {}

    @Model
    final class Tram: Vehicle {}

    @Model
    final class Stop {
        var a: String = ""
        var b: String = ""
        var c: String = ""
    }

    @Model
    final class Track {
        var left: String = ""
        var right: String = ""
        @Relationship var first: Stop?
        @Relationship var last: Stop?
    }

    @Model
    final class North { var name: String = "" }

    @Model
    final class South { var name: String = "" }

    static let schema = Schema("Lines 1", Vehicle.self, Stop.self, Track.self, North.self, South.self)
}

private enum Later {
    @Model(subentities: "Coach", "Tram")
    class Vehicle {
        var label: String = ""
    }

    @Model(originalName: "Tram")
    final class Coach: Vehicle {}

    @Model(originalName: "Coach")
    final class Tram: Vehicle {}

    @Model
    final class Stop {
        @Attribute(originalName: "b") var a: String = ""
        @Attribute(originalName: "c") var b: String = ""
        @Attribute(originalName: "a") var c: String = ""
    }

    @Model
    final class Track {
        @Attribute(originalName: "right") var left: String = ""
        @Attribute(originalName: "left") var right: String = ""
        @Relationship(originalName: "last") var first: Stop?
        @Relationship(originalName: "first") var last: Stop?
    }

    @Model(originalName: "South")
    final class North { var name: String = "" }

    @Model(originalName: "North")
    final class South { var name: String = "" }

    static let schema = Schema("Lines 2", Vehicle.self, Stop.self, Track.self, North.self, South.self)
}

/// The names move along a chain with one new end, and a sub-entity is renamed.
private enum Moved {
    @Model(subentities: "Bus")
    class Vehicle {
        var label: String = ""
    }

    @Model(originalName: "Coach")
    final class Bus: Vehicle {
        var seats: Int = 0
    }

    @Model
    final class Stop {
        @Attribute(originalName: "b") var a: String = ""
        @Attribute(originalName: "c") var b: String = ""
        @Attribute(originalName: "a") var d: String = ""
    }

    static let schema = Schema("Lines 3", Vehicle.self, Stop.self)
}

private enum BeforeMoved {
    @Model(subentities: "Coach")
    class Vehicle {
        var label: String = ""
    }

    @Model
    final class Coach: Vehicle {
        var seats: Int = 0
    }

    @Model
    final class Stop {
        var a: String = ""
        var b: String = ""
        var c: String = ""
    }

    static let schema = Schema("Lines 0", Vehicle.self, Stop.self)
}

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

    private func refusal(_ schema: Schema, _ store: StoreConfiguration, _ policy: MigrationPolicy?) async throws -> StoreError.Code? {
        let stack = try DataStack(schema, logger: SilentLogger())
        do {
            if let policy { try await stack.addStore(store, migrating: policy) } else { try stack.addStore(store) }
            try await stack.close()
            return nil
        } catch { return (error as? StoreError)?.code }
    }

    @Test(
        "an exchange of names makes another version, which refuses the former one and is undone by a downgrade",
        arguments: Backend.persistent)
    func exchangeThereAndBack(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(Former.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { transaction in
            let stops = try ["x", "y"].map { name in
                let stop = try transaction.create(Into<Former.Stop>())
                (stop.a, stop.b, stop.c) = ("a \(name)", "b \(name)", "c \(name)")
                return stop
            }
            let track = try transaction.create(Into<Former.Track>())
            (track.left, track.right, track.first, track.last) = ("left", "right", stops[0], stops[1])
            try transaction.create(Into<Former.North>()).name = "north"
            try transaction.create(Into<Former.South>()).name = "south"
            try transaction.create(Into<Former.Coach>()).label = "coach"
            try transaction.create(Into<Former.Tram>()).label = "tram"
        }
        func former() async throws -> [String] {
            let stack = try DataStack(Former.schema, logger: SilentLogger())
            try stack.addStore(store)
            #expect(try stack.stores[0].verifyAndWait() == [])
            let found = try await stack.read { context in
                var found = try context.fetchAll(From<Former.Stop>()).map { "\($0.a), \($0.b), \($0.c)" }
                found += try context.fetchAll(From<Former.Track>()).map {
                    "\($0.left), \($0.right), \($0.first?.a ?? "-"), \($0.last?.a ?? "-")"
                }
                found += try context.fetchAll(From<Former.North>()).map(\.name) + context.fetchAll(From<Former.South>()).map(\.name)
                found += try context.fetchAll(From<Former.Coach>()).map(\.label) + context.fetchAll(From<Former.Tram>()).map(\.label)
                return found
            }
            try await stack.close()
            return found
        }
        func later() async throws -> [String] {
            let stack = try DataStack(Later.schema, logger: SilentLogger())
            try stack.addStore(store)
            #expect(try stack.stores[0].verifyAndWait() == [])
            let found = try await stack.read { context in
                var found = try context.fetchAll(From<Later.Stop>()).map { "\($0.a), \($0.b), \($0.c)" }
                found += try context.fetchAll(From<Later.Track>()).map {
                    "\($0.left), \($0.right), \($0.first?.c ?? "-"), \($0.last?.c ?? "-")"
                }
                found += try context.fetchAll(From<Later.North>()).map(\.name) + context.fetchAll(From<Later.South>()).map(\.name)
                found += try context.fetchAll(From<Later.Coach>()).map(\.label) + context.fetchAll(From<Later.Tram>()).map(\.label)
                return found
            }
            try await stack.close()
            return found
        }
        let before = ["a x, b x, c x", "a y, b y, c y", "left, right, a x, a y", "north", "south", "coach", "tram"]
        let after = ["b x, c x, a x", "b y, c y, a y", "right, left, a y, a x", "south", "north", "tram", "coach"]
        #expect(try await former() == before)
        try await DataStack(Later.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        #expect(try await later() == after)
        // A stack that has the former version open gets an error.
        let write = await #expect(throws: StoreError.self) { try await first.perform { try $0.create(Into<Former.North>()).name = "lost" } }
        #expect(write?.code == .differentStoreAtURL)
        try await first.close()
        #expect(try await refusal(Former.schema, store, nil) == .migrationRequired)
        for policy in [MigrationPolicy.lightweight, .chain, .chain(["Lines 2", "Lines 1"])] {
            #expect(try await refusal(Former.schema, store, policy) == .incompatibleSchema)
        }
        #expect(try await later() == after)
        for _ in 1...2 {
            let back = try DataStack(Former.schema, logger: SilentLogger())
            let report = try await back.upgradeStoreIfNeeded(store, migrating: .lightweight(allowsDowngrade: true))
            #expect(report.findings == [])
            #expect(try await former() == before)
            try await DataStack(Later.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
            #expect(try await later() == after)
        }
        // A later version without the declarations has the schema of the former one. A chain declares that it follows.
        let third = Schema(
            "Lines 4", Former.Vehicle.self, Former.Stop.self, Former.Track.self, Former.North.self, Former.South.self)
        #expect(try await refusal(third, store, .lightweight) == .incompatibleSchema)
        let declared = SchemaHistory(
            Former.schema.locked, Later.schema.locked, third, migrationChain: ["Lines 1", "Lines 2", "Lines 4"])
        try await DataStack(declared, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .chain)
        #expect(try await former() == ["b x, c x, a x", "b y, c y, a y", "right, left, b y, b x", "south", "north", "tram", "coach"])
        #expect(try await refusal(Later.schema, store, .lightweight) == .incompatibleSchema)
    }

    @Test("a downgrade undoes a chain of renames and the renaming of a sub-entity", arguments: Backend.persistent)
    func chainThereAndBack(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(BeforeMoved.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { transaction in
            let stop = try transaction.create(Into<BeforeMoved.Stop>())
            (stop.a, stop.b, stop.c) = ("a", "b", "c")
            try transaction.create(Into<BeforeMoved.Coach>()).seats = 40
        }
        try await first.close()
        try await DataStack(Moved.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        let report = try await first.upgradeStoreIfNeeded(store, migrating: .lightweight(allowsDowngrade: true))
        #expect(report.findings == [])
        try first.addStore(store)
        #expect(try first.stores[0].verifyAndWait() == [])
        let stops = try await first.read { try $0.fetchAll(From<BeforeMoved.Stop>()).map { "\($0.a), \($0.b), \($0.c)" } }
        #expect(stops == ["a, b, c"])
        #expect(try await first.read { try $0.fetchAll(From<BeforeMoved.Coach>()).map(\.seats) } == [40])
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
