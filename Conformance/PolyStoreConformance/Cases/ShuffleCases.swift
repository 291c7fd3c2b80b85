import PolyStoreBackend
import SeededRandom

/// Pseudorandom values of numbers, and random orders of objects that a seed determines.
let shuffleCases: [ConformanceCase] = [
    ConformanceCase(
        "expression.shuffle.reference-values",
        "The values of the numbers 1, 2, … are the published outputs of SplitMix64 for the seed 1234567."
    ) { run in
        let store = try openThings(run, 1...5)
        let outputs: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        let value = try shuffle(.field(.objectID), 1_234_567, run)
        for (index, output) in outputs.enumerated() {
            let constant = QueryExpression.constant(.integer(Int64(bitPattern: output)), .int64)
            try run.expect(try store.ids(.compare(value, .equal, constant)), equals: [Int64(index + 1)], "output \(index + 1)")
        }
        try run.expect(try store.ids(.compare(value, .less, .constant(.integer(0), .int64))), equals: [3, 5], "negative values")
    },
    ConformanceCase("expression.shuffle.extremes", "The least and the greatest numbers and seeds have values; sums and products wrap.") {
        run in
        let store = try openThings(run, extremes)
        for (seed, values) in extremeValues {
            let value = try shuffle(.field(.objectID), seed, run)
            for (id, number) in zip(extremes, values) {
                let constant = QueryExpression.constant(.integer(number), .int64)
                try run.expect(try store.ids(.compare(value, .equal, constant)), equals: [id], "\(id) with seed \(seed)")
            }
            try run.expect(try store.ids(.isNull(value)), equals: [], "null with seed \(seed)")
        }
    },
    ConformanceCase(
        "expression.shuffle.of-attributes", "Numbers and seeds can be attributes of any integer type; a null of either yields null."
    ) { run in
        let numbers: [Int64] = [3, -1, 3, 0]
        for type in [AttributeType.int8, .int16, .int32, .int64, .uint64] {
            let store = try run.open(Fixtures.thing(type), "\(type)")
            try store.insert("Thing", numbers.map { [.integer($0)] } + [[.null]])
            let number = QueryExpression.field(try store.field("Thing", "value"))
            let value = try shuffle(number, 42, run)
            let constant = QueryExpression.constant(.integer(output(3, seed: 42)), .int64)
            try run.expect(try store.ids(.compare(value, .equal, constant)), equals: [1, 3], "\(type)")
            // The greatest UInt64 has the bits of -1.
            let least = QueryExpression.constant(.integer(output(-1, seed: 42)), .int64)
            try run.expect(try store.ids(.compare(value, .equal, least)), equals: [2], "\(type)")
            try run.expect(try store.ids(.isNull(value)), equals: [5], "null of \(type)")
            guard let seeded = QueryExpression.function(.shuffle, [.field(.objectID), number]),
                let nothing = QueryExpression.function(.shuffle, [.field(.objectID), .constant(.null, .int64)])
            else { throw run.fail("types") }
            for (index, seed) in numbers.enumerated() {
                let expected = QueryExpression.constant(.integer(output(Int64(index + 1), seed: seed)), .int64)
                try run.expect(try store.ids(.compare(seeded, .equal, expected)), equals: [Int64(index + 1)], "seed \(seed) of \(type)")
            }
            try run.expect(try store.ids(.isNull(seeded)), equals: [5], "a null seed of \(type)")
            try run.expect(try store.ids(.isNull(nothing)), equals: [1, 2, 3, 4, 5], "a constant null as the seed")
        }
    },
    ConformanceCase("expression.shuffle.types", "A shuffle takes two integers and is an integer with a sign.") { run in
        let integers: Set<AttributeType> = [.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64]
        for first in AttributeType.allCases {
            for second in AttributeType.allCases {
                let value = QueryExpression.function(.shuffle, [.constant(.null, first), .constant(.null, second)])
                let expected: AttributeType? = integers.contains(first) && integers.contains(second) ? .int64 : nil
                try run.expect(value?.type, equals: expected, "\(first) and \(second)")
            }
            try run.expect(QueryExpression.function(.shuffle, [.constant(.null, first)]) == nil, "a shuffle without a seed")
        }
    },
    ConformanceCase("order.shuffle.by-seed", "A seed determines the order of row ids; another seed has another order.") { run in
        let store = try openThings(run, 1...12)
        for (seed, expected) in orders {
            for isAscending in [true, false] {
                var request = FetchRequest(try store.entity("Thing"))
                request.sortKeys = [SortKey(try shuffle(.field(.objectID), seed, run), ascending: isAscending)]
                let wanted = isAscending ? expected : expected.reversed()
                try run.expect(try store.ids(request), equals: wanted, "seed \(seed), ascending \(isAscending)")
                request.onlyIDs = true
                try run.expect(try store.ids(request), equals: wanted, "only ids, seed \(seed)")
                request.ignoresIndexes = true
                try run.expect(try store.ids(request), equals: wanted, "without indexes, seed \(seed)")
            }
        }
    },
    ConformanceCase("order.shuffle.extreme-ids", "The order of the least and the greatest row ids, by the least and the greatest seeds.") {
        run in
        let store = try openThings(run, extremes)
        for (seed, values) in extremeValues {
            let expected = zip(values, extremes).sorted { $0.0 < $1.0 }.map(\.1)
            try run.expect(try store.shuffled(seed), equals: expected, "seed \(seed)")
        }
        try run.expect(
            try store.shuffled(42), equals: [0, 4_294_967_296, 1, -2, .max - 1, .min + 1, 2, .min, -1, .max], "written out")
    },
    ConformanceCase("order.shuffle.samples", "A limit and an offset select a part of the order, so that samples do not overlap.") { run in
        let count: Int64 = 700
        let store = try openThings(run, 1...count)
        for seed in [7, -7] as [Int64] {
            // The generator of the tests. The value of a row id is its output with that number.
            var generator = SplitMix64(seed: UInt64(bitPattern: seed))
            let outputs = (1...count).map { ($0, Int64(bitPattern: generator.next())) }
            let expected = outputs.sorted { $0.1 < $1.1 }.map(\.0)
            try run.expect(try store.shuffled(seed), equals: expected, "all, seed \(seed)")
            for (limit, offset) in [(1, 0), (10, 0), (10, 10), (16, 16), (100, 650), (5, 699), (5, 700)] {
                let wanted = Array(expected.dropFirst(offset).prefix(limit))
                try run.expect(try store.shuffled(seed, limit, offset), equals: wanted, "limit \(limit), offset \(offset), seed \(seed)")
            }
            var request = FetchRequest(try store.entity("Thing"), limit: 20)
            request.sortKeys = [SortKey(try shuffle(.field(.objectID), seed, run))]
            let rows = try store.read { try $0.rows(request) }
            try run.expect(rows, equals: expected.prefix(20).map { [.integer($0)] }, "the values of the rows of a sample")
            try run.expect(try store.read { try $0.count(request) }, equals: 20, "the number of rows of a sample")
        }
    },
    ConformanceCase(
        "order.shuffle.with-conditions", "A condition selects rows without changing their order, and can be on the shuffle itself."
    ) {
        run in
        let store = try openThings(run, 1...12)
        let field = try store.field("Thing", "value")
        for (seed, order) in orders {
            let middle = QueryPredicate.and([.compare(field, .greater, .integer(3)), .compare(field, .lessOrEqual, .integer(10))])
            let wanted = order.filter { (4...10).contains($0) }
            try run.expect(try store.shuffled(seed, where: middle), equals: wanted, "seed \(seed)")
            try run.expect(try store.shuffled(seed, 3, 1, where: middle), equals: Array(wanted[1...3]), "a slice, seed \(seed)")
            let even = QueryPredicate.compare(try shuffle(.field(.objectID), seed, run), .greaterOrEqual, .constant(.integer(0), .int64))
            let positive = order.filter { output($0, seed: seed) >= 0 }
            try run.expect(try store.shuffled(seed, where: even), equals: positive, "values from 0, seed \(seed)")
            try run.expect(try store.ids(.not(even)), equals: order.filter { !positive.contains($0) }.sorted(), "negated, seed \(seed)")
            try run.expect(
                try store.ids(.and([even, middle])), equals: positive.filter { (4...10).contains($0) }.sorted(), "with another condition")
        }
    },
    ConformanceCase("order.shuffle.after-other-keys", "A random order among equal values of other keys, in either direction.") { run in
        let store = try run.open(Fixtures.thing(.int64))
        try store.insert("Thing", (1...12).map { [$0 % 4 == 0 ? .null : .integer($0 % 4)] })
        let field = try store.field("Thing", "value")
        for (seed, order) in orders {
            for (isAscending, groups) in [(true, [0, 1, 2, 3]), (false, [3, 2, 1, 0])] as [(Bool, [Int64])] {
                var request = FetchRequest(try store.entity("Thing"))
                request.sortKeys = [SortKey(field, ascending: isAscending), SortKey(try shuffle(.field(.objectID), seed, run))]
                let expected = groups.flatMap { group in order.filter { $0 % 4 == group } }
                try run.expect(try store.ids(request), equals: expected, "seed \(seed), ascending \(isAscending)")
                (request.limit, request.offset) = (4, 2)
                try run.expect(try store.ids(request), equals: Array(expected[2..<6]), "a slice, seed \(seed)")
            }
            // Row ids are distinct, so later keys have no effect.
            var request = FetchRequest(try store.entity("Thing"))
            request.sortKeys = [SortKey(try shuffle(.field(.objectID), seed, run)), SortKey(field, ascending: false)]
            try run.expect(try store.ids(request), equals: order, "before another key, seed \(seed)")
        }
    },
    ConformanceCase(
        "order.shuffle.with-changes",
        "The order in a write transaction is that of the row ids after its changes, and the same after the commit."
    ) { run in
        let store = try openThings(run, [1, 2, 3, 4, 5, 6, 20])
        let thing = try store.entity("Thing")
        let (seed, expected) = orders[0]
        var request = FetchRequest(thing)
        request.sortKeys = [SortKey(try shuffle(.field(.objectID), seed, run))]
        let all = try store.ids(request)
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            changes.delete(thing, rowID: 20)
            try changes.update(thing, rowID: 3, ["value": .integer(-9)])
            for id in 7...12 as ClosedRange<Int64> { try changes.insert(thing, rowID: id, [.integer(id)]) }
            try transaction.apply(changes)
            try run.expect(try transaction.ids(request), equals: expected, "in the transaction")
            (request.limit, request.offset) = (4, 3)
            try run.expect(try transaction.ids(request), equals: Array(expected[3..<7]), "a slice in the transaction")
            (request.limit, request.offset) = (nil, 0)
            try run.expect(try store.ids(request), equals: all, "outside of the transaction")
        }
        for (seed, order) in orders { try run.expect(try store.shuffled(seed), equals: order, "after the commit, seed \(seed)") }
    },
    ConformanceCase(
        "order.shuffle.of-related-objects", "Objects can be ordered by the shuffled ids of related objects; null is the smallest."
    ) {
        run in
        let works = Works.start
        let store = try works.open(run)
        for (seed, _) in orders {
            for boss in [
                try store.related("boss", .field(.objectID)), try store.related("boss", try shuffle(.field(.objectID), seed, run)),
            ] {
                let key = boss.asField == nil ? boss : try shuffle(boss, seed, run)
                var request = try store.request("Worker", .all)
                request.sortKeys = [SortKey(key)]
                let expected = works.ids("Worker").sorted { left, right in
                    let (first, second) = (works[left].boss, works[right].boss)
                    guard first != second else { return left < right }
                    guard let first, let second else { return first == nil }
                    return output(first, seed: seed) < output(second, seed: seed)
                }
                try run.expect(try store.store.ids(request), equals: expected, "\(key)")
            }
        }
    },
    ConformanceCase("group.expression.by-shuffle", "Objects can be divided into random groups by a remainder of their shuffle.") { run in
        let store = try openThings(run, 1...12)
        guard
            let group = QueryExpression.function(.modulus, [try shuffle(.field(.objectID), 42, run), .constant(.integer(3), .int64)])
        else { throw run.fail("types") }
        let value = QueryExpression.field(try store.field("Thing", "value"))
        let request = AggregateRequest(try store.entity("Thing"), groupBy: [group], aggregates: [.count, .of(.sum, value)])
        let groups: [(Int64, [Int64])] = [(-2, [8, 10]), (-1, [6]), (0, [1, 3, 4]), (1, [2, 5, 7, 9, 12]), (2, [11])]
        let expected = groups.map { number, ids in
            AggregateRow(group: [.integer(number)], values: [.integer(Int64(ids.count)), .integer(ids.reduce(0, +))])
        }
        try run.expect(try store.read { try $0.aggregate(request) }, equals: expected)
    },
]

/// The row ids from 1 to 12 in the order of each seed, written out.
private let orders: [(Int64, [Int64])] = [
    (42, [10, 1, 8, 6, 5, 2, 11, 7, 3, 9, 4, 12]), (0, [12, 8, 1, 10, 4, 3, 5, 7, 9, 6, 11, 2]),
    (1, [8, 1, 12, 2, 6, 10, 7, 3, 9, 11, 5, 4]), (-1, [5, 9, 12, 6, 1, 2, 7, 10, 11, 3, 8, 4]),
    (.min, [7, 11, 9, 2, 5, 1, 6, 4, 3, 10, 8, 12]), (.max, [8, 9, 11, 10, 3, 2, 6, 4, 12, 1, 7, 5]),
]

private let extremes: [Int64] = [.min, .min + 1, -2, -1, 0, 1, 2, 4_294_967_296, .max - 1, .max]

/// The values of the extreme numbers with each seed, written out.
private let extremeValues: [(Int64, [Int64])] = [
    (
        0,
        [
            2_720_858_781_877_447_050, 5_196_802_822_362_493_915, 7_042_660_769_813_076_436, 3_703_370_420_611_038_912, 0,
            -2_152_535_657_050_944_081, 7_960_286_522_194_355_700, -4_689_540_328_196_383_135, -2_714_782_802_276_761_441,
            -619_036_922_427_500_821,
        ]
    ),
    (
        42,
        [
            5_766_250_308_499_849_371, 2_592_983_673_866_446_792, -146_534_040_894_993_469, 7_689_814_208_194_792_879,
            -6_387_817_139_659_442_654, -4_767_286_540_954_276_203, 2_949_826_092_126_892_291, -6_105_879_357_828_036_283,
            501_933_385_945_704_611, 8_950_972_470_242_844_659,
        ]
    ),
    (
        -1,
        [
            6_514_504_133_438_201_533, 3_055_647_633_038_352_039, 8_325_766_680_316_962_815, -2_447_048_559_937_167_164,
            -5_417_735_806_833_148_549, -1_956_407_806_741_107_680, -1_612_297_016_619_662_647, -3_187_426_844_569_235_220,
            -2_212_152_401_083_932_710, 4_164_207_340_144_875_544,
        ]
    ),
    (
        .min,
        [
            0, -2_152_535_657_050_944_081, -2_714_782_802_276_761_441, -619_036_922_427_500_821, 2_720_858_781_877_447_050,
            5_196_802_822_362_493_915, -4_292_029_157_624_213_486, 5_767_646_159_123_353_928, 7_042_660_769_813_076_436,
            3_703_370_420_611_038_912,
        ]
    ),
    (
        .max,
        [
            -5_417_735_806_833_148_549, -1_956_407_806_741_107_680, -2_212_152_401_083_932_710, 4_164_207_340_144_875_544,
            6_514_504_133_438_201_533, 3_055_647_633_038_352_039, -1_005_427_240_264_861_369, 813_126_667_526_885_181,
            8_325_766_680_316_962_815, -2_447_048_559_937_167_164,
        ]
    ),
]

/// Returns the output of the tests' generator with a number, from 1 on.
private func output(_ number: Int64, seed: Int64) -> Int64 { OracleShuffle.value(number, seed) }

private func shuffle(_ number: QueryExpression, _ seed: Int64, _ run: ConformanceRun) throws -> QueryExpression {
    guard let value = QueryExpression.function(.shuffle, [number, .constant(.integer(seed), .int64)]) else { throw run.fail("types") }
    return value
}

/// Opens a store with things of some row ids, which are their values too.
private func openThings(_ run: ConformanceRun, _ ids: some Sequence<Int64>) throws -> TestStore {
    let store = try run.open(Fixtures.thing(.int64))
    let thing = try store.entity("Thing")
    try store.change { changes in for id in ids { try changes.insert(thing, rowID: id, [.integer(id)]) } }
    return store
}

extension TestStore {
    /// Returns the ids of things in the order of a seed.
    fileprivate func shuffled(_ seed: Int64, _ limit: Int? = nil, _ offset: Int = 0, where predicate: QueryPredicate = .all) throws
        -> [Int64]
    {
        let key = SortKey(try shuffle(.field(.objectID), seed, run))
        return try ids(FetchRequest(try entity("Thing"), predicate: predicate, sortKeys: [key], limit: limit, offset: offset))
    }
}
