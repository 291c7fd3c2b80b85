import PolyStoreBackend

/// Sort orders by expressions.
let orderExpressionCases: [ConformanceCase] =
    orders.map { order in
        ConformanceCase(order.id, order.statement) { run in
            let works = Works.start
            let store = try works.open(run)
            try check(run, order, works, store) { try store.store.ids($0) }
            try store.store.write { transaction in
                let changes = ChangeSet(store.store.schema)
                let after = try works.changed(store, changes)
                try transaction.apply(changes)
                try check(run, order, after, store) { try transaction.ids($0) }
            }
        }
    } + [
        ConformanceCase("order.expression.ties-by-id", "Objects with equal values are in id order, in both directions.") {
            run in
            let store = try Works.start.open(run)
            for isAscending in [true, false] {
                var request = try store.request("Worker", .compare(try store.field("age"), .less, .integer(1000)))
                request.sortKeys = [
                    SortKey(QueryExpression.folded(.constant(.text("x"), .string), .caseInsensitive), ascending: isAscending)
                ]
                try run.expect(try store.store.ids(request), equals: [1, 2, 4, 5, 6, 7, 9, 10], "ascending \(isAscending)")
                request.sortKeys = [SortKey(try store.count("reports"), ascending: isAscending)]
                let known = [1: 2, 2: 1, 3: 1, 5: 1, 7: 1, 8: 1] as [Int64: Int]
                let expected = ([1, 2, 4, 5, 6, 7, 9, 10] as [Int64]).sorted {
                    let (first, second) = (known[$0] ?? 0, known[$1] ?? 0)
                    return first == second ? $0 < $1 : (first < second) == isAscending
                }
                try run.expect(try store.store.ids(request), equals: expected, "by reports, ascending \(isAscending)")
            }
        },
        ConformanceCase("order.expression.several-keys", "Expressions and fields can be combined, each with its own direction.") { run in
            let store = try Works.start.open(run)
            var request = try store.request("Worker", .all)
            let title = try store.related("team", store.value("Team.title"))
            request.sortKeys = [SortKey(title, ascending: false, nulls: .last), SortKey(try store.field("age"), nulls: .last)]
            try run.expect(try store.store.ids(request), equals: [2, 1, 8, 4, 3, 9, 5, 10, 7, 6])
            request.sortKeys = [SortKey(try store.field("age"), nulls: .first), SortKey(title, nulls: .last)]
            try run.expect(try store.store.ids(request), equals: [3, 9, 10, 7, 5, 2, 1, 6, 4, 8])
        },
        ConformanceCase("order.expression.with-conditions", "With a condition on related objects, a limit and an offset.") { run in
            let store = try Works.start.open(run)
            var request = try store.request("Worker", try store.any("clubs", .all))
            request.sortKeys = [SortKey(QueryExpression.folded(try store.value("name"), [.caseInsensitive, .diacriticInsensitive]))]
            try run.expect(try store.store.ids(request), equals: [10, 1, 2, 5, 3, 7])
            (request.limit, request.offset) = (2, 2)
            try run.expect(try store.store.ids(request), equals: [2, 5])
            request.onlyIDs = true
            try run.expect(try store.store.ids(request), equals: [2, 5], "ids only")
            (request.onlyIDs, request.ignoresIndexes) = (false, true)
            try run.expect(try store.store.ids(request), equals: [2, 5], "without indexes")
            try run.expect(try store.store.read { try $0.count(request) }, equals: 2, "count")
        },
        ConformanceCase("order.expression.rows-have-their-values", "The rows of such an order have all requested fields.") {
            run in
            let (works, store) = (Works.start, try Works.start.open(run))
            let worker = try store.store.entity("Worker")
            var request = try store.request("Worker", .all)
            request.sortKeys = [SortKey(try store.related("boss", store.value("age")), ascending: false)]
            for mask in [nil, FieldMask(first: 2)] {
                request.fields = mask
                let rows = try store.store.read { transaction in
                    let cursor = try transaction.fetch(request)
                    defer { cursor.close() }
                    var rows: [Int64: [Value]] = [:]
                    while try cursor.next() { rows[cursor.rowID] = worker.fields.prefix(2).map { cursor.record.value($0) } }
                    return rows
                }
                for id in works.ids("Worker") {
                    let expected: [Value] = [works[id].name.map { .text($0) } ?? .null, works[id].age.map { .integer($0) } ?? .null]
                    try run.expect(rows[id], equals: expected, "worker \(id)")
                }
            }
        },
        ConformanceCase("order.expression.many-rows", "The first of many rows are those of the complete order.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            let rows: [[Value]] = (0..<700).map { (index: Int) -> [Value] in
                Fixtures.person("p\(index)", Int64(index * 37 % 101), score: index % 9 == 0 ? nil : Double(index % 13))
            }
            try store.insert("Person", rows)
            let (age, score) = (
                QueryExpression.field(try store.field("Person", "age")), QueryExpression.field(try store.field("Person", "score"))
            )
            guard let sum = QueryExpression.arithmetic(.add, age, score) else { throw run.fail("no sum") }
            let values: [Double?] = (0..<700).map { (index: Int) -> Double? in
                let sum = index * 37 % 101 + index % 13
                return index % 9 == 0 ? nil : Double(sum)
            }
            for isAscending in [true, false] {
                let expected = (0..<700).sorted { left, right in
                    let (first, second) = (values[left] ?? -1, values[right] ?? -1)
                    return first == second ? left < right : (first < second) == isAscending
                }.map { Int64($0 + 1) }
                for (limit, offset) in [(nil, 0), (1, 0), (10, 0), (10, 300), (50, 690), (16, 16)] as [(Int?, Int)] {
                    let request = FetchRequest(person, sortKeys: [SortKey(sum, ascending: isAscending)], limit: limit, offset: offset)
                    let remaining = expected.dropFirst(offset)
                    try run.expect(
                        try store.ids(request), equals: Array(limit.map { remaining.prefix($0) } ?? remaining),
                        "limit \(limit.map(String.init) ?? "none") offset \(offset) ascending \(isAscending)")
                }
            }
        },
        ConformanceCase("order.expression.refused", "An order by an unknown field throws invalidPredicate.") { run in
            let store = try Works.start.open(run)
            let wrong: [QueryExpression] = [
                .field(FieldReference(index: 77, name: "far", type: .int64)), try store.related("friends", store.value("age")),
                try store.related("boss", store.value("Club.rating")), try store.related("Team.members", store.value("age")),
                .aggregate(.sum, try store.reference("friends"), try store.value("name")),
                .folded(try store.value("age"), .caseInsensitive),
            ]
            for expression in wrong {
                for key in [SortKey(expression), SortKey(.folded(expression, .diacriticInsensitive))] {
                    var request = try store.request("Worker", .all)
                    request.sortKeys = [key]
                    try run.expectError(.invalidPredicate, "fetch by \(expression)") { try store.store.ids(request) }
                    try run.expectError(.invalidPredicate, "plan by \(expression)") { try store.store.read { try $0.plan(request) } }
                    try run.expectError(.invalidPredicate, "explain by \(expression)") { try store.store.read { try $0.explain(request) } }
                }
            }
        },
    ]

/// An expression, and the expected sort keys of the workers.
private struct Row: Sendable {
    let id: String
    let statement: String
    let expression: @Sendable (WorksStore) throws -> QueryExpression
    let value: @Sendable (Works, Int64) -> Key?

    init(
        _ id: String, _ statement: String, _ expression: @escaping @Sendable (WorksStore) throws -> QueryExpression,
        _ value: @escaping @Sendable (Works, Int64) -> Key?
    ) {
        self.id = id
        self.statement = statement
        self.expression = expression
        self.value = value
    }
}

private enum Key: Sendable {
    case number(Double)
    case text(String)

    static func isLess(_ left: Key, _ right: Key) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left.isNaN ? !right.isNaN : left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }
}

private func check(
    _ run: ConformanceRun, _ row: Row, _ works: Works, _ store: WorksStore, _ ids: (FetchRequest) throws -> [Int64]
) throws {
    let expression = try row.expression(store)
    for isAscending in [true, false] {
        for nulls in [SortKey.NullPlacement.smallest, .first, .last] {
            let areNullsFirst = nulls == .first || nulls == .smallest && isAscending
            let expected = works.ids("Worker").sorted { left, right in
                switch (row.value(works, left), row.value(works, right)) {
                case (nil, nil): return left < right
                case (nil, _): return areNullsFirst
                case (_, nil): return !areNullsFirst
                case (let first?, let second?):
                    if Key.isLess(first, second) { return isAscending }
                    return Key.isLess(second, first) ? !isAscending : left < right
                }
            }
            for (limit, offset) in [(nil, 0), (3, 0), (4, 2), (nil, 5), (2, 9), (5, 100)] as [(Int?, Int)] {
                var request = try store.request("Worker", .all)
                request.sortKeys = [SortKey(expression, ascending: isAscending, nulls: nulls)]
                (request.limit, request.offset) = (limit, offset)
                let remaining = expected.dropFirst(offset)
                try run.expect(
                    try ids(request), equals: Array(limit.map { remaining.prefix($0) } ?? remaining),
                    "\(expression) ascending \(isAscending) nulls \(nulls) limit \(limit.map(String.init) ?? "none") offset \(offset)")
            }
        }
    }
}

private let orders: [Row] = [
    Row(
        "order.expression.related-text", "By an attribute of a related object; null if there is none.",
        { try $0.related("team", $0.value("Team.title")) },
        {
            $0.team($1).map { .text($0.title) }
        }),
    Row(
        "order.expression.related-number", "By a number of a related object.", { try $0.related("boss", $0.value("age")) },
        {
            $0.boss($1)?.age.map { .number(Double($0)) }
        }),
    Row(
        "order.expression.two-steps", "By an attribute two steps away.",
        { try $0.related("boss", $0.related("team", $0.value("Team.budget"))) },
        {
            works, id in works[id].boss.flatMap { works.team($0)?.budget }.map { .number(Double($0)) }
        }),
    Row(
        "order.expression.related-id", "By the id of a related object.", { try $0.related("boss", $0.value("id")) },
        {
            $0[$1].boss.map { .number(Double($0)) }
        }),
    Row(
        "order.expression.folded", "By a text without case and diacritics.",
        { .folded(try $0.value("name"), [.caseInsensitive, .diacriticInsensitive]) },
        {
            works, id in
            let folded = ["Ada": "ada", "Bob": "bob", "Ångström": "angstrom", "Straße": "strasse", "STRASSE": "strasse"]
            return works[id].name.map { .text(folded[$0] ?? $0) }
        }),
    Row(
        "order.expression.count", "By the number of related objects.", { try $0.count("friends") },
        { .number(Double($0[$1].friends.count)) }),
    Row(
        "order.expression.count-with-a-condition", "By the number of related objects that satisfy a condition.",
        { try $0.count("clubs", where: .isNull($0.field("Club.rating"))) },
        { works, id in .number(Double(works[id].clubs.count { works.clubs[$0]?.rating == nil })) }),
    Row(
        "order.expression.aggregate", "By the maximum of related values.",
        { .aggregate(.maximum, try $0.reference("friends"), try $0.value("age")) },
        {
            works, id in works[id].friends.compactMap { works[$0].age }.max().map { .number(Double($0)) }
        }),
    Row(
        "order.expression.arithmetic", "By the result of a calculation, null where there is none.",
        { try $0.half("age") },
        { works, id in works[id].age.map { .number(Double($0 / 2)) } }),
    Row(
        "order.expression.reals", "By reals: NaN before all numbers.", { try $0.scaled("score") },
        { works, id in
            works[id].score.map { .number($0 * 2) }
        }),
    Row(
        "order.expression.unsigned", "By unsigned values of a related object.", { try $0.related("boss", $0.value("level")) },
        {
            $0.boss($1)?.level.map { .number(Double($0)) }
        }),
    Row(
        "order.expression.dates", "By dates of a related object.", { try $0.related("boss", $0.value("born")) },
        {
            $0.boss($1)?.born.map { .number($0) }
        }),
]

extension WorksStore {
    fileprivate func half(_ path: String) throws -> QueryExpression {
        try .arithmetic(.divide, value(path), .constant(.integer(2), .int64)) ?? value(path)
    }
    fileprivate func scaled(_ path: String) throws -> QueryExpression {
        try .arithmetic(.multiply, value(path), .constant(.real(2), .double)) ?? value(path)
    }
}
