import PolyStoreBackend

/// Exact comparisons by value between numbers of different types.
let mixedNumberCases: [ConformanceCase] =
    pairs.map { name, left, right in
        ConformanceCase("comparison.mixed-numbers.\(name)", "\(left) and \(right) are compared exactly by value, on either side.") { run in
            let store = try run.open(schema(left, right))
            let pair = try store.entity("Pair")
            let (first, second) = (FieldReference(pair.fields[0]), FieldReference(pair.fields[1]))
            let (ones, others) = (edges(left), edges(right))
            try store.insert(
                "Pair",
                ones.flatMap { one in others.map { [one.value, $0.value] } } + [[.null, others[0].value], [ones[0].value, .null]])
            func check(_ predicate: QueryPredicate, _ accepts: (Edge, Edge) -> Bool) throws {
                var expected: [Int64] = []
                for (i, one) in ones.enumerated() {
                    for (j, other) in others.enumerated() where accepts(one, other) { expected.append(Int64(i * others.count + j + 1)) }
                }
                try run.expect(try store.ids(FetchRequest(pair, predicate: predicate)), equals: expected, "\(predicate)")
            }
            for comparison in ComparisonOperator.allCases {
                try check(.compare(.field(first), comparison, .field(second))) { comparison.accepts($0.order(to: $1)) }
                try check(.not(.compare(.field(first), comparison, .field(second)))) { !comparison.accepts($0.order(to: $1)) }
                try check(.compare(.field(second), comparison.mirrored, .field(first))) { comparison.accepts($0.order(to: $1)) }
            }
            // With constants of the other type, which take the place of the second field: two rows for each value. The null is not in the result.
            let singles = try run.open(schema(left, right), "singles")
            let (single, twice) = (try singles.entity("Pair"), ones + ones)
            let field = FieldReference(single.fields[0])
            try singles.insert("Pair", twice.map { [$0.value, .null] } + [[.null, .null]])
            func checkSingles(_ predicate: QueryPredicate, _ accepts: (Edge) -> Bool) throws {
                let expected = twice.indices.filter { accepts(twice[$0]) }.map { Int64($0 + 1) }
                try run.expect(
                    try singles.ids(FetchRequest(single, predicate: predicate)), equals: expected, "\(predicate)")
            }
            let known = QueryPredicate.not(.isNull(field))
            for other in others {
                let constant = QueryExpression.constant(other.value, right)
                for comparison in ComparisonOperator.allCases {
                    for predicate in [
                        QueryPredicate.compare(.field(field), comparison, constant), .compare(constant, comparison.mirrored, .field(field)),
                    ] {
                        try checkSingles(.and([known, predicate])) { comparison.accepts($0.order(to: other)) }
                        try checkSingles(.and([known, .not(predicate)])) { !comparison.accepts($0.order(to: other)) }
                    }
                }
            }
        }
    } + [
        ConformanceCase(
            "comparison.mixed-numbers.not-with-others", "Comparing numbers with text, data, dates or decimals throws invalidPredicate."
        ) {
            run in
            let store = try Works.start.open(run)
            let numbers = try ["age", "score", "level", "id"].map { try store.value($0) }
            let others: [QueryExpression] = [
                try store.value("name"), try store.value("born"), try store.related("team", store.value("Team.title")),
                .folded(try store.value("name"), .caseInsensitive), .constant(.blob([1]), .data), .constant(.text("1"), .string),
                .constant(.blob([0x80]), .decimal),
            ]
            for number in numbers {
                for other in others {
                    // A constant of the field's physical type is used unchanged.
                    if case .constant(let value) = other.node, let field = number.asField, value.fits(field.type) { continue }
                    for (left, right) in [(number, other), (other, number)] {
                        try run.expectError(.invalidPredicate, "\(left) == \(right)") {
                            try store.ids("Worker", .compare(left, .equal, right))
                        }
                    }
                }
            }
        },
        ConformanceCase("comparison.mixed-numbers.null", "Comparing with a null constant of any type is unknown, not an error.") {
            run in
            let store = try Works.start.open(run)
            for type in AttributeType.allCases {
                for path in ["age", "name", "score", "level", "born"] {
                    let predicate = QueryPredicate.compare(try store.value(path), .notEqual, .constant(.null, type))
                    try run.expect(try store.ids("Worker", predicate), equals: [], "\(path), \(type)")
                    try run.expect(try store.ids("Worker", .not(predicate)), equals: [], "NOT \(path), \(type)")
                }
            }
        },
        ConformanceCase(
            "comparison.mixed-numbers.truth-values", "Booleans are ordered among each other and with integers, and not with text."
        ) { run in
            let store = try run.open(schema(.bool, .int64))
            let pair = try store.entity("Pair")
            try store.insert(
                "Pair",
                [[.integer(0), .integer(0)], [.integer(1), .integer(0)], [.integer(1), .integer(1)], [.integer(0), .integer(2)]])
            let (left, right) = (
                QueryExpression.field(FieldReference(pair.fields[0])), QueryExpression.field(FieldReference(pair.fields[1]))
            )
            try run.expect(try store.ids(FetchRequest(pair, predicate: .compare(left, .equal, right))), equals: [1, 3])
            try run.expect(try store.ids(FetchRequest(pair, predicate: .compare(left, .greater, right))), equals: [2])
            try run.expectError(.invalidPredicate) {
                try store.ids(FetchRequest(pair, predicate: .compare(left, .equal, .constant(.text("true"), .string))))
            }
        },
    ]

private let pairs: [(String, AttributeType, AttributeType)] = [
    ("int64-double", .int64, .double), ("uint64-double", .uint64, .double), ("int64-uint64", .int64, .uint64),
    ("int8-uint64", .int8, .uint64),
    ("int64-float", .int64, .float), ("int32-int64", .int32, .int64), ("float-double", .float, .double), ("uint8-int16", .uint8, .int16),
]

private func schema(_ left: AttributeType, _ right: AttributeType) -> SchemaDescription {
    let properties: [PropertyDescription] = [("left", left), ("right", right)].map {
        .attribute(AttributeDescription(name: $0, type: $1, isOptional: true, isIndexed: true))
    }
    return SchemaDescription(name: "Pairs", entities: [EntityDescription(name: "Pair", properties: properties)])
}

/// A number: a multiple of an eighth, stored as an integer so that everything here is exact, or an infinity or NaN.
private struct Edge {
    let value: Value
    /// The rank: NaN is below −∞, which is below every number.
    let rank: Int
    let eighths: Int128

    func order(to other: Edge) -> Int {
        if rank != other.rank { return rank < other.rank ? -1 : 1 }
        return eighths == other.eighths ? 0 : (eighths < other.eighths ? -1 : 1)
    }
}

/// Returns the values at which reals cannot represent every integer, and the limits of the types.
private func edges(_ type: AttributeType) -> [Edge] {
    let powers: [Int128] = [24, 31, 53, 63, 64].map { Int128(1) << $0 }
    let near: [Int128] = powers.flatMap { power -> [Int128] in [power - 1, power, power + 1, -power - 1, -power, 1 - power] }
    let whole: [Int128] = near + ([0, 1, -1, 127, -128, 255, 256, 9_223_372_036_854_775_296] as [Int128])
    switch type {
    case .float, .double:
        var eighths: [Int128] = whole.map { $0 * 8 }
        eighths += [4, -4, 12] as [Int128]
        eighths = eighths.filter { type == .double ? Int128(Double($0)) == $0 : Int128(Float($0)) == $0 }
        let numbers = eighths.map { Edge(value: .real(Double($0) / 8), rank: 0, eighths: $0) }
        return numbers + [
            Edge(value: .real(.nan), rank: -2, eighths: 0), Edge(value: .real(-.infinity), rank: -1, eighths: 0),
            Edge(value: .real(.infinity), rank: 1, eighths: 0),
        ]
    case .uint64:
        return whole.compactMap { number in
            UInt64(exactly: number).map { Edge(value: .integer(Int64(bitPattern: $0)), rank: 0, eighths: number * 8) }
        }
    default:
        return whole.compactMap { number in
            guard let value = Int64(exactly: number), type.integerBounds?.contains(value) ?? true else { return nil }
            return Edge(value: .integer(value), rank: 0, eighths: number * 8)
        }
    }
}
