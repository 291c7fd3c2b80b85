import CSQLite
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

/// Ids of a hierarchy, and refused operations.
@Suite struct InheritanceIdentityTests {
    @Test(arguments: Backend.forObjectLayer)
    func anObjectIsUniqueForAllClassesOfItsHierarchy(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let bob = try parties.id(Worker.self, "Bob")
        let above = try #require(bob.cast(to: Party.self))
        #expect(above.untyped == bob.untyped)
        #expect(above.cast(to: Worker.self) == bob)
        #expect(bob.cast(to: Firm.self) == nil)
        #expect(bob.cast(to: Visit.self) == nil)
        #expect((bob.entityName, above.entityName) == ("Worker", "Party"))
        #expect(parties.stack.objectID(bob.uri, for: Party.self) == above)
        #expect(parties.stack.objectID(above.uri, for: Worker.self) == bob)
        try parties.read { context throws in
            let worker = try #require(try context.fetchExisting(bob))
            let party = try #require(try context.fetchExisting(above))
            #expect(worker === party)
            #expect(party.objectID == above)
            #expect(try context.fetchAll(From<Human>(), Where(\.name == "Bob")).first === worker)
        }
    }

    @Test(arguments: Backend.forObjectLayer, [false, true])
    func anIdOfAnotherClassFindsNothing(_ backend: Backend, _ isAlive: Bool) throws {
        let parties = try Parties(backend)
        let bob = try parties.id(Party.self, "Bob")
        let ann = try parties.id(Party.self, "Ann")
        let acme = try parties.id(Party.self, "Acme")
        let asFirm = try #require(bob.cast(to: Firm.self))
        let asWorker = try #require(ann.cast(to: Worker.self))
        let asHuman = try #require(acme.cast(to: Human.self))
        @Sendable func keepAlive(_ context: Context) throws -> [Party] { isAlive ? try context.fetchAll(From<Party>()) : [] }
        try parties.read { context throws in
            let held = try keepAlive(context)
            #expect(try context.fetchExisting(asFirm) == nil)
            #expect(try context.fetchExisting(asWorker) == nil)
            #expect(try context.fetchExisting([asHuman]).isEmpty)
            #expect(try context.fetchExisting([bob, ann]).map { $0.name } == ["Bob", "Ann"])
            withExtendedLifetime(held) {}
        }
        for attempt in 0..<2 {
            expectError(.notFound) {
                try parties.write { transaction throws in
                    let held = try keepAlive(transaction)
                    defer { withExtendedLifetime(held) {} }
                    if attempt == 0 { try transaction.edit(asFirm).revenue = 1 } else { try transaction.object(with: asWorker).badge = "" }
                }
            }
        }
        try parties.write { transaction throws in
            let held = try keepAlive(transaction)
            try transaction.delete([asFirm])
            try transaction.delete(asWorker)
            try transaction.delete([asHuman, try #require(bob.cast(to: Human.self))])
            withExtendedLifetime(held) {}
        }
        #expect(try parties.read { try $0.fetchAll(From<Party>().orderBy(.ascending(\.name))).names } == ["Acme", "Ann", "Cy", "Zeta"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aMissingObjectOfAHierarchyIsReported(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let bob = try parties.id(Party.self, "Bob")
        try parties.write { try $0.delete(bob) }
        #expect(try parties.read { try $0.fetchExisting(bob) == nil })
        expectError(.notFound) { try parties.write { _ = try $0.object(with: bob) } }
    }

    @MainActor @Test(arguments: Backend.forObjectLayer)
    func aLazyListReportsDeletedObjects(_ backend: Backend) throws {
        let parties = try Parties(backend, expectsSilence: false)
        let cy = try parties.id(Party.self, "Cy")
        let list = try parties.stack.view.fetchLazily(From<Party>().orderBy(.ascending(\.name)), batchSize: 2)
        try parties.stack.performAndWait { transaction throws in
            try transaction.deleteAll(From<Firm>(), Where(\.name == "Zeta"))
            try transaction.delete(cy)
        }
        #expect(list.map { $0.isDeleted } == [false, false, false, true, true])
    }

    @Test func severalStoresGiveOneOrder() throws {
        let folder = try Folder()
        let schema = Schema(
            "Split", [Party.self, Visit.self], configurations: ["A": [Party.self, Visit.self], "B": [Firm.self, Visit.self, Party.self]])
        let stack = try DataStack(schema)
        try stack.addStore(.inMemory(), configuration: "A")
        try stack.addStore(.sqlite(file: folder.path + "/b.sqlite"), configuration: "B")
        try stack.performAndWait { transaction throws in
            for (store, names) in [("A", ["d", "b"]), ("B", ["c", "a"])] {
                let human = try transaction.create(Into<Human>(store))
                human.name = names[0]
                let worker = try transaction.create(Into<Worker>(store))
                (worker.name, worker.badge) = (names[1], "x")
            }
            expectError(.ambiguousStore) { try transaction.create(Into<Human>()) }
        }
        try stack.readAndWait { context throws in
            let all = try context.fetchAll(From<Party>().orderBy(.ascending(\.name)))
            #expect(all.map { "\(type(of: $0)) \($0.name)" } == ["Worker a", "Worker b", "Human c", "Human d"])
            #expect(try context.fetchAll(From<Worker>().orderBy(.descending(\.name))).names == ["b", "a"])
            #expect(try context.fetchAll(From<Human>("B").orderBy(.ascending(\.name))).names == ["a", "c"])
            #expect(try context.fetchCount(From<Human>().tweak { $0.includesSubentities = false }) == 2)
        }
    }

    @Test func theSchemaDescribesTheHierarchy() throws {
        let description = try #require(Party._$hierarchy?.entity)
        #expect(description.name == "Party")
        #expect(
            description.properties.map { $0.name } == [
                "name", "code", "sponsor", "visits", "age", "employer", "badge", "boss", "reports", "revenue", "staff", "director",
                "_entity",
            ])
        let hierarchy = try #require(description.hierarchy)
        #expect(hierarchy.isAbstract)
        #expect(hierarchy.subentities.map { $0.name } == ["Human", "Worker", "Firm"])
        #expect(hierarchy.subentities.map { $0.parent } == ["Party", "Human", "Party"])
        #expect(hierarchy.subentities[1].required == ["badge"])
        let schema = SchemaDescription(name: "x", entities: [description])
        #expect(try SchemaDescription(encoded: schema.encoded()) == schema)
        var other = schema
        other.entities[0].hierarchy?.isAbstract = false
        #expect(other.versionHash != schema.versionHash)
        #expect(schema.differences(to: other).contains { $0.contains("sub-entities") })
    }

    @Test func aRecordOfAnUnknownEntityIsCorrupt() throws {
        let folder = try Folder()
        let file = folder.path + "/a.sqlite"
        do {
            let stack = try DataStack(partySchema)
            try stack.addStore(.sqlite(file: file))
            try stack.performAndWait { try $0.create(Into<Human>()).name = "Ann" }
        }
        var handle: OpaquePointer?
        try #require(sqlite3_open(file, &handle) == SQLITE_OK)
        #expect(sqlite3_exec(handle, "UPDATE Party SET _entity = 'Robot'", nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
        let stack = try DataStack(partySchema)
        try stack.addStore(.sqlite(file: file))
        let error = expectError(.corrupt) { try stack.readAndWait { _ = try $0.fetchAll(From<Party>()) } }
        #expect(error?.message.contains("Robot") == true)
        #expect(error?.attribute == "_entity")
    }
}
