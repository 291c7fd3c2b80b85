import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// A request and its expected plan.
struct Planned: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let access: String
    /// The residual predicates that the shared executor evaluates.
    var residual: [String] = []
    let request: @Sendable (Store) throws -> FetchRequest
}

@Suite struct PlanTests {
    private static func opened() throws -> Opened {
        let opened = try Opened()
        try Company.fill(opened.store, 300)
        return opened
    }

    private static func plan(
        _ name: String, _ access: String, residual: [String] = [], limit: Int? = nil, offset: Int = 0, onlyIDs: Bool = false,
        fields: [String]? = nil, order: [(String, Bool)] = [],
        _ predicate: @escaping @Sendable (Fields) throws -> QueryPredicate = { _ in .all }
    ) -> Planned {
        Planned(testDescription: name, access: access, residual: residual) { store in
            let fieldsOf = Fields(store: store)
            var request = FetchRequest(
                try store.entity("Person"), predicate: try predicate(fieldsOf),
                sortKeys: try order.map { SortKey($0.0 == "objectID" ? .objectID : try fieldsOf[$0.0], ascending: $0.1) }, limit: limit,
                offset: offset, onlyIDs: onlyIDs)
            if let fields {
                var mask = FieldMask()
                for name in fields { mask.insert(try fieldsOf[name].index) }
                request.fields = mask
            }
            return request
        }
    }

    /// Fields by name.
    struct Fields {
        let store: Store
        subscript(_ name: String) -> FieldReference { get throws { try store.field("Person", name) } }
        func age(_ comparison: ComparisonOperator, _ value: Int64) throws -> QueryPredicate {
            .compare(try self["age"], comparison, .integer(value))
        }
        func city(_ name: String) throws -> QueryPredicate { .compare(try self["city"], .equal, .text(name)) }
        func name(_ name: String) throws -> QueryPredicate { .compare(try self["name"], .equal, .text(name)) }
    }

    static let all: [Planned] = [
        plan("equality", "index Person_age (age=?)") { try $0.age(.equal, 5) },
        plan("equality of a unique value", "index Person_email (email=?)") { .compare(try $0["email"], .equal, .text("5@example.com")) },
        plan("null", "index Person_age (age=?)") { .isNull(try $0["age"]) },
        plan("not null", "index Person_age (age IS NOT NULL)") { .not(.isNull(try $0["age"])) },
        plan("a range with one end", "index Person_age (age>?)") { try $0.age(.greater, 80) },
        plan("a range with two ends", "index Person_age (age>=? AND age<?)") {
            .and([try $0.age(.greaterOrEqual, 20), try $0.age(.less, 30)])
        },
        plan("a range that excludes itself", "index Person_age (age>? AND age<?)") {
            .and([try $0.age(.greater, 50), try $0.age(.less, 20)])
        },
        plan("a beginning", "index Person_name (name BEGINSWITH ?)") { .text(try $0["name"], .beginsWith, "name 1") },
        plan("a part within", "scan", residual: ["filter name CONTAINS \"me 1\""]) { .text(try $0["name"], .contains, "me 1") },
        plan("one of some", "index Person_age (age IN (?))") { .oneOf(try $0["age"], [.integer(5), .integer(7), .null, .integer(5)]) },
        plan("none of any", "nothing") { .oneOf(try $0["age"], [.null]) },
        plan("compared with null", "nothing") { .compare(try $0["age"], .equal, .null) },
        plan("a union", "index Person_age (age=?) or index Person_name (name=?)", residual: ["filter (age == 5 OR name == \"name 7\")"]) {
            .or([try $0.age(.equal, 5), try $0.name("name 7")])
        },
        plan("a union with a part that no index serves", "scan", residual: ["filter (age == 5 OR score > 3.0)"]) {
            .or([try $0.age(.equal, 5), .compare(try $0["score"], .greater, .real(3))])
        },
        plan("a comparison turned round", "index Person_age (age>=?)") { .not(try $0.age(.less, 80)) },
        plan("De Morgan", "index Person_age (age>=? AND age<?)") { .not(.or([try $0.age(.less, 20), try $0.age(.greaterOrEqual, 30)])) },
        plan("unequal", "scan", residual: ["filter age != 5"]) { try $0.age(.notEqual, 5) },
        plan("both fields of a compound index", "index Person_city_age (city=? AND age=?)") {
            .and([try $0.age(.equal, 5), try $0.city("Rome")])
        },
        plan("the first field of a compound index", "index Person_city_age (city=?)") { try $0.city("Rome") },
        plan("a value and a range", "index Person_city_age (city=? AND age>?)") { .and([try $0.age(.greater, 70), try $0.city("Rome")]) },
        plan("some and a range", "index Person_city_age (city IN (?) AND age>?)") {
            .and([try $0.age(.greater, 80), .oneOf(try $0["city"], [.text("Rome"), .text("Oslo")])])
        },
        plan("an index and the rest", "index Person_age (age=?)", residual: ["filter score > 3.0"]) {
            .and([try $0.age(.equal, 5), .compare(try $0["score"], .greater, .real(3))])
        },
        plan("an id", "primary key (objectID=?)") { _ in .compare(.objectID, .equal, .integer(5)) },
        plan("some ids", "primary key (objectID=?)", residual: ["filter age == 5"]) {
            .and([.oneOf(.objectID, [.integer(5), .integer(95), .integer(12)]), try $0.age(.equal, 5)])
        },
        plan("a range of ids", "primary key (range of objectID)", residual: ["filter (objectID > 10 AND objectID <= 20)"]) { _ in
            .and([.compare(.objectID, .greater, .integer(10)), .compare(.objectID, .lessOrEqual, .integer(20))])
        },
        plan("ids backwards", "scan reversed", order: [("objectID", false)]),
        plan("an order", "index Person_age (order)", order: [("age", true)]),
        plan("an order backwards, with ties", "index Person_age (order) reversed", order: [("age", false)]),
        plan(
            "an order and a limit", "index Person_age (order) reversed", limit: 10, order: [("age", false)]),
        plan("a slice of an order", "index Person_age (order)", limit: 10, offset: 25, order: [("age", true)]),
        plan("a slice of a value", "index Person_age (age=?)", limit: 2, offset: 1) { try $0.age(.equal, 5) },
        plan("an order within a range", "index Person_age (age>?)", order: [("age", true)]) { try $0.age(.greater, 70) },
        plan("an order behind a value", "index Person_city_age (city=?) reversed", order: [("age", false)]) { try $0.city("Rome") },
        plan("an order of two", "index Person_city_age (order)", order: [("city", true), ("age", true)]),
        plan(
            "an order that no index has", "scan", residual: ["sort by score, objectID", "slice limit 3 offset 0"], limit: 3,
            order: [("score", true)]),
        plan("an order of two ways", "scan", residual: ["sort by city, age, objectID"], order: [("city", true), ("age", false)]),
        plan("ids alone", "covering index Person_age (age=?)", onlyIDs: true) { try $0.age(.equal, 5) },
        plan(
            "fields of the index", "covering index Person_city_age (order)", fields: ["city", "age"],
            order: [("city", true), ("age", true)]),
        plan("a field more", "index Person_city_age (order)", fields: ["city", "age", "score"], order: [("city", true), ("age", true)]),
    ]

    @Test(arguments: all)
    func requestsHaveTheExpectedPlans(_ planned: Planned) throws {
        let opened = try Self.opened()
        let request = try planned.request(opened.store)
        try opened.store.read { transaction in
            let plan = try transaction.plan(request)
            #expect(plan.access == planned.access)
            #expect(plan.residual == planned.residual)
            // The result equals that of a full scan.
            var plain = request
            plain.ignoresIndexes = true
            let expected = try transaction.ids(plain)
            #expect(try transaction.ids(request) == expected)
            #expect(try transaction.count(request) == expected.count)
            let explained = try transaction.explain(request)
            #expect(explained.rowsReturned == expected.count)
            guard planned.residual.isEmpty, !plan.isScan else { return }
            if let limit = request.limit {
                // A limit ends the scan, except within a run of equal values, which is read completely.
                #expect(explained.rowsExamined ?? .max < request.offset + limit + 5)
            } else {
                #expect(explained.rowsExamined == expected.count)
            }
        }
    }

    @Test func textAndJSON() throws {
        let opened = try Self.opened()
        let fields = Fields(store: opened.store)
        let request = FetchRequest(
            try opened.store.entity("Person"),
            predicate: .and([try fields.city("Rome"), try fields.age(.greater, 70), .compare(try fields["score"], .greater, .real(3))]),
            sortKeys: [SortKey(try fields["age"], ascending: false)], limit: 4)
        let plan = try opened.store.read { try $0.explain(request) }
        #expect(
            plan.description == """
                fetch Person
                  access: index Person_city_age (city=? AND age>?) reversed
                  pushed down: filter (city == "Rome" AND age > 70); order by age, objectID
                  residual: filter score > 3.0; slice limit 4 offset 0
                  rows: 4 examined, 4 returned, 16 estimated
                """)
        #expect(
            plan.json == """
                {"accesses":[{"condition":"city=? AND age>?","index":"Person_city_age","isCovering":false,"isReversed":true,"path":"search"}],\
                "engine":[],"entity":"Person","pushedDown":["filter (city == \\"Rome\\" AND age > 70)","order by age, objectID"],\
                "residual":["filter score > 3.0","slice limit 4 offset 0"],"rowsEstimated":16,"rowsExamined":4,"rowsReturned":4}
                """)
    }

    /// Counts, minima and maxima do not read records: every record is damaged here.
    @Test func countsAndExtremesComeFromTheIndex() throws {
        let opened = try Self.opened()
        let fields = Fields(store: opened.store)
        let person = try opened.store.entity("Person")
        let requests: [(AggregateRequest, [Value])] = [
            (AggregateRequest(person, aggregates: [.count]), [.integer(300)]),
            (
                AggregateRequest(person, aggregates: [.minimum(try fields["age"]), .maximum(try fields["age"])]),
                [.integer(0), .integer(89)]
            ),
            (AggregateRequest(person, predicate: try fields.city("Rome"), aggregates: [.count]), [.integer(100)]),
            (
                AggregateRequest(person, predicate: try fields.city("Rome"), aggregates: [.minimum(try fields["age"])]),
                [.integer(1)]
            ),
        ]
        let expected = try opened.store.read { transaction in
            try requests.map { request, _ in
                var plain = request
                plain.ignoresIndexes = true
                return try transaction.aggregate(plain)[0].values
            }
        }
        #expect(expected == requests.map(\.1))
        let only = requests.filter { !$0.0.aggregates.contains { $0.function == .maximum || $0.function == .minimum } }
        for id in Int64(1)...300 { opened.engine[try opened.record("Person", id)] = [1, 2, 3] }
        try opened.store.read { transaction in
            for (request, values) in only {
                let rows = try transaction.aggregate(request)
                #expect(rows.map(\.values) == [values])
            }
        }
    }

    @Test func truncatedEntriesDoNotProvideTheOrder() throws {
        let opened = try Self.opened()
        let fields = Fields(store: opened.store)
        let long = String(repeating: "z", count: 1000)
        let byName = FetchRequest(try opened.store.entity("Person"), sortKeys: [SortKey(try fields["name"])])
        #expect(try opened.store.read { try $0.plan(byName) }.access == "index Person_name (order)")
        try opened.store.write { changes in
            for (id, end) in [(Int64(400), "b"), (401, "a"), (402, "c")] {
                try changes.insert("Person", id, ["name": .text(long + end)])
            }
        }
        #expect(try opened.store.read { try $0.plan(byName) }.access == "scan")
        #expect(try opened.store.ids(byName).suffix(3) == [401, 400, 402])
        let equal = try fields.name(long + "a")
        #expect(try opened.store.ids("Person", equal) == [401])
        #expect(try opened.store.ids("Person", .text(try fields["name"], .beginsWith, long)) == [400, 401, 402])
        #expect(try opened.store.ids("Person", .compare(try fields["name"], .greater, .text(long + "a"))) == [400, 402])
    }
}
