import PolyStoreBackend

/// The number of rows that are read of 2,000, with results compared to those of a full scan.
let planCostCases: [ConformanceCase] = [
    ConformanceCase(
        "plan.cost.descending-order-and-limit", "The first rows of a descending order are read without the others with equal values.",
        requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        try crowd.check(order: [crowd.key("born", ascending: false)], limit: 1, most: 4, elsewhere: 100)
        try crowd.check(order: [crowd.key("born", ascending: false)], limit: 3, offset: 2, most: 10, elsewhere: 100)
        try crowd.check(order: [crowd.key("age", ascending: false)], limit: 70, most: 75, elsewhere: 300)
        try crowd.check(crowd.compare("age", .less, 50), order: [crowd.key("age", ascending: false)], limit: 2, most: 5, elsewhere: 300)
    },
    ConformanceCase(
        "plan.cost.order-within-groups",
        "An order that begins like an index is sorted in groups of equal values, and only the groups that the slice needs are read.",
        requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        let (born, note) = (try crowd.key("born"), try crowd.key("note"))
        try crowd.check(order: [born, note], limit: 5, most: 120)
        try crowd.check(order: [born, try crowd.key("note", ascending: false)], limit: 5, offset: 60, most: 180)
        try crowd.check(order: [try crowd.key("born", ascending: false), note], limit: 3, most: 120)
        // The index continues with age.
        try crowd.check(order: [try crowd.key("kind")], limit: 3, most: 600)
        // Groups that are much larger than the slice.
        try crowd.check(order: [try crowd.key("kind"), note], limit: 5, offset: 60, most: 600, elsewhere: 2000)
        try crowd.check(order: [try crowd.key("kind"), note], limit: 70, offset: 450, most: 1100, elsewhere: 2000)
        try crowd.check(crowd.compare("city", .equal, 3), order: [note], limit: 3, most: 400)
    },
    ConformanceCase(
        "plan.cost.list-and-order", "A list of values and an order by the next field of an index are served by merged index scans.",
        requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        let kinds = QueryPredicate.oneOf(try crowd.field("kind"), [.text("k1"), .text("k3"), .text("none")])
        try crowd.check(kinds, order: [try crowd.key("age")], limit: 5, most: 20)
        try crowd.check(kinds, order: [try crowd.key("age")], limit: 7, offset: 30, most: 60)
        try crowd.check(kinds, order: [try crowd.key("age", ascending: false)], limit: 5, most: 20, elsewhere: 100)
        try crowd.check(kinds, order: [try crowd.key("age", ascending: false)], limit: 7, offset: 30, most: 60, elsewhere: 140)
        try crowd.check(kinds, order: [try crowd.key("kind"), try crowd.key("age")], limit: 5, most: 20, elsewhere: 2000)
        try crowd.check(kinds, order: [try crowd.key("age"), try crowd.key("kind")], limit: 5, most: 1100, elsewhere: 2000)
        // Rows of both lists have the same birth dates, and are in ascending order of row ids in both directions.
        let teams = QueryPredicate.oneOf(try crowd.field("team"), [.integer(0), .integer(2)])
        for isAscending in [true, false] {
            try crowd.check(teams, order: [try crowd.key("born", ascending: isAscending)], limit: 50, offset: 3, most: 120, elsewhere: 200)
        }
    },
    ConformanceCase(
        "plan.cost.range-and-limit", "The first rows of an unselective range are read without the others, wherever they are.",
        requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        try crowd.check(crowd.compare("age", .greater, 30), limit: 5, most: 60)
        try crowd.check(crowd.compare("age", .greater, 30), limit: 3, offset: 4, most: 80)
        try crowd.check(crowd.compare("age", .greater, 97), limit: 1, most: 120)
        // The matching rows all have large ids.
        try crowd.check(crowd.compare("born", .greaterOrEqual, real: 30), limit: 5, most: 700, elsewhere: 2000)
        try crowd.check(.and([crowd.compare("age", .greater, 30), crowd.compare("city", .notEqual, 5)]), limit: 5, most: 60)
    },
    ConformanceCase(
        "plan.cost.rare-range-and-common-equality", "The more selective of two indexes is used.", requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        let rare = try crowd.compare("serial", .less, 10)
        try crowd.check(.and([crowd.compare("city", .equal, 3), rare]), most: 30)
        try crowd.check(.and([rare, crowd.compare("city", .equal, 3), crowd.compare("age", .greater, 1)]), most: 30)
        // The equality is the more selective condition.
        try crowd.check(.and([crowd.compare("city", .equal, 3), crowd.compare("serial", .less, 1500)]), most: 250)
        let (city, age) = (try crowd.field("city"), try crowd.compare("age", .equal, 32))
        try crowd.check(.and([.oneOf(city, [.integer(2)]), age]), most: 30)
        try crowd.check(.and([crowd.compare("city", .equal, 2), age]), most: 30)
    },
    ConformanceCase(
        "plan.cost.nulls-at-the-other-end", "An index serves an order with null at the opposite end.",
        requires: [.plannedIndexes]
    ) {
        run in
        let crowd = try Crowd(run)
        for (isAscending, nulls) in [(true, SortKey.NullPlacement.last), (false, .first)] {
            let key = SortKey(try crowd.field("age"), ascending: isAscending, nulls: nulls)
            try crowd.check(order: [key], limit: 5, most: 30, elsewhere: 2000)
            try crowd.check(order: [key], limit: 30, offset: 1990, most: 2100)
            try crowd.check(order: [key, try crowd.key("note")], limit: 5, most: 150, elsewhere: 2000)
            try crowd.check(crowd.compare("age", .greater, 90), order: [key], limit: 5, most: 30, elsewhere: 300)
        }
    },
    ConformanceCase(
        "plan.index.negated-and-alternative-ranges", "A negated comparison is an index search, and so is an OR of ranges.",
        requires: [.plannedIndexes]
    ) { run in
        let crowd = try Crowd(run)
        try crowd.check(.not(crowd.compare("age", .less, 98)), most: 100)
        try crowd.check(.not(.not(crowd.compare("age", .equal, 98))), most: 100)
        try crowd.check(.or([crowd.compare("age", .greater, 98), crowd.compare("age", .less, 1)]), most: 100)
        try crowd.check(.or([crowd.compare("age", .greater, 98), crowd.compare("serial", .lessOrEqual, 3)]), most: 100)
        try crowd.check(.oneOf(try crowd.field("age"), []), most: 0, elsewhere: 2000)
    },
    ConformanceCase(
        "plan.rows.estimated", "A plan that estimates its rows does so before and after it is executed, and close to the actual number."
    ) { run in
        let crowd = try Crowd(run)
        for (predicate, count) in [(try crowd.compare("city", .equal, 3), 200), (try crowd.compare("serial", .less, 10), 10)] {
            let request = FetchRequest(crowd.entity, predicate: predicate)
            let (plan, explained) = try crowd.store.read { (try $0.plan(request), try $0.explain(request)) }
            try run.expect(explained.rowsEstimated, equals: plan.rowsEstimated)
            guard let estimated = plan.rowsEstimated else { continue }
            try run.expect(estimated, equals: count, "\(plan)")
            try run.expect(explained.description.contains("returned, \(count) estimated"), "\(explained)")
        }
    },
]

/// 2,000 people: ten cities, a hundred ages, birth dates shared by 55, four kinds with an index by age, three teams with an index by birth date, and a
/// serial number unrelated to the id order. Some have no age.
private struct Crowd {
    let run: ConformanceRun
    let store: TestStore
    let entity: Entity

    private static let schema: SchemaDescription = {
        func attribute(_ name: String, _ type: AttributeType, isIndexed: Bool = true) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isIndexed: isIndexed))
        }
        return SchemaDescription(
            name: "Crowd",
            entities: [
                EntityDescription(
                    name: "Person",
                    properties: [
                        attribute("city", .int64), attribute("age", .int64), attribute("born", .date), attribute("serial", .int64),
                        attribute("kind", .string, isIndexed: false), attribute("note", .string, isIndexed: false),
                        attribute("team", .int64, isIndexed: false),
                    ], indexes: [IndexDescription(fields: ["kind", "age"]), IndexDescription(fields: ["team", "born"])])
            ])
    }()

    init(_ run: ConformanceRun) throws {
        self.run = run
        store = try run.open(Self.schema)
        entity = try store.entity("Person")
        try store.insert("Person", (0..<2000).map(Self.row))
    }

    private static func row(_ number: Int) -> [Value] {
        let age: Value = number % 40 == 7 ? .null : .integer(Int64(number % 100))
        let serial = Value.integer(Int64(number * 1237 % 2000))
        let note = Value.text("note \(number * 7 % 13)")
        let team = Value.integer(Int64(number % 3))
        return [.integer(Int64(number % 10)), age, .real(Double(number / 55)), serial, .text("k\(number % 4)"), note, team]
    }

    func field(_ name: String) throws -> FieldReference { try store.field("Person", name) }
    func key(_ name: String, ascending: Bool = true) throws -> SortKey { SortKey(try field(name), ascending: ascending) }
    func compare(_ name: String, _ comparison: ComparisonOperator, _ value: Int64) throws -> QueryPredicate {
        .compare(try field(name), comparison, .integer(value))
    }
    func compare(_ name: String, _ comparison: ComparisonOperator, real value: Double) throws -> QueryPredicate {
        .compare(try field(name), comparison, .real(value))
    }

    /// - Parameters:
    ///   - most: The maximum number of rows or entries that may be examined.
    ///   - elsewhere: The maximum for an engine with its own planner, which has no value statistics.
    func check(
        _ predicate: QueryPredicate = .all, order: [SortKey] = [], limit: Int? = nil, offset: Int = 0, most: Int, elsewhere: Int? = nil
    ) throws {
        var request = FetchRequest(entity, predicate: predicate, sortKeys: order, limit: limit, offset: offset)
        let (plan, ids) = try store.read { (try $0.explain(request), try $0.ids(request)) }
        request.ignoresIndexes = true
        try run.expect(ids, equals: try store.ids(request), "\(plan)")
        let allowed = plan.engine.isEmpty ? most : elsewhere ?? most
        try run.expect(plan.rowsExamined ?? .max <= allowed, "more than \(allowed) rows: \(plan)")
    }
}
