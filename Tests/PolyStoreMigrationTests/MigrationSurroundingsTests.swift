import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import TestSupport
import Testing

/// Histories, monitors and other stacks during a migration.
@Suite
struct MigrationSurroundingsTests {
    private func earlier(_ change: (inout SchemaDescription) -> Void) throws -> ResolvedSchema {
        var description = SchemaDescription.current
        change(&description)
        description.name = "Earlier"
        return try ResolvedSchema(description)
    }

    @Test("the history is kept, and continues after the migration", arguments: Backend.persistent)
    func history(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        // The first version is the current one; the second has an additional class.
        var token: HistoryToken?
        do {
            let stack = try DataStack(currentSchema, logger: SilentLogger())
            try stack.addStore(store, history: HistoryOptions())
            try await stack.perform(sourceIdentifier: "first") { transaction in
                for number in 0..<5 {
                    let member = try transaction.create(Into<Member>())
                    member.email = "\(number)"
                }
            }
            token = try await stack.history().token
            try await stack.perform(sourceIdentifier: "second") { transaction in
                try transaction.fetchOne(From<Member>(), Where(\.email == "3"))?.nickname = "three"
            }
        }
        let grown = Schema("Grown", Member.self, Club.self, Badge.self, Locker.self)
        let stack = try DataStack(grown, logger: SilentLogger())
        try await stack.addStore(store, migrating: .lightweight, history: HistoryOptions())
        try await stack.perform(sourceIdentifier: "third") { transaction in try transaction.create(Into<Locker>()).number = 7 }
        let entries = Array(try await stack.history(since: token))
        #expect(entries.map(\.author) == ["second", "third"])
        #expect(entries.first?.changes.first?.changedKeys == ["nickname"])
        #expect(entries.first?.updatedObjectIDs(Member.self).count == 1)
        #expect(entries.last?.insertedObjectIDs(Locker.self).count == 1)
    }

    @Test("a view and its monitors include the objects of a store that is added with a migration", arguments: Backend.persistent)
    @MainActor
    func monitors(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let contents = try store.fill(
            earlier {
                $0["Member"].attribute("label") {
                    $0.type = .int64
                    $0.defaultValue = nil
                }
            }, rows: 60)
        let stack = try DataStack(currentSchema, logger: SilentLogger())
        try stack.addStore(.inMemory(), configuration: nil)
        let monitor = try stack.view.monitorList(From<Member>().orderBy(.ascending(\.email)))
        #expect(monitor.count == 0)
        try await stack.addStore(store, migrating: .lightweight)
        _ = try stack.view.fetchCount(From<Member>())
        #expect(monitor.count == contents.entities["Member"]?.count)
        for member in monitor { #expect(Int(member.label) != nil) }
    }

    @Test("a stack that has the store open in the old version receives an error", arguments: [Backend.sqlite, .lmdb, .levelDB])
    func oldStack(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let small = try DataStack(Schema("Small", Locker.self), logger: SilentLogger())
        try small.addStore(store)
        try await small.perform { try $0.create(Into<Locker>()).number = 1 }
        let large = try DataStack(Schema("Large", Locker.self, Key.self), logger: SilentLogger())
        try await large.addStore(store, migrating: .lightweight)
        try await large.perform { try $0.create(Into<Key>()).label = "a" }
        let read = #expect(throws: StoreError.self) { try small.readAndWait { try $0.fetchCount(From<Locker>()) } }
        #expect(read?.code == .differentStoreAtURL, "\(read.map { "\($0)" } ?? "")")
        let write = await #expect(throws: StoreError.self) { try await small.perform { try $0.create(Into<Locker>()).number = 2 } }
        #expect(write?.code == .differentStoreAtURL, "\(write.map { "\($0)" } ?? "")")
        #expect(try large.readAndWait { try $0.fetchCount(From<Locker>()) } == 1)
    }

    @Test(
        "a store that is opened with other indexes can be used by those who have it open, or they open it again",
        arguments: Backend.persistent)
    func otherIndexes(_ backend: Backend) throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        func schema(isIndexed: Bool) throws -> ResolvedSchema {
            let number = PropertyDescription.attribute(
                AttributeDescription(name: "number", type: .int64, isIndexed: isIndexed, defaultValue: .integer(0)))
            return try ResolvedSchema(
                SchemaDescription(name: "Lockers", entities: [EntityDescription(name: "Locker", properties: [number])]))
        }
        func open(_ schema: ResolvedSchema) throws -> any StorageBackend {
            try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        }
        func insert(_ number: Int64, _ backend: any StorageBackend, _ schema: ResolvedSchema) throws {
            let writer = try backend.beginWrite()
            let changes = ChangeSet(schema)
            try changes.insert(schema.entities[0], rowID: number) { try $0.set(schema.entities[0].fields[0], .integer(number)) }
            do { try writer.apply(changes) } catch {
                writer.rollback()
                throw error
            }
            _ = try writer.commit(.relaxed)
        }
        func ids(_ backend: any StorageBackend, _ schema: ResolvedSchema, _ number: Int64) throws -> Int {
            let reader = try backend.beginRead()
            defer { reader.end() }
            let field = FieldReference(schema.entities[0].fields[0])
            return try reader.count(FetchRequest(schema.entities[0], predicate: .compare(field, .equal, .integer(number))))
        }
        for isIndexed in [true, false] {
            let (former, newer) = (try schema(isIndexed: !isIndexed), try schema(isIndexed: isIndexed))
            let base: Int64 = isIndexed ? 0 : 10
            let first = try open(former)
            try insert(base + 1, first, former)
            guard backend == .sqlite else {
                // The record layer maintains the indexes that it knows, so a store has one set of indexes in a process.
                let refused = #expect(throws: StoreError.self) { try open(newer) }
                #expect(refused?.code == .busy, "\(refused.map { "\($0)" } ?? "")")
                try first.close()
                let second = try open(newer)
                #expect(try ids(second, newer, base + 1) == 1)
                #expect(try second.verify() == [])
                try second.close()
                continue
            }
            let second = try open(newer)
            try insert(base + 2, second, newer)
            try insert(base + 3, first, former)
            #expect(try ids(first, former, base + 2) == 1)
            let numbers = [base + 1, base + 2, base + 3]
            for number in numbers { #expect(try ids(second, newer, number) == 1, "\(number)") }
            #expect(try second.verify() == [])
            try first.close()
            try second.close()
            let again = try open(newer)
            #expect(try again.verify() == [])
            for number in numbers { #expect(try ids(again, newer, number) == 1, "\(number)") }
            try again.close()
        }
    }

    @Test("two stacks migrate one store concurrently: the second opens the result", arguments: [Backend.sqlite, .lmdb, .levelDB])
    func twice(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        _ = try store.fill(
            earlier {
                $0["Member"].attribute("label") {
                    $0.type = .int64
                    $0.defaultValue = nil
                }
            }, rows: 300)
        let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
            for _ in 0..<4 {
                group.addTask { try await DataStack(currentSchema, logger: SilentLogger()).upgradeStoreIfNeeded(store) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.map(\.steps.count).sorted() == [0, 0, 0, 1])
    }

    @Test("a version lock names what changed, and the migration from the locked version")
    func lock() throws {
        let released = Schema("Lockers 1", Locker.self).locked
        let lock = Schema("Lockers 1", Locker.self).versionLock
        var old = released
        old = LockedSchema(
            "Lockers 0",
            entities: old.entities.map { entity in
                var entity = entity
                entity.remove("number")
                return entity
            })
        let oldLock = VersionLock(
            Dictionary(uniqueKeysWithValues: old.entities.map { ($0.name, SchemaDescription(name: "", entities: [$0]).versionHash) }))
        _ = try DataStack(SchemaHistory(Schema("Lockers 1", [Locker.self], versionLock: lock)))
        let error = #expect(throws: StoreError.self) {
            try DataStack(SchemaHistory(old, Schema("Lockers 1", [Locker.self], versionLock: oldLock)))
        }
        #expect(error?.code == .invalidSchema)
        #expect(error?.message.contains("Locker was changed") ?? false)
        #expect(
            error?.message.contains("The migration from the locked version would be: Locker.number is added.") ?? false,
            "\(error?.message ?? "")")
    }
}

@Model
final class Locker {
    var number: Int = 0
    var note: String?
}

@Model
final class Key {
    var label: String = ""
}
