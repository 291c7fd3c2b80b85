import PolyStoreBackend

/// Expressions: their results, and when they are null.
let expressionCases: [ConformanceCase] =
    expressions.map { row in
        ConformanceCase(row.id, row.statement) { run in
            let works = Works.start
            let store = try works.open(run)
            try check(run, row, works, store) { try store.store.ids($0) }
            // In a write transaction, on pending changes.
            try store.store.write { transaction in
                let changes = ChangeSet(store.store.schema)
                let after = try works.changed(store, changes)
                try transaction.apply(changes)
                try check(run, row, after, store) { try transaction.ids($0) }
            }
        }
    } + [
        ConformanceCase("expression.arithmetic.nested-deeply", "Expressions nest up to the limit of conditions; deeper ones are rejected.")
        {
            run in
            let store = try Works.start.open(run)
            var sum = try store.value("age")
            func condition() -> QueryPredicate { .compare(sum, .equal, .constant(.integer(30), .int64)) }
            while condition().depth < FetchRequest.maximumDepth {
                sum = QueryExpression.arithmetic(.add, sum, .constant(.integer(0), .int64)) ?? sum
            }
            try run.expect(try store.ids("Worker", condition()), equals: [1, 6])
            sum = QueryExpression.arithmetic(.add, sum, .constant(.integer(0), .int64)) ?? sum
            try run.expectError(.invalidPredicate, "a condition") { try store.ids("Worker", condition()) }
            try run.expectError(.invalidPredicate, "an order") {
                var request = try store.request("Worker", .all)
                request.sortKeys = [SortKey(QueryExpression.arithmetic(.add, sum, sum) ?? sum)]
                return try store.store.ids(request)
            }
        },
        ConformanceCase("expression.arithmetic.types", "Arithmetic accepts numbers and, with restrictions, dates; the result has a type.") {
            run in
            let types: [(ArithmeticOperator, AttributeType, AttributeType, AttributeType?)] = [
                (.add, .int8, .int64, .int64), (.multiply, .uint64, .uint64, .int64), (.divide, .int64, .int32, .int64),
                (.add, .float, .int64, .double), (.divide, .int64, .double, .double), (.subtract, .date, .date, .double),
                (.add, .date, .date, nil), (.add, .date, .int64, .date), (.subtract, .date, .double, .date),
                (.subtract, .double, .date, nil),
                (.add, .int64, .date, .date), (.multiply, .date, .int64, nil), (.add, .string, .string, nil), (.add, .bool, .int64, nil),
                (.add, .decimal, .decimal, .decimal), (.subtract, .decimal, .int8, .decimal), (.multiply, .uint64, .decimal, .decimal),
                (.divide, .decimal, .decimal, nil), (.divide, .decimal, .int64, nil), (.add, .decimal, .double, nil),
                (.multiply, .float, .decimal, nil),
                (.add, .decimal, .bool, nil), (.add, .date, .decimal, nil), (.add, .string, .decimal, nil), (.add, .data, .int64, nil),
                (.divide, .date, .date, nil),
            ]
            for (operation, left, right, expected) in types {
                let made = QueryExpression.arithmetic(operation, .constant(.null, left), .constant(.null, right))
                try run.expect(made?.type, equals: expected, "\(left) \(operation.rawValue) \(right)")
            }
        },
        ConformanceCase(
            "expression.one-of.values", "IN of an expression: null among the values selects nothing, and a null expression is unknown."
        ) {
            run in
            let store = try Works.start.open(run)
            let double = try plus(store.value("age"), store.value("age"))
            let list = QueryPredicate.oneOf(double, [.integer(60), .integer(-2), .null, .integer(7)])
            try run.expect(try store.ids("Worker", list), equals: [1, 6, 10])
            try run.expect(try store.ids("Worker", .not(list)), equals: [2, 4, 5, 7], "NOT IN")
            try run.expect(try store.ids("Worker", .oneOf(double, [])), equals: [], "of nothing")
            let titles = QueryPredicate.oneOf(try store.related("boss", store.related("team", store.value("Team.title"))), [.text("red")])
            try run.expect(try store.ids("Worker", titles), equals: [2, 3, 4, 9])
        },
        ConformanceCase(
            "expression.aggregate.sum-of-reals-loses-nothing",
            "Sums and averages of related reals are exact when large values cancel."
        ) { run in
            var works = Works(workers: [:], teams: [1: Works.Team(title: "all")], clubs: [:])
            for (index, score) in [1e18, 0.5, -1e18, 1e300, 0.25, -1e300, 1.7e308, 1.7e308, -1.7e308, -1.7e308].enumerated() {
                works.workers[Int64(index + 1)] = Works.Worker(score: score, team: index == 3 || index == 5 ? nil : 1)
            }
            let store = try works.open(run)
            let (members, score) = (try store.reference("Team.members"), try store.value("score"))
            for (function, expected) in [(Aggregate.Function.sum, 0.75), (.average, 0.09375)] {
                let predicate = QueryPredicate.compare(
                    .aggregate(function, members, score), .equal, .constant(.real(expected), .double))
                try run.expect(try store.ids("Team", predicate), equals: [1], "\(predicate)")
            }
        },
        ConformanceCase(
            "expression.fields.are-not-mixed-up", "Fields of an object and of related objects with the same index are distinct."
        ) {
            run in
            let store = try Works.start.open(run)
            // The first field of every entity.
            let same = QueryPredicate.compare(try store.value("name"), .equal, try store.related("team", store.value("Team.title")))
            try run.expect(try store.ids("Worker", same), equals: [])
            try store.store.change { try $0.update(try store.store.entity("Worker"), rowID: 4, ["name": .text("green")]) }
            try run.expect(try store.ids("Worker", same), equals: [4])
            try run.expect(
                try store.ids("Worker", .compare(try store.related("boss", store.value("age")), .less, try store.value("age"))),
                equals: [4, 6])
        },
    ]

/// An expression and its result for each object.
private struct Row: Sendable {
    let id: String
    let statement: String
    var entity = "Worker"
    let expression: @Sendable (WorksStore) throws -> QueryExpression
    let value: @Sendable (Works, Int64) -> Value

    init(
        _ id: String, _ statement: String, of entity: String = "Worker",
        _ expression: @escaping @Sendable (WorksStore) throws -> QueryExpression, _ value: @escaping @Sendable (Works, Int64) -> Value
    ) {
        self.id = id
        self.statement = statement
        self.entity = entity
        self.expression = expression
        self.value = value
    }
}

private func check(
    _ run: ConformanceRun, _ row: Row, _ works: Works, _ store: WorksStore, _ ids: (FetchRequest) throws -> [Int64]
) throws {
    let expression = try row.expression(store)
    let values = works.ids(row.entity).map { ($0, row.value(works, $0)) }
    func selected(_ predicate: QueryPredicate, _ expected: (Value) -> Bool) throws {
        try run.expect(
            try ids(try store.request(row.entity, predicate)), equals: values.filter { expected($0.1) }.map(\.0), "\(predicate)")
    }
    try selected(.isNull(expression)) { $0.isNull }
    try selected(.not(.isNull(expression))) { !$0.isNull }
    for (_, value) in values where !value.isNull {
        let constant = QueryExpression.constant(value, expression.type)
        try selected(.compare(expression, .equal, constant)) { $0 == value }
        try selected(.compare(constant, .notEqual, expression)) { !$0.isNull && $0 != value }
        try selected(.oneOf(expression, [value])) { $0 == value }
    }
    try selected(.compare(expression, .equal, .constant(.null, expression.type))) { _ in false }
    try selected(.compare(expression, .equal, expression)) { !$0.isNull }
}

private func plus(_ left: QueryExpression, _ right: QueryExpression) throws -> QueryExpression { try calculated(.add, left, right) }

private func calculated(_ operation: ArithmeticOperator, _ left: QueryExpression, _ right: QueryExpression) throws -> QueryExpression {
    guard let expression = QueryExpression.arithmetic(operation, left, right) else {
        throw StoreError(.misuse, "\(left) \(operation.rawValue) \(right) means nothing.")
    }
    return expression
}

private func integer(_ value: Int64) -> QueryExpression { .constant(.integer(value), .int64) }
private func real(_ value: Double) -> QueryExpression { .constant(.real(value), .double) }
private func of(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
private func of(_ value: Double?) -> Value { value.map { .real($0) } ?? .null }
private func checked(_ left: Int64?, _ right: Int64, _ operation: (Int64) -> (Int64) -> (partialValue: Int64, overflow: Bool)) -> Value {
    guard let left else { return .null }
    let result = operation(left)(right)
    return result.overflow ? .null : .integer(result.partialValue)
}

private let expressions: [Row] = [
    // MARK: Arithmetic
    Row(
        "expression.arithmetic.addition", "A sum of integers is exact, and null if it overflows 64 bits.",
        { try plus($0.value("age"), integer(1)) }, { checked($0[$1].age, 1, Int64.addingReportingOverflow) }),
    Row(
        "expression.arithmetic.subtraction", "The same for a difference of integers.",
        { try calculated(.subtract, $0.value("age"), integer(1)) },
        { checked($0[$1].age, 1, Int64.subtractingReportingOverflow) }),
    Row(
        "expression.arithmetic.multiplication", "The same for a product of integers.",
        { try calculated(.multiply, $0.value("age"), integer(3)) },
        { checked($0[$1].age, 3, Int64.multipliedReportingOverflow) }),
    Row(
        "expression.arithmetic.division-truncates", "A quotient of integers is truncated towards zero.",
        { try calculated(.divide, $0.value("age"), integer(-7)) }, { checked($0[$1].age, -7, Int64.dividedReportingOverflow) }),
    Row(
        "expression.arithmetic.least-divided-by-minus-one", "The only quotient that overflows is null.",
        { try calculated(.divide, $0.value("age"), integer(-1)) }, { checked($0[$1].age, -1, Int64.dividedReportingOverflow) }),
    Row(
        "expression.arithmetic.division-by-zero", "A division of integers by zero is null.",
        { try calculated(.divide, integer(100), $0.value("age")) },
        { works, id in works[id].age.flatMap { $0 == 0 ? nil : .integer(100 / $0) } ?? .null }),
    Row(
        "expression.arithmetic.real-division-by-zero", "A division of reals by zero is null.",
        { try calculated(.divide, $0.value("score"), calculated(.subtract, $0.value("score"), real(0.5))) },
        { works, id in works[id].score.flatMap { $0 == 0.5 ? nil : .real($0 / ($0 - 0.5)) } ?? .null }),
    Row(
        "expression.arithmetic.reals", "Arithmetic on reals follows IEEE 754; NaN and infinities are values.",
        { try plus($0.value("score"), $0.value("score")) }, { works, id in of(works[id].score.map { $0 + $0 }) }),
    Row(
        "expression.arithmetic.real-overflow-is-infinite", "A real that overflows is infinite.",
        { try calculated(.multiply, $0.value("score"), real(1e300)) }, { works, id in of(works[id].score.map { $0 * 1e300 }) }),
    Row(
        "expression.arithmetic.no-negative-zero", "−0 becomes 0.", { try calculated(.multiply, $0.value("age"), real(-0.0)) },
        { works, id in of(works[id].age.map { _ in 0.0 }) }),
    Row(
        "expression.arithmetic.integer-and-real", "An integer and a real yield a real.", { try plus($0.value("age"), real(0.5)) },
        { works, id in of(works[id].age.map { Double($0) + 0.5 }) }),
    Row(
        "expression.arithmetic.unsigned", "Unsigned values are not reinterpreted; a result above 2^63 − 1 is null.",
        { try plus($0.value("level"), integer(0)) }, { works, id in of(works[id].level.flatMap { Int64(exactly: $0) }) }),
    Row(
        "expression.arithmetic.unsigned-on-the-way", "Only the result of each operation must fit.",
        { try calculated(.subtract, $0.value("level"), .constant(.integer(.min), .uint64)) },
        { works, id in of(works[id].level.flatMap { Int64(exactly: Int128($0) - Int128(1) << 63) }) }),
    Row(
        "expression.arithmetic.unsigned-product", "A product of unsigned values above 128 bits is null too.",
        { try calculated(.multiply, $0.value("level"), $0.value("level")) },
        { works, id in of(works[id].level.flatMap { $0 < 1 << 31 ? Int64($0 * $0) : nil }) }),
    Row(
        "expression.arithmetic.date-and-seconds", "A date plus a number is the date that many seconds later.",
        { try plus($0.value("born"), integer(60)) }, { works, id in of(works[id].born.map { $0 + 60 }) }),
    Row(
        "expression.arithmetic.dates", "The difference of two dates is in seconds.",
        { try calculated(.subtract, $0.value("born"), .constant(.real(100), .date)) }, { works, id in of(works[id].born.map { $0 - 100 }) }),
    Row(
        "expression.arithmetic.of-fields", "On two attributes; null if either is null.",
        { try calculated(.multiply, $0.value("age"), $0.value("score")) },
        { works, id in
            guard let age = works[id].age, let score = works[id].score else { return .null }
            let product = Double(age) * score
            return .real(product == 0 ? 0 : product)
        }),
    Row(
        "expression.arithmetic.of-counts", "On counts and on ids.",
        { try plus(calculated(.multiply, $0.count("friends"), integer(100)), $0.value("id")) },
        { works, id in .integer(Int64(works[id].friends.count) * 100 + id) }),
    Row(
        "expression.arithmetic.over-relationships", "On an attribute and one of a related object.",
        { try calculated(.subtract, $0.value("age"), $0.related("boss", $0.value("age"))) },
        { works, id in
            guard let mine = works[id].age, let other = works.boss(id)?.age else { return .null }
            return checked(mine, other, Int64.subtractingReportingOverflow)
        }),

    // MARK: Null
    Row(
        "expression.null.of-a-path", "Null if the path ends before the attribute.", { try $0.related("boss", $0.value("age")) },
        {
            of($0.boss($1)?.age)
        }),
    Row(
        "expression.null.of-a-long-path", "The same for a longer path.",
        { try $0.related("boss", $0.related("boss", $0.related("team", $0.value("Team.title")))) },
        { works, id in
            works[id].boss.flatMap { works[$0].boss }.flatMap { works.team($0) }.map { .text($0.title) } ?? .null
        }),
    Row(
        "expression.null.of-arithmetic", "Arithmetic with null is null.", { try plus($0.value("age"), .constant(.null, .int64)) },
        { _, _ in
            .null
        }),
    Row(
        "expression.null.of-a-folded-text", "Folding null yields null.", { .folded(try $0.value("name"), .caseInsensitive) },
        { works, id in
            let folded = ["Ada": "ada", "Bob": "bob", "Ångström": "ångström", "Straße": "strasse", "STRASSE": "strasse"]
            return works[id].name.map { .text(folded[$0] ?? $0) } ?? .null
        }),
    Row(
        "expression.null.id-over-a-path", "The id of a missing related object is null.",
        { try $0.related("boss", $0.value("id")) },
        {
            of($0[$1].boss)
        }),
    Row(
        "expression.null.never-of-a-count", "A count without related objects is 0.", { try $0.count("reports") },
        {
            .integer(Int64($0.reports($1).count))
        }),

    // MARK: Aggregates over relationships
    Row(
        "expression.aggregate.sum-of-integers", "The sum of related values; 0 without related objects; null if it overflows.", of: "Team",
        { .aggregate(.sum, try $0.reference("Team.members"), try $0.value("age")) },
        { works, id in
            let sum = works.members(team: id).reduce(Int128(0)) { $0 + Int128(works[$1].age ?? 0) }
            return of(Int64(exactly: sum))
        }),
    Row(
        "expression.aggregate.sum-of-unsigned", "A sum of unsigned values is unsigned and can use its full range.", of: "Team",
        { .aggregate(.sum, try $0.reference("Team.members"), try $0.value("level")) },
        { works, id in
            let sum = works.members(team: id).reduce(Int128(0)) { $0 + Int128(works[$1].level ?? 0) }
            return UInt64(exactly: sum).map { .integer(Int64(bitPattern: $0)) } ?? .null
        }),
    Row(
        "expression.aggregate.sum-of-reals", "A sum of reals ignores null.", of: "Club",
        { .aggregate(.sum, try $0.reference("Club.members"), try $0.value("score")) },
        { works, id in .real(works.members(club: id).reduce(0.0) { $0 + (works[$1].score ?? 0) }) }),
    Row(
        "expression.aggregate.average", "An average is a real, and null without values.", of: "Club",
        { .aggregate(.average, try $0.reference("Club.members"), try $0.value("age")) },
        { works, id in
            let ages = works.members(club: id).compactMap { works[$0].age }
            return ages.isEmpty ? .null : .real(Double(ages.reduce(0, +)) / Double(ages.count))
        }),
    Row(
        "expression.aggregate.minimum", "The minimum of related values; null without values.",
        { .aggregate(.minimum, try $0.reference("friends"), try $0.value("age")) },
        { works, id in of(works[id].friends.compactMap { works[$0].age }.min()) }
    ),
    Row(
        "expression.aggregate.maximum", "The maximum of related values.",
        { .aggregate(.maximum, try $0.reference("friends"), try $0.value("name")) },
        { works, id in
            works[id].friends.compactMap { works[$0].name }.max { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .text($0) } ?? .null
        }),
    Row(
        "expression.aggregate.unsigned-order", "The maximum of unsigned values can have the highest bit.", of: "Team",
        { .aggregate(.maximum, try $0.reference("Team.members"), try $0.value("level")) },
        { works, id in works.members(team: id).compactMap { works[$0].level }.max().map { .integer(Int64(bitPattern: $0)) } ?? .null }),
    Row(
        "expression.aggregate.not-a-number-is-least", "NaN is the minimum of reals, and is not null.", of: "Team",
        { .aggregate(.minimum, try $0.reference("Team.members"), try $0.value("score")) },
        { works, id in
            let scores = works.members(team: id).compactMap { works[$0].score }
            return scores.contains(where: \.isNaN) ? .real(.nan) : of(scores.min())
        }),
    Row(
        "expression.aggregate.count-of-values", "The number of objects with a value.", of: "Team",
        { .aggregate(.count, try $0.reference("Team.members"), try $0.value("age")) },
        { works, id in .integer(Int64(works.members(team: id).count { works[$0].age != nil })) }),
    Row(
        "expression.aggregate.count-of-different-values", "The number of distinct values.", of: "Club",
        { .aggregate(.countDistinct, try $0.reference("Club.members"), try $0.value("age")) },
        { works, id in .integer(Int64(Set(works.members(club: id).compactMap { works[$0].age }).count)) }),
    Row(
        "expression.aggregate.over-two-steps", "Over values of objects two relationships away.", of: "Club",
        { .aggregate(.sum, try $0.reference("Club.members"), try $0.related("team", $0.value("Team.budget"))) },
        { works, id in .integer(works.members(club: id).reduce(0) { $0 + (works.team($1)?.budget ?? 0) }) }),
    Row(
        "expression.aggregate.of-aggregates", "The maximum of sums.", of: "Club",
        { .aggregate(.maximum, try $0.reference("Club.members"), try $0.count("friends")) },
        { works, id in of(works.members(club: id).map { Int64(works[$0].friends.count) }.max()) }),
    Row(
        "expression.aggregate.of-the-way-there", "Over the target of a to-one relationship.",
        { try $0.related("team", .aggregate(.maximum, try $0.reference("Team.members"), try $0.value("age"))) },
        { works, id in works[id].team.map { of(works.members(team: $0).compactMap { works[$0].age }.max()) } ?? .null }),
    Row(
        "expression.aggregate.of-ids", "Over the ids of related objects.",
        { .aggregate(.maximum, try $0.reference("reports"), .field(.objectID)) },
        { of($0.reports($1).max()) }),
]
