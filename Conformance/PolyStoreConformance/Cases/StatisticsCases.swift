import PolyStoreBackend

/// Standard deviations and medians.
let statisticsCases: [ConformanceCase] = [
    ConformanceCase(
        "aggregate.stddev.of-a-population", "The standard deviation is the square root of the mean squared deviation from the mean."
    ) { run in
        try check(run, .int64, [1, 2, 3, 4, 4, 5, 9, 11].map { .integer($0) }, [(.standardDeviation, 10.359375.squareRoot())])
        try check(run, .uint8, [0, 255].map { .integer($0) }, [(.standardDeviation, 127.5)])
        try check(run, .double, [1.5, 2.5, .nan].prefix(2).map { .real($0) }, [(.standardDeviation, 0.5)])
        try check(run, .float, [-2, 2].map { .real($0) }, [(.standardDeviation, 2)])
    },
    ConformanceCase(
        "aggregate.stddev.of-nothing-and-of-one", "Null without values, 0 for one value and for equal ones; nulls are ignored."
    ) { run in
        for type in [AttributeType.int64, .double] {
            let seven: Value = type == .double ? .real(7) : .integer(7)
            try check(run, type, [], [(.standardDeviation, nil), (.median, nil)])
            try check(run, type, [.null, .null], [(.standardDeviation, nil), (.median, nil)])
            try check(run, type, [.null, seven], [(.standardDeviation, 0), (.median, 7)])
            try check(run, type, [seven, seven, .null, seven], [(.standardDeviation, 0), (.median, 7)])
        }
    },
    ConformanceCase(
        "aggregate.stddev.loses-nothing",
        "Integers far from 0 with small differences have the same deviation as near 0, in any order."
    ) { run in
        let deviation = 6.0.squareRoot() / 3
        for offset in [0, 1_000_000_000_000_000_000, -9_223_372_036_854_775_808] as [Int64] {
            for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] as [[Int64]] {
                try check(run, .int64, order.map { .integer(offset + $0) }, [(.standardDeviation, deviation)])
            }
        }
    },
    ConformanceCase("aggregate.stddev.of-reals-far-from-0", "The same for reals, to the last digit.") { run in
        let deviation = 0.125.squareRoot()
        for order in [[0, 0.5, 0.5, 1], [1, 0, 0.5, 0.5], [0.5, 1, 0, 0.5]] as [[Double]] {
            for offset in [0, 1e9, -4e15] as [Double] {
                let store = try run.open(Fixtures.thing(.double), name(order.map { .real(offset + $0) }))
                try store.insert("Thing", order.map { [.real(offset + $0)] })
                let found = try statistics(store, [.standardDeviation])[0]
                guard case .real(let real) = found, abs(real - deviation) <= 2 * deviation.ulp else {
                    throw run.fail("of \(order) from \(offset): \(found)")
                }
            }
        }
    },
    ConformanceCase("aggregate.stddev.extremes", "Values of extreme magnitude neither overflow nor underflow.") { run in
        try check(run, .int64, [.integer(.min), .integer(.max)], [(.standardDeviation, 0x1p63), (.median, -0.5)])
        try check(run, .uint64, [.integer(0), .integer(-1)], [(.standardDeviation, 0x1p63), (.median, 0x1p63)])
        try check(run, .double, [.real(-0x1p1023), .real(0x1p1023)], [(.standardDeviation, 0x1p1023), (.median, 0)])
        try check(run, .double, [.real(0x1p-1000), .real(0x1.8p-999)], [(.standardDeviation, 0x1p-1000), (.median, 0x1p-999)])
        try check(run, .double, [.real(0x1p1023), .real(0x1p1023)], [(.standardDeviation, 0), (.median, 0x1p1023)])
    },
    ConformanceCase("aggregate.stddev.nan-and-infinity", "One NaN or infinity makes the deviation NaN.") { run in
        for odd in [Double.nan, .infinity, -.infinity] {
            try check(run, .double, [.real(1), .real(odd), .real(2)], [(.standardDeviation, .nan)])
            try check(run, .double, [.real(odd)], [(.standardDeviation, .nan)])
        }
    },
    ConformanceCase(
        "aggregate.stddev.needs-numbers", "Text, dates, Booleans, decimals and data have neither deviation nor median."
    ) {
        run in
        for type in [AttributeType.string, .url, .json, .date, .bool, .decimal, .data, .uuid] {
            let store = try run.open(Fixtures.thing(type), type.rawValue)
            let field = try store.field("Thing", "value")
            for aggregate in [Aggregate.standardDeviation(field), .median(field)] {
                let request = AggregateRequest(try store.entity("Thing"), aggregates: [aggregate])
                try run.expectError(.invalidPredicate, "\(aggregate) of \(type)") { try store.read { try $0.aggregate(request) } }
            }
        }
    },
    ConformanceCase(
        "aggregate.median.odd-and-even", "The middle value, or the average of the two middle values."
    ) {
        run in
        try check(run, .int64, [9, 1, 5].map { .integer($0) }, [(.median, 5)])
        try check(run, .int64, [9, 1, 5, 6].map { .integer($0) }, [(.median, 5.5)])
        try check(run, .int8, [-128, -127].map { .integer($0) }, [(.median, -127.5)])
        try check(run, .int64, [.integer(4_503_599_627_370_496), .integer(4_503_599_627_370_497)], [(.median, 4_503_599_627_370_496.5)])
        try check(run, .double, [3, -1, 10, 2].map { .real($0) }, [(.median, 2.5)])
        try check(run, .float, [0.5, 0.25, 8].map { .real($0) }, [(.median, 0.5)])
    },
    ConformanceCase("aggregate.median.nan-and-infinity", "One NaN makes the median NaN; infinities are at the ends.") { run in
        try check(run, .double, [.real(1), .real(.nan), .real(2)], [(.median, .nan)])
        try check(run, .double, [.real(-.infinity), .real(1), .real(.infinity)], [(.median, 1)])
        try check(run, .double, [.real(.infinity), .real(1)], [(.median, .infinity)])
        try check(run, .double, [.real(.infinity), .real(-.infinity)], [(.median, .nan)])
    },
    ConformanceCase("aggregate.median.of-each-group", "Deviation and median are computed per group, in the requested order.") {
        run in
        let store = try run.open(Fixtures.company)
        var rows: [[Value]] = []
        for index in 0..<60 {
            let position = index % 3
            let nickname: String? = position == 0 ? nil : "n\(position)"
            rows.append(Fixtures.person("p\(index)", Int64(index / 3), nickname: nickname, score: Double(position) * 1000))
        }
        try store.insert("Person", rows)
        let (age, score, nickname) = (
            try store.field("Person", "age"), try store.field("Person", "score"), try store.field("Person", "nickname")
        )
        let request = AggregateRequest(
            try store.entity("Person"), predicate: .compare(age, .greaterOrEqual, .integer(10)), groupBy: [nickname],
            aggregates: [.median(age), .count, .standardDeviation(age), .median(score), .standardDeviation(score), .median(.objectID)])
        let deviation = Value.real(825.0.squareRoot() / 10)
        var expected: [AggregateRow] = []
        for (position, group) in [Value.null, .text("n1"), .text("n2")].enumerated() {
            let middles: (score: Double, id: Double) = (Double(position) * 1000, 44.5 + Double(position))
            expected.append(
                AggregateRow(
                    group: [group], values: [.real(14.5), .integer(10), deviation, .real(middles.score), .real(0), .real(middles.id)]))
        }
        try run.expect(try store.read { try $0.aggregate(request) }, equals: expected)
    },
]

private func statistics(_ store: TestStore, _ functions: [Aggregate.Function]) throws -> [Value] {
    let field = try store.field("Thing", "value")
    let request = AggregateRequest(try store.entity("Thing"), aggregates: functions.map { .of($0, .field(field)) })
    return try store.read { try $0.aggregate(request)[0].values }
}

/// Returns a distinct name for each store of a case.
private func name(_ values: [Value]) -> String {
    String(values.map(\.literal).joined(separator: "_").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }.prefix(100))
}

private func check(
    _ run: ConformanceRun, _ type: AttributeType, _ values: [Value], _ expected: [(Aggregate.Function, Double?)]
) throws {
    for isIndexed in [true, false] {
        let store = try run.open(Fixtures.thing(type, isIndexed: isIndexed), "\(type)-\(isIndexed)-\(name(values))")
        try store.insert("Thing", values.map { [$0] })
        try run.expect(
            try statistics(store, expected.map(\.0)), equals: expected.map { $0.1.map { .real($0) } ?? .null },
            "\(expected.map(\.0.rawValue)) of \(values.map(\.literal)) (\(type))")
    }
}
