import Foundation
import PolyStore
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

/// Every kind of change on every backend, compared with the same change of plain values.
@Suite
struct MigrationMatrixTests {
    /// POLYSTORE_MIGRATION_ROWS sets the number of objects.
    private static let rows = TestEnvironment.number("POLYSTORE_MIGRATION_ROWS") ?? 240

    private func earlier(_ edits: [SchemaEdit], name: String = "Earlier") -> SchemaDescription {
        var description = SchemaDescription.current
        for edit in edits { edit.undo(&description) }
        description.name = name
        return description
    }

    private func check(
        _ backend: Backend, _ edit: SchemaEdit, rows: Int, _ history: SchemaHistory = SchemaHistory(currentSchema)
    ) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = try ResolvedSchema(earlier([edit]))
        var expected = try store.fill(old, rows: rows)
        edit.migrate(&expected)
        let stack = try DataStack(history, logger: SilentLogger())
        if !edit.isIndexOnly {
            #expect(throws: StoreError.self) { try stack.addStore(store) }
            #expect(
                try stack.requiredMigrationsAndWait(for: store) == [.lightweight(sourceVersion: "Earlier", destinationVersion: "Current")])
        }
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        #expect(try stack.requiredMigrationsAndWait(for: store) == [])
        // The store accepts writes that conform to the new version.
        if rows > 0 {
            try await stack.perform { transaction in
                let member = try transaction.create(Into<Member>())
                member.email = "new"
                member.club = try transaction.fetchOne(From<Club>())
                member.badges = try transaction.fetchAll(From<Badge>(), OrderBy(.ascending(\.code)))
                #expect(try transaction.fetchCount(From<Member>()) == rows + 1)
                #expect(try transaction.fetchOne(From<Member>(), Where(\.email == "new")) === member)
            }
            try await stack.perform { transaction in
                for member in try transaction.fetchAll(From<Member>(), Where(\.email == "new")) { try transaction.delete(member) }
            }
        }
        let found = try StoreContents(added.backendForTests, ResolvedSchema(.current))
        #expect(found.differences(from: expected) == [])
    }

    @Test("a change on an empty store", arguments: Backend.persistent)
    func empty(_ backend: Backend) async throws {
        for edit in SchemaEdit.all { try await check(backend, edit, rows: 0) }
    }

    @Test("a change on a store with objects", arguments: Backend.persistent, SchemaEdit.all)
    func filled(_ backend: Backend, _ edit: SchemaEdit) async throws { try await check(backend, edit, rows: Self.rows) }

    @Test("five versions in a row, over a chain with a branch", arguments: Backend.persistent, [1, 2, 3])
    func chain(_ backend: Backend, _ seed: UInt64) async throws {
        var random = SplitMix64(seed: seed &* 7919)
        var edits = SchemaEdit.all.filter { !$0.isIndexOnly }
        // Each property is edited at most once.
        var chosen: [SchemaEdit] = []
        let properties = ["label", "score", "age", "badges", "club", "members", "Club", "Badge", "nickname", "level", "mentor", "entity"]
        var used: Set<String> = []
        while chosen.count < 4, !edits.isEmpty {
            let edit = edits.remove(at: random.below(edits.count))
            var probe = SchemaDescription.current
            edit.undo(&probe)
            let touched = Set(properties.filter { SchemaEdit.touches($0, probe) })
            guard used.isDisjoint(with: touched) else { continue }
            used.formUnion(touched)
            chosen.append(edit)
        }
        // Version 5 is the current one.
        var versions: [any SchemaVersion] = [currentSchema]
        for count in 1...4 {
            let description = earlier(Array(chosen.prefix(count)), name: "V\(5 - count)")
            versions.insert(LockedSchema(description.name, entities: description.entities), at: 0)
        }
        let history = SchemaHistory(
            versions, migrationChain: ["V1": "V2", "V2": "V3", "V3": "V4", "V4": "Current", "Side": "V3"])
        let folder = try Folder()
        let store = backend.store(in: folder)
        var expected = try store.fill(ResolvedSchema(earlier(chosen, name: "V1")), rows: Self.rows)
        for edit in chosen.reversed() { edit.migrate(&expected) }
        let stack = try DataStack(history, logger: SilentLogger())
        #expect(try stack.requiredMigrationsAndWait(for: store).map(\.sourceVersion) == ["V1", "V2", "V3", "V4"])
        #expect(try stack.rehearseMigrationAndWait(of: store).isPossible)
        #expect(try stack.requiredMigrationsAndWait(for: store).count == 4)
        // The blocking form does the same.
        let report = chosen.count % 2 == 0 ? try await stack.upgradeStoreIfNeeded(store) : try stack.upgradeStoreIfNeededAndWait(store)
        #expect(report.steps.map(\.type.destinationVersion) == ["V2", "V3", "V4", "Current"])
        let found = try store.contents(ResolvedSchema(.current))
        #expect(found.differences(from: expected) == [], "\(chosen.map(\.name))")
    }
}

extension SchemaEdit {
    /// Returns whether a description has another form of a property or entity than the current version.
    static func touches(_ name: String, _ description: SchemaDescription) -> Bool {
        func parts(_ schema: SchemaDescription) -> [String] {
            schema.entities.flatMap { entity in
                [entity.name] + entity.properties.filter { $0.name == name || entity.name == name }.map { "\(entity.name).\($0)" }
            }
        }
        if name == "entity" { return description.entities.map(\.name) != SchemaDescription.current.entities.map(\.name) }
        return parts(description).filter { $0.contains(name) } != parts(.current).filter { $0.contains(name) }
    }
}
