import PolyStoreBackend

/// Comparisons. The values of a case ascend, so the expected result follows from their positions.
let comparisonCases: [ConformanceCase] =
    ascending.map { name, type, values in
        ConformanceCase("comparison.\(name).operators", "The six comparisons on \(name) select by value, and never select null.") { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(type, isIndexed: isIndexed), "indexed-\(isIndexed)")
                // The order of ids differs from that of the values.
                let shuffled = values.indices.sorted { ($0 * 7 % values.count, $0) < ($1 * 7 % values.count, $1) }
                try store.insert("Thing", shuffled.map { [values[$0]] } + [[.null]])
                for (position, constant) in values.enumerated() {
                    for comparison in ComparisonOperator.allCases {
                        let expected = shuffled.indices.filter { comparison.accepts(Order.of(Int64(shuffled[$0]), Int64(position))) }.map {
                            Int64($0 + 1)
                        }
                        let found = try store.ids(try store.request("Thing", "value", comparison, constant))
                        try run.expect(found, equals: expected, "\(type) \(comparison.rawValue) \(constant.literal), indexed \(isIndexed)")
                    }
                }
                for comparison in ComparisonOperator.allCases {
                    try run.expect(
                        try store.ids(try store.request("Thing", "value", comparison, .null)), equals: [], "\(comparison.rawValue) null")
                }
            }
        }
    } + [
        ConformanceCase("comparison.null.is-null", "isNull selects the objects without a value, and its negation the others.") { run in
            let (store, field) = try numbered(run)
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .isNull(field.reference))), equals: [3, 5])
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .not(.isNull(field.reference)))), equals: [1, 2, 4])
        },
        ConformanceCase("comparison.null.not-of-unknown", "The negation of an unknown comparison is unknown, and selects nothing.") { run in
            let (store, field) = try numbered(run)
            try run.expect(
                try store.ids(FetchRequest(field.entity, predicate: .not(.compare(field.reference, .equal, .integer(10))))), equals: [2, 4])
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .not(.compare(field.reference, .equal, .null)))), equals: [])
            try run.expect(
                try store.ids(FetchRequest(field.entity, predicate: .not(.not(.compare(field.reference, .less, .integer(30)))))),
                equals: [1, 2])
        },
        ConformanceCase("comparison.logic.three-valued", "AND, OR and NOT follow three-valued logic.") { run in
            let (store, field) = try numbered(run)
            // On object 1 (value 10): true, false, unknown.
            let values: [(QueryPredicate, Int)] = [
                (.compare(field.reference, .equal, .integer(10)), 1), (.compare(field.reference, .equal, .integer(11)), 0),
                (.compare(field.reference, .equal, .null), -1),
            ]
            func and(_ left: Int, _ right: Int) -> Int { left == 0 || right == 0 ? 0 : (left == 1 && right == 1 ? 1 : -1) }
            func or(_ left: Int, _ right: Int) -> Int { left == 1 || right == 1 ? 1 : (left == 0 && right == 0 ? 0 : -1) }
            func check(_ predicate: QueryPredicate, _ value: Int) throws {
                let only = QueryPredicate.and([.compare(.objectID, .equal, .integer(1)), predicate])
                try run.expect(try store.ids(FetchRequest(field.entity, predicate: only)), equals: value == 1 ? [1] : [], "\(predicate)")
                let negated = QueryPredicate.and([.compare(.objectID, .equal, .integer(1)), .not(predicate)])
                try run.expect(
                    try store.ids(FetchRequest(field.entity, predicate: negated)), equals: value == 0 ? [1] : [], "NOT \(predicate)")
            }
            for (left, leftValue) in values {
                for (right, rightValue) in values {
                    try check(.and([left, right]), and(leftValue, rightValue))
                    try check(.or([left, right]), or(leftValue, rightValue))
                    for (third, thirdValue) in values {
                        try check(.or([.and([left, right]), third]), or(and(leftValue, rightValue), thirdValue))
                        try check(
                            .and([.not(.or([left, right])), third]), and([1: 0, 0: 1, -1: -1][or(leftValue, rightValue)] ?? 0, thirdValue))
                    }
                }
            }
        },
        ConformanceCase(
            "comparison.data.single-bytes", "Data of one byte is compared by that byte, also if the byte has a meaning in other types."
        ) { run in
            // The ids from 1 on have the bytes 0, 1, …, 255.
            let bytes = (0...255).map { UInt8($0) }
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(.data, isIndexed: isIndexed), "indexed-\(isIndexed)")
                try store.insert("Thing", bytes.map { [.blob([$0])] } + [[.null]])
                let field = try store.field("Thing", "value")
                for constant in [0, 1, 0x7d, 0x7e, 0x7f, 0x80, 0xff] as [UInt8] {
                    for comparison in ComparisonOperator.allCases {
                        let matching = bytes.filter { comparison.holds(Int64($0), Int64(constant)) }.map { Int64($0) + 1 }
                        let predicate = QueryPredicate.compare(field, comparison, .blob([constant]))
                        try run.expect(try store.ids(predicate), equals: matching, "\(predicate), indexed \(isIndexed)")
                        let others = bytes.map { Int64($0) + 1 }.filter { !matching.contains($0) }
                        try run.expect(try store.ids(.not(predicate)), equals: others, "not \(predicate), indexed \(isIndexed)")
                    }
                    let list = QueryPredicate.oneOf(field, [.blob([constant]), .blob([constant, constant]), .null])
                    try run.expect(try store.ids(list), equals: [Int64(constant) + 1], "\(list), indexed \(isIndexed)")
                }
            }
        },
        ConformanceCase("comparison.constant.true-and-false", "The constant predicates select all objects and no objects.") { run in
            let (store, field) = try numbered(run)
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .all)), equals: [1, 2, 3, 4, 5])
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .none)), equals: [])
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: .not(.none))), equals: [1, 2, 3, 4, 5])
        },
        ConformanceCase("comparison.one-of.lists", "IN selects by any of its values: no value, one value, null, duplicates.") { run in
            let (store, field) = try numbered(run)
            func ids(_ values: [Value]) throws -> [Int64] {
                try store.ids(FetchRequest(field.entity, predicate: .oneOf(field.reference, values)))
            }
            try run.expect(try ids([]), equals: [])
            try run.expect(try ids([.integer(20)]), equals: [2])
            try run.expect(try ids([.integer(40), .integer(10), .integer(99), .integer(10)]), equals: [1])
            try run.expect(try ids([.null]), equals: [])
            try run.expect(try ids([.null, .integer(30)]), equals: [4])
            try run.expect(
                try store.ids(FetchRequest(field.entity, predicate: .not(.oneOf(field.reference, [.integer(10)])))), equals: [2, 4],
                "NOT IN")
        },
        ConformanceCase(
            "comparison.one-of.nothing",
            "IN with no values or only null is false for objects with a value and unknown for others."
        ) { run in
            let (store, field) = try numbered(run)
            for values in [[], [Value.null]] {
                let predicate = QueryPredicate.oneOf(field.reference, values)
                try run.expect(try store.ids(FetchRequest(field.entity, predicate: predicate)), equals: [])
                try run.expect(try store.ids(FetchRequest(field.entity, predicate: .not(predicate))), equals: [1, 2, 4], "NOT")
                let isFalse = QueryPredicate.not(.or([predicate, .compare(field.reference, .equal, .integer(10))]))
                try run.expect(try store.ids(FetchRequest(field.entity, predicate: isFalse)), equals: [2, 4], "NOT OR")
            }
        },
        ConformanceCase("comparison.one-of.every-type", "IN works on every physical type.") { run in
            for (name, type, values) in ascending {
                let store = try run.open(Fixtures.thing(type), name)
                try store.insert("Thing", values.map { [$0] })
                let field = FieldReference(try store.entity("Thing").fields[0])
                for index in values.indices {
                    let list = [values[index], values[(index + 1) % values.count]]
                    let expected = Set([index, (index + 1) % values.count].map { Int64($0 + 1) }).sorted()
                    try run.expect(
                        try store.ids(FetchRequest(try store.entity("Thing"), predicate: .oneOf(field, list))), equals: expected, "\(name)")
                }
            }
        },
        ConformanceCase("comparison.one-of.a-thousand-and-more", "IN accepts lists of a thousand and of twenty thousand values.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            try store.insert("Person", (0..<500).map { Fixtures.person("p\($0)", Int64($0)) })
            let age = FieldReference(person.fields[1])
            let email = FieldReference(person.fields[0])
            for count in [1000, 20_000] {
                let even = (0..<count).map { Value.integer(Int64($0 * 2)) }
                let expected = (0..<250).map { Int64($0 * 2 + 1) }
                try run.expect(try store.ids(FetchRequest(person, predicate: .oneOf(age, even))), equals: expected, "\(count) integers")
                let texts = (0..<count).map { Value.text("p\($0 * 2)") }
                try run.expect(try store.ids(FetchRequest(person, predicate: .oneOf(email, texts))), equals: expected, "\(count) texts")
                try run.expect(
                    try store.ids(FetchRequest(person, predicate: .oneOf(.objectID, even))), equals: (1...250).map { Int64($0 * 2) },
                    "\(count) ids")
            }
        },
        ConformanceCase(
            "comparison.fields.against-each-other", "Two fields are compared within each object; the result is unknown if either is null."
        ) { run in
            let schema = SchemaDescription(
                name: "Pairs",
                entities: [
                    EntityDescription(
                        name: "Pair",
                        properties: ["a", "b"].flatMap { name in
                            [
                                .attribute(AttributeDescription(name: "\(name)Number", type: .int64, isOptional: true)),
                                .attribute(AttributeDescription(name: "\(name)Text", type: .string, isOptional: true)),
                                .attribute(AttributeDescription(name: "\(name)Real", type: .double, isOptional: true)),
                            ] as [PropertyDescription]
                        })
                ])
            let store = try run.open(schema)
            let pair = try store.entity("Pair")
            let left: [[Value]] = [[.integer(1), .text("a"), .real(1)], [.integer(2), .text("b"), .real(.nan)], [.null, .null, .null]]
            try store.insert("Pair", left.flatMap { first in left.map { first + $0 } })
            for offset in 0..<3 {
                for comparison in ComparisonOperator.allCases {
                    // Row (i, j). NaN is below every number, so for reals the second value is the smaller one.
                    var expected: [Int64] = []
                    for i in 0..<2 {
                        for j in 0..<2 {
                            let order = offset == 2 ? Order.of(Int64(j), Int64(i)) : Order.of(Int64(i), Int64(j))
                            if comparison.accepts(order) { expected.append(Int64(i * 3 + j + 1)) }
                        }
                    }
                    let predicate = QueryPredicate.compare(
                        FieldReference(pair.fields[offset]), comparison, FieldReference(pair.fields[offset + 3]))
                    try run.expect(try store.ids(FetchRequest(pair, predicate: predicate)), equals: expected, "\(predicate)")
                }
            }
        },
        ConformanceCase("comparison.id.as-a-field", "The id can be compared and used in lists like a field.") { run in
            let (store, field) = try numbered(run)
            func ids(_ predicate: QueryPredicate) throws -> [Int64] { try store.ids(FetchRequest(field.entity, predicate: predicate)) }
            try run.expect(try ids(.compare(.objectID, .equal, .integer(3))), equals: [3])
            try run.expect(try ids(.compare(.objectID, .notEqual, .integer(3))), equals: [1, 2, 4, 5])
            try run.expect(try ids(.compare(.objectID, .less, .integer(3))), equals: [1, 2])
            try run.expect(try ids(.compare(.objectID, .greaterOrEqual, .integer(4))), equals: [4, 5])
            try run.expect(try ids(.oneOf(.objectID, [.integer(5), .integer(1), .integer(77)])), equals: [1, 5])
            try run.expect(try ids(.not(.oneOf(.objectID, [.integer(5), .integer(1)]))), equals: [2, 3, 4])
            try run.expect(try ids(.isNull(.objectID)), equals: [])
            try run.expect(try ids(.compare(.objectID, .equal, .integer(.min))), equals: [])
        },
        ConformanceCase(
            "comparison.type.mismatch-is-refused", "A constant of another physical type is an invalidPredicate that names the field."
        ) { run in
            for (name, type, _) in ascending {
                let store = try run.open(Fixtures.thing(type), name)
                let values: [(PhysicalType, Value)] = [
                    (.integer, .integer(1)), (.real, .real(1)), (.text, .text("1")), (.blob, .blob([1])),
                ]
                for (physical, value) in values where physical != type.physical {
                    let error = try run.expectError(.invalidPredicate, "\(type) == \(value.literal)") {
                        try store.ids(try store.request("Thing", "value", .equal, value))
                    }
                    try run.expect(error.attribute, equals: "value")
                }
            }
        },
        ConformanceCase(
            "comparison.depth.up-to-the-limit", "Conditions nest up to the limit; deeper ones are rejected without a stack overflow."
        ) { run in
            let (store, field) = try numbered(run)
            var predicate = QueryPredicate.compare(field.reference, .equal, .integer(20))
            while predicate.depth < FetchRequest.maximumDepth - 4 {
                // Negated twice, which prevents simplification.
                predicate = .not(.not(.or([predicate, .compare(field.reference, .equal, .integer(Int64(1000 + predicate.depth)))])))
            }
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: predicate)), equals: [2], "depth \(predicate.depth)")
            while predicate.depth <= FetchRequest.maximumDepth { predicate = .not(predicate) }
            try run.expectError(.invalidPredicate) { try store.ids(FetchRequest(field.entity, predicate: predicate)) }
        },
        ConformanceCase("comparison.width.of-a-thousand", "A conjunction or disjunction of a thousand conditions is evaluated.") { run in
            let (store, field) = try numbered(run)
            let any = QueryPredicate.or((0..<1000).map { .compare(field.reference, .equal, .integer(Int64($0 * 20))) })
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: any)), equals: [2])
            let all = QueryPredicate.and((0..<1000).map { .compare(field.reference, .notEqual, .integer(Int64($0 * 20))) })
            try run.expect(try store.ids(FetchRequest(field.entity, predicate: all)), equals: [1, 4])
        },
    ]

/// Distinct values in ascending order, by type.
let ascending: [(String, AttributeType, [Value])] = [
    ("int64", .int64, [.integer(.min), .integer(-5), .integer(0), .integer(7), .integer(.max)]),
    ("int8", .int8, [.integer(-128), .integer(0), .integer(127)]), ("bool", .bool, [.integer(0), .integer(1)]),
    ("int16", .int16, [.integer(-32768), .integer(-1), .integer(0), .integer(32767)]),
    ("int32", .int32, [.integer(Int64(Int32.min)), .integer(-1), .integer(0), .integer(Int64(Int32.max))]),
    ("uint8", .uint8, [.integer(0), .integer(127), .integer(128), .integer(255)]),
    ("uint16", .uint16, [.integer(0), .integer(32767), .integer(32768), .integer(65535)]),
    ("uint32", .uint32, [.integer(0), .integer(Int64(Int32.max)), .integer(1 << 31), .integer(Int64(UInt32.max))]),
    // Order-preserving bytes, which a backend treats as any other blob.
    ("decimal", .decimal, [.blob([0x7e]), .blob([0x7f, 0x7f, 0xfe, 0xcd, 0xff]), .blob([0x80]), .blob([0x81, 0x80, 1, 0x33, 0])]),
    ("url", .url, [.text(""), .text("HTTPS://a"), .text("https://a"), .text("https://a/"), .text("https://\u{e9}")]),
    ("json", .json, [.text("\"a\""), .text("1"), .text("[]"), .text("null"), .text("{\"a\":1}")]),
    ("uint64", .uint64, [.integer(0), .integer(5), .integer(.max), .integer(.min), .integer(-1)]),
    (
        "double", .double,
        [
            .real(.nan), .real(-.infinity), .real(-.greatestFiniteMagnitude), .real(-1), .real(0), .real(.leastNonzeroMagnitude),
            .real(1.5),
            .real(.infinity),
        ]
    ), ("float", .float, [.real(.nan), .real(-.infinity), .real(-1), .real(0), .real(Double(Float(0.1))), .real(.infinity)]),
    ("date", .date, [.real(-1e9), .real(0), .real(0.125), .real(1e9)]),
    (
        "string", .string,
        [
            .text(""), .text("\u{0}"), .text("\u{0}a"), .text("A"), .text("Z"), .text("a"), .text("a\u{0}"), .text("ab"), .text("e\u{301}"),
            .text("z"), .text("\u{e9}"), .text("日本"), .text("\u{ffff}"), .text("🦊"),
        ]
    ),
    ("data", .data, [.blob([]), .blob([0]), .blob([0, 0]), .blob([0, 1]), .blob([1]), .blob([127]), .blob([128]), .blob([255, 255])]),
    ("uuid", .uuid, [.blob([UInt8](repeating: 0, count: 16)), .blob(Array(1...16)), .blob([UInt8](repeating: 255, count: 16))]),
]

/// Five objects with the values 10, 20, null, 30, null.
private func numbered(_ run: ConformanceRun) throws -> (TestStore, (entity: Entity, reference: FieldReference)) {
    let store = try run.open(Fixtures.thing(.int64))
    try store.insert("Thing", [[.integer(10)], [.integer(20)], [.null], [.integer(30)], [.null]])
    let entity = try store.entity("Thing")
    return (store, (entity, FieldReference(entity.fields[0])))
}
