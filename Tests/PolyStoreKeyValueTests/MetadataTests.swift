import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Metadata that is damaged, of a later version, or of another model.
@Suite struct MetadataTests {
    private func filled() throws -> Opened {
        let opened = try Opened()
        try Company.fill(opened.store, 20)
        let transaction = try opened.store.backend.beginWrite()
        _ = try transaction.reserveIDs(try opened.store.entity("Person"), count: 100)
        _ = try transaction.commit(.full)
        try opened.backend.close()
        return opened
    }

    /// Opens, queries and writes: each may fail, none may trap.
    private func use(_ engine: TestEngine) throws {
        let opened = try Opened(engine)
        let person = try opened.store.entity("Person")
        _ = try opened.backend.verify()
        try opened.store.read { transaction in
            _ = try transaction.count(FetchRequest(person))
            _ = try transaction.count(FetchRequest(person, limit: 5, offset: 3))
            _ = try transaction.ids(FetchRequest(person, sortKeys: [SortKey(try opened.store.field("Person", "age"))]))
        }
        let transaction = try opened.backend.beginWrite()
        _ = try transaction.reserveIDs(person, count: 10)
        let changes = Changes(opened.store.schema)
        try changes.insert("Person", 500, Company.person(500))
        try transaction.apply(changes.set)
        _ = try transaction.count(FetchRequest(person, limit: 5, offset: 3))
        _ = try transaction.commit(.full)
        try opened.backend.rebuildIndexes()
    }

    @Test func everyKeyOfTheMetadataCanBeDamagedWithoutATrap() throws {
        let opened = try filled()
        let keys = opened.engine.keys([Keyspace.metadata.rawValue])
        #expect(Set(keys.map { $0[1] }) == Set([0x01, 0x02, 0x03, 0x04, 0x06, 0x08, 0x09, 0x0a, 0x0b]), "a key of every kind")
        for key in keys {
            let value = try #require(opened.engine[key])
            let damages: [[UInt8]] =
                [[], [UInt8](value.dropLast()), value + [0], value.map { _ in 0xff }, value.map { _ in 0 }]
                + value.indices.prefix(40).map { place in value.enumerated().map { $0.offset == place ? $0.element ^ 0x80 : $0.element } }
            for damage in damages where damage != value {
                let engine = opened.engine.copy()
                engine[key] = damage
                let error = failure { try use(engine) }
                // Wrong numbers are left to `verify`; other damage is reported immediately.
                let isNumber = [0x04, 0x08, 0x09].contains(key[1])
                let isExpected = error.map { [.corrupt, .incompatibleSchema, .full, .differentStoreAtURL].contains($0.code) } ?? isNumber
                #expect(isExpected || key[1] == 0x06, "\(key) as \(damage.prefix(40)): \(String(describing: error))")
                if !isNumber, key[1] != 0x06 { #expect(error?.code != .full) }
            }
            let engine = opened.engine.copy()
            engine[key] = nil
            let error = failure { try use(engine) }
            #expect(error == nil || error?.code == .corrupt || error?.code == .notAStore, "\(key): \(String(describing: error))")
        }
    }

    @Test(arguments: [
        (Keyspace.Metadata.statistics, [UInt8](repeating: 0x7f, count: 8)), (.statistics, [0xff] + [UInt8](repeating: 0, count: 7)),
        (.commitVersion, [UInt8](repeating: 0xff, count: 8)), (.sequence, [UInt8](repeating: 0xff, count: 8)), (.sequence, [0]),
        (.indexState, [1, 2]), (.indexState, [9, 0, 0, 0, 0, 1, 65]),
    ])
    func invalidNumbersAreCorrupt(kind: Keyspace.Metadata, value: [UInt8]) throws {
        let opened = try filled()
        for key in opened.engine.keys([Keyspace.metadata.rawValue, kind.rawValue]) { opened.engine[key] = value }
        let before = opened.engine.keys()
        #expect(failure { try use(opened.engine) }?.code == .corrupt)
        #expect(opened.engine.keys() == before)
    }

    @Test func newerFormatIsRefusedAndUnchanged() throws {
        let opened = try filled()
        opened.engine[Keyspace.Metadata.format.key()] = BigEndianInteger.bytes(UInt32(KeyValueBackend.format + 1))
        // A later version may store all other metadata differently.
        opened.engine[Keyspace.Metadata.identity.key()] = nil
        let before = opened.engine.keys()
        for resets in [false, true] {
            let error = failure { _ = try Opened(opened.engine, resets: resets) }
            #expect(error?.code == .incompatibleSchema)
            #expect(error?.message.contains("format \(KeyValueBackend.format + 1)") == true)
        }
        #expect(opened.engine.keys() == before)
    }

    @Test func foreignKeysAreUnchanged() throws {
        let engine = TestEngine()
        engine[[0x41]] = [1]
        for (isReadOnly, resets) in [(false, false), (false, true), (true, false)] {
            #expect(failure { _ = try Opened(engine, isReadOnly: isReadOnly, resets: resets) }?.code == .notAStore)
        }
        #expect(engine.keys() == [[0x41]])
        #expect(failure { _ = try Opened(TestEngine(), isReadOnly: true) }?.code == .notAStore)
    }

    @Test func anotherModelIsRefusedUnlessTheDataMayBeLost() throws {
        let opened = try filled()
        let before = opened.engine.keys()
        let other = try ResolvedSchema(
            Company.description([.attribute(AttributeDescription(name: "height", type: .double, isOptional: true))]))
        let error = failure { _ = try Opened(opened.engine, other) }
        #expect(error?.code == .migrationRequired)
        #expect(error?.message.contains("Person.height is new") == true)
        #expect(failure { _ = try Opened(opened.engine, other, isReadOnly: true, resets: true) }?.code == .migrationRequired)
        #expect(failure { _ = try Opened(opened.engine, configuration: "other", resets: true) }?.code == .differentStoreAtURL)
        #expect(opened.engine.keys() == before)

        let log = RecordingLogger(.trace)
        let id = try Opened(opened.engine).backend.metadata.storeID
        let reset = try Opened(opened.engine, other, resets: true, logger: log)
        #expect(log.lines.contains { $0.hasPrefix("notice") && $0.contains("emptied") })
        #expect(try reset.store.ids("Person") == [])
        #expect(reset.backend.metadata.storeID != id)
        let transaction = try reset.backend.beginWrite()
        #expect(try transaction.reserveIDs(try reset.store.entity("Person"), count: 1) == 1)
        transaction.rollback()
        try reset.store.write { try $0.insert("Person", 1, ["height": .real(1.8)]) }
        #expect(try reset.backend.verify() == [])
        // Opening with the same model does not reset the store again.
        #expect(try Opened(opened.engine, other, resets: true).store.ids("Person") == [1])
    }

    @Test func metadataKeysDoNotDependOnTheOrderOfTheEntities() throws {
        var description = Company.description()
        let first = try Opened()
        description.entities.reverse()
        let second = try Opened(TestEngine(), try ResolvedSchema(description))
        let keys = first.engine.keys([Keyspace.metadata.rawValue])
        #expect(second.engine.keys([Keyspace.metadata.rawValue]) == keys)
        for key in keys where ![0x02, 0x0a].contains(key[1]) { #expect(first.engine[key] == second.engine[key]) }
        // Each opens the store that the other created.
        try Company.fill(first.store, 20)
        let reopened = try Opened(first.engine, try ResolvedSchema(description))
        #expect(try reopened.store.ids("Person").count == 20)
        #expect(try reopened.backend.verify() == [])
    }

    /// Earlier versions named both A.b_c and A_b.c `A_b_c` and assigned one number to both, so that their links are indistinguishable.
    @Test func aStoreWithTheLinksOfTwoUnderOneNumberIsRefused() throws {
        func many(_ name: String) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: "X", isToMany: true))
        }
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "alike",
                entities: [
                    EntityDescription(name: "A", properties: [many("b_c")]), EntityDescription(name: "A_b", properties: [many("c")]),
                    EntityDescription(name: "X", properties: [.attribute(AttributeDescription(name: "title", type: .string))]),
                ]))
        #expect(schema.links.map(\.sharedName) == ["A_b_c", "A_b_c"])
        let opened = try Opened(TestEngine(), schema)
        try opened.backend.close()
        let links = opened.engine.keys([Keyspace.metadata.rawValue, Keyspace.Metadata.link.rawValue])
        #expect(links.count == 2)
        // The state that an earlier version wrote: it kept the later of two equal names.
        opened.engine[links[0]] = nil
        opened.engine[links[1]] = Array("A_b_c".utf8)
        let before = opened.engine.keys()
        for isReadOnly in [false, true] {
            let error = failure { _ = try Opened(opened.engine, schema, isReadOnly: isReadOnly) }
            #expect(error?.code == .incompatibleSchema)
            #expect(error?.message.contains("two relationships in the one table A_b_c") == true, "\(String(describing: error))")
        }
        #expect(opened.engine.keys() == before)
    }
}
