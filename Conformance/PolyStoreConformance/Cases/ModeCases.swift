import PolyStoreBackend

/// Modes of attributes, of expressions and of values of related objects.
let modeCases: [ConformanceCase] =
    modes.map { row in
        ConformanceCase("aggregate.mode.\(row.id)", row.statement) { run in
            for (number, (type, values, expected)) in row.tables.enumerated() {
                // In two orders, because the result must not depend on it.
                for (isReversed, isIndexed) in [(false, true), (true, false)] {
                    let store = try run.open(Fixtures.thing(type, isIndexed: isIndexed), "store\(number)-\(isReversed)")
                    try store.insert("Thing", (isReversed ? values.reversed() : values).map { [$0] })
                    let request = AggregateRequest(
                        try store.entity("Thing"), aggregates: [.mode(try store.field("Thing", "value")), .count])
                    let rows = [AggregateRow(group: [], values: [expected, .integer(Int64(values.count))])]
                    try run.expect(
                        try store.read { try $0.aggregate(request) }, equals: rows,
                        "\(values.map(\.literal)) (\(type)), reversed \(isReversed)")
                }
            }
        }
    } + [
        ConformanceCase("aggregate.mode.of-each-group", "The mode is computed per group, beside other aggregates of the same attribute.") {
            run in
            let store = try run.open(Fixtures.company)
            // Ages 0, 0, 1, 1, 2 in each of three groups; the scores are null for the first group.
            try store.insert(
                "Person",
                (0..<15).map { index in
                    let group = index % 3
                    return Fixtures.person(
                        "p\(index)", Int64(index / 6), nickname: group == 0 ? nil : "n\(group)", score: group == 0 ? nil : Double(index % 2)
                    )
                })
            let (age, nickname, score) = (
                try store.field("Person", "age"), try store.field("Person", "nickname"), try store.field("Person", "score")
            )
            let request = AggregateRequest(
                try store.entity("Person"), groupBy: [nickname],
                aggregates: [.mode(age), .median(age), .countDistinct(age), .mode(score), .mode(.objectID), .mode(nickname)])
            let expected = [
                AggregateRow(group: [.null], values: [.integer(0), .real(1), .integer(3), .null, .integer(1), .null]),
                AggregateRow(group: [.text("n1")], values: [.integer(0), .real(1), .integer(3), .real(1), .integer(2), .text("n1")]),
                AggregateRow(group: [.text("n2")], values: [.integer(0), .real(1), .integer(3), .real(0), .integer(3), .text("n2")]),
            ]
            try run.expect(try store.read { try $0.aggregate(request) }, equals: expected)
        },
        ConformanceCase("aggregate.mode.of-expressions", "The mode of an expression.") { run in
            let works = Works.start
            let store = try works.open(run)
            guard let half = QueryExpression.arithmetic(.divide, try store.value("age"), .constant(.integer(20), .int64)) else {
                throw run.fail("types")
            }
            let ages = works.ids("Worker").compactMap { works[$0].age }
            let worker = try store.store.entity("Worker")
            let found = try store.store.read { try $0.aggregate(AggregateRequest(worker, aggregates: [.of(.mode, half)])) }
            try run.expect(found, equals: [AggregateRow(group: [], values: [mode(ages.map { $0 / 20 })])])
        },
        ConformanceCase(
            "aggregate.mode.of-related-objects", "The mode of values of related objects, in conditions, in orders and over all members."
        ) {
            run in
            let works = Works.start
            let store = try works.open(run)
            let members = try store.reference("Team.members")
            let value = QueryExpression.aggregate(.mode, members, try store.value("age"))
            try run.expect(value.type, equals: .int64)
            let modes = works.ids("Team").map { id in (id, mode(works.members(team: id).compactMap { works[$0].age })) }
            for wanted in Set(modes.map(\.1)) {
                let predicate: QueryPredicate = wanted.isNull ? .isNull(value) : .compare(value, .equal, .constant(wanted, .int64))
                try run.expect(try store.ids("Team", predicate), equals: modes.filter { $0.1 == wanted }.map(\.0), wanted.literal)
            }
            var request = try store.request("Team", .all)
            request.sortKeys = [SortKey(value, nulls: .first)]
            let expected = modes.sorted { left, right in
                let order =
                    left.1.isNull || right.1.isNull
                    ? (left.1.isNull ? 0 : 1) - (right.1.isNull ? 0 : 1) : left.1.order(to: right.1, unsigned: false)
                return order == 0 ? left.0 < right.0 : order < 0
            }
            try run.expect(try store.store.ids(request), equals: expected.map(\.0), "the order")
            let all = works.ids("Team").flatMap { works.members(team: $0) }.compactMap { works[$0].age }
            let rows = try store.store.read {
                try $0.aggregate(AggregateRequest(try store.store.entity("Team"), aggregates: [.overMembers(.mode, value)]))
            }
            try run.expect(rows, equals: [AggregateRow(group: [], values: [mode(all)])], "over all members")
        },
    ]

/// Returns the most frequent number, the least of several; null for none.
private func mode(_ values: [Int64]) -> Value {
    let most = Set(values).sorted().max { left, right in
        let counts = (values.filter { $0 == left }.count, values.filter { $0 == right }.count)
        return counts.0 == counts.1 ? left > right : counts.0 < counts.1
    }
    return most.map { .integer($0) } ?? .null
}

/// Types with values and their mode.
private struct ModeRow: Sendable {
    let id: String
    let statement: String
    let tables: [(AttributeType, [Value], Value)]
}

private func integers(_ values: Int64...) -> [Value] { values.map { .integer($0) } }
private func reals(_ values: Double...) -> [Value] { values.map { .real($0) } }
private func texts(_ values: String...) -> [Value] { values.map { .text($0) } }
private func blobs(_ values: [UInt8]...) -> [Value] { values.map { .blob($0) } }

private let modes: [ModeRow] = [
    ModeRow(
        id: "of-numbers", statement: "The mode is the most frequent value, in the type of the attribute.",
        tables: [
            (.int64, integers(3, 1, 3, 2, .min, .max), .integer(3)), (.int8, integers(-128, 127, 127), .integer(127)),
            (.uint64, integers(1, -1, -1), .integer(-1)), (.bool, integers(1, 0, 1), .integer(1)),
            (.double, reals(1.5, -2, 1.5, 8), .real(1.5)), (.float, reals(0.25, 0.5, 0.5), .real(0.5)),
            (.date, reals(0.5, 86_400, 86_400, -1), .real(86_400)), (.int64, integers(7), .integer(7)),
        ]),
    ModeRow(
        id: "of-texts-and-data", statement: "Texts and data have a mode too; they are equal if their bytes are.",
        tables: [
            (.string, texts("b", "a", "b", "", "B"), .text("b")), (.string, texts("é", "e\u{301}", "e\u{301}"), .text("e\u{301}")),
            (.url, texts("file:///a", "file:///b", "file:///b"), .text("file:///b")), (.json, texts("1", "[]", "[]"), .text("[]")),
            (.data, blobs([1], [], [1, 0], []), .blob([])),
            (.uuid, blobs([UInt8](repeating: 1, count: 16), Array(0..<16), Array(0..<16)), .blob(Array(0..<16))),
            // 1.5, 2, 1.5.
            (
                .decimal, blobs([0x81, 0x80, 1, 2, 51, 0], [0x81, 0x80, 1, 3, 0], [0x81, 0x80, 1, 2, 51, 0]),
                .blob([0x81, 0x80, 1, 2, 51, 0])
            ),
        ]),
    ModeRow(
        id: "least-of-equally-frequent", statement: "Of several equally frequent values it is the least, in the order of the type.",
        tables: [
            (.int64, integers(5, 2, 1, 2, 1), .integer(1)), (.int64, integers(3, -3), .integer(-3)),
            (.uint64, integers(-1, 5), .integer(5)),
            (.double, reals(1, .nan, -.infinity), .real(.nan)), (.double, reals(.infinity, -.infinity), .real(-.infinity)),
            (.string, texts("b", "a", "Z"), .text("Z")), (.data, blobs([1, 0], [1], [2]), .blob([1])), (.bool, integers(1, 0), .integer(0)),
            // −1, 2.
            (.decimal, blobs([0x81, 0x80, 1, 3, 0], [0x7f, 0x7f, 254, 253, 255]), .blob([0x7f, 0x7f, 254, 253, 255])),
        ]),
    ModeRow(
        id: "of-zero-and-nan", statement: "−0 and 0 are one value, and so are all NaNs.",
        tables: [
            (.double, reals(1, 1, 0, -0.0, 0), .real(0)),
            (.double, reals(1, 1, .nan, -.nan, .signalingNaN), .real(.nan)),
        ]),
    ModeRow(
        id: "null-is-ignored", statement: "Null is ignored, and the mode is null without values.",
        tables: [
            (.int64, [.null, .null, .null, .integer(1)], .integer(1)), (.int64, [], .null), (.string, [.null], .null),
            (.double, [.null, .real(2), .null], .real(2)), (.data, [.null, .null], .null),
        ]),
]
