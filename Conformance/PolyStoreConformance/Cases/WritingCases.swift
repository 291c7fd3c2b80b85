import PolyStoreBackend

/// Applying change sets.
let writingCases: [ConformanceCase] = [
    ConformanceCase("writing.insert.reads-back", "An inserted object has its values, and null where none was set.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try run.expect(try store.row("Person", 1), equals: [.text("a"), .integer(1), .null, .null, .null])
        try run.expect(try store.row("Person", 2), equals: nil)
    },
    ConformanceCase("writing.insert.any-positive-id", "Ids need not be consecutive; the maximum works.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let ids: [Int64] = [7, 1, 1_000_000_007, .max, 512, 511, 513]
        try store.change { changes in for id in ids { try changes.insert(person, rowID: id, Fixtures.person("p\(id)", id)) } }
        try run.expect(try store.ids(FetchRequest(person)), equals: ids.sorted())
        try run.expect(try store.row("Person", .max)?[1], equals: .integer(.max))
    },
    ConformanceCase("writing.insert.taken-id", "Inserting an existing id throws constraint and has no effect.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        let error = try run.expectError(.constraint) { try store.insert("Person", [Fixtures.person("b", 2)]) }
        try run.expect(error.entity, equals: "Person")
        try run.expect(try store.row("Person", 1)?[0], equals: .text("a"))
    },
    ConformanceCase("writing.update.masked-fields-only", "An update changes only the fields of its mask.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1, nickname: "n", score: 1.5)])
        try store.change { try $0.update(try store.entity("Person"), rowID: 1, ["age": .integer(2)]) }
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 2, nickname: "n", score: 1.5))
        try store.change { try $0.update(try store.entity("Person"), rowID: 1, ["nickname": .null, "score": .real(9)]) }
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 2, score: 9))
        try store.change { try $0.update(try store.entity("Person"), rowID: 1, ["nickname": .text("again")]) }
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 2, nickname: "again", score: 9))
    },
    ConformanceCase("writing.update.moves-index-entries", "After an update the object is found only by its new value.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.change { try $0.update(person, rowID: 5, ["age": .integer(100)]) }
        try run.expect(try store.ids(store.request("Person", "age", .equal, .integer(4))), equals: [])
        try run.expect(try store.ids(store.request("Person", "age", .equal, .integer(100))), equals: [5])
        try run.expect(try store.ids(store.request("Person", "age", .greater, .integer(17))), equals: [5, 19, 20])
    },
    ConformanceCase("writing.update.missing", "Updating a missing object throws notFound and has no effect.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        let error = try run.expectError(.notFound) {
            try store.change { changes in
                try changes.update(person, rowID: 1, ["age": .integer(9)])
                try changes.update(person, rowID: 2, ["age": .integer(9)])
            }
        }
        try run.expect(error.entity, equals: "Person")
        try run.expect(error.rowID, equals: 2)
        try run.expect(try store.row("Person", 1)?[1], equals: .integer(1))
    },
    ConformanceCase("writing.delete.is-gone", "A deleted object is not found by any request.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<10).map { Fixtures.person("p\($0)", Int64($0 % 3)) })
        try store.change { changes in for id in [2, 5, 8] as [Int64] { changes.delete(person, rowID: id) } }
        try run.expect(try store.row("Person", 5), equals: nil)
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 3, 4, 6, 7, 9, 10])
        try run.expect(try store.ids(store.request("Person", "age", .equal, .integer(1))), equals: [])
        try run.expect(try store.ids(store.request("Person", "email", .equal, .text("p4"))), equals: [])
        try run.expect(try store.read { try $0.count(FetchRequest(person)) }, equals: 7)
    },
    ConformanceCase("writing.delete.every-one", "Each of many deletions takes effect.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<200).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.change { changes in for id in 1...200 { changes.delete(person, rowID: Int64(id)) } }
        try run.expect(try store.ids(FetchRequest(person)), equals: [])
    },
    ConformanceCase("writing.delete.missing", "Deleting a missing object throws notFound, and the change set has no effect.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        try run.expectError(.notFound) {
            try store.change { changes in
                try changes.insert(person, rowID: 2, Fixtures.person("b", 2))
                changes.delete(person, rowID: 3)
            }
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: [1])
    },
    ConformanceCase("writing.apply.is-all-or-nothing", "A failing change set has no effect, and the transaction continues.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        try store.write { transaction in
            let good = ChangeSet(store.schema)
            try good.insert(person, rowID: 10, Fixtures.person("ten", 10))
            try transaction.apply(good)
            let bad = ChangeSet(store.schema)
            try bad.insert(person, rowID: 11, Fixtures.person("eleven", 11))
            try bad.update(person, rowID: 1, ["age": .integer(99)])
            bad.delete(person, rowID: 2)
            bad.link(try store.pair(try store.relationship("Person", "friends"), 1, 10))
            try bad.insert(person, rowID: 12, Fixtures.person("ten", 12))  // taken
            try run.expectError(.constraint) { try transaction.apply(bad) }
            try run.expect(try transaction.ids(FetchRequest(person)), equals: [1, 2, 10], "after the failure")
            try run.expect(try transaction.row(person, 1)?[1], equals: .integer(1))
            try run.expect(try transaction.related(try store.relationship("Person", "friends"), of: [1])[1], equals: [])
            let more = ChangeSet(store.schema)
            try more.insert(person, rowID: 13, Fixtures.person("eleven", 13))
            try transaction.apply(more)
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2, 10, 13])
    },
    ConformanceCase("writing.apply.several-in-one-transaction", "Several change sets of one transaction are cumulative.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.write { transaction in
            for id in 1...5 {
                let changes = ChangeSet(store.schema)
                try changes.insert(person, rowID: Int64(id), Fixtures.person("p\(id)", Int64(id)))
                if id > 1 { try changes.update(person, rowID: Int64(id - 1), ["age": .integer(Int64(id * 100))]) }
                try transaction.apply(changes)
            }
        }
        try run.expect(
            try store.read { try $0.rows(FetchRequest(person)).map { $0[1] } }, equals: [200, 300, 400, 500, 5].map { .integer($0) })
    },
    ConformanceCase("writing.apply.empty", "An empty change set can be applied.") { run in
        let store = try run.open(Fixtures.company)
        try store.change { _ in }
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))), equals: [])
    },
    ConformanceCase("writing.ids.start-at-one", "The first id of an entity's sequence is 1, and blocks are consecutive.") { run in
        let store = try run.open(Fixtures.company)
        try store.write { transaction in
            let person = try store.entity("Person")
            try run.expect(try transaction.reserveIDs(person, count: 10), equals: 1)
            try run.expect(try transaction.reserveIDs(person, count: 1), equals: 11)
            try run.expect(try transaction.reserveIDs(try store.entity("Club"), count: 3), equals: 1, "another entity")
            try run.expect(try transaction.reserveIDs(person, count: 5), equals: 12)
        }
        try store.write { try run.expect(try $0.reserveIDs(try store.entity("Person"), count: 1), equals: 17, "the next transaction") }
    },
    ConformanceCase("writing.ids.survive-a-failed-apply", "Reserved ids stay reserved when a change set fails.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.write { transaction in
            _ = try transaction.reserveIDs(person, count: 4)
            let bad = ChangeSet(store.schema)
            bad.delete(person, rowID: 99)
            try run.expectError(.notFound) { try transaction.apply(bad) }
            try run.expect(try transaction.reserveIDs(person, count: 1), equals: 5)
        }
    },
    ConformanceCase("writing.ids.are-not-reused-after-delete", "Deleting objects does not reset the sequence.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let first = try store.write { try $0.reserveIDs(person, count: 3) }
        try store.change { try $0.insert(person, rowID: first + 2, Fixtures.person("a", 1)) }
        try store.change { $0.delete(person, rowID: first + 2) }
        try run.expect(try store.write { try $0.reserveIDs(person, count: 1) }, equals: first + 3)
    },
    ConformanceCase("writing.ids.are-not-reused-after-reopen", "The sequence continues after reopening.", requires: [.persistence]) { run in
        var store = try run.open(Fixtures.company)
        _ = try store.write { try $0.reserveIDs(try store.entity("Person"), count: 7) }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(try store.write { try $0.reserveIDs(try store.entity("Person"), count: 1) }, equals: 8)
    },
    ConformanceCase("writing.bulk.ten-thousand", "Ten thousand objects can be inserted in one change set and are read in order.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", (0..<10_000).map { Fixtures.person("p\($0)", Int64($0 * 7 % 100), score: Double($0)) })
        let request = FetchRequest(try store.entity("Person"))
        try run.expect(try store.read { try $0.count(request) }, equals: 10_000)
        try run.expect(try store.ids(request), equals: (1...10_000).map { Int64($0) })
        try run.expect(try store.row("Person", 9_999)?[3], equals: .real(9998))
    },
]

extension TestStore {
    /// Returns a fetch request with one comparison.
    func request(_ entity: String, _ field: String, _ comparison: ComparisonOperator, _ value: Value) throws -> FetchRequest {
        let entity = try self.entity(entity)
        guard let found = entity.field(named: field) else { throw run.fail("unknown field \(field)") }
        return FetchRequest(entity, predicate: .compare(FieldReference(found), comparison, value))
    }
}
