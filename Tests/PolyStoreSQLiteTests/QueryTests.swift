import PolyStoreBackend
import PolyStoreQuery
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Random conditions, orders and slices, compared with the shared evaluator on all rows, which does not use SQL.
@Suite struct QueryTests {
    @Test(arguments: UInt64(1)...12)
    func queriesAgreeWithTheEvaluator(seed: UInt64) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        var random = SplitMix64(seed: seed)
        let entity = try store.entity("Values")
        // Half of the runs without NaN, which changes the generated SQL.
        let withNaN = seed % 2 == 0
        try store.write { changes in
            for id in 1...80 {
                var values: [String: Value] = [:]
                for field in entity.fields where !random.once(in: 5) { values[field.name] = random.value(field.type, withNaN: withNaN) }
                try changes.insert("Values", Int64(id) * 3 - 100, values)
            }
        }
        try store.read { transaction in
            let all = try rows(transaction, entity)
            for round in 0..<400 {
                var request = FetchRequest(entity)
                request.predicate = random.predicate(entity, depth: 3)
                request.sortKeys = (0..<random.below(3)).map { _ in
                    SortKey(random.field(entity), ascending: random.once(in: 2), nulls: [.smallest, .first, .last][random.below(3)])
                }
                if random.once(in: 3) { request.limit = random.below(30) }
                if random.once(in: 4) { request.offset = random.below(20) }
                request.onlyIDs = random.once(in: 3)
                let expected = try naive(all, request)
                let found = try transaction.ids(request)
                let plan = try transaction.plan(request)
                #expect(found == expected, "seed \(seed) round \(round): \(plan)")
                #expect(try transaction.count(request) == expected.count, "seed \(seed) round \(round): \(request.predicate)")
                if found != expected { return }
            }
        }
    }

    /// An index is queried for the values of a list with a join.
    @Test(arguments: UInt64(1)...6)
    func listsOnIndexesAgreeWithTheEvaluator(seed: UInt64) throws {
        let folder = try Folder()
        let properties = AttributeType.allCases.map {
            PropertyDescription.attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true, isIndexed: true))
        }
        let store = try Store(folder.file("test.sqlite"), try Models.single("Values", properties))
        var random = SplitMix64(seed: seed)
        let entity = try store.entity("Values")
        try store.write { changes in
            for id in 1...80 {
                var values: [String: Value] = [:]
                for field in entity.fields where !random.once(in: 5) {
                    values[field.name] = random.value(field.type, withNaN: seed % 2 == 0)
                }
                try changes.insert("Values", Int64(id) * 3 - 100, values)
            }
        }
        try store.read { transaction in
            let all = try rows(transaction, entity)
            for round in 0..<200 {
                let field = FieldReference(entity.fields[random.below(entity.fields.count)])
                // Many of them twice, and some null.
                let values = (0..<1 + random.below(60)).map { _ in random.once(in: 6) ? Value.null : random.value(field.type, withNaN: true)
                }
                var parts = [QueryPredicate.oneOf(field, values)]
                if random.once(in: 3) { parts = [.not(parts[0])] }
                if random.once(in: 2) { parts.append(random.predicate(entity, depth: 2)) }
                var request = FetchRequest(entity, predicate: random.once(in: 4) ? .or(parts) : .and(parts))
                request.sortKeys = (0..<random.below(2)).map { _ in SortKey(random.field(entity), ascending: random.once(in: 2)) }
                if random.once(in: 3) { request.limit = random.below(30) }
                request.onlyIDs = random.once(in: 3)
                let expected = try naive(all, request)
                #expect(try transaction.ids(request) == expected, "seed \(seed) round \(round): \(request.predicate)")
                #expect(try transaction.count(request) == expected.count, "seed \(seed) round \(round): \(request.predicate)")
                let plan = try transaction.explain(request)
                #expect(plan.rowsReturned == expected.count, "seed \(seed) round \(round): \(plan)")
            }
        }
    }

    /// Returns copies of all rows in a separate arena.
    private func rows(_ transaction: any ReadTransaction, _ entity: Entity) throws -> [(id: Int64, record: RecordView, arena: RecordArena)]
    {
        let cursor = try transaction.fetch(FetchRequest(entity))
        var rows: [(id: Int64, record: RecordView, arena: RecordArena)] = []
        while try cursor.next() {
            let arena = RecordArena()
            let offset = arena.append(cursor.record.bytes)
            rows.append((cursor.rowID, arena.view(offset, cursor.record.count, entity.layout), arena))
        }
        return rows
    }

    private func naive(_ rows: [(id: Int64, record: RecordView, arena: RecordArena)], _ request: FetchRequest) throws -> [Int64] {
        let evaluator = PredicateEvaluator(request.predicate)
        let order = RecordOrder(request.sortKeys)
        let sorted = try rows.filter { try evaluator.matches(id: $0.id, $0.record) }.sorted {
            order.compare($0.id, $0.record, $1.id, $1.record) < 0
        }
        let slice = sorted.dropFirst(request.offset)
        return (request.limit.map { slice.prefix($0) } ?? slice).map(\.id)
    }

    @Test func longListsAreEvaluatedCorrectly() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in
            for id in 1...2000 {
                try changes.insert("Values", Int64(id), ["int64": .integer(Int64(id) - 1000), "string": .text("s\(id)")])
            }
            try changes.insert("Values", 3000, ["int64": .integer(.min), "uint64": .integer(-1)])
            try changes.insert("Values", 3001, ["int64": .integer(.max)])
        }
        let entity = try store.entity("Values")
        var many: [Value] = [.null, .integer(.min), .integer(.max)]
        for number in 0..<100_000 { many.append(.integer(Int64(number) * 2 - 50_000)) }
        let even: [Int64] = (1...1000).map { Int64($0) * 2 }
        #expect(
            try store.ids(FetchRequest(entity, predicate: .oneOf(try store.field("Values", "int64"), many))) == even + [Int64(3000), 3001])
        let ids: [Value] = (0..<100_000).map { .integer(Int64($0) * 2) }
        #expect(try store.ids(FetchRequest(entity, predicate: .oneOf(.objectID, ids))) == even + [Int64(3000)])
        let texts: [Value] = (0..<100_000).map { .text("s\($0 * 2)") }
        #expect(
            try store.ids(FetchRequest(entity, predicate: .oneOf(try store.field("Values", "string"), texts), limit: 3, offset: 1)) == [
                4, 6, 8,
            ])
        #expect(
            try store.read { try $0.count(FetchRequest(entity, predicate: .oneOf(try store.field("Values", "string"), texts))) } == 1000)
    }

    /// The negation of a count over a path is evaluated once for each destination if it may be tested for all rows, and otherwise for each row that is selected.
    @Test func negatedCountsOverAPathListTheDestinations() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let (person, team) = (try store.entity("Person"), try store.entity("Team"))
        try store.write { changes in
            for id in 1...3 { try changes.insert("Team", Int64(id), [:]) }
            for id in 1...300 {
                let own: Value = id % 30 == 0 ? .null : .integer(id % 10 == 0 ? 1 : id % 20 < 10 ? 2 : 3)
                try changes.insert("Person", Int64(id), ["name": .text("p\(id)"), "age": .integer(Int64(id)), "team": own])
            }
        }
        func reference(_ entity: Entity, _ name: String) throws -> RelationshipReference {
            RelationshipReference(try #require(entity.relationships.first { $0.name == name }), in: store.schema)
        }
        let count = QueryExpression.related(try reference(person, "team"), .count(try reference(team, "members")))
        let small = QueryPredicate.not(.compare(count, .greater, .constant(.integer(50), .int64)))
        let age = try store.field("Person", "age")
        try store.read { transaction in
            var request = FetchRequest(person, predicate: small)
            let all = try transaction.explain(request)
            #expect(all.engine[0].contains("+\"Person\".\"team\" IN (SELECT"), "\(all)")
            // Each team, and each of their members.
            #expect(all.relatedRowsExamined == 3 + 290, "\(all)")
            #expect(try transaction.ids(request) == (1...300).filter { $0 % 10 == 0 && $0 % 30 != 0 })
            for predicate in [
                QueryPredicate.and([small, .compare(.objectID, .equal, .integer(20))]),
                .and([small, .compare(age, .equal, .integer(20))]),
                .and([.oneOf(age, [.integer(20), .integer(30), .integer(31)]), small]),
            ] {
                request.predicate = predicate
                let plan = try transaction.explain(request)
                #expect(!plan.engine[0].contains("+\"Person\""), "\(plan)")
                #expect(try transaction.ids(request) == [20])
            }
            request = FetchRequest(person, predicate: small, limit: 2, offset: 1)
            #expect(!(try transaction.plan(request).engine[0].contains("+\"Person\"")))
            #expect(try transaction.ids(request) == [20, 40])
        }
    }

    @Test func deepAndWideConditionsAreEvaluatedCorrectly() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in for id in 1...10 { try changes.insert("Values", Int64(id), ["int32": .integer(Int64(id))]) } }
        let entity = try store.entity("Values")
        let field = try store.field("Values", "int32")
        for depth in [1, 5, 10, 19, 20, 21, 60, 199] {
            var predicate = QueryPredicate.compare(field, .less, .integer(4))
            for level in 1..<depth {
                let other = QueryPredicate.compare(field, .greater, .integer(Int64(100 + level)))
                predicate = level % 3 == 0 ? .not(predicate) : (level % 3 == 1 ? .or([predicate, other]) : .and([predicate, .not(other)]))
            }
            let negations = (1..<max(depth, 2)).filter { $0 % 3 == 0 && $0 < depth }.count
            let expected: [Int64] = negations % 2 == 0 ? [1, 2, 3] : [4, 5, 6, 7, 8, 9, 10]
            #expect(try store.ids(FetchRequest(entity, predicate: predicate)) == expected, "depth \(depth)")
        }
        for width in [2, 8, 9, 64, 65, 600, 3000, 6000] {
            let parts = (0..<width).map { QueryPredicate.compare(field, .equal, .integer(Int64($0 * 3))) }
            let matching: [Int64] = [3, 6, 9]
            let expected = matching.filter { $0 / 3 < Int64(width) }
            #expect(try store.ids(FetchRequest(entity, predicate: .or(parts))) == expected, "\(width) alternatives")
        }
    }

    @Test func planNamesTheIndexAndTheResidualPredicate() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let entity = try store.entity("Person")
        let email = try store.field("Person", "email")
        let age = try store.field("Person", "age")
        try store.read { transaction in
            #expect(try transaction.plan(FetchRequest(entity)).access == "scan")
            #expect(
                try transaction.plan(FetchRequest(entity, predicate: .compare(.objectID, .equal, .integer(3)))).access
                    == "primary key (objectID=?)")
            #expect(
                try transaction.plan(FetchRequest(entity, predicate: .compare(email, .equal, .text("a")))).access
                    == "index Person_email (email=?)")
            #expect(
                try transaction.plan(FetchRequest(entity, predicate: .text(email, .beginsWith, "a"))).access
                    == "index Person_email (email>? AND email<?)")
            let emails = (0..<50).map { Value.text("\($0)") }
            #expect(try transaction.plan(FetchRequest(entity, predicate: .oneOf(email, emails))).access == "index Person_email (email=?)")
            #expect(try transaction.plan(FetchRequest(entity, sortKeys: [SortKey(age)], limit: 3)).access == "index Person_age (order)")
            let list = QueryPredicate.oneOf(try store.field("Person", "name"), (0..<1000).map { .text("\($0)") })
            let plan = try transaction.plan(FetchRequest(entity, predicate: .and([.compare(age, .less, .integer(3)), list]), limit: 5))
            #expect(plan.pushedDown == ["filter age < 3", "order by objectID"])
            #expect(plan.residual.count == 2)
        }
    }

    @Test func partsOfDatesAreEvaluatedBySQLUnlessTheZoneHasRules() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let entity = try store.entity("Values")
        let date = QueryExpression.field(try store.field("Values", AttributeType.date.rawValue))
        func plan(_ zone: String) throws -> QueryPlan {
            let zone = try #require(QueryTimeZone(zone))
            let part = try #require(QueryExpression.datePart(.hour, of: date, in: zone))
            let request = FetchRequest(entity, predicate: .compare(part, .less, .constant(.integer(8), .int64)), limit: 5)
            return try store.read { try $0.plan(request) }
        }
        #expect(try plan("UTC").pushedDown == ["filter hour(date) < 8", "order by objectID", "limit 5"])
        #expect(try plan("+05:30").pushedDown == ["filter hour(date, \"+05:30\") < 8", "order by objectID", "limit 5"])
        #expect(try plan("+05:30").residual.isEmpty)
        #expect(try plan("Europe/Berlin").pushedDown == ["order by objectID"])
        #expect(try plan("Europe/Berlin").residual.count == 2)
    }

    @Test func statementsArePreparedOncePerShape() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in for id in 1...5 { try changes.insert("Person", Int64(id), ["name": .text("p\(id)")]) } }
        let entity = try store.entity("Person")
        let name = try store.field("Person", "name")
        func request(_ value: String) -> FetchRequest { FetchRequest(entity, predicate: .compare(name, .equal, .text(value)), limit: 2) }

        let connection = try store.backend.pool.borrowReader()
        let session = Session(connection, version: try connection.begin(writing: false))
        let before = connection.preparedCount
        for id in 1...5 {
            let cursor = try session.scan(request("p\(id)")).cursor
            #expect(try cursor.next())
            #expect(cursor.rowID == Int64(id))
            cursor.close()
        }
        #expect(connection.preparedCount == before + 1)
        // Two open cursors need two statements, and both are reused.
        for _ in 1...3 {
            let first = try session.scan(request("p1")).cursor
            let second = try session.scan(request("p2")).cursor
            #expect(try first.next())
            #expect(try second.next())
            #expect((first.rowID, second.rowID) == (1, 2))
            first.close()
            second.close()
        }
        #expect(connection.preparedCount == before + 2)
        // Many more query shapes than the statement cache holds.
        for count in 1...100 {
            let predicate = QueryPredicate.or((0..<count).map { _ in .compare(name, .equal, .text("p3")) })
            let cursor = try session.scan(FetchRequest(entity, predicate: predicate)).cursor
            #expect(try cursor.next())
            #expect(cursor.rowID == 3)
            cursor.close()
        }
        session.end()
        connection.rollback()
        store.backend.pool.giveBack(reader: connection)
    }
}
