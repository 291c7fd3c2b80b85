import PolyStoreBackend

/// Unique and non-unique indexes over several fields.
let compoundIndexCases: [ConformanceCase] = [
    ConformanceCase("compound.unique.swaps-pass", "Objects can exchange either part, or both, in one change set, also in a rotation.") {
        run in
        let store = try pairs(run, isUnique: true)
        let pair = try store.entity("Pair")
        try store.insert("Pair", (0..<12).map { [.text($0 < 6 ? "a" : "b"), .integer(Int64($0 % 6))] })
        func rows() throws -> [[Value]] { try store.read { try $0.rows(FetchRequest(pair)) } }
        // Exchanges the first part between two objects with equal second parts.
        try store.change { changes in
            try changes.update(pair, rowID: 1, ["first": .text("b")])
            try changes.update(pair, rowID: 7, ["first": .text("a")])
        }
        // Rotates the second part among the objects with "a".
        try store.change { changes in
            for (position, id) in ([7, 2, 3, 4, 5, 6] as [Int64]).enumerated() {
                try changes.update(pair, rowID: id, ["second": .integer(Int64((position + 1) % 6))])
            }
        }
        // Exchanges both parts.
        try store.change { changes in
            try changes.update(pair, rowID: 8, ["first": .text("a"), "second": .integer(1)])
            try changes.update(pair, rowID: 7, ["first": .text("b"), "second": .integer(1)])
        }
        let found = try rows()
        try run.expect(
            [found[0], found[6], found[7]], equals: [[.text("b"), .integer(0)], [.text("b"), .integer(1)], [.text("a"), .integer(1)]])
        try run.expect(found[5], equals: [.text("a"), .integer(0)], "the end of the ring")
        try run.expect(Set(found).count, equals: 12)
    },
    ConformanceCase("compound.unique.null-parts-are-exempt", "A pair with a null part is never taken until the part has a value.") { run in
        let store = try pairs(run, isUnique: true)
        let pair = try store.entity("Pair")
        try store.insert(
            "Pair",
            [
                [.text("a"), .null], [.text("a"), .null], [.null, .integer(1)], [.null, .integer(1)], [.null, .null], [.null, .null],
                [.text("a"), .integer(1)],
            ])
        for (id, part) in [(1, ("second", Value.integer(1))), (3, ("first", .text("a")))] as [(Int64, (String, Value))] {
            let error = try run.expectError(.constraint, part.0) {
                try store.change { try $0.update(pair, rowID: id, KeyValuePairs(dictionaryLiteral: part)) }
            }
            try run.expect(error.rowID, equals: id, part.0)
        }
        // The object changes one part, and another object takes the pair.
        try store.change { changes in
            try changes.update(pair, rowID: 1, ["second": .integer(1)])
            try changes.update(pair, rowID: 7, ["second": .null])
        }
        try run.expect(try store.read { try $0.rows(FetchRequest(pair)) }.filter { $0 == [.text("a"), .integer(1)] }.count, equals: 1)
    },
    ConformanceCase("compound.unique.parts-do-not-run-together", "Pairs with the same concatenated bytes are different pairs.") { run in
        let store = try pairs(run, [.string, .string], isUnique: true)
        let texts: [(String, String)] = [
            ("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a\u{0}", "b"), ("a", "\u{0}b"), ("a", "b"), ("a\u{0}b", ""),
            ("", "a\u{0}b"),
            ("\u{0}", ""), ("", "\u{0}"), ("", ""), ("\u{0}\u{0}", ""), ("\u{0}", "\u{0}"), ("a\u{1}", "b"), ("a", "\u{1}b"),
        ]
        try store.insert("Pair", texts.map { [.text($0.0), .text($0.1)] })
        let (pair, first, second) = (try store.entity("Pair"), try store.field("Pair", "first"), try store.field("Pair", "second"))
        for (index, text) in texts.enumerated() {
            try run.expectError(.constraint, "\(text)") {
                try store.change { try $0.insert(pair, rowID: 99, [.text(text.0), .text(text.1)]) }
            }
            let both = QueryPredicate.and([.compare(first, .equal, .text(text.0)), .compare(second, .equal, .text(text.1))])
            try run.expect(try store.ids(FetchRequest(pair, predicate: both)), equals: [Int64(index + 1)], "\(text)")
        }
        let sorted = texts.indices.sorted { left, right in
            let order = Order.of(texts[left].0, texts[right].0)
            return order == 0 ? Order.of(texts[left].1, texts[right].1) < 0 : order < 0
        }
        try run.expect(
            try store.ids(FetchRequest(pair, sortKeys: [SortKey(first), SortKey(second)])), equals: sorted.map { Int64($0 + 1) }, "in order"
        )
    },
    ConformanceCase(
        "compound.unique.violation-by-one-part", "Updating one part to a taken pair is rejected completely; the error names both fields."
    ) { run in
        let store = try pairs(run, isUnique: true)
        let pair = try store.entity("Pair")
        let before: [[Value]] = [[.text("a"), .integer(1)], [.text("a"), .integer(2)], [.text("b"), .integer(2)]]
        try store.insert("Pair", before)
        for (id, part) in [(2, ("second", Value.integer(1))), (3, ("first", .text("a")))] as [(Int64, (String, Value))] {
            let error = try run.expectError(.constraint, part.0) {
                try store.change { changes in
                    try changes.insert(pair, rowID: 4, [.text("c"), .integer(1)])
                    try changes.update(pair, rowID: id, KeyValuePairs(dictionaryLiteral: part))
                }
            }
            let named = error.attribute ?? ""
            try run.expect(named.contains("first") && named.contains("second"), "names \(named)")
            try run.expect(try store.read { try $0.rows(FetchRequest(pair)) }, equals: before, part.0)
        }
    },
    ConformanceCase("compound.unique.delete-and-insert", "A deleted object's pair is free in the same change set, in either order.") {
        run in
        let store = try pairs(run, isUnique: true)
        let pair = try store.entity("Pair")
        try store.insert("Pair", [[.text("a"), .integer(1)], [.text("a"), .integer(2)]])
        try store.change { changes in
            try changes.insert(pair, rowID: 3, [.text("a"), .integer(1)])
            changes.delete(pair, rowID: 1)
            changes.delete(pair, rowID: 2)
            try changes.insert(pair, rowID: 4, [.text("a"), .integer(2)])
        }
        try run.expect(try store.ids(FetchRequest(pair)), equals: [3, 4])
        try run.expectError(.constraint) { try store.change { try $0.insert(pair, rowID: 5, [.text("a"), .integer(2)]) } }
    },
    ConformanceCase(
        "compound.order.both-keys-both-ways", "Orders by both fields of an index are correct in all directions, with ties and nulls."
    ) { run in
        let store = try pairs(run, isUnique: false)
        let (pair, first, second) = (try store.entity("Pair"), try store.field("Pair", "first"), try store.field("Pair", "second"))
        let rows = scattered
        try store.insert("Pair", rows)
        for (up, down) in [(true, true), (true, false), (false, true), (false, false)] {
            for fields in [[first, second], [second, first]] {
                let keys = [SortKey(fields[0], ascending: up), SortKey(fields[1], ascending: down)]
                let expected = rows.indices.sorted { left, right in
                    for key in keys {
                        let order = rows[left][key.field.index].order(to: rows[right][key.field.index], unsigned: false)
                        if order != 0 { return key.ascending ? order < 0 : order > 0 }
                    }
                    return left < right
                }.map { Int64($0 + 1) }
                let what = keys.map { "\($0.field.name) \($0.ascending)" }.joined(separator: ", ")
                try run.expect(try store.ids(FetchRequest(pair, sortKeys: keys)), equals: expected, what)
                try run.expect(
                    try store.ids(FetchRequest(pair, sortKeys: keys, limit: 7, offset: 5)), equals: Array(expected[5..<12]),
                    "\(what), a slice")
            }
        }
    },
    ConformanceCase(
        "compound.search.by-its-beginning", "Conditions on the first field, or on both fields, return the same results as a full scan."
    ) { run in
        let store = try pairs(run, isUnique: false)
        let (pair, first, second) = (try store.entity("Pair"), try store.field("Pair", "first"), try store.field("Pair", "second"))
        try store.insert("Pair", scattered)
        func equal(_ text: String) -> QueryPredicate { .compare(first, .equal, .text(text)) }
        let predicates: [QueryPredicate] = [
            equal("b"), .and([equal("b"), .compare(second, .equal, .integer(2))]),
            .and([equal("ab"), .compare(second, .greater, .integer(0))]),
            .and([equal(""), .compare(second, .lessOrEqual, .integer(1))]), .and([equal("b"), .isNull(second)]),
            .and([.isNull(first), .compare(second, .equal, .integer(2))]), .text(first, .beginsWith, "a"),
            .compare(first, .greater, .text("a")),
            .and([.oneOf(first, [.text("b"), .text("a"), .text("zz")]), .oneOf(second, [.integer(0), .integer(2)])]),
            .compare(second, .equal, .integer(2)), .or([equal("a"), .compare(second, .equal, .integer(3))]), .isNull(first),
        ]
        try store.read { transaction in
            for predicate in predicates {
                for keys in [[], [SortKey(second)], [SortKey(first, ascending: false), SortKey(second, ascending: false)]] {
                    var request = FetchRequest(pair, predicate: predicate, sortKeys: keys)
                    let found = try transaction.ids(request)
                    request.ignoresIndexes = true
                    try run.expect(found, equals: try transaction.ids(request), "\(predicate)")
                    if keys.isEmpty, predicate == equal("b") {
                        try run.expect(found, equals: scattered.indices.filter { scattered[$0][0] == .text("b") }.map { Int64($0 + 1) })
                    }
                }
            }
        }
    },
    ConformanceCase("compound.types.all-kinds", "Indexes over fields of every type maintain order and uniqueness.") { run in
        let kinds: [(AttributeType, [Value])] = [
            (.int64, [.integer(.min), .integer(-1), .integer(0), .integer(.max)]),
            (.uint64, [.integer(0), .integer(.max), .integer(.min), .integer(-1)]),
            (.double, [.real(-.infinity), .real(-0.5), .real(0), .real(.infinity)]), (.bool, [.integer(0), .integer(1)]),
            (.date, [.real(-9), .real(0.5)]), (.data, [.blob([]), .blob([0]), .blob([0, 255]), .blob([255])]),
            (.string, [.text(""), .text("\u{0}"), .text("a"), .text("a\u{0}"), .text("\u{e9}")]),
            (.uuid, [.blob(Array(repeating: 0, count: 16)), .blob(Array(repeating: 255, count: 16))]),
        ]
        for (position, (firstType, firsts)) in kinds.enumerated() {
            let (secondType, seconds) = kinds[(position + 3) % kinds.count]
            let store = try pairs(run, [firstType, secondType], isUnique: true, "store\(position)")
            let pair = try store.entity("Pair")
            let rows = firsts.flatMap { first in seconds.map { [first, $0] } }
            // In reverse order.
            try store.insert("Pair", rows.reversed())
            let keys = [SortKey(try store.field("Pair", "first")), SortKey(try store.field("Pair", "second"))]
            let ascending = (1...rows.count).map { Int64($0) }.reversed().map { $0 }
            try run.expect(try store.ids(FetchRequest(pair, sortKeys: keys)), equals: ascending, "\(firstType), \(secondType)")
            for row in rows {
                try run.expectError(.constraint, "\(firstType), \(secondType): \(row)") {
                    try store.change { try $0.insert(pair, rowID: 1000, row) }
                }
            }
        }
    },
    ConformanceCase("compound.index.follows-updates", "A compound index follows updates of either field or both, and deletions.") {
        run in
        let store = try pairs(run, isUnique: false)
        let (pair, first, second) = (try store.entity("Pair"), try store.field("Pair", "first"), try store.field("Pair", "second"))
        var rows = scattered
        try store.insert("Pair", rows)
        let steps: [[(Int, String, Value)]] = [
            [(0, "first", .text("z")), (3, "second", .integer(77))],
            [(5, "first", .null), (5, "second", .integer(77)), (9, "first", .text("z"))],
            [(0, "second", .integer(77)), (9, "second", .null), (5, "first", .text("z"))],
            [(3, "first", .text("z")), (0, "first", .text("b"))],
        ]
        for (number, step) in steps.enumerated() {
            try store.change { changes in
                for (index, parts) in Dictionary(grouping: step, by: \.0).sorted(by: { $0.key < $1.key }) {
                    var row = rows[index]
                    for (_, name, value) in parts { row[name == "first" ? 0 : 1] = value }
                    rows[index] = row
                    var mask = FieldMask()
                    for (_, name, _) in parts { mask.insert(name == "first" ? 0 : 1) }
                    try changes.update(pair, rowID: Int64(index + 1), mask: mask) { builder in
                        for field in pair.fields { try builder.set(field, row[field.index]) }
                    }
                }
            }
            for (text, value) in [("z", 77), ("z", 2), ("b", 77)] as [(String, Int64)] {
                let both = QueryPredicate.and([.compare(first, .equal, .text(text)), .compare(second, .equal, .integer(value))])
                try run.expect(
                    try store.ids(FetchRequest(pair, predicate: both)),
                    equals: rows.indices.filter { rows[$0] == [.text(text), .integer(value)] }.map { Int64($0 + 1) },
                    "step \(number): \(text), \(value)")
            }
        }
        try store.change { changes in for id in [1, 4, 6] as [Int64] { changes.delete(pair, rowID: id) } }
        try run.expect(try store.ids(FetchRequest(pair, predicate: .compare(first, .equal, .text("z")))), equals: [10])
    },
]

/// Pair(first, second), both optional, with one index over both.
private func pairs(
    _ run: ConformanceRun, _ types: [AttributeType] = [.string, .int64], isUnique: Bool, _ name: String = "store"
) throws -> TestStore {
    try run.open(
        SchemaDescription(
            name: "Pairs",
            entities: [
                EntityDescription(
                    name: "Pair",
                    properties: zip(["first", "second"], types).map {
                        .attribute(AttributeDescription(name: $0, type: $1, isOptional: true))
                    },
                    indexes: [IndexDescription(fields: ["first", "second"], isUnique: isUnique)])
            ]), name)
}

/// Thirty pairs with ties and nulls, unordered.
private let scattered: [[Value]] = (0..<30).map { number in
    let first: [Value] = [.text("b"), .null, .text("a"), .text(""), .text("ab")]
    let second: [Value] = [.integer(2), .integer(0), .null, .integer(3), .integer(1), .integer(2), .integer(-1)]
    return [first[number * 3 % 5], second[number * 5 % 7]]
}
