import PolyStoreBackend

/// Every aggregate function over every type. All value lists contain null.
let aggregateTypeCases: [ConformanceCase] = expectations.map { expectation in
    ConformanceCase(
        "aggregate.\(expectation.type.rawValue).every-function",
        "Count, distinct values, least and greatest of \(expectation.type.rawValue), and sum and average where it has them."
    ) { run in
        for isIndexed in [true, false] {
            let store = try run.open(Fixtures.thing(expectation.type, isIndexed: isIndexed), "indexed-\(isIndexed)")
            try store.insert("Thing", expectation.values.map { [$0] })
            let field = try store.field("Thing", "value")
            let present = Int64(expectation.values.filter { !$0.isNull }.count)
            var aggregates: [Aggregate] = [.count, .count(field), .countDistinct(field), .minimum(field), .maximum(field)]
            var expected: [Value] = [
                .integer(Int64(expectation.values.count)), .integer(present), .integer(expectation.distinct), expectation.least,
                expectation.greatest,
            ]
            if let sum = expectation.sum, let average = expectation.average {
                aggregates += [.sum(field), .average(field)]
                expected += [sum, average]
            }
            let request = AggregateRequest(try store.entity("Thing"), aggregates: aggregates)
            try run.expect(
                try store.read { try $0.aggregate(request) }, equals: [AggregateRow(group: [], values: expected)], "indexed \(isIndexed)")
            if expectation.sum == nil {
                for refused in [Aggregate.sum(field), .average(field)] {
                    try run.expectError(.invalidPredicate, "\(refused)") {
                        try store.read { try $0.aggregate(AggregateRequest(try store.entity("Thing"), aggregates: [.count, refused])) }
                    }
                }
            }
        }
    }
}

private struct Expectation: Sendable {
    let type: AttributeType
    let values: [Value]
    let distinct: Int64
    let least: Value
    let greatest: Value
    var sum: Value?
    var average: Value?
}

private func integers(_ values: Int64?...) -> [Value] { values.map { $0.map { .integer($0) } ?? .null } }
private func reals(_ values: Double?...) -> [Value] { values.map { $0.map { .real($0) } ?? .null } }
private func texts(_ values: String?...) -> [Value] { values.map { $0.map { .text($0) } ?? .null } }
private func blobs(_ values: [UInt8]?...) -> [Value] { values.map { $0.map { .blob($0) } ?? .null } }

private let expectations: [Expectation] = [
    Expectation(
        type: .bool, values: integers(1, nil, 0, 1, 1), distinct: 2, least: .integer(0), greatest: .integer(1), sum: .integer(3),
        average: .real(0.75)),
    Expectation(
        type: .int8, values: integers(-128, 127, nil, 127), distinct: 2, least: .integer(-128), greatest: .integer(127), sum: .integer(126),
        average: .real(42)),
    Expectation(
        type: .int16, values: integers(32767, nil, 32767, -32768, 0), distinct: 3, least: .integer(-32768), greatest: .integer(32767),
        sum: .integer(32766), average: .real(8191.5)),
    Expectation(
        type: .int32, values: integers(2_147_483_647, 2_147_483_647, nil, -2_147_483_648), distinct: 2, least: .integer(-2_147_483_648),
        greatest: .integer(2_147_483_647), sum: .integer(2_147_483_646), average: .real(715_827_882)),
    // Beyond 2^53, where a sum of doubles would be inexact.
    Expectation(
        type: .int64, values: integers(9_007_199_254_740_992, nil, 1, 0, 1), distinct: 3, least: .integer(0),
        greatest: .integer(9_007_199_254_740_992), sum: .integer(9_007_199_254_740_994), average: .real(2_251_799_813_685_248.5)),
    Expectation(
        type: .uint8, values: integers(255, 255, nil, 0), distinct: 2, least: .integer(0), greatest: .integer(255), sum: .integer(510),
        average: .real(170)),
    Expectation(
        type: .uint16, values: integers(65535, nil, 1), distinct: 2, least: .integer(1), greatest: .integer(65535), sum: .integer(65536),
        average: .real(32768)),
    Expectation(
        type: .uint32, values: integers(4_294_967_295, nil, 4_294_967_295, 2), distinct: 2, least: .integer(2),
        greatest: .integer(4_294_967_295), sum: .integer(8_589_934_592), average: .real(2_863_311_530.6666665)),
    // Bit patterns: 2^63, 1, 2^63 − 3; the greatest value has the negative bit pattern.
    Expectation(
        type: .uint64, values: integers(.min, nil, 1, .max - 2), distinct: 3, least: .integer(1), greatest: .integer(.min),
        sum: .integer(-2), average: .real(18_446_744_073_709_551_616 / 3)),
    Expectation(
        type: .float, values: reals(0.5, nil, 0.25, -8, 0.5), distinct: 3, least: .real(-8), greatest: .real(0.5), sum: .real(-6.75),
        average: .real(-1.6875)),
    Expectation(
        type: .double, values: reals(0.5, 1e3, nil, -2.25, 0.5), distinct: 3, least: .real(-2.25), greatest: .real(1e3), sum: .real(998.75),
        average: .real(249.6875)),
    Expectation(
        type: .date, values: reals(700_000_000.125, nil, -1.5, -1.5), distinct: 2, least: .real(-1.5), greatest: .real(700_000_000.125)),
    Expectation(
        type: .decimal, values: blobs([0x80], nil, [0x7e], [0x81, 0x80, 1, 0x33, 0]), distinct: 3, least: .blob([0x7e]),
        greatest: .blob([0x81, 0x80, 1, 0x33, 0]), sum: .blob([0x7e]), average: .blob([0x7e])),
    // Two canonically equivalent texts, and the empty one.
    Expectation(
        type: .string, values: texts("e\u{301}", "\u{e9}", nil, "", "e\u{301}", "z\u{0}", "z"), distinct: 5, least: .text(""),
        greatest: .text("\u{e9}")),
    Expectation(type: .url, values: texts("b:", nil, "a:", "a:"), distinct: 2, least: .text("a:"), greatest: .text("b:")),
    Expectation(type: .json, values: texts("[]", "{}", nil, "null"), distinct: 3, least: .text("[]"), greatest: .text("{}")),
    Expectation(type: .data, values: blobs([1], [], nil, [0, 255], [1]), distinct: 3, least: .blob([]), greatest: .blob([1])),
    Expectation(
        type: .uuid, values: blobs(Array(repeating: 9, count: 16), nil, Array(0...15), Array(0...15)), distinct: 2,
        least: .blob(Array(0...15)), greatest: .blob(Array(repeating: 9, count: 16))),
]
