import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Opening, closing and reopening a store.
let openingCases: [ConformanceCase] = [
    ConformanceCase("opening.new.is-empty", "A new store has version 0 and no objects.") { run in
        let store = try run.open(Fixtures.company)
        try store.read { transaction in
            try run.expect(transaction.version, equals: 0)
            for entity in store.schema.entities { try run.expect(try transaction.count(FetchRequest(entity)), equals: 0, entity.name) }
        }
    },
    ConformanceCase("opening.new.has-metadata", "A new store has its model, its configuration and a unique id.") { run in
        let store = try run.open(Fixtures.company)
        let metadata = store.backend.metadata
        try run.expect(metadata.schemaHash, equals: store.schema.versionHash)
        try run.expect(metadata.schema, equals: Fixtures.company)
        try run.expect(metadata.configurationName, equals: nil)
        try run.expect(metadata.storeID.count == 32 && metadata.storeID.allSatisfy(\.isHexDigit), "store id \(metadata.storeID)")
        let other = try run.open(Fixtures.company, "other")
        try run.expect(other.backend.metadata.storeID != metadata.storeID, "two stores have the same id")
    },
    ConformanceCase(
        "opening.reopen.keeps-objects", "Committed objects are present after closing and reopening.", requires: [.persistence]
    ) { run in
        var store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1, nickname: "n", score: 2.5), Fixtures.person("b", 2)])
        let version = try store.read { try $0.version }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 1, nickname: "n", score: 2.5))
        try run.expect(try store.row("Person", 2), equals: Fixtures.person("b", 2))
        try run.expect(try store.read { try $0.version }, equals: version, "version")
    },
    ConformanceCase("opening.reopen.keeps-metadata", "A store keeps its id after reopening.", requires: [.persistence]) { run in
        let first = try run.open(Fixtures.company)
        let metadata = first.backend.metadata
        try first.backend.close()
        try run.expect(try run.open(Fixtures.company).backend.metadata, equals: metadata)
    },
    ConformanceCase("opening.reopen.keeps-links", "Links are present after closing and reopening.", requires: [.persistence]) { run in
        var store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        let friends = try store.relationship("Person", "friends")
        try store.change { $0.link(try store.pair(friends, 1, 2)) }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(try store.read { try $0.related(try store.relationship("Person", "friends"), of: [1])[1] }, equals: [2])
    },
    ConformanceCase(
        "opening.reopen.drops-uncommitted", "Uncommitted changes are discarded by reopening.", requires: [.persistence]
    ) { run in
        var store = try run.open(Fixtures.company)
        do {
            let transaction = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            try changes.insert(try store.entity("Person"), rowID: 1, Fixtures.person("a", 1))
            try transaction.apply(changes)
            transaction.rollback()
        }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(try store.row("Person", 1), equals: nil)
    },
    ConformanceCase(
        "opening.other-model.is-refused",
        "Opening with another model throws migrationRequired with the difference; the store is unchanged.",
        requires: [.persistence]
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.backend.close()
        let error = try run.expectError(.migrationRequired) { try run.open(Fixtures.thing(.int64)) }
        try run.expect(error.message.contains("Person"), "the error does not name what differs: \(error.message)")
        try run.expect(try run.open(Fixtures.company).row("Person", 1), equals: Fixtures.person("a", 1))
    },
    ConformanceCase("opening.other-type.is-refused", "Another attribute type makes another model.", requires: [.persistence]) { run in
        try run.open(Fixtures.thing(.int64)).backend.close()
        let error = try run.expectError(.migrationRequired) { try run.open(Fixtures.thing(.string)) }
        try run.expect(error.message.contains("Thing.value"), "the error does not name the attribute: \(error.message)")
    },
    ConformanceCase(
        "opening.other-default.is-the-same-model", "A model with another default value is the same model.",
        requires: [.persistence]
    ) { run in
        func schema(_ value: Value) -> SchemaDescription {
            SchemaDescription(
                name: "Defaults",
                entities: [
                    EntityDescription(
                        name: "Thing", properties: [.attribute(AttributeDescription(name: "made", type: .date, defaultValue: value))])
                ])
        }
        let store = try run.open(schema(.real(1)))
        try store.insert("Thing", [[.real(7)]])
        try store.backend.close()
        try run.expect(try run.open(schema(.real(2))).row("Thing", 1), equals: [.real(7)])
    },
    ConformanceCase(
        "opening.reset-on-mismatch.starts-anew", "Only on request, a store of another model is replaced by an empty one.",
        requires: [.persistence]
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        let id = store.backend.metadata.storeID
        try store.backend.close()
        let other = try run.open(Fixtures.thing(.int64)) { $0.resettingOnModelMismatch() }
        try run.expect(try other.read { try $0.count(FetchRequest(try other.entity("Thing"))) }, equals: 0)
        try run.expect(other.backend.metadata.storeID != id, "the new store has the old one's id")
    },
    ConformanceCase(
        "opening.reset.spares-the-same-model", "A requested reset has no effect if the model matches.", requires: [.persistence]
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.backend.close()
        let again = try run.open(Fixtures.company) { $0.resettingOnModelMismatch() }
        try run.expect(try again.row("Person", 1), equals: Fixtures.person("a", 1))
    },
    ConformanceCase(
        "opening.other-configuration.is-refused", "A store of another configuration throws differentStoreAtURL.",
        requires: [.persistence]
    ) { run in
        try run.open(Fixtures.company, configuration: "Cache").backend.close()
        try run.expectError(.differentStoreAtURL) { try run.open(Fixtures.company) }
        try run.expectError(.differentStoreAtURL) { try run.open(Fixtures.company, configuration: "Main") }
        try run.expect(try run.open(Fixtures.company, configuration: "Cache").backend.metadata.configurationName, equals: "Cache")
    },
    ConformanceCase(
        "opening.foreign-file.is-refused", "A file that is not a store is rejected and unchanged.", requires: [.persistence],
        needsFiles: true
    ) { run in
        let path = run.location().path
        let bytes = Data("This is a letter, not a database. ".utf8) + Data(repeating: 7, count: 8192)
        try bytes.write(to: URL(fileURLWithPath: path))
        try run.expectError(.notAStore) { try run.open(Fixtures.company) }
        try run.expectError(.notAStore) { try run.open(Fixtures.company) { $0.resettingOnModelMismatch() } }
        try run.expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "the foreign file was changed")
    },
    ConformanceCase(
        "opening.missing-folder.is-an-io-error", "Opening in a missing folder throws an io error that names the path.",
        requires: [.persistence], needsFiles: true
    ) { run in
        let error = try run.expectError(.io) { try run.open(Fixtures.company, "no/such/folder/store") }
        try run.expect("\(error)".contains("no/such/folder"), "the error does not name the path: \(error)")
    },
    ConformanceCase("opening.read-only.reads", "A store opened read-only can be read.", requires: [.readOnlyOpen, .persistence]) {
        run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.backend.close()
        let reader = try run.open(Fixtures.company) { $0.readOnly() }
        try run.expect(try reader.row("Person", 1), equals: Fixtures.person("a", 1))
        try run.expectError(.readOnly) { try reader.backend.beginWrite() }
    },
    ConformanceCase(
        "opening.read-only.makes-nothing", "Opening read-only does not create a store.", requires: [.readOnlyOpen, .persistence]
    ) { run in
        do {
            _ = try run.open(Fixtures.company) { $0.readOnly() }
            throw run.fail("a store that does not exist was opened for reading")
        } catch is StoreError {}
        try run.expect(!FileManager.default.fileExists(atPath: run.location().path), "a file was made")
    },
    ConformanceCase(
        "opening.second-name.is-refused",
        "A store in one file with two names (hard links) is refused under both, because its side files are named after its path.",
        requires: [.persistence, .multiProcess], needsFiles: true
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.backend.close()
        let (first, second) = (run.location().path, run.location("second").path)
        // A folder has one name.
        guard try FileManager.default.attributesOfItem(atPath: first)[.type] as? FileAttributeType == .typeRegular else { return }
        try FileManager.default.linkItem(atPath: first, toPath: second)
        for name in ["store", "second"] { try run.expectError(.io, name) { try run.open(Fixtures.company, name) } }
        try FileManager.default.removeItem(atPath: second)
        try run.expect(try run.open(Fixtures.company).row("Person", 1), equals: Fixtures.person("a", 1))
    },
    ConformanceCase("opening.close.ends-use", "After close every new transaction throws closed, and a second close has no effect.") { run in
        let store = try run.open(Fixtures.company)
        try store.backend.close()
        try store.backend.close()
        try run.expectError(.closed, "beginRead") { try store.backend.beginRead() }
        try run.expectError(.closed, "beginWrite") { try store.backend.beginWrite() }
    },
    ConformanceCase("opening.names.are-free", "Entities and attributes can have any name: keywords, spaces, quotes, any script.") {
        run in
        let names = ["select", "order by", "it's", "a\"b", "таблица", "名前", "drop table x; --", "%_*", "group"]
        let schema = SchemaDescription(
            name: "Names",
            entities: names.map { name in
                EntityDescription(
                    name: name,
                    properties: names.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true, isIndexed: true)) })
            })
        let store = try run.open(schema)
        for (number, name) in names.enumerated() {
            try store.insert(name, [names.map { .text("\(number) \($0)") }])
            try run.expect(try store.row(name, 1), equals: names.map { .text("\(number) \($0)") }, name)
        }
    },
    ConformanceCase("opening.entities.are-separate", "Objects of two entities with the same id are distinct.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Department", [[.text("d")]])
        try store.insert("Club", [[.text("c")]])
        try run.expect(try store.row("Department", 1), equals: [.text("d")])
        try run.expect(try store.row("Club", 1), equals: [.text("c")])
        try store.change { $0.delete(try store.entity("Club"), rowID: 1) }
        try run.expect(try store.row("Department", 1), equals: [.text("d")])
    },
    ConformanceCase(
        "opening.verify.finds-nothing-in-a-sound-store", "verify finds nothing in an undamaged store.", requires: [.verification]
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", (0..<50).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.change { changes in
            for id in 1...20 { changes.delete(try store.entity("Person"), rowID: Int64(id)) }
            try changes.update(try store.entity("Person"), rowID: 30, ["email": .text("changed")])
        }
        try run.expect(try store.backend.verify(), equals: [])
    },
]

extension TestStore {
    func relationship(_ entity: String, _ name: String) throws -> Relationship {
        guard let relationship = try self.entity(entity).relationship(named: name) else { throw run.fail("unknown relationship \(name)") }
        return relationship
    }

    /// Returns a pair of a relationship with a link table, from its source.
    func pair(_ relationship: Relationship, _ source: Int64, _ target: Int64, isAddition: Bool = true) throws -> ChangeSet.LinkChange {
        guard case .link(let table, let isReversed) = relationship.storage else { throw run.fail("\(relationship.name) has no link table") }
        return ChangeSet.LinkChange(
            table: table, source: isReversed ? target : source, target: isReversed ? source : target, isAddition: isAddition)
    }
}
