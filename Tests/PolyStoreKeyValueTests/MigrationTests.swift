import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Migrations of the record layer in several transactions.
@Suite struct MigrationTests {
    private static func person(_ extra: [PropertyDescription] = [], indexes: [IndexDescription] = []) -> EntityDescription {
        EntityDescription(
            name: "Person",
            properties: [
                Migrations.attribute("name", .string, indexed: true), Migrations.attribute("email", .string, unique: true),
                Migrations.attribute("age", .int32),
                .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true)),
            ] + extra, indexes: indexes)
    }

    private static let tag = EntityDescription(name: "Tag", properties: [Migrations.attribute("title", .string)])

    private static func source() throws -> ResolvedSchema {
        try Migrations.schema(
            person(), tag,
            EntityDescription(
                name: "Note", properties: [Migrations.attribute("body", .data), Migrations.attribute("size", .int64, indexed: true)]))
    }

    /// A schema in which Note is replaced by Memo, Tag is dropped with its links, and age is wider and indexed.
    private static func target(uniqueNames: Bool = false) throws -> ResolvedSchema {
        try Migrations.schema(
            EntityDescription(
                name: "Human",
                properties: [
                    Migrations.attribute("email", .string, unique: true),
                    Migrations.attribute("label", .string, unique: uniqueNames, indexed: true),
                    Migrations.attribute("age", .int64, indexed: true), Migrations.attribute("city", .string, optional: false),
                    .relationship(RelationshipDescription(name: "friends", destination: "Human", isToMany: true, inverse: "friends")),
                    .relationship(RelationshipDescription(name: "memos", destination: "Memo", isToMany: true)),
                ], indexes: [IndexDescription(fields: ["city", "age"])]),
            EntityDescription(
                name: "Memo",
                properties: [
                    Migrations.attribute("text", .string, unique: true), Migrations.attribute("size", .int64, indexed: true),
                    Migrations.attribute("body", .data),
                ]))
    }

    private static func change(uniqueNames: Bool = false, identifier: String = "first") throws -> SchemaChange {
        let (source, target) = (try source(), try target(uniqueNames: uniqueNames))
        let base = try SchemaChange.byName(
            source, target, identifier: identifier, entities: ["Human": "Person"],
            fields: ["Human": ["label": .field(0, replacingNullWith: .null), "city": .constant(.text("Rome"))]],
            links: ["Human_friends": ("Person_friends", false)])
        // Memo continues the row ids of Note.
        var entities = base.entities
        entities[1] = .empty(rowIDsOf: source.entity(named: "Note")?.index)
        return try SchemaChange(identifier: identifier, source: source, target: target, entities: entities, links: base.links)
    }

    private static let people: ClosedRange<Int64> = 1...250
    private static let noteCount: Int64 = 120

    private static func filled(_ engine: TestEngine) throws -> Opened {
        let opened = try Opened(engine, source())
        let friends = try #require(opened.store.schema.links.first { $0.name == "Person_friends" })
        let tags = try #require(opened.store.schema.links.first { $0.name == "Person_tags" })
        try opened.store.write { changes in
            for id in people {
                try changes.insert("Person", id, ["name": .text("name \(id)"), "email": .text("\(id)@x"), "age": .integer(id % 30)])
            }
            for id in Int64(1)...20 {
                try changes.insert("Tag", id, ["title": .text("tag \(id)")])
                changes.link(tags.index, id, id)
            }
            for id in Int64(1)...noteCount {
                try changes.insert("Note", id, ["body": .blob(Notes.body(id, size: id % 50 == 0 ? 100_000 : 20)), "size": .integer(id)])
            }
            for id in stride(from: Int64(1), to: 100, by: 2) {
                changes.link(friends.index, id, id + 1)
                changes.link(friends.index, id + 1, id)
            }
        }
        try opened.store.write { changes in
            try changes.set.setValue([1, 2, 3], named: "kept")
            try changes.set.setValue([4], named: "removed")
            changes.set.appendLogEntry([1])
        }
        let transaction = try opened.backend.beginWrite()
        _ = try transaction.reserveIDs(try opened.store.entity("Note"), count: 500)
        _ = try transaction.commit(.relaxed)
        return opened
    }

    /// Copies notes to memos, 40 in each batch, and links them to people.
    private static func map(_ migration: any StoreMigration, saves: Bool = true, limit: Int64 = .max, uniqueNames: Bool = false) throws {
        let change = try change(uniqueNames: uniqueNames)
        let note = try #require(change.source.entity(named: "Note"))
        var next = Int64(1)
        if let position = migration.savedPosition { next = Int64(position[0]) + Int64(position[1]) << 8 }
        while next <= noteCount {
            let changes = Changes(change.target)
            let end = min(next + 40, noteCount + 1)
            for id in next..<end {
                let values = try #require(try migration.source.values(note, id))
                try changes.insert(
                    "Memo", id, ["text": .text("memo \(id)"), "size": values["size"] ?? .null, "body": values["body"] ?? .null])
            }
            for id in next..<end {
                changes.link(try #require(change.target.links.first { $0.name == "Human_memos" }).index, id, id)
            }
            try changes.set.setValue([UInt8(truncatingIfNeeded: end)], named: "mapped")
            try changes.set.setValue(nil, named: "removed")
            try migration.target.apply(changes.set)
            next = end
            if saves, next <= noteCount { try migration.save([UInt8(truncatingIfNeeded: next), UInt8(truncatingIfNeeded: next >> 8)]) }
            if next > limit { return }
        }
        let changes = ChangeSet(change.target)
        changes.removeLogEntries(through: 1)
        changes.appendLogEntry([2])
        try migration.target.apply(changes)
    }

    private static func expectMigrated(_ opened: Opened, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try opened.backend.verify() == [], sourceLocation: sourceLocation)
        let people = try opened.all("Human")
        #expect(people.count == Self.people.count, sourceLocation: sourceLocation)
        #expect(people[7] == ["label": .text("name 7"), "email": .text("7@x"), "age": .integer(7), "city": .text("Rome")])
        let memos = try opened.all("Memo")
        #expect(memos.count == Int(noteCount), sourceLocation: sourceLocation)
        #expect(memos[100]?["body"] == .blob(Notes.body(100, size: 100_000)))
        try opened.store.read { transaction throws in
            #expect(try transaction.count(FetchRequest(try opened.store.entity("Memo"))) == Int(noteCount))
            #expect(try opened.targets(transaction, "Human", "friends", 2) == [1])
            #expect(try opened.targets(transaction, "Human", "memos", 9) == [9])
            #expect(try transaction.value(named: "kept") == [1, 2, 3])
            #expect(try transaction.value(named: "mapped") == [UInt8(truncatingIfNeeded: noteCount + 1)])
            #expect(try transaction.valueNames(prefix: "") == ["kept", "mapped"])
            #expect(try transaction.logEntries(after: 0, limit: 10).map(\.bytes) == [[2]])
            #expect(try transaction.logEntries(after: 0, limit: 10).map(\.version) == [transaction.version])
            let request = FetchRequest(
                try opened.store.entity("Human"), predicate: .compare(try opened.store.field("Human", "age"), .equal, .integer(3)))
            #expect(try !transaction.plan(request).isScan)
            #expect(try transaction.ids(request) == Self.people.filter { $0 % 30 == 3 })
        }
        let transaction = try opened.backend.beginWrite()
        #expect(try transaction.reserveIDs(try opened.store.entity("Memo"), count: 1) == 501)
        transaction.rollback()
        // No data of dropped entities is left.
        #expect(opened.engine.keys([0, Keyspace.Metadata.removal.rawValue]) == [], sourceLocation: sourceLocation)
        #expect(opened.engine.keys([0, Keyspace.Metadata.migration.rawValue]) == [], sourceLocation: sourceLocation)
        #expect(opened.engine.keys([0, Keyspace.Metadata.migrationValue.rawValue]) == [], sourceLocation: sourceLocation)
        #expect(opened.engine.keys([Keyspace.record.rawValue]).count == Self.people.count + Int(noteCount))
    }

    private static func expectUnchanged(_ opened: Opened, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try opened.backend.verify() == [], sourceLocation: sourceLocation)
        #expect(try opened.all("Person").count == people.count, sourceLocation: sourceLocation)
        #expect(try opened.all("Note").count == Int(noteCount), sourceLocation: sourceLocation)
        #expect(try opened.store.read { try $0.valueNames(prefix: "") } == ["kept", "removed"], sourceLocation: sourceLocation)
    }

    @Test(arguments: [true, false])
    func entitiesAreCarriedCreatedAndDropped(_ saves: Bool) throws {
        let engine = TestEngine()
        let opened = try Self.filled(engine).migrated(Self.change()) { try Self.map($0, saves: saves) }
        try Self.expectMigrated(opened)
        #expect(try opened.store.read { try $0.version } == 4)
    }

    /// Until the migration is committed, `target` reads the migrated data, while `source` and all other readers read the old data.
    @Test func sourceAndTargetAreTwoStores() throws {
        let engine = TestEngine()
        let opened = try Self.filled(engine)
        let other = try opened.backend.beginRead()
        let migration = try opened.backend.beginMigration(Self.change())
        try Self.map(migration)
        let change = try Self.change()
        let memo = try #require(change.target.entity(named: "Memo"))
        let human = try #require(change.target.entity(named: "Human"))
        #expect(try migration.target.values(human, 7)?["city"] == .text("Rome"))
        #expect(try migration.target.count(FetchRequest(memo)) == Int(Self.noteCount))
        #expect(try migration.target.value(named: "removed") == nil)
        #expect(try migration.target.logEntries(after: 0, limit: 5).map(\.bytes) == [[2]])
        #expect(try migration.source.value(named: "removed") == [4])
        #expect(try migration.source.count(FetchRequest(try #require(change.source.entity(named: "Note")))) == Int(Self.noteCount))
        try Self.expectUnchanged(opened)
        #expect(try other.value(named: "removed") == [4])
        // Copied rows cannot be changed, and the target cannot be committed.
        let changes = Changes(change.target)
        try changes.delete("Human", 1)
        #expect(failure { try migration.target.apply(changes.set) }?.code == .misuse)
        #expect(failure { _ = try migration.target.commit(.full) }?.code == .misuse)
        migration.target.rollback()
        // Unique constraints apply.
        let twice = Changes(change.target)
        try twice.insert("Memo", 900, ["text": .text("memo 1")])
        #expect(failure { try migration.target.apply(twice.set) }?.code == .constraint)
        migration.rollback()
        migration.rollback()
        other.end()
        opened.backend.waitForBackgroundWork()
        try Self.expectUnchanged(opened)
        #expect(failure { try migration.commit() }?.code == .closed)
        let before = try Self.filled(TestEngine())
        #expect(engine.keys() == before.engine.keys())
        #expect(opened.backend.metadata.format == 1)
    }

    @Test func releasedMigrationIsRolledBack() throws {
        let opened = try Self.filled(TestEngine())
        let keys = opened.engine.keys()
        do {
            let migration = try opened.backend.beginMigration(Self.change())
            try Self.map(migration, limit: 100)
        }
        opened.backend.waitForBackgroundWork()
        #expect(opened.engine.keys() == keys)
        try opened.store.write { try $0.delete("Person", 1) }
    }

    @Test func aDuplicateInACarriedEntityRollsTheMigrationBack() throws {
        let opened = try Self.filled(TestEngine())
        try opened.store.write { try $0.update("Person", 240, ["name": .text("name 12")]) }
        let keys = opened.engine.keys()
        let migration = try opened.backend.beginMigration(Self.change(uniqueNames: true))
        let error = failure { try migration.commit() }
        #expect(error?.code == .constraint)
        #expect(error?.entity == "Human")
        #expect(error?.attribute == "label")
        #expect(error?.rowID == 240)
        opened.backend.waitForBackgroundWork()
        #expect(opened.engine.keys() == keys)
        try opened.store.write { try $0.update("Person", 240, ["name": .text("other")]) }
        let migrated = try opened.migrated(Self.change(uniqueNames: true)) { try Self.map($0, uniqueNames: true) }
        try Self.expectMigrated(migrated)
        #expect(failure { try migrated.store.write { try $0.update("Human", 240, ["label": .text("name 12")]) } }?.code == .constraint)
    }

    /// Each commit fails in turn: the store is the old one, the new one, or one whose migration can be resumed.
    @Test func everyCommitCanFail() throws {
        let whole = try Self.filled(TestEngine())
        try whole.backend.close()
        let uninterrupted = try Opened(whole.engine.copy(), Self.source()).migrated(Self.change()) { try Self.map($0) }
        let (finalKeys, finalEngine) = (uninterrupted.engine.keys(), uninterrupted.engine)
        var outcomes: [String: Int] = [:]
        for commits in 0... {
            let engine = whole.engine.copy()
            let opened = try Opened(engine, Self.source())
            engine.fail(after: commits)
            let failed = failure {
                let migration = try opened.backend.beginMigration(try Self.change())
                try Self.map(migration)
                try migration.commit()
            }
            try opened.backend.close()
            engine.fail(after: nil)
            if failed == nil {
                #expect(failure { _ = try Opened(engine.copy(), try Self.source()) }?.code == .migrationRequired)
                let reopened = try Opened(engine, Self.target())
                reopened.backend.waitForBackgroundWork()
                try Self.expectMigrated(reopened)
                break
            }
            #expect(failed?.code == .io)
            let hasJournal = engine[MigrationJournal.key] != nil
            outcomes[hasJournal ? "resumable" : "old", default: 0] += 1
            #expect(failure { _ = try Opened(engine.copy(), try Self.target()) }?.code == .migrationRequired)
            // A read-only opening shows the old store unchanged.
            try Self.expectUnchanged(try Opened(engine.copy(), Self.source(), isReadOnly: true))
            // Staged data is removed by opening the store for writing, and by a write to a store that was opened to resume the migration.
            let writing = try Opened(engine.copy(), Self.source(), keepsMigration: commits % 2 == 0)
            try writing.store.write { try $0.delete("Person", 240) }
            writing.backend.waitForBackgroundWork()
            #expect(try writing.backend.verify() == [])
            #expect(writing.engine.keys([Keyspace.record.rawValue]).count == whole.engine.keys([Keyspace.record.rawValue]).count - 1)
            #expect(writing.engine[Keyspace.Metadata.format.key()] == [0, 0, 0, 1])
            // Another migration does not resume the staged one.
            let other = try Opened(engine.copy(), Self.source(), keepsMigration: true)
            let migration = try other.backend.beginMigration(try Self.change(identifier: "second"))
            #expect(migration.savedPosition == nil)
            migration.rollback()
            // The same migration resumes.
            let again = try Opened(engine, Self.source(), keepsMigration: true)
            #expect(try again.backend.verify() == [])
            let position = engine[MigrationJournal.positionKey] != nil
            let resumed = try again.migrated(Self.change()) { migration in
                #expect((migration.savedPosition != nil) == position)
                try Self.map(migration)
            }
            try Self.expectMigrated(resumed)
            #expect(resumed.engine.keys() == finalKeys)
            #expect(finalKeys.allSatisfy { $0[0] == 0 || resumed.engine[$0] == finalEngine[$0] })
        }
        #expect(outcomes["old", default: 0] == 1)
        #expect(outcomes["resumable", default: 0] > 5, "\(outcomes)")
    }

    /// The removal of dropped data is interrupted at each of its commits.
    @Test func removalIsContinuedByTheNextOpening() throws {
        let engine = TestEngine()
        let migration = try Self.filled(engine).backend.beginMigration(Self.change())
        try Self.map(migration)
        try migration.commit()
        #expect(engine.keys([0, Keyspace.Metadata.removal.rawValue]).count > 3)
        for commits in 0... {
            let copy = engine.copy()
            copy.fail(after: commits)
            let opened = try Opened(copy, Self.target())
            opened.backend.waitForBackgroundWork()
            #expect(try opened.backend.verify() == [])
            try opened.backend.close()
            copy.fail(after: nil)
            let isDone = copy.keys([0, Keyspace.Metadata.removal.rawValue]).isEmpty
            let again = try Opened(copy, Self.target())
            again.backend.waitForBackgroundWork()
            try Self.expectMigrated(again)
            if isDone { break }
            #expect(commits < 100)
        }
    }

    @Test func othersOfTheProcessCannotWriteMeanwhile() throws {
        let engine = TestEngine(migrationTimeout: .milliseconds(50))
        let handle = EngineHandle(private: engine)
        let schema = try Self.source()
        let first = try KeyValueBackend(handle, OpenRequest(schema: schema, logger: SilentLogger()))
        handle.retain()
        let second = try KeyValueBackend(handle, OpenRequest(schema: schema, logger: SilentLogger()))
        let store = Store(second, schema)
        try store.write { try $0.insert("Person", 1, ["name": .text("a")]) }
        let migration = try first.beginMigration(Self.change())
        #expect(failure { try store.write { try $0.insert("Person", 2, [:]) } }?.code == .busy)
        #expect(failure { _ = try second.beginMigration(try Self.change()) }?.code == .busy)
        #expect(try store.ids("Person") == [1])
        try migration.commit()
        #expect(failure { try store.write { try $0.insert("Person", 2, [:]) } }?.code == .differentStoreAtURL)
        #expect(failure { _ = try store.ids("Person") }?.code == .differentStoreAtURL)
        #expect(failure { _ = try first.beginRead() }?.code == .closed)
    }

    /// The direction of a link table is reversed when its relationships exchange their names.
    @Test func linkTablesAreReversed() throws {
        func schema(_ first: String, _ second: String) throws -> ResolvedSchema {
            try Migrations.schema(
                EntityDescription(
                    name: "A",
                    properties: [
                        .relationship(
                            RelationshipDescription(name: first, destination: "A", isToMany: true, isOrdered: true, inverse: second)),
                        .relationship(RelationshipDescription(name: second, destination: "A", isToMany: true)),
                    ]))
        }
        let source = try schema("a", "b")
        let target = try schema("z", "b")
        let engine = TestEngine()
        let opened = try Opened(engine, source)
        try opened.store.write { changes in
            for id in Int64(1)...9 { try changes.insert("A", id) }
            for id in Int64(2)...9 {
                changes.set.link(ChangeSet.LinkChange(table: 0, source: 1, target: id, isAddition: true, targetPosition: -id))
            }
        }
        #expect(source.links.map(\.name) == ["A_a"])
        #expect(target.links.map(\.name) == ["A_b"])
        let change = try SchemaChange.byName(source, target, links: ["A_b": ("A_a", true)])
        let migrated = try opened.migrated(change)
        func check(_ opened: Opened, _ name: String) throws {
            try opened.store.read { transaction throws in
                #expect(try opened.targets(transaction, "A", name, 1) == [9, 8, 7, 6, 5, 4, 3, 2])
                #expect(try opened.targets(transaction, "A", "b", 3) == [1])
            }
            #expect(try opened.backend.verify() == [])
        }
        try check(migrated, "z")
        #expect(migrated.backend.metadata.format == 2)
        try migrated.store.write { changes in
            changes.set.link(ChangeSet.LinkChange(table: 0, source: 2, target: 1, isAddition: false))
            changes.set.link(ChangeSet.LinkChange(table: 0, source: 2, target: 1, isAddition: true, sourcePosition: 100))
        }
        try migrated.store.read { transaction throws in
            #expect(try migrated.targets(transaction, "A", "z", 1) == [9, 8, 7, 6, 5, 4, 3, 2])
        }
        let back = try migrated.migrated(try SchemaChange.byName(target, source, links: ["A_a": ("A_b", true)]))
        try check(back, "a")
        #expect(back.backend.metadata.format == 1)
    }

    @Test func invalidSchemaChangesAreRefused() throws {
        let opened = try Self.filled(TestEngine())
        let source = try Self.source()
        let wrong = try SchemaChange.byName(
            source, Self.target(), entities: ["Human": "Person"], fields: ["Human": ["city": .constant(.integer(1))]])
        #expect(failure { _ = try opened.backend.beginMigration(wrong) }?.code == .misuse)
        let other = try SchemaChange.byName(Self.target(), source)
        #expect(failure { _ = try opened.backend.beginMigration(other) }?.code == .misuse)
        try opened.store.write { try $0.delete("Person", 1) }
        let reader = try Opened(opened.engine, source, isReadOnly: true)
        #expect(failure { _ = try reader.backend.beginMigration(try Self.change()) }?.code == .readOnly)
    }

    @Test func batchThatIsTooLargeIsReported() throws {
        let opened = try Self.filled(TestEngine())
        let engine = TestEngine(maximumTransactionSize: 200_000, copying: opened.engine)
        let small = try Opened(engine, Self.source())
        let migration = try small.backend.beginMigration(Self.change())
        let error = failure { try Self.map(migration, saves: false) }
        #expect(error?.code == .full)
        #expect(error?.message.contains("save(_:)") == true)
        migration.rollback()
        small.backend.waitForBackgroundWork()
        try Self.expectUnchanged(small)
    }
}
