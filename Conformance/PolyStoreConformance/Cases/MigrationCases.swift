import PolyStoreBackend

/// Migrations of a store to another schema.
let migrationCases: [ConformanceCase] = [
    migrationCase("entities.exchanged", "Entities can exchange their names, and links follow them.") { run, store in
        let change = try store.change(
            to: SchemaDescription([
                EntityDescription("Pet", [.attribute("name", .string, isUnique: true), .attribute("age", .int16, isOptional: true)]),
                EntityDescription("Owner", [.attribute("kind", .string), .attribute("name", .string)]),
            ]), renamed: ["Pet": "Owner", "Owner": "Pet"])
        try store.migrate(change) { reader, when in
            try run.expect(try reader.all(change.target.entities[0]), equals: Pets.owners, when)
            try run.expect(
                try reader.all(change.target.entities[1]), equals: Pets.pets.mapValues { Array($0.prefix(2)) }, when)
        }
    },
    migrationCase("entities.removed-and-added", "Removed entities lose their records, and new ones start empty.") { run, store in
        let change = try store.change(
            to: SchemaDescription([
                EntityDescription("Owner", [.attribute("name", .string, isUnique: true), .attribute("age", .int16, isOptional: true)]),
                EntityDescription("Toy", [.attribute("name", .string, isUnique: true)]),
            ]))
        let migrated = try store.migrate(change) { reader, when in
            try run.expect(try reader.all(change.target.entities[0]), equals: Pets.owners, when)
            try run.expect(try reader.all(change.target.entities[1]), equals: [:], when)
        }
        guard let migrated else { return }
        try run.expect(try migrated.reserve("Toy", 1), equals: 1, "the first id of a new entity")
        // The removed entity is added again, without its records and with a new sequence.
        let again = try migrated.change(to: Pets.schema)
        try migrated.migrate(again, check: { reader, when in try run.expect(try reader.all(again.target.entities[1]), equals: [:], when) })
    },
    migrationCase("entities.inserted", "Records are inserted through the target in batches, while the source is read.") { run, store in
        let change = try Pets.toAnimals(store)
        let (old, animal) = (try store.entity("Pet"), change.target.entities[1])
        let migrated = try store.migrate(
            change,
            insert: { migration in
                // A cursor of the source is closed before a batch is saved, so each batch begins after the last row id of the previous one.
                var last: Int64 = 0
                while true {
                    var request = FetchRequest(old, limit: 1)
                    request.predicate = .compare(.objectID, .greater, .integer(last))
                    let cursor = try migration.source.fetch(request)
                    defer { cursor.close() }
                    guard try cursor.next() else { break }
                    last = cursor.rowID
                    let changes = ChangeSet(change.target)
                    try changes.insert(animal, rowID: last, [cursor.record.value(old.fields[1]), cursor.record.value(old.fields[2])])
                    cursor.close()
                    let target = migration.target
                    try target.apply(changes)
                    try run.expect(try target.row(animal, last) != nil, "the record \(last) is not read back")
                    try migration.save([UInt8(last)])
                }
            },
            check: { reader, when in
                let expected = Pets.pets.mapValues { [$0[1], $0[2]] }
                try run.expect(try reader.all(animal), equals: expected, when)
                try run.expect(try reader.all(change.target.entities[0]), equals: Pets.owners, when)
                let owner = FieldReference(animal.fields[1])
                try run.expect(
                    try reader.ids(FetchRequest(animal, predicate: .compare(owner, .equal, .integer(1)))), equals: [1, 3], when)
                try run.expect(try reader.pairs(change.target.entities[0], "animals"), equals: "1: 1 3; 2: 2", when)
            })
        guard let migrated else { return }
        let taken = ChangeSet(change.target)
        try taken.insert(animal, rowID: 9, [.text("Rex"), .null])
        let writer = try migrated.backend.beginWrite()
        defer { writer.rollback() }
        try run.expectError(.constraint, "a unique value after the migration") { try writer.apply(taken) }
    },
    migrationCase("target.reads-its-writes", "The target updates and deletes what it has inserted, and reads it back.") { run, store in
        let change = try Pets.toAnimals(store)
        let animal = change.target.entities[1]
        try store.migrate(
            change,
            insert: { migration in
                let inserts = ChangeSet(change.target)
                for id in 1...5 as ClosedRange<Int64> { try inserts.insert(animal, rowID: id, [.text("animal \(id)"), .null]) }
                try migration.target.apply(inserts)
                let updates = ChangeSet(change.target)
                try updates.update(animal, rowID: 2, ["title": .text("two"), "owner": .integer(1)])
                updates.delete(animal, rowID: 4)
                try migration.target.apply(updates)
                let bad = ChangeSet(change.target)
                try bad.insert(animal, rowID: 6, [.text("six"), .null])
                try bad.insert(animal, rowID: 7, [.text("two"), .null])
                let error = try run.expectError(.constraint, "a unique value that is taken") { try migration.target.apply(bad) }
                try run.expect([error.entity, error.attribute], equals: ["Animal", "title"], "the error names the attribute")
                let missing = ChangeSet(change.target)
                missing.delete(animal, rowID: 4)
                try run.expectError(.notFound, "a record that was deleted") { try migration.target.apply(missing) }
                try run.expect(try migration.target.count(FetchRequest(animal)), equals: 4)
            },
            check: { reader, when in
                try run.expect(
                    try reader.all(animal),
                    equals: [
                        1: [.text("animal 1"), .null], 2: [.text("two"), .integer(1)], 3: [.text("animal 3"), .null],
                        5: [.text("animal 5"), .null],
                    ], when)
                try run.expect(try reader.pairs(change.target.entities[0], "animals"), equals: "1: 2", when)
            })
    },
    migrationCase("target.refuses-carried", "Changing carried records is misuse, and the migration continues.") { run, store in
        let change = try store.change(to: Pets.schema, entities: ["Pet": .empty(rowIDsOf: 1)])
        let (owner, pet) = (change.target.entities[0], change.target.entities[1])
        let friends = change.target.links[0].index
        try store.migrate(
            change,
            insert: { migration in
                let refused: [(String, (ChangeSet) throws -> Void)] = [
                    ("an insert", { try $0.insert(owner, rowID: 9, [.text("new"), .null]) }),
                    ("an update", { try $0.update(owner, rowID: 1, ["name": .text("other")]) }),
                    ("a deletion", { $0.delete(owner, rowID: 1) }),
                    ("a link", { $0.link(ChangeSet.LinkChange(table: friends, source: 1, target: 1, isAddition: true)) }),
                    ("a link that is removed", { $0.link(ChangeSet.LinkChange(table: friends, source: 1, target: 2, isAddition: false)) }),
                ]
                for (what, body) in refused {
                    let changes = ChangeSet(change.target)
                    try changes.insert(pet, rowID: 77, [.text("x"), .text("y"), .null])
                    try body(changes)
                    try run.expectError(.misuse, what) { try migration.target.apply(changes) }
                    try run.expect(try migration.target.all(pet), equals: [:], what)
                }
                try run.expectError(.misuse, "committing the target") { try migration.target.commit(.full) }
            },
            check: { reader, when in
                try run.expect(try reader.all(owner), equals: Pets.owners, when)
                try run.expect(try reader.pairs(owner, "friends"), equals: Pets.friends, when)
            })
    },
    migrationCase("ids.continue", "Carried entities keep their row ids, and no id is assigned again.") { run, store in
        try store.reserve("Owner", 7)
        try store.reserve("Pet", 40)
        let renamed = SchemaDescription([
            EntityDescription("Person", [.attribute("name", .string)]),
            EntityDescription("Animal", [.attribute("title", .string)]), EntityDescription("Plant", [.attribute("title", .string)]),
            EntityDescription("Stone", [.attribute("title", .string)]),
        ])
        let change = try store.change(
            to: renamed, entities: ["Animal": .empty(rowIDsOf: 1), "Plant": .empty(rowIDsOf: 1), "Stone": .empty(rowIDsOf: nil)],
            renamed: ["Person": "Owner"])
        let migration = try store.backend.beginMigration(change)
        let expected: [Int64] = [8, 41, 41, 1]
        for (entity, first) in zip(change.target.entities, expected) {
            try run.expect(try migration.target.reserveIDs(entity, count: 2), equals: first, "\(entity.name) before the commit")
        }
        try run.expect(try migration.target.ids(FetchRequest(change.target.entities[0])), equals: [1, 2])
        try migration.commit()
        guard let migrated = try store.reopen(change.target, check: { _, _ in }) else { return }
        for (entity, first) in zip(change.target.entities, expected) {
            try run.expect(try migrated.reserve(entity.name, 1), equals: first + 2, "\(entity.name) after the commit")
        }
    },
    migrationCase("commit.unique-violation", "Carried records that violate a unique index throw constraint; the store is unchanged.") {
        run, store in
        for (what, properties, indexes, fields, attribute) in [
            ("a field", [.attribute("name", .string), .attribute("kind", .string, isUnique: true)], [], [:], "kind"),
            (
                "two fields", [.attribute("kind", .string), .attribute("owner", .int64, isOptional: true)],
                [IndexDescription(fields: ["kind", "owner"], isUnique: true)], [:], "kind, owner"
            ),
            (
                "a constant", [.attribute("kind", .string), .attribute("name", .string, isUnique: true)], [],
                ["Pet.name": .constant(.text("same"))], "name"
            ),
            (
                "null that is replaced", [.attribute("owner", .int64, isUnique: true)], [],
                ["Pet.owner": .field(2, replacingNullWith: .integer(2))], "owner"
            ),
        ] as [(String, [PropertyDescription], [IndexDescription], [String: SchemaChange.FieldSource], String)] {
            let before = try Pets.contents(store)
            let change = try store.change(to: SchemaDescription([EntityDescription("Pet", properties, indexes: indexes)]), fields: fields)
            let migration = try store.backend.beginMigration(change)
            let error = try run.expectError(.constraint, what) { try migration.commit() }
            try run.expect([error.entity, error.attribute], equals: ["Pet", attribute], what)
            try run.expect(error.rowID.map { (1...4).contains($0) } ?? false, "\(what): the error names no record: \(error)")
            migration.rollback()
            try run.expect(try Pets.contents(store), equals: before, what)
        }
        if let again = try store.reopen(store.schema, check: { _, _ in }) {
            try run.expect(try Pets.contents(again).isEmpty, equals: false)
        }
    },
    migrationCase("commit.unique-null", "Null is exempt from the unique indexes of carried records.") { run, store in
        let change = try store.change(
            to: SchemaDescription([EntityDescription("Pet", [.attribute("nick", .string, isOptional: true, isUnique: true)])]))
        try store.migrate(change) { reader, when in
            try run.expect(try reader.count(FetchRequest(change.target.entities[0])), equals: Pets.pets.count, when)
        }
    },
    migrationCase("rollback.leaves-the-store", "A migration that is rolled back or released leaves the store unchanged and usable.") {
        run, store in
        try store.reserve("Pet", 10)
        let before = try Pets.contents(store)
        for ending in ["rolled back", "dropped", "rolled back twice"] {
            do {
                let change = try Pets.toAnimals(store)
                let migration = try store.backend.beginMigration(change)
                let changes = ChangeSet(change.target)
                for id in 1...100 as ClosedRange<Int64> {
                    try changes.insert(change.target.entities[1], rowID: id, [.text("\(id)"), .null])
                }
                try migration.target.apply(changes)
                try migration.save([1])
                if ending != "dropped" { migration.rollback() }
                if ending == "rolled back twice" { migration.rollback() }
            }
            try run.expect(try Pets.contents(store), equals: before, ending)
        }
        let writer = try store.backend.beginWrite()
        try run.expect(try writer.reserveIDs(try store.entity("Pet"), count: 1), equals: 11, "the next id")
        writer.rollback()
        if let again = try store.reopen(store.schema, check: { _, _ in }) { try run.expect(try Pets.contents(again), equals: before) }
    },
    migrationCase("ended.is-closed", "Calls on an ended migration throw closed.") { run, store in
        for isCommitted in [false, true] {
            let change = try Pets.toAnimals(store)
            let migration = try store.backend.beginMigration(change)
            let (source, target) = (migration.source, migration.target)
            if isCommitted { try migration.commit() } else { migration.rollback() }
            let when = isCommitted ? "after the commit" : "after the rollback"
            try run.expectError(.closed, "the source \(when)") { try source.row(try store.entity("Pet"), 1) }
            try run.expectError(.closed, "the target \(when)") { try target.row(change.target.entities[0], 1) }
            try run.expectError(.closed, "committing \(when)") { try migration.commit() }
            migration.rollback()
            target.rollback()
        }
        try run.expectError(.closed, "reading with the backend of the source schema") { try store.backend.beginRead() }
        try run.expectError(.closed, "writing with the backend of the source schema") { try store.backend.beginWrite() }
    },
    migrationCase("source.is-a-snapshot", "The source shows the store before the migration, regardless of the target.") { run, store in
        let change = try Pets.toAnimals(store)
        let before = try Pets.contents(store)
        let version = try store.read { try $0.version }
        let migration = try store.backend.beginMigration(change)
        try run.expect(migration.source.version, equals: version)
        for id in 1...50 as ClosedRange<Int64> {
            let changes = ChangeSet(change.target)
            try changes.insert(change.target.entities[1], rowID: id, [.text("\(id)"), .integer(2)])
            try migration.target.apply(changes)
            try run.expect(try Pets.contents(migration.source, store), equals: before, "after \(id)")
        }
        migration.rollback()
    },
    migrationCase("begin.other-source", "A change from a schema other than the store's is misuse and has no effect.") { run, store in
        let other = try ResolvedSchema(SchemaDescription([EntityDescription("Pet", [.attribute("name", .string)])]))
        let change = try SchemaChange.carrying(other, to: try ResolvedSchema(Pets.schema), entities: ["Pet": .empty(rowIDsOf: nil)])
        let before = try Pets.contents(store)
        try run.expectError(.misuse) { try store.backend.beginMigration(change) }
        try run.expect(try Pets.contents(store), equals: before)
    },
    migrationCase("version.is-greater", "A migration counts as a commit.", requires: [.persistence]) { run, store in
        let version = try store.read { try $0.version }
        let migrated = try store.migrate(try Pets.toAnimals(store))
        try run.expect(try migrated?.read { try $0.version } ?? 0 > version, "the version is not greater than \(version)")
        try run.expect(migrated?.backend.metadata.storeID, equals: store.backend.metadata.storeID, "the id of the store")
    },
    migrationCase("values.survive", "Named values are kept, and can be changed through the target.", requires: [.namedValues]) {
        run, store in
        try store.setValues([("a", [1]), ("b", []), ("c", [3])])
        let change = try Pets.toAnimals(store)
        try store.migrate(
            change,
            insert: { migration in
                let changes = ChangeSet(change.target)
                try changes.setValue(nil, named: "a")
                try changes.setValue([4], named: "d")
                try migration.target.apply(changes)
                try run.expect(try migration.source.value(named: "a"), equals: [1], "in the source")
            },
            check: { reader, when in
                try run.expect(try reader.valueNames(prefix: ""), equals: ["b", "c", "d"], when)
                try run.expect(try reader.value(named: "b"), equals: [], when)
                try run.expect(try reader.value(named: "d"), equals: [4], when)
            })
    },
    migrationCase("log.survives", "The change log keeps its entries and positions, and can be appended to.", requires: [.changeLog]) {
        run, store in
        try store.append([[1], [2], [3]])
        try store.append([], removing: try store.entries()[0].position)
        let before = try store.entries()
        let change = try Pets.toAnimals(store)
        let migrated = try store.migrate(
            change,
            insert: { migration in
                let changes = ChangeSet(change.target)
                changes.appendLogEntry([4])
                try migration.target.apply(changes)
            },
            check: { reader, when in
                let entries = try reader.logEntries(after: 0, limit: 100)
                try run.expect(Array(entries.dropLast()), equals: before, when)
                try run.expect(entries.last?.bytes, equals: [4], when)
                try run.expect(entries.last.map { $0.position > before[1].position } ?? false, "\(when): positions ascend")
            })
        try migrated?.append([[5]])
        try run.expect(try migrated?.entries().map(\.bytes) ?? [[2], [3], [4], [5]], equals: [[2], [3], [4], [5]])
    },
    migrationCase(
        "handles.are-refused", "A store opened for the old schema throws differentStoreAtURL after the commit.",
        requires: [.multiProcess]
    ) { run, store in
        let other = try run.open(Pets.schema)
        let before = try Pets.contents(store)
        let early = try other.backend.beginRead()
        let migration = try store.backend.beginMigration(try Pets.toAnimals(store))
        try run.expect(try Pets.contents(other), equals: before, "while the migration lasts")
        try migration.commit()
        try run.expect(try Pets.contents(early, other), equals: before, "a reader from before the commit")
        early.end()
        for _ in 1...2 {
            try run.expectError(.differentStoreAtURL, "reading") { _ = try other.backend.beginRead().version }
            // A backend can begin a write transaction with its first request.
            try run.expectError(.differentStoreAtURL, "writing") { _ = try other.backend.beginWrite().version }
        }
        try run.expectError(.differentStoreAtURL, "migrating") { try other.backend.beginMigration(try Pets.toAnimals(other)) }
        try other.backend.close()
        let migrated = try run.open(Pets.animals)
        try run.expect(try migrated.ids(FetchRequest(try migrated.entity("Owner"))), equals: [1, 2])
    },
    migrationCase(
        "opening.old-schema", "Opening a migrated store with its old schema throws migrationRequired with the stored schema.",
        requires: [.persistence]
    ) { run, store in
        guard let migrated = try store.migrate(try Pets.toAnimals(store)) else { return }
        try migrated.backend.close()
        for isReadOnly in [false] + (run.target.capabilities.contains(.readOnlyOpen) ? [true] : []) {
            let error = try run.expectError(.migrationRequired) { try run.open(Pets.schema) { $0.readOnly(isReadOnly) } }
            try run.expect(error.storedSchema, equals: Pets.animals)
        }
        let back = try run.open(Pets.animals)
        try run.expect(back.backend.metadata.schemaHash, equals: Pets.animals.versionHash)
    },
    migrationCase("read-only.is-refused", "A store that is open read-only cannot be migrated.", requires: [.readOnlyOpen]) {
        run, store in
        try store.backend.close()
        let reading = try run.open(Pets.schema) { $0.readOnly() }
        try run.expectError(.readOnly) { try reading.backend.beginMigration(try Pets.toAnimals(reading)) }
    },
    migrationCase("closed.is-refused", "A closed store cannot be migrated.") { run, store in
        try store.backend.close()
        try run.expectError(.closed) { try store.backend.beginMigration(try Pets.toAnimals(store)) }
    },
    migrationCase("five.in-a-row", "Migrations can follow one another, each on the result of the previous one.", requires: [.persistence]) {
        run, store in
        var store = store
        var names = ("Owner", "name")
        for number in 1...5 {
            let next = ("Owner\(number)", number % 2 == 0 ? "name" : "label\(number)")
            let target = try ResolvedSchema(
                SchemaDescription([
                    EntityDescription(
                        next.0,
                        [.attribute(next.1, .string, isIndexed: number % 2 == 0)]
                            + (1...number).map { .attribute("added\($0)", .int64, isIndexed: $0 == number) })
                ]))
            let old = try store.entity(names.0)
            let fields: [SchemaChange.FieldSource] =
                [.field(old.field(named: names.1)?.index ?? 0, replacingNullWith: .null)]
                + (1..<number).map { .field(old.field(named: "added\($0)")?.index ?? 0, replacingNullWith: .null) }
                + [.constant(.integer(Int64(number)))]
            let change = try SchemaChange(
                identifier: "step \(number)", source: store.schema, target: target,
                entities: [.carried(entity: old.index, fields: fields)], links: [])
            let migrated = try store.migrate(change) { reader, when in
                let added = (1...number).map { Value.integer(Int64($0)) }
                try run.expect(
                    try reader.all(target.entities[0]), equals: Pets.owners.mapValues { [$0[0]] + added }, "step \(number) \(when)")
            }
            guard let migrated else { return }
            (store, names) = (migrated, next)
        }
    },
    migrationCase("large.in-batches", "Many records are carried and inserted in batches.") { run, store in
        let pet = try store.entity("Pet")
        try store.change { changes in
            for id in 5...5000 as ClosedRange<Int64> {
                try changes.insert(pet, rowID: id, [.text("kind \(id % 7)"), .text("pet \(id)"), .integer(1 + id % 2)])
            }
        }
        let change = try store.change(
            to: SchemaDescription([
                EntityDescription(
                    "Pet",
                    [
                        .attribute("kind", .string, isIndexed: true), .attribute("owner", .int64),
                        .attribute("name", .string, isUnique: true),
                    ]),
                EntityDescription("Tag", [.attribute("text", .string, isUnique: true), .attribute("pet", .int64, isIndexed: true)]),
            ]), fields: ["Pet.owner": .field(2, replacingNullWith: .integer(0))])
        let (carried, tag) = (change.target.entities[0], change.target.entities[1])
        try store.migrate(
            change,
            insert: { migration in
                for batch in 0..<20 as Range<Int64> {
                    let changes = ChangeSet(change.target)
                    for id in (batch * 250 + 1)...(batch * 250 + 250) {
                        try changes.insert(tag, rowID: id, [.text("tag \(id * 7919 % 5003)"), .integer(id % 100)])
                    }
                    try migration.target.apply(changes)
                    try migration.save([UInt8(batch)])
                }
            },
            check: { reader, when in
                try run.expect(try reader.count(FetchRequest(carried)), equals: 5000, when)
                try run.expect(try reader.count(FetchRequest(tag)), equals: 5000, when)
                let kind = FieldReference(carried.fields[0])
                try run.expect(
                    try reader.count(FetchRequest(carried, predicate: .compare(kind, .equal, .text("kind 3")))),
                    equals: (5...5000).filter { $0 % 7 == 3 }.count, when)
                let number = FieldReference(tag.fields[1])
                try run.expect(try reader.count(FetchRequest(tag, predicate: .compare(number, .equal, .integer(7)))), equals: 50, when)
                try run.expect(try reader.row(carried, 5000), equals: [.text("kind 2"), .integer(1), .text("pet 5000")], when)
            })
    },
    ConformanceCase(
        "migration.back.stale-commit-is-refused-or-kept",
        "A backend that has the store open while it is migrated to another schema and back refuses to commit and to read, or does both correctly.",
        requires: [.migration, .persistence]
    ) { run in
        // Whether each pet is inserted again, so that a backend may store it under other numbers.
        for isRewritten in [false, true] {
            let name = isRewritten ? "rewritten" : "carried"
            let stale = try Pets.open(run, name)
            let before = try Pets.contents(stale)
            let pet = Pets.schema.entities[1]
            let chipped = SchemaDescription([
                Pets.schema.entities[0], EntityDescription("Pet", pet.properties + [.attribute("chip", .string, isOptional: true)]),
            ])
            func migrate(_ source: SchemaDescription, _ target: SchemaDescription) throws {
                let store = try run.open(source, name)
                let change = try store.change(to: target, entities: isRewritten ? ["Pet": .empty(rowIDsOf: 1)] : [:])
                let migration = try store.backend.beginMigration(change)
                if isRewritten {
                    let changes = ChangeSet(change.target)
                    for (id, row) in Pets.pets { try changes.insert(change.target.entities[1], rowID: id, row) }
                    try migration.target.apply(changes)
                }
                try migration.commit()
                try store.backend.close()
            }
            func insert(_ id: Int64) throws {
                let entity = try stale.entity("Pet")
                try stale.change { try $0.insert(entity, rowID: id, [.text("fish"), .text("pet \(id)"), .integer(2)]) }
            }
            try migrate(Pets.schema, chipped)
            try run.expectError(.differentStoreAtURL, "a commit with the former schema, \(name)") { try insert(8) }
            try run.expectError(.differentStoreAtURL, "reading with the former schema, \(name)") { _ = try Pets.contents(stale) }
            try migrate(chipped, Pets.schema)
            do { try run.expect(try Pets.contents(stale), equals: before, "read by the stale backend, \(name)") } catch let error
                as StoreError
            {
                try run.expect(error.code, equals: .differentStoreAtURL, "the error of reading, \(name)")
            }
            var expected = Pets.pets
            do {
                try insert(9)
                expected[9] = [.text("fish"), .text("pet 9"), .integer(2)]
            } catch let error as StoreError { try run.expect(error.code, equals: .differentStoreAtURL, "the error of the commit, \(name)") }
            try stale.backend.close()
            let store = try run.open(Pets.schema, name)
            let found = try store.read { try $0.all(try store.entity("Pet")) }
            try run.expect(found, equals: expected, "the pets after the commit of the stale backend, \(name)")
            let owned = "1: 1 3; 2: 2\(expected[9] == nil ? "" : " 9")"
            try run.expect(
                try store.read { try $0.pairs(try store.entity("Owner"), "pets") }, equals: owned, "the index of the owners, \(name)")
            if run.target.capabilities.contains(.verification) {
                try run.expect(try store.backend.verify(), equals: [], "the verification, \(name)")
            }
            try store.backend.close()
        }
    },
]

private func migrationCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [],
    _ body: @escaping @Sendable (ConformanceRun, TestStore) throws -> Void
) -> ConformanceCase {
    ConformanceCase("migration.\(id)", statement, requires: requires.union([.migration])) { run in try body(run, try Pets.open(run)) }
}
