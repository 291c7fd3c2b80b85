import CSQLite
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// The file as other programs read it.
@Suite struct FileTests {
    @Test func tablesAndColumnsCarryTheModelsNames() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in
            try changes.insert("Person", 1, ["name": .text("Jane"), "age": .integer(41), "score": .real(1.5), "team": .integer(9)])
            changes.set.link(ChangeSet.LinkChange(table: 0, source: 1, target: 2, isAddition: true))
        }
        let plain = try PlainSQL(folder.file("test.sqlite"))
        #expect(
            try plain.rows("SELECT name, type FROM pragma_table_info('Person')") == [
                "objectID|INTEGER", "name|TEXT", "email|TEXT", "age|INTEGER", "score|REAL", "team|INTEGER",
            ])
        #expect(try plain.rows("SELECT * FROM Person") == ["1|Jane|NULL|41|1.5|9"])
        #expect(
            try plain.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") == [
                "Person", "Person_friends", "Person_skills", "Skill", "Team", "Values", "polystore_metadata", "polystore_sequence",
                "polystore_state",
            ])
        #expect(
            try plain.rows("SELECT name, [unique] FROM pragma_index_list('Person') ORDER BY name") == [
                "Person_age|0", "Person_email|1", "Person_name_age|1", "Person_team|0",
            ])
        #expect(try plain.rows("SELECT * FROM Person_friends") == ["1|2"])
        #expect(try plain.rows("SELECT version, nan FROM polystore_state") == ["1|NULL"])
        #expect(try plain.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try plain.rows("SELECT value FROM polystore_metadata WHERE key = 'schemaHash'") == [store.schema.versionHash])
    }

    /// Names and values are never interpreted as SQL.
    @Test func hostileNamesAndValuesAreStoredUnchanged() throws {
        let folder = try Folder()
        let name = "a\"; DROP TABLE x; --"
        let other = "'); DELETE FROM \"x\"; /*"
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "hostile",
                entities: [
                    EntityDescription(
                        name: name,
                        properties: [
                            .attribute(AttributeDescription(name: other, type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "\"", type: .double, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "select", type: .uint64, isOptional: true)),
                            .relationship(RelationshipDescription(name: "]`", destination: "x", isToMany: true)),
                        ]),
                    EntityDescription(
                        name: "x", properties: [.attribute(AttributeDescription(name: "rowid", type: .int64, isOptional: true))]),
                ]))
        let store = try Store(folder.file("test.sqlite"), schema)
        let values = ["'", "\"", "''); DROP TABLE x; --", "?1", "%_", "a\0b", name]
        try store.write { changes in
            try changes.insert("x", 1, ["rowid": .integer(5)])
            for (index, value) in values.enumerated() {
                try changes.insert(name, Int64(index), [other: .text(value), "\"": .real(index == 0 ? .nan : 1), "select": .integer(-1)])
                changes.set.link(ChangeSet.LinkChange(table: 0, source: Int64(index), target: 1, isAddition: true))
            }
        }
        let entity = try store.entity(name)
        let text = try store.field(name, other)
        for (index, value) in values.enumerated() {
            for predicate in [
                QueryPredicate.compare(text, .equal, .text(value)), .oneOf(text, [.text(value)]),
                .and([
                    .text(text, .contains, value), .text(text, .beginsWith, value), .text(text, .endsWith, value),
                    .compare(text, .lessOrEqual, .text(value)),
                ]),
            ] {
                #expect(try store.ids(FetchRequest(entity, predicate: predicate)) == [Int64(index)])
            }
        }
        let keys = [SortKey(try store.field(name, "\"")), SortKey(try store.field(name, "select"), ascending: false)]
        #expect(try store.ids(FetchRequest(entity, sortKeys: keys)) == Array(0..<Int64(values.count)))
        try store.write { changes in
            try changes.update(name, 0, [other: .text("x"), "select": .integer(2)])
            changes.set.link(ChangeSet.LinkChange(table: 0, source: 1, target: 1, isAddition: false))
            try changes.delete(name, 1)
        }
        #expect(try store.values("x", 1) == ["rowid": .integer(5)])
        let relationship = try #require(entity.relationship(named: "]`"))
        #expect(try store.read { try $0.related(relationship, of: [0, 2])[2] } == [1])
        #expect(try store.backend.verify() == [])
        _ = try store.read { try $0.plan(FetchRequest(entity, predicate: .compare(text, .equal, .text("a")))) }
        try store.backend.close()
        #expect(try Store(folder.file("test.sqlite"), schema).values(name, 0)?[other] == .text("x"))
    }

    @Test func everyTypeReadsBackAsWritten() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        var random = SplitMix64(seed: 99)
        let entity = try store.entity("Values")
        var written: [Int64: [String: Value]] = [:]
        for id in Int64(1)...300 {
            var values: [String: Value] = [:]
            for field in entity.fields where !random.once(in: 4) { values[field.name] = random.value(field.type, withNaN: true) }
            written[id] = values
        }
        let long = String(repeating: "é\0", count: 1_000_000)
        written[301] = ["string": .text(long), "data": .blob([UInt8](repeating: 0, count: 3_000_000))]
        try store.write { changes in for (id, values) in written { try changes.insert("Values", id, values) } }
        for (id, values) in written { #expect(try store.values("Values", id) == values, "\(id)") }
        // Updates a part of the fields, some of them with null.
        for id in Int64(1)...300 {
            try store.write { changes in
                var values: [String: Value] = [:]
                for field in entity.fields where random.once(in: 3) {
                    values[field.name] = random.once(in: 4) ? .null : random.value(field.type, withNaN: true)
                }
                try changes.update("Values", id, values)
                for (name, value) in values { written[id]?[name] = value.isNull ? nil : value }
            }
            #expect(try store.values("Values", id) == written[id], "\(id)")
        }
    }
}
