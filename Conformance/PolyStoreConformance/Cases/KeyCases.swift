import PolyStoreBackend

/// Values that are difficult to encode as index keys: long, similar, full of NUL, or non-ASCII.
let keyCases: [ConformanceCase] =
    families.map { family in
        ConformanceCase("key.\(family.name)", family.statement) { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(family.type, isIndexed: isIndexed), "indexed-\(isIndexed)")
                try check(run, store, family.values, "indexed \(isIndexed)")
            }
        }
    } + [
        ConformanceCase(
            "key.unique.long-and-different-at-the-end",
            "Texts and data that agree in 5,000 bytes and differ in the last one are different values."
        ) {
            run in
            let common = String(repeating: "é", count: 2500)
            let ends = ["", "a", "b", "a\u{0}", "\u{0}", "aa"]
            for type in [AttributeType.string, .data] {
                let store = try run.open(Fixtures.thing(type, isUnique: true), type.rawValue)
                let thing = try store.entity("Thing")
                func value(_ end: String) -> Value { type == .data ? .blob([UInt8]((common + end).utf8)) : .text(common + end) }
                try store.insert("Thing", ends.map { [value($0)] })
                for (index, end) in ends.enumerated() {
                    let error = try run.expectError(.constraint, "\(type) ending in \(end.debugDescription)") {
                        try store.change { try $0.insert(thing, rowID: 50, [value(end)]) }
                    }
                    try run.expect(error.rowID, equals: 50)
                    try run.expect(
                        try store.ids(try store.request("Thing", "value", .equal, value(end))), equals: [Int64(index + 1)],
                        end.debugDescription)
                }
                try run.expect(try store.ids(try store.request("Thing", "value", .equal, value("c"))), equals: [], "a missing one")
                // Exchanged, and one taken from a deleted object.
                try store.change { changes in
                    try changes.update(thing, rowID: 2, ["value": value("b")])
                    try changes.update(thing, rowID: 3, ["value": value("a")])
                    changes.delete(thing, rowID: 1)
                    try changes.insert(thing, rowID: 60, [value("")])
                }
                let order = FetchRequest(thing, sortKeys: [SortKey(try store.field("Thing", "value"))])
                try run.expect(try store.ids(order), equals: [60, 5, 3, 4, 6, 2], "\(type)")
            }
        },
        ConformanceCase("key.update.long-and-only-the-end", "Updates that change only the end of a long text move it in the index.") {
            run in
            let store = try run.open(Fixtures.thing(.string))
            let thing = try store.entity("Thing")
            let common = String(repeating: "long ", count: 800)
            try store.insert("Thing", (0..<20).map { [.text(common + "\(10 + $0)")] })
            let order = FetchRequest(thing, sortKeys: [SortKey(try store.field("Thing", "value"))])
            for round in 1...3 {
                try store.change { changes in
                    for id in 1...20 {
                        try changes.update(thing, rowID: Int64(id), ["value": .text(common + "\(10 + (id * 7 + round) % 20)")])
                    }
                }
                let expected = (1...20).sorted { ($0 * 7 + round) % 20 < ($1 * 7 + round) % 20 }.map { Int64($0) }
                try run.expect(try store.ids(order), equals: expected, "round \(round)")
                let wanted = try store.request("Thing", "value", .equal, .text(common + "10"))
                try run.expect(try store.ids(wanted), equals: [expected[0]], "round \(round)")
            }
            try store.change { changes in for id in 1...19 { changes.delete(thing, rowID: Int64(id)) } }
            try run.expect(try store.ids(order), equals: [20])
        },
        ConformanceCase("key.compound.behind-a-long-text", "A compound index compares its second field after a long first one.") { run in
            let schema = SchemaDescription(
                name: "Long",
                entities: [
                    EntityDescription(
                        name: "Long",
                        properties: [
                            .attribute(AttributeDescription(name: "text", type: .string)),
                            .attribute(AttributeDescription(name: "number", type: .int64)),
                        ], indexes: [IndexDescription(fields: ["text", "number"], isUnique: true)])
                ])
            let store = try run.open(schema)
            let long = try store.entity("Long")
            let common = String(repeating: "z", count: 5000)
            let rows: [(String, Int64)] = [("b", 2), ("", 9), ("a", 1), ("b", 1), ("", -1), ("a", 2), ("\u{0}", 0)]
            try store.insert("Long", rows.map { [.text(common + $0.0), .integer($0.1)] })
            let keys = [SortKey(try store.field("Long", "text")), SortKey(try store.field("Long", "number"))]
            try run.expect(try store.ids(FetchRequest(long, sortKeys: keys)), equals: [5, 2, 7, 3, 6, 4, 1])
            try run.expectError(.constraint) { try store.change { try $0.insert(long, rowID: 9, [.text(common + "a"), .integer(2)]) } }
            try store.change { try $0.insert(long, rowID: 9, [.text(common + "a"), .integer(3)]) }
            let both = QueryPredicate.and([
                .compare(keys[0].field, .equal, .text(common + "a")), .compare(keys[1].field, .greater, .integer(1)),
            ])
            try run.expect(try store.ids(FetchRequest(long, predicate: both)), equals: [6, 9])
        },
        ConformanceCase(
            "key.order.descending-with-ties",
            "Equal values are in ascending order of ids, also in descending orders and across slices."
        ) { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(.string, isIndexed: isIndexed), "indexed-\(isIndexed)")
                let thing = try store.entity("Thing")
                let texts: [Value] = [.text("b"), .text("a"), .null]
                try store.insert("Thing", (0..<60).map { [texts[$0 % 3]] })
                let expected = (0..<3 as Range<Int64>).flatMap { position in (0..<20 as Range<Int64>).map { $0 * 3 + position + 1 } }
                let key = SortKey(try store.field("Thing", "value"), ascending: false)
                try run.expect(try store.ids(FetchRequest(thing, sortKeys: [key])), equals: expected, "indexed \(isIndexed)")
                for (limit, offset) in [(1, 0), (5, 0), (20, 10), (3, 19), (30, 35), (5, 58)] {
                    try run.expect(
                        try store.ids(FetchRequest(thing, sortKeys: [key], limit: limit, offset: offset)),
                        equals: Array(expected.dropFirst(offset).prefix(limit)), "indexed \(isIndexed), limit \(limit) offset \(offset)")
                }
            }
        },
    ]

private struct Family: Sendable {
    let name: String
    let statement: String
    let type: AttributeType
    /// The values in ascending order.
    let values: [Value]
}

/// Returns texts of about the same length that differ only at their ends.
private func long(_ count: Int) -> [Value] {
    ["", "\u{0}", "\u{0}a", "A", "a", "a\u{0}", "ab", "b", "\u{e9}", "\u{ffff}", "\u{10000}"].map {
        .text(String(repeating: "x", count: count) + $0)
    }
}

private let families: [Family] =
    [600, 1000, 1023, 1024, 2030, 4096, 5000].map { count in
        Family(
            name: "long.of-\(count)",
            statement: "Texts with \(count) equal bytes and different ends are ordered and found by all bytes.",
            type: .string, values: long(count))
    } + [
        Family(
            name: "long.of-all-lengths", statement: "A long text sorts after all of its prefixes.", type: .string,
            values: stride(from: 500, through: 5000, by: 300).map { .text(String(repeating: "p", count: $0)) }),
        Family(
            name: "text.of-nul", statement: "Texts of NUL and adjacent scalars are ordered and found by their bytes.", type: .string,
            values: [
                "", "\u{0}", "\u{0}\u{0}", "\u{0}\u{0}\u{0}", "\u{0}\u{0}a", "\u{0}\u{1}", "\u{0}a", "\u{0}\u{7f}", "\u{1}", "\u{1}\u{0}",
                "a", "a\u{0}",
                "a\u{0}\u{0}", "a\u{0}a", "a\u{1}", "aa",
            ].map { .text($0) }),
        Family(
            name: "text.of-emoji", statement: "Emoji, joined ones and flags, are ordered and found by their bytes.",
            type: .string,
            values: [
                "\u{2600}", "\u{2600}\u{fe0f}", "\u{fffd}", "\u{1f1e6}", "\u{1f1e6}\u{1f1e8}", "\u{1f44d}", "\u{1f44d}\u{1f3fb}",
                "\u{1f44d}\u{1f3ff}",
                "\u{1f468}", "\u{1f468}\u{200d}\u{1f469}", "\u{1f469}", "\u{1f98a}",
            ].map { .text($0) }),
        Family(
            name: "text.of-combining-marks",
            statement: "Combining marks are compared by bytes: alone, after a letter, reordered.",
            type: .string,
            values: [
                "a", "a\u{300}", "a\u{300}\u{301}", "a\u{301}", "a\u{301}\u{300}", "a\u{301}b", "ab", "\u{e0}", "\u{e1}", "\u{300}",
                "\u{301}a", "\u{1e00}",
                "\u{ac00}", "\u{1100}\u{1161}",
            ].sorted { Order.of($0, $1) < 0 }.map { .text($0) }),
        Family(
            name: "data.of-edges", statement: "Data of the lowest and highest bytes is ordered and found by all bytes.", type: .data,
            values: [
                [], [0], [0, 0], [0, 0, 1], [0, 1], [0, 255], [0, 255, 0], [1], [1, 0], [254], [254, 255], [255], [255, 0], [255, 255],
                [255, 255, 255],
            ].map { .blob($0) }),
    ]

/// Compares sort orders, equality, ranges, lists and prefixes with the positions of the values.
private func check(_ run: ConformanceRun, _ store: TestStore, _ values: [Value], _ what: String) throws {
    // Two of each, unordered; the rank of an id is the position of its value.
    let count = values.count
    let ranks = (0..<2 * count).map { ($0 * 7 + $0 / count) % count }
    let isEven = Set(ranks).count == count
    let positions = isEven ? ranks : Array(0..<count) + Array((0..<count).reversed())
    try store.insert("Thing", positions.map { [values[$0]] } + [[.null]])
    let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
    func ids(_ isWanted: (Int) -> Bool) -> [Int64] { positions.indices.filter { isWanted(positions[$0]) }.map { Int64($0 + 1) } }
    let null = Int64(positions.count + 1)
    let ascending = positions.indices.sorted { (positions[$0], $0) < (positions[$1], $1) }.map { Int64($0 + 1) }
    let descending = positions.indices.sorted { (-positions[$0], $0) < (-positions[$1], $1) }.map { Int64($0 + 1) }
    try store.read { transaction in
        try run.expect(
            try transaction.ids(FetchRequest(thing, sortKeys: [SortKey(field)])), equals: [null] + ascending, "\(what), ascending")
        try run.expect(
            try transaction.ids(FetchRequest(thing, sortKeys: [SortKey(field, ascending: false)])), equals: descending + [null],
            "\(what), descending")
        for (position, value) in values.enumerated() {
            func found(_ predicate: QueryPredicate, _ name: String, _ isWanted: (Int) -> Bool) throws {
                try run.expect(
                    try transaction.ids(FetchRequest(thing, predicate: predicate)), equals: ids(isWanted),
                    "\(what), \(name) value \(position)"
                )
            }
            for comparison in ComparisonOperator.allCases {
                try found(.compare(field, comparison, value), comparison.rawValue) {
                    comparison.accepts($0 < position ? -1 : ($0 == position ? 0 : 1))
                }
            }
            let other = (position + 3) % count
            try found(.oneOf(field, [value, values[other], .null]), "IN") { $0 == position || $0 == other }
            let next = min(position + 4, count - 1)
            try found(.and([.compare(field, .greater, value), .compare(field, .lessOrEqual, values[next])]), "between") {
                $0 > position && $0 <= next
            }
            guard case .text(let prefix) = value else { continue }
            try found(.text(field, .beginsWith, prefix), "BEGINSWITH") { other in
                if case .text(let text) = values[other] { Array(text.utf8).starts(with: prefix.utf8) } else { false }
            }
        }
    }
}
