import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Mappings of an application, on every backend.
@Suite
struct SchemaMappingTests {
    /// Persons with their address in separate columns, customers, and log lines.
    private static let old = SchemaDescription(
        name: "Old",
        entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "first", type: .string)),
                    .attribute(AttributeDescription(name: "last", type: .string)),
                    .attribute(AttributeDescription(name: "street", type: .string)),
                    .attribute(AttributeDescription(name: "salary", type: .string, isOptional: true)),
                    .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                ]),
            EntityDescription(
                name: "Customer",
                properties: [
                    .attribute(AttributeDescription(name: "fullName", type: .string)),
                    .relationship(RelationshipDescription(name: "knows", destination: "Person", isToMany: false)),
                ]),
            EntityDescription(name: "LogLine", properties: [.attribute(AttributeDescription(name: "text", type: .string))]),
        ])

    private static let schema = Schema("New", Person.self, Address.self)

    /// Creates `count` persons, every third a friend of the next, half as many customers, and log lines.
    private func fill(_ store: StoreConfiguration, _ count: Int) throws {
        let schema = try ResolvedSchema(Self.old)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let (person, customer, line) = (schema.entities[0], schema.entities[1], schema.entities[2])
        for (entity, number) in [(person, count), (customer, count / 2), (line, 10)] where number > 0 {
            _ = try writer.reserveIDs(entity, count: number)
            for id in 1...Int64(number) {
                try changes.insert(entity, rowID: id) { builder in
                    switch entity.name {
                    case "Person":
                        try builder.set(entity.fields[0], .text("First \(id)"))
                        try builder.set(entity.fields[1], .text("Last \(id)"))
                        try builder.set(entity.fields[2], .text("Street \(id % 10)"))
                        if id % 2 == 0 { try builder.set(entity.fields[3], .text("\(id * 100)")) }
                    case "Customer":
                        try builder.set(entity.fields[0], .text("Customer \(id)"))
                        try builder.set(entity.fields[1], .integer(id))
                    default: try builder.set(entity.fields[0], .text("line"))
                    }
                }
            }
        }
        for id in stride(from: Int64(1), to: Int64(count), by: 3) {
            changes.link(ChangeSet.LinkChange(table: 0, source: id, target: id + 1, isAddition: true))
            changes.link(ChangeSet.LinkChange(table: 0, source: id + 1, target: id, isAddition: true))
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    private static func mapping(dropping dropped: Int64 = -1, beginning: @escaping @Sendable () throws -> Void = {}) -> SchemaMapping {
        SchemaMapping(
            from: "Old", to: "New",
            [
                .transform("Person", to: "Person") { old, migration in
                    if old.rowID == dropped { return }
                    let new = try migration.copy(old, to: "Person")
                    new["name"] = .text("\(old["first"]?.string ?? "") \(old["last"]?.string ?? "")")
                    new["salary"] = old["salary"]?.string.flatMap(Int64.init).map { .integer($0) }
                    let street = old["street"] ?? ""
                    let known = try migration.first("Address", where: "street", equals: street)
                    let address = try known ?? migration.insert("Address")
                    address["street"] = street
                    new.set("address", to: address)
                },
                .transform("Customer", to: "Person") { old, migration in
                    let new = try migration.copy(old, to: "Person")
                    new["name"] = old["fullName"]
                    if let friend = try old.object("knows"), let copy = try migration.object("Person", copiedFrom: friend) {
                        new.add(copy, to: "friends")
                    }
                },
                .delete("LogLine"),
            ],
            before: { migration in
                try beginning()
                let address = try migration.insert("Address")
                address["street"] = .text("\(try migration.countOfOldObjects("Person")) persons")
            },
            after: { migration in
                var count = 0
                try migration.forEachOldObject("LogLine") { _ in count += 1 }
                if let first = try migration.first("Address", where: "street", equals: "Street 0") {
                    first["street"] = .text("Street 0, \(count) lines")
                }
            })
    }

    @Test("split, merge, drop and compute", arguments: Backend.persistent, [0, 1, 5_000])
    func transform(_ backend: Backend, _ count: Int) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, count)
        let history = SchemaHistory(Self.schema, mappings: [Self.mapping(dropping: 4)])
        let stack = try DataStack(history, logger: SilentLogger())
        #expect(try stack.requiredMigrationsAndWait(for: store) == [.heavyweight(sourceVersion: "Old", destinationVersion: "New")])
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        let persons = count - (count >= 4 ? 1 : 0)
        try await stack.read { context in
            #expect(try context.fetchCount(From<Person>()) == persons + count / 2)
            #expect(try context.fetchCount(From<Address>()) == (count == 0 ? 1 : min(count, 10) + 1))
            for person in try context.fetchAll(From<Person>(), Where(\.last != "")) {
                let id = try #require(Int64(person.last.dropFirst(5)))
                #expect(person.objectID.rowID == id)
                #expect(person.name == "First \(id) Last \(id)")
                #expect(person.salary == (id % 2 == 0 ? Int(id) * 100 : nil))
                #expect(person.address?.street == (id % 10 == 0 ? "Street 0, 10 lines" : "Street \(id % 10)"))
                // The friend of a removed person has no friend.
                let friends = Set(person.friends.filter { $0.last != "" }.map { $0.objectID.rowID })
                let expected: Set<Int64> = id % 3 == 1 ? [id + 1] : id % 3 == 2 ? [id - 1] : []
                #expect(friends == expected.filter { $0 != 4 && $0 <= Int64(count) })
            }
            let customers = try context.fetchAll(From<Person>(), Where(\.last == ""))
            #expect(customers.count == count / 2)
            for customer in customers {
                let id = try #require(Int64(customer.name.dropFirst(9)))
                #expect(customer.friends.map { $0.objectID.rowID } == (id == 4 ? [] : [id]))
            }
        }
        // New objects do not reuse row ids.
        let key = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.name = "New"
            return person.objectID.rowID
        }
        #expect(key > Int64(count))
    }

    @Test("a mapping with an error does not change the store", arguments: Backend.persistent)
    func failing(_ backend: Backend) async throws {
        struct Failure: Error {}
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 5_000)
        let before = try store.contents(ResolvedSchema(Self.old))
        func attempt(_ part: EntityMapping) async -> (any Error)? {
            let history = SchemaHistory(
                Self.schema, mappings: [SchemaMapping(from: "Old", to: "New", [part, .delete("LogLine"), .delete("Customer")])])
            do {
                try await DataStack(history, logger: SilentLogger()).addStore(store, migrating: .chain)
                return nil
            } catch { return error }
        }
        let thrown = await attempt(
            .update("Person") { old, new in
                new["name"] = "x"
                if old.rowID == 4_321 { throw Failure() }
            })
        #expect(thrown is Failure)
        let missing = await attempt(.update("Person") { old, new in if old.rowID != 4_321 { new["name"] = "x" } }) as? StoreError
        #expect(missing?.code == .constraint)
        #expect(missing?.attribute == "name" && missing?.rowID == 4_321)
        let unknown = await attempt(.update("Person") { _, new in new["nme"] = "x" }) as? StoreError
        #expect(unknown?.message.contains("Person has no attribute \"nme\"") ?? false)
        let misfit = await attempt(.update("Person") { _, new in new["salary"] = "much" }) as? StoreError
        #expect(misfit?.code == .invalidValue)
        let entity = await attempt(.transform("Person", to: "Human") { _, _ in }) as? StoreError
        #expect(entity?.code == .invalidSchema)
        #expect(try store.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
    }

    /// The inner migration would wait for the outer one, which runs on the same thread.
    @Test("a mapping that migrates its own store", arguments: Backend.persistent)
    func inside(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 5)
        let before = try store.contents(ResolvedSchema(Self.old))
        let history = SchemaHistory(
            Self.schema,
            mappings: [
                Self.mapping(beginning: {
                    let inner = try DataStack(SchemaHistory(Self.schema, mappings: [Self.mapping()]), logger: SilentLogger())
                    try inner.upgradeStoreIfNeededAndWait(store)
                })
            ])
        let stack = try DataStack(history, logger: SilentLogger())
        for migrate in [{ try await stack.upgradeStoreIfNeeded(store) }, { try await stack.rehearseMigration(of: store) }] {
            let error = await #expect(throws: StoreError.self) { _ = try await migrate() }
            #expect(error?.code == .misuse, "\(String(describing: error))")
            #expect(error?.message.contains(store.location) ?? false, "\(String(describing: error))")
        }
        #expect(try store.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
        // The lock is free again.
        let other = try DataStack(SchemaHistory(Self.schema, mappings: [Self.mapping()]), logger: SilentLogger())
        try await other.addStore(store, migrating: .chain)
    }

    /// The caller knows the row ids of the old version alone.
    @Test("errors about new objects name what they were made of, or no object", arguments: Backend.persistent)
    func messages(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 5)
        func message(_ parts: [EntityMapping]) async -> String {
            let history = SchemaHistory(Self.schema, mappings: [SchemaMapping(from: "Old", to: "New", parts + [.delete("LogLine")])])
            do {
                try await DataStack(history, logger: SilentLogger()).addStore(store, migrating: .chain)
                return "nothing was thrown"
            } catch { return (error as? StoreError)?.message ?? "\(error)" }
        }
        let named = EntityMapping.update("Person") { _, new in new["name"] = "x" }
        let inserted = await message([
            named, .transform("Customer", to: "Person") { _, migration in _ = try migration.insert("Person") },
        ])
        #expect(inserted.contains("Person.name must have a value, and a new object has none"), "\(inserted)")
        let merged = await message([
            named, .transform("Customer", to: "Person") { old, migration in _ = try migration.copy(old, to: "Person") },
        ])
        #expect(merged.contains("Person.name must have a value, and the object made of Customer 1 has none"), "\(merged)")
        let kept = await message([.update("Person") { old, new in if old.rowID != 3 { new["name"] = "x" } }, .delete("Customer")])
        #expect(kept.contains("Person.name must have a value, and object 3 has none"), "\(kept)")
    }

    @Test("two entities become one, in either order: no object takes the row id of another", arguments: Backend.persistent, [false, true])
    func merging(_ backend: Backend, _ transformsFirst: Bool) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let locker = Schema("Lockers", Locker.self).locked.entities[0]
        var box = locker
        box.name = "Box"
        let schema = try ResolvedSchema(SchemaDescription(name: "Old", entities: [locker, box]))
        let backendOfOld = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try backendOfOld.beginWrite()
        let changes = ChangeSet(schema)
        for (entity, count) in [(schema.entities[0], 50), (schema.entities[1], 3)] {
            _ = try writer.reserveIDs(entity, count: count)
            for id in 1...Int64(count) {
                try changes.insert(entity, rowID: id) { builder in
                    try builder.set(entity.fields[0], .integer(id))
                    try builder.set(entity.fields[1], .text(entity.name))
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backendOfOld.close()
        let parts: [EntityMapping] = [
            .copy("Locker"), .transform("Box", to: "Locker") { old, migration in try migration.copy(old, to: "Locker") },
        ]
        let mapping = SchemaMapping(from: "Old", to: "Lockers", transformsFirst ? parts.reversed() : parts)
        let stack = try DataStack(SchemaHistory(Schema("Lockers", Locker.self), mappings: [mapping]), logger: SilentLogger())
        try await stack.addStore(store, migrating: .chain)
        let found = try await stack.read { context in
            try context.fetchAll(From<Locker>()).map { "\($0.note ?? "") \($0.number)" }.sorted()
        }
        #expect(found == ((1...50).map { "Locker \($0)" } + (1...3).map { "Box \($0)" }).sorted())
        let key = try await stack.perform { try $0.create(Into<Locker>()).objectID.rowID }
        #expect(key > 53)
    }

    @Test("references to a deleted object are removed", arguments: Backend.persistent)
    func deleting(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 3_000)
        let mapping = SchemaMapping(
            from: "Old", to: "New",
            [
                .transform("Person") { old, migration in
                    let new = try migration.copy(old, to: "Person")
                    new["name"] = old["last"]
                    let address = try migration.insert("Address")
                    new.set("address", to: address)
                    if old.rowID % 2 == 0 { migration.delete(address) }
                }, .delete("Customer"), .delete("LogLine"),
            ],
            after: { migration in
                for name in ["Last 1", "Last 5", "Last 2999"] {
                    let person = try migration.first("Person", where: "last", equals: .text(name))
                    if let person { migration.delete(person) }
                }
                if let address = try migration.first("Address", where: "street", equals: "") { migration.delete(address) }
            })
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        let added = try await stack.addStore(store, migrating: .chain)
        let findings = try added.verifyAndWait()
        #expect(findings == [], "\(findings.prefix(5))")
        try await stack.read { context throws in
            #expect(try context.fetchCount(From<Person>()) == 2_997)
            #expect(try context.fetchCount(From<Address>()) == 1_499)
            let count = try context.fetchCount(From<Person>(), Where(\.address != nil))
            #expect(count == 1_499 - 2)
            #expect(try context.fetchOne(From<Person>(), Where(\.last == "Last 2"))?.friends.isEmpty == true)
            #expect(try context.fetchOne(From<Person>(), Where(\.last == "Last 4"))?.friends.isEmpty == true)
        }
    }

    @Test("changes after a lookup are written, those of deleted objects are not", arguments: Backend.persistent)
    func lookUps(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let rows = Ring.size(1_000, thorough: 3_000)
        try fill(store, rows)
        let mapping = SchemaMapping(
            from: "Old", to: "New",
            [
                .transform("Person") { old, migration in
                    let new = try migration.copy(old, to: "Person")
                    new["name"] = "written first"
                    let last = old["last"] ?? ""
                    let found = try migration.first("Person", where: "last", equals: last)
                    #expect(found === new)
                    new["name"] = "written second"
                    guard old.rowID % 3 == 0 else { return }
                    if old.rowID % 2 == 0 { _ = try migration.first("Person", where: "last", equals: last) }
                    migration.delete(new)
                    new["name"] = "deleted"
                    let deleted = try migration.first("Person", where: "last", equals: last)
                    #expect(deleted == nil)
                    new["name"] = "deleted and written"
                }, .delete("Customer"), .delete("LogLine"),
            ])
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        let added = try await stack.addStore(store, migrating: .chain)
        #expect(try added.verifyAndWait() == [])
        let names = try await stack.read { try $0.fetchAll(From<Person>()).map { "\($0.objectID.rowID % 3) \($0.name)" } }
        #expect(names.count == rows - rows / 3)
        #expect(Set(names) == ["1 written second", "2 written second"])
    }

    @Test("a rehearsal changes nothing and reports lost values", arguments: Backend.persistent)
    func rehearsal(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 100)
        let before = try store.contents(ResolvedSchema(Self.old))
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [Self.mapping()]), logger: SilentLogger())
        let report = try await stack.rehearseMigration(of: store)
        #expect(report.isPossible)
        #expect(report.steps.map(\.rewrittenObjects) == [161])
        #expect(report.findings.map(\.entity) == ["LogLine"])
        #expect(report.findings.first?.count == 10)
        #expect("\(report)".contains("entity LogLine is removed"))
        #expect(try store.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
        // The same migration can be retried.
        try await stack.addStore(store, migrating: .chain)
    }

    @Test("progress is published and cancelling does not change the store", arguments: Backend.persistent)
    func progress(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 9_000)
        let before = try store.contents(ResolvedSchema(Self.old))
        let cancels = Protected<(@Sendable () -> Void)?>(nil)
        let mapping = SchemaMapping(
            from: "Old", to: "New",
            [
                .update("Person") { old, new in
                    new["name"] = "x"
                    if old.rowID == 5_000 { cancels.withLock { $0 }?() }
                }, .delete("Customer"), .delete("LogLine"),
            ])
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [mapping]), logger: SilentLogger())
        // The closure can run before the handle of the run exists.
        let wanted = Protected(false)
        cancels.withLock { $0 = { wanted.withLock { $0 = true } } }
        let run = stack.startAddingStore(store, migrating: .chain)
        cancels.withLock { $0 = { run.cancel() } }
        if wanted.withLock({ $0 }) { run.cancel() }
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        #expect(try store.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
        cancels.withLock { $0 = nil }
        let second = stack.startAddingStore(store, migrating: .chain)
        var last: MigrationProgress?
        for await progress in second.updates { last = progress }
        _ = try await second.value
        #expect(last?.isFinished == true)
        #expect(last?.rows == 9_000)
        #expect(second.progress.fractionCompleted == 1)
        #expect(second.report?.steps.first?.rewrittenObjects == 9_000)
    }

    @Test("a copy of the old store is kept", arguments: [Backend.sqlite, .lmdb, .levelDB])
    func copy(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 200)
        let before = try store.contents(ResolvedSchema(Self.old))
        let kept = backend.store(in: folder, "kept")
        let stack = try DataStack(SchemaHistory(Self.schema, mappings: [Self.mapping()]), logger: SilentLogger())
        try await stack.addStore(store, migrating: .chain.keepingCopy(at: kept.location))
        #expect(try kept.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
    }

    @Test("the copy of a migration that does not happen is deleted, and the next attempt can write it", arguments: Backend.persistent)
    func copyOfAFailure(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, 200)
        let before = try store.contents(ResolvedSchema(Self.old))
        let kept = backend.store(in: folder, "kept")
        let policy = MigrationPolicy.chain.keepingCopy(at: kept.location)
        struct Failure: Error {}
        func stack(_ body: @escaping @Sendable () throws -> Void) throws -> DataStack {
            try DataStack(SchemaHistory(Self.schema, mappings: [Self.mapping(beginning: body)]), logger: SilentLogger())
        }
        func isUnchanged(_ what: String) throws {
            #expect(!FileManager.default.fileExists(atPath: kept.location), "\(what)")
            #expect(kept.files.filter { FileManager.default.fileExists(atPath: $0) } == [], "\(what)")
            #expect(try store.contents(ResolvedSchema(Self.old)).differences(from: before) == [], "\(what)")
        }
        // A closure throws after the copy was written.
        await #expect(throws: (any Error).self) {
            try await stack {
                #expect(FileManager.default.fileExists(atPath: kept.location))
                throw Failure()
            }.upgradeStoreIfNeeded(store, migrating: policy)
        }
        try isUnchanged("an error of a closure")
        // A path that is taken belongs to another file.
        let other = Data("another file".utf8)
        try other.write(to: URL(fileURLWithPath: kept.location))
        await #expect(throws: StoreError.self) { try await stack {}.upgradeStoreIfNeeded(store, migrating: policy) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept.location)) == other)
        try FileManager.default.removeItem(atPath: kept.location)
        let report = try await stack {}.upgradeStoreIfNeeded(store, migrating: policy)
        #expect(report.copy == kept.location)
        #expect(try kept.contents(ResolvedSchema(Self.old)).differences(from: before) == [])
    }
}
