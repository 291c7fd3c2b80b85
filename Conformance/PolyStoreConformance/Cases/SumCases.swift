import Foundation
import PolyStoreBackend

/// Sums and averages at the limits of their types.
let sumCases: [ConformanceCase] = [
    ConformanceCase("aggregate.sum.up-to-the-limits", "A sum of integers is exact to the last unit of 64 bits, in any order of the rows.") {
        run in
        let sums: [(AttributeType, [Int64], Int64)] = [
            (.int64, [.max], .max), (.int64, [.max - 5, 5], .max), (.int64, [.min + 5, -5], .min), (.int64, [.max, .min], -1),
            // The sum overflows in between, but not at the end.
            (.int64, [.max, .max, .min, .min, 1], -1), (.int64, [1, .max, -1], .max), (.int64, [.min, -1, 1], .min),
            (.uint64, [-1], -1), (.uint64, [.min, .max], -1), (.uint64, [.min, 0, .max - 1], -2), (.uint64, [.max, 1], .min),
        ]
        for (number, (type, rows, sum)) in sums.enumerated() {
            for (direction, order) in [rows, rows.reversed()].enumerated() {
                let store = try run.open(Fixtures.thing(type), "store\(number)-\(direction)")
                try store.insert("Thing", order.map { [.integer($0)] })
                try run.expect(try everyAggregate(store)[3], equals: .integer(sum), "\(type) \(order)")
            }
        }
    },
    ConformanceCase(
        "aggregate.sum.beyond-the-limits", "A sum of integers that overflows throws invalidValue; the transaction continues."
    ) {
        run in
        let sums: [(AttributeType, [Int64])] = [
            (.int64, [.max, 1]), (.int64, [.min, -1]), (.int64, [.max, .max, .max]), (.uint64, [-1, 1]), (.uint64, [.min, .min]),
        ]
        for (number, (type, rows)) in sums.enumerated() {
            let store = try run.open(Fixtures.thing(type), "store\(number)")
            try store.insert("Thing", rows.map { [.integer($0)] })
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            try store.read { transaction in
                let error = try run.expectError(.invalidValue, "\(type) \(rows)") {
                    try transaction.aggregate(AggregateRequest(thing, aggregates: [.sum(field)]))
                }
                try run.expect(error.attribute, equals: "value")
                let average = try transaction.aggregate(AggregateRequest(thing, aggregates: [.average(field), .count]))
                let numbers = rows.map { type == .uint64 ? Double(UInt64(bitPattern: $0)) : Double($0) }
                try run.expect(
                    average,
                    equals: [
                        AggregateRow(group: [], values: [.real(numbers.reduce(0, +) / Double(rows.count)), .integer(Int64(rows.count))])
                    ])
                try run.expect(try transaction.ids(FetchRequest(thing)).count, equals: rows.count)
            }
        }
    },
    ConformanceCase(
        "aggregate.sum.of-reals-loses-nothing",
        "A sum of reals is independent of the row order and keeps small values beside large ones."
    ) {
        run in
        let sums: [([Double], Double)] = [
            ([1, 1e100, 1, -1e100], 2), ([1e16, 1, -1e16], 1), (Array(repeating: 0.1, count: 10), 1), ([1e308, 1e-308, -1e308], 1e-308),
            ([-0.0], 0), ([0.1, 0.2, -0.3], 2.7755575615628914e-17), ([1e308, 1e308, -1e308], 1e308), ([1e308, 5, -1e308], 5),
            ([1e308, 1e308], .infinity), ([-1e308, -1e308, 1e308, 3], -1e308),
        ]
        for (number, (rows, sum)) in sums.enumerated() {
            for (direction, order) in [rows, rows.reversed(), rows.sorted()].enumerated() {
                let store = try run.open(Fixtures.thing(.double), "store\(number)-\(direction)")
                try store.insert("Thing", order.map { [.real($0)] })
                try run.expect(try everyAggregate(store)[3], equals: .real(sum), "\(order)")
            }
        }
    },
    ConformanceCase(
        "aggregate.double.infinities-and-nan",
        "A sum with an infinity is infinite, and NaN with both; NaN is one value, the minimum, and makes every sum NaN."
    ) { run in
        let (up, down, nan) = (Double.infinity, -Double.infinity, Double.nan)
        // Rows; distinct, sum, average, minimum, maximum.
        let tables: [([Double], Int64, [Double])] = [
            ([up, 1], 2, [up, up, 1, up]), ([down, 5, down], 2, [down, down, down, 5]), ([up, down], 2, [nan, nan, down, up]),
            ([1, nan, 3, nan], 3, [nan, nan, nan, 3]), ([nan, down], 2, [nan, nan, nan, down]), ([nan, -nan], 1, [nan, nan, nan, nan]),
            ([0, -0.0], 1, [0, 0, 0, 0]),
        ]
        for (number, (rows, distinct, expected)) in tables.enumerated() {
            for (type, isIndexed) in [(AttributeType.double, true), (.double, false), (.float, true)] {
                let store = try run.open(Fixtures.thing(type, isIndexed: isIndexed), "store\(number)-\(type.rawValue)-\(isIndexed)")
                try store.insert("Thing", rows.map { [.real($0)] })
                try run.expect(
                    try everyAggregate(store),
                    equals: [Int64(rows.count), Int64(rows.count), distinct].map { .integer($0) } + expected.map { .real($0) },
                    "\(type) \(rows)")
            }
        }
    },
    ConformanceCase(
        "aggregate.average.is-a-real", "An average of integers is the nearest real number, even if the sum overflows."
    ) { run in
        let averages: [([Int64], Double)] = [
            ([1, 2], 1.5), ([-1, 0], -0.5), ([7], 7), ([1, 1, 2], 4.0 / 3), ([.max, .max], 0x1p63), ([.min, .min, .min], -0x1p63),
            ([.max, .min], -0.5),
        ]
        for (number, (rows, average)) in averages.enumerated() {
            let store = try run.open(Fixtures.thing(.int64), "store\(number)")
            try store.insert("Thing", rows.map { [.integer($0)] })
            let request = AggregateRequest(try store.entity("Thing"), aggregates: [.average(try store.field("Thing", "value"))])
            try run.expect(try store.read { try $0.aggregate(request)[0].values }, equals: [.real(average)], "\(rows)")
        }
    },
    ConformanceCase(
        "aggregate.sum.of-decimals-is-exact",
        "A sum of decimals is exact in any row order; an overflow throws invalidValue, and the transaction continues."
    ) { run in
        let sums: [([String], String?)] = [
            (["0.1", "0.2"], "0.3"), (["1e30", "0.0000001", "-1e30"], "0.0000001"), (["0.5", "0.5", "99"], "100"), (["-0.1", "0.1"], "0"),
            (["-99.99", "-0.01"], "-100"), (["-100", "0.01"], "-99.99"), (["1e127", "-1e-128", "1e-128"], "1e127"),
            (["99999999999999999999999999999999999999", "1"], "1e38"), ([], "0"), (["1e127", "1e-128"], nil), (["1e20", "1e-30"], nil),
        ]
        for (number, (rows, sum)) in sums.enumerated() {
            for (direction, order) in [rows, rows.reversed()].enumerated() {
                let store = try run.open(Fixtures.thing(.decimal), "store\(number)-\(direction)")
                try store.insert("Thing", order.map { [decimal($0)] } + [[.null]])
                let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
                try store.read { transaction in
                    let request = AggregateRequest(thing, aggregates: [.sum(field)])
                    if let sum {
                        try run.expect(try transaction.aggregate(request)[0].values, equals: [decimal(sum)], "\(order)")
                    } else {
                        let error = try run.expectError(.invalidValue, "\(order)") { try transaction.aggregate(request) }
                        try run.expect(error.attribute, equals: "value")
                        try run.expect(try transaction.ids(FetchRequest(thing)).count, equals: order.count + 1)
                    }
                }
            }
        }
    },
    ConformanceCase(
        "aggregate.average.of-decimals-is-a-decimal",
        "An average of decimals has up to 38 digits, the last one rounded; without values it is null."
    ) { run in
        let averages: [([String], String?)] = [
            (["0.1", "0.2"], "0.15"), (["1", "1", "2"], "1.3333333333333333333333333333333333333"),
            (["2", "2", "1"], "1.6666666666666666666666666666666666667"), (["-1", "0", "0"], "-0.33333333333333333333333333333333333333"),
            (["1e20", "1e-30"], "50000000000000000000"), (["7"], "7"), ([], nil),
        ]
        for (number, (rows, average)) in averages.enumerated() {
            let store = try run.open(Fixtures.thing(.decimal), "store\(number)")
            try store.insert("Thing", rows.map { [decimal($0)] } + [[.null]])
            let request = AggregateRequest(try store.entity("Thing"), aggregates: [.average(try store.field("Thing", "value"))])
            try run.expect(try store.read { try $0.aggregate(request)[0].values }, equals: [average.map(decimal) ?? .null], "\(rows)")
        }
    },
    ConformanceCase(
        "aggregate.sum.of-truth-values", "A sum of Booleans is the number of true values, also per group, and their average is a real."
    ) { run in
        let store = try run.open(Fixtures.thing(.bool))
        try store.insert("Thing", [.integer(1), .integer(0), .null, .integer(1), .integer(1)].map { [$0] })
        let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
        let all = AggregateRequest(thing, aggregates: [.sum(field), .average(field)])
        try run.expect(try store.read { try $0.aggregate(all) }, equals: [AggregateRow(group: [], values: [.integer(3), .real(0.75)])])
        let none = AggregateRequest(thing, predicate: .isNull(field), aggregates: [.sum(field), .average(field)])
        try run.expect(try store.read { try $0.aggregate(none) }, equals: [AggregateRow(group: [], values: [.integer(0), .null])])
        let groups = AggregateRequest(thing, groupBy: [field], aggregates: [.sum(field)])
        try run.expect(try store.read { try $0.aggregate(groups).map(\.values) }, equals: [[.integer(0)], [.integer(0)], [.integer(3)]])
    },
]

private func decimal(_ text: String) -> Value { .blob((Decimal(string: text) ?? .nan).orderedBytes) }
