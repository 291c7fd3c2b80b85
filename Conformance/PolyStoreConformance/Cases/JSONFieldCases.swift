import PolyStoreBackend

/// Values within JSON attributes: how each kind of value is read as each type, and where they can be used.
let jsonFieldCases: [ConformanceCase] =
    jsonReadings.map { reading in
        ConformanceCase("expression.json.as-\(reading.type)", "Which values in JSON are read as \(reading.type), and which are null.") {
            run in
            // Alone, as a member, and as a member of a member.
            let nulls = jsonNulls.map { ($0, Value.null) } + reading.nulls.map { ($0, .null) }
            let all = reading.values + nulls
            for (name, keys, wrap) in [
                ("alone", [], { $0 }), ("a member", ["a"], { "{\"b\": 0, \"a\" : \($0) , \"c\":[]}" }),
                ("nested", ["a", "b"], { "{\"a\":{\"b\":\($0)}}" }),
            ] as [(String, [String], (String) -> String)] {
                let store = try run.open(Fixtures.thing(.json, isIndexed: false), name)
                try store.insert("Thing", all.map { [.text(wrap($0.0))] } + [[.null]])
                let value = try store.json(keys, .value(reading.type))
                for (index, entry) in all.enumerated() where !entry.1.isNull {
                    let expected = all.indices.filter { all[$0].1 == entry.1 }.map { Int64($0 + 1) }
                    let constant = QueryExpression.constant(entry.1, reading.type)
                    try run.expect(
                        try store.ids(.compare(value, .equal, constant)), equals: expected, "\(name), \(all[index].0) is \(entry.1.literal)"
                    )
                    try run.expect(try store.ids(.oneOf(value, [entry.1])), equals: expected, "\(name), \(all[index].0) in a list")
                }
                let missing = all.indices.filter { all[$0].1.isNull }.map { Int64($0 + 1) } + [Int64(all.count + 1)]
                try run.expect(try store.ids(.isNull(value)), equals: missing, "\(name), null")
                // The executor of groups computes the values itself.
                let rows = try store.read {
                    try $0.aggregate(AggregateRequest(try store.entity("Thing"), groupBy: [value], aggregates: [.count]))
                }
                for (index, entry) in all.enumerated() {
                    let count = all.count { $0.1 == entry.1 } + (entry.1.isNull ? 1 : 0)
                    let row = rows.first { $0.group == [entry.1] }
                    try run.expect(row?.values, equals: [.integer(Int64(count))], "\(name), the group of \(all[index].0)")
                }
            }
        }
    } + [
        ConformanceCase("expression.json.invalid", "A text that is not valid JSON has no values, wherever its error is.") { run in
            let texts = [
                "", " ", "{", "}", "{\"a\":1", "{\"a\":1]", "[{\"a\":1}", "{\"a\":1}}", "{\"a\":1},", "{\"a\":1,}", "{,\"a\":1}",
                "{\"a\":1 \"b\":2}",
                "{\"a\" 1}", "{\"a\":1,\"b\":}", "{\"a\":1,\"b\":01}", "{\"a\":1,\"b\":1.}", "{\"a\":1,\"b\":.5}", "{\"a\":1,\"b\":1e}",
                "{\"a\":1,\"b\":+1}", "{\"a\":1,\"b\":-}", "{\"a\":1,\"b\":tru}", "{\"a\":1,\"b\":True}", "{\"a\":1,\"b\":NaN}",
                "{\"a\":1,\"b\":Infinity}", "{\"a\":1,\"b\":'x'}", "{\"a\":1,b:2}", "{\"a\":1,\"b\":\"\\x\"}",
                "{\"a\":1,\"b\":\"\\u12g4\"}",
                "{\"a\":1,\"b\":\"\n\"}", "{\"a\":1,\"b\":\"\u{0}\"}", "{\"a\":1}\u{0}", "\u{feff}{\"a\":1}", "{\"a\":1,\"b\":[1,]}",
                "{\"a\":1,\"b\":[,1]}", "{\"a\":1,\"b\":[1 2]}", "{\"a\":1} // b", "{\"a\":1,\"b\":\"x}", "{\"a\":1,\"b\":0x10}",
                "{\"a\":1,1:2}",
                "{\"a\":1}\u{a0}", "{\"a\":1,\"b\":\"\\u123\"}", "{\"a\":1,\"b\":\"\\",
            ]
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert("Thing", texts.map { [.text($0)] } + [[.text("{\"a\":1}")], [.text("\r\n\t {\"a\":1} ")]])
            let all = Array(1...Int64(texts.count))
            for result in [JSONField.Result.value(.int64), .value(.json), .contains(.integer(1), .int64)] {
                for keys in [[], ["a"], ["b"]] as [[String]] {
                    let found = try store.ids(.isNull(try store.json(keys, result)))
                    try run.expect(Array(found.prefix(all.count)), equals: all, "\(keys) \(result)")
                }
            }
            let valid = Array(all.count + 1...all.count + 2).map { Int64($0) }
            try run.expect(try store.ids(.compare(try store.json(["a"], .value(.int64)), .equal, integer(1))), equals: valid)
        },
        ConformanceCase(
            "expression.json.paths", "A path of keys leads through objects only; a missing key is null, and keys are compared as texts."
        ) {
            run in
            let entries: [(json: String, keys: [String], isFound: Bool)] = [
                ("{\"a\":{\"b\":7}}", ["a", "b"], true), ("{\"a\":{\"b\":7}}", ["a"], false), ("{\"a\":{\"b\":7}}", ["b"], false),
                ("{\"a\":{\"b\":7}}", ["a", "b", "c"], false), ("{\"a\":[7]}", ["a", "0"], false), ("[7]", ["0"], false), ("7", [], true),
                ("{\"a\":null}", ["a", "b"], false), ("{\"A\":7}", ["a"], false), ("{\"a \":7}", ["a"], false),
                ("{\"a.b\":7}", ["a.b"], true),
                ("{\"a.b\":7}", ["a", "b"], false), ("{\"\":7}", [""], true), ("{\"\":{\"\":7}}", ["", ""], true), ("{}", ["a"], false),
                ("{\"é\":7}", ["é"], true), ("{\"é\":7}", ["e\u{301}"], false), ("{\"\\u00e9\":7}", ["é"], true),
                ("{\"\\ud83d\\ude00\":7}", ["😀"], true), ("{\"a\\u0000b\":7}", ["a\u{0}b"], true), ("{\"a\\u0000b\":7}", ["a"], false),
                ("{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\":7}", ["\"\\/\u{8}\u{c}\n\r\t"], true), ("{\"$\":{\"[0]\":7}}", ["$", "[0]"], true),
                ("{\"\\u0061\":7}", ["a"], true), ("{\"\\ud800\":7}", ["\u{fffd}"], false),
                // The first of equal keys counts, however it is written.
                ("{\"a\":7,\"a\":8}", ["a"], true), ("{\"a\":8,\"a\":7}", ["a"], false), ("{\"\\u0061\":7,\"a\":8}", ["a"], true),
                ("{\"a\":{\"c\":1},\"a\":{\"b\":7}}", ["a", "b"], false), ("{\"a\":null,\"a\":7}", ["a"], false),
                ("{\"x\":{\"a\":8},\"a\":7}", ["a"], true), ("{\"x\":[{\"a\":8}],\"a\":7,\"y\":{\"a\":9}}", ["a"], true),
            ]
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert("Thing", entries.map { [.text($0.json)] })
            let id = QueryExpression.field(.objectID)
            for (index, entry) in entries.enumerated() {
                let isSeven = QueryPredicate.compare(try store.json(entry.keys, .value(.int64)), .equal, integer(7))
                let isRow = QueryPredicate.compare(id, .equal, integer(Int64(index + 1)))
                let expected = entry.isFound ? [Int64(index + 1)] : []
                try run.expect(try store.ids(.and([isSeven, isRow])), equals: expected, "\(entry.keys) of \(entry.json)")
            }
        },
        ConformanceCase("expression.json.nested-deeply", "JSON can have 512 nested levels; a deeper text has no values.") { run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            func nested(_ levels: Int, _ opening: String, _ closing: String) -> String {
                "{\"a\":1,\"b\":" + String(repeating: opening, count: levels - 1) + "0" + String(repeating: closing, count: levels - 1)
                    + "}"
            }
            let texts = [
                (512, "[", "]"), (512, "{\"a\":", "}"), (513, "[", "]"), (513, "{\"a\":", "}"), (100_000, "[", "]"),
                (50_000, "{\"a\":", "}"),
            ]
            try store.insert("Thing", texts.map { [.text(nested($0, $1, $2))] } + [[.text(String(repeating: "[", count: 100_000))]])
            try run.expect(try store.ids(.compare(try store.json(["a"], .value(.int64)), .equal, integer(1))), equals: [1, 2])
            let path = ["b"] + Array(repeating: "a", count: FetchRequest.maximumDepth - 1)
            try run.expect(try store.ids(.not(.isNull(try store.json(path, .value(.json))))), equals: [2], "a long path")
        },
        ConformanceCase(
            "expression.json.comparisons", "Values in JSON are compared by every operator, with constants, attributes and each other."
        ) {
            run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert(
                "Thing",
                (1...9).map { [.text("{\"n\":\($0),\"t\":\"t\($0)\",\"d\":\($0).5,\"b\":\($0 > 4),\"m\":{\"n\":5}}")] } + [
                    [.text("{}")], [.null],
                ])
            let (n, t, d) = (
                try store.json(["n"], .value(.int64)), try store.json(["t"], .value(.string)), try store.json(["d"], .value(.double))
            )
            let m = try store.json(["m", "n"], .value(.int64))
            let ids = Array(1...9 as ClosedRange<Int64>)
            for comparison in ComparisonOperator.allCases {
                let expected = ids.filter { comparison.holds($0, 5) }
                let others = ids.filter { !expected.contains($0) }
                func check(_ left: QueryExpression, _ right: QueryExpression, _ what: String) throws {
                    try run.expect(try store.ids(.compare(left, comparison, right)), equals: expected, "\(what) \(comparison.rawValue)")
                    try run.expect(
                        try store.ids(.compare(right, comparison.mirrored, left)), equals: expected,
                        "\(what), mirrored \(comparison.rawValue)")
                    try run.expect(
                        try store.ids(.not(.compare(left, comparison, right))), equals: others, "NOT \(what) \(comparison.rawValue)")
                }
                try check(n, integer(5), "integers")
                try check(t, .constant(.text("t5"), .string), "texts")
                try check(d, .constant(.real(5.5), .double), "reals")
                try check(n, .constant(.real(5), .double), "integers and a real")
                try check(n, m, "two values")
                try check(n, .constant(.integer(5), .uint64), "an unsigned constant")
            }
            try run.expect(
                try store.ids(.compare(try store.json(["b"], .value(.bool)), .equal, .constant(.integer(1), .bool))), equals: Array(5...9))
            try run.expect(try store.ids(.compare(n, .equal, .field(.objectID))), equals: ids, "an attribute")
            for comparison in ComparisonOperator.allCases {
                try run.expect(try store.ids(.compare(n, comparison, .constant(.null, .int64))), equals: [], "null")
                try run.expect(try store.ids(.not(.compare(n, comparison, .constant(.null, .int64)))), equals: [], "not null")
                let expected = [.greater, .greaterOrEqual, .notEqual].contains(comparison) ? ids : []
                try run.expect(
                    try store.ids(.compare(d, comparison, .constant(.real(.nan), .double))), equals: expected, "NaN \(comparison.rawValue)")
            }
        },
        ConformanceCase("expression.json.one-of", "A value in JSON can be one of a list; a null in the list selects nothing.") { run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert("Thing", (1...9).map { [.text("{\"n\":\($0)}")] } + [[.text("{\"n\":\"1\"}")]])
            let value = try store.json(["n"], .value(.int64))
            let lists: [[Value]] = [
                [], [.null], [.integer(1)], [.integer(9), .null, .integer(3), .integer(3)], (0..<600).map { .integer($0) },
            ]
            for list in lists {
                let expected = (1...9 as ClosedRange<Int64>).filter { list.contains(.integer($0)) }
                try run.expect(try store.ids(.oneOf(value, list)), equals: expected, "\(list.count) values")
                try run.expect(
                    try store.ids(.not(.oneOf(value, list))), equals: (1...9).filter { !expected.contains($0) },
                    "not of \(list.count) values")
            }
        },
        ConformanceCase("expression.json.texts", "Text operators apply to texts in JSON, byte by byte; another value is unknown.") { run in
            let texts = ["abc", "", "b", "aBc", "a\\u0000b", "é", "e\\u0301", "\\\"q\\\"", "%_*"]
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert("Thing", texts.map { [.text("{\"t\":\"\($0)\"}")] } + [[.text("{\"t\":1}")], [.text("{}")], [.null]])
            let value = try store.json(["t"], .value(.string))
            for (operation, pattern, expected) in [
                (.contains, "b", [1, 3, 5]), (.contains, "", [1, 2, 3, 4, 5, 6, 7, 8, 9]), (.contains, "\u{0}", [5]),
                (.contains, "\u{301}", [7]),
                (.beginsWith, "a", [1, 4, 5]), (.beginsWith, "", [1, 2, 3, 4, 5, 6, 7, 8, 9]), (.beginsWith, "\"", [8]),
                (.endsWith, "c", [1, 4]),
                (.endsWith, "", [1, 2, 3, 4, 5, 6, 7, 8, 9]), (.endsWith, "\u{0}b", [5]), (.like, "?b?", [1]), (.like, "a*", [1, 4, 5]),
                (.like, "*", [1, 2, 3, 4, 5, 6, 7, 8, 9]), (.like, "%_\\*", [9]), (.matches, "[ab]*c?", [1, 2, 3]),
            ] as [(TextOperator, String, [Int64])] {
                let condition = QueryPredicate.text(value, operation, .constant(.text(pattern), .string))
                try run.expect(try store.ids(condition), equals: expected, "\(condition)")
                try run.expect(try store.ids(.not(condition)), equals: (1...9).filter { !expected.contains($0) }, "not \(condition)")
            }
            let folded = QueryExpression.folded(value, .caseInsensitive)
            try run.expect(try store.ids(.compare(folded, .equal, .constant(.text("abc"), .string))), equals: [1, 4], "folded")
            guard let length = QueryExpression.function(.length, [value]) else { throw run.fail("types") }
            try run.expect(try store.ids(.compare(length, .equal, integer(3))), equals: [1, 4, 5, 8, 9], "the length")
        },
        ConformanceCase(
            "expression.json.contains", "Whether an array has an element; null without an array. Elements of another kind equal nothing."
        ) {
            run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            let arrays = [
                "[]", "[1]", "[\"1\"]", "[true]", "[1.0]", "[2, 3 ,1]", "[[1]]", "[{\"a\":1}]", "[null]", "[\"a\",\"b\"]", "[\"\\u0061\"]",
                "[1.5]",
                "[9223372036854775807]", "{\"a\":1}", "1", "\"a\"", "null", "[1,", "[18446744073709551615]", "[\"\\ud800\",\"a\"]",
            ]
            let known = (1...20 as ClosedRange<Int64>).filter { ![14, 15, 16, 17, 18].contains($0) }
            for (keys, wrap) in [([], { $0 }), (["x", "y"], { "{\"x\":{\"y\":\($0)}}" })] as [([String], (String) -> String)] {
                let store = keys.isEmpty ? store : try run.open(Fixtures.thing(.json, isIndexed: false), "nested")
                try store.insert("Thing", arrays.map { [.text(wrap($0))] } + [[.null]])
                for (element, type, expected) in [
                    (.integer(1), .int64, [2, 5, 6]), (.text("1"), .string, [3]), (.integer(1), .bool, [4]), (.integer(0), .bool, []),
                    (.text("a"), .string, [10, 11, 20]), (.real(1), .double, [2, 5, 6]), (.real(1.5), .double, [12]),
                    (.integer(.max), .int64, [13]), (.integer(-1), .uint64, [19]), (.integer(7), .int64, []), (.text(""), .string, []),
                ] as [(Value, AttributeType, [Int64])] {
                    let test = try store.json(keys, .contains(element, type))
                    let yes = QueryPredicate.compare(test, .equal, .constant(.integer(1), .bool))
                    try run.expect(try store.ids(yes), equals: expected, "\(element.literal) as \(type)")
                    try run.expect(
                        try store.ids(.not(yes)), equals: known.filter { !expected.contains($0) }, "not \(element.literal) as \(type)")
                    try run.expect(try store.ids(.isNull(test)), equals: [14, 15, 16, 17, 18, 21], "no array")
                }
            }
        },
        ConformanceCase(
            "expression.json.with-other-conditions", "Conditions on values in JSON can be combined with conditions that indexes serve."
        ) {
            run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(.json, isIndexed: isIndexed), "indexed \(isIndexed)")
                try store.insert("Thing", (1...100).map { [.text("{\"n\":\($0 % 10)}")] })
                let (low, attribute) = (try store.json(["n"], .value(.int64)), try store.field("Thing", "value"))
                let few = QueryPredicate.compare(low, .less, integer(3))
                let late = QueryPredicate.compare(attribute, .greater, .text("{\"n\":1}"))
                func isFew(_ id: Int64) -> Bool { id % 10 < 3 }
                func isLate(_ id: Int64) -> Bool { id % 10 > 1 }
                let ids = Array(1...100 as ClosedRange<Int64>)
                try run.expect(try store.ids(.and([few, late])), equals: ids.filter { isFew($0) && isLate($0) }, "and")
                try run.expect(try store.ids(.or([few, late])), equals: ids.filter { isFew($0) || isLate($0) }, "or")
                try run.expect(
                    try store.ids(.or([late, few, .compare(low, .equal, integer(1))])), equals: ids.filter { isFew($0) || isLate($0) },
                    "or of three")
                try run.expect(try store.ids(.and([.not(few), late])), equals: ids.filter { !isFew($0) && isLate($0) }, "not")
                var request = FetchRequest(try store.entity("Thing"), predicate: .and([late, few]))
                (request.limit, request.offset) = (3, 2)
                let expected = Array(ids.filter { isFew($0) && isLate($0) }.dropFirst(2).prefix(3))
                try run.expect(try store.ids(request), equals: expected, "slice")
                try run.expect(try store.read { try $0.count(request) }, equals: 3, "count")
                (request.onlyIDs, request.ignoresIndexes) = (true, true)
                try run.expect(try store.ids(request), equals: expected, "without indexes")
            }
        },
        ConformanceCase("expression.json.order", "Objects can be ordered by values in JSON, in both directions, with null first or last.") {
            run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert("Thing", ["{\"n\":3}", "{\"n\":-1}", "{}", "{\"n\":20}", "{\"n\":3.0}", "{\"n\":\"2\"}"].map { [.text($0)] })
            let value = try store.json(["n"], .value(.int64))
            for (ascending, nulls, expected) in [
                (true, SortKey.NullPlacement.first, [3, 6, 2, 1, 5, 4]), (true, .last, [2, 1, 5, 4, 3, 6]),
                (false, .last, [4, 1, 5, 2, 3, 6]),
                (false, .first, [3, 6, 4, 1, 5, 2]),
            ] as [(Bool, SortKey.NullPlacement, [Int64])] {
                var request = FetchRequest(try store.entity("Thing"))
                request.sortKeys = [SortKey(value, ascending: ascending, nulls: nulls)]
                try run.expect(try store.ids(request), equals: expected, "ascending \(ascending), nulls \(nulls)")
                (request.limit, request.offset) = (2, 1)
                try run.expect(try store.ids(request), equals: Array(expected[1...2]), "a slice")
            }
        },
        ConformanceCase(
            "group.expression.by-json", "Objects can be grouped by values in JSON, and their values aggregated; null is a group."
        ) { run in
            let store = try run.open(Fixtures.thing(.json, isIndexed: false))
            try store.insert(
                "Thing",
                ["{\"c\":\"x\",\"n\":1}", "{\"c\":\"y\",\"n\":2}", "{\"c\":\"x\",\"n\":2.5}", "{\"n\":4}", "{\"c\":1}"].map { [.text($0)] })
            let (city, number) = (try store.json(["c"], .value(.string)), try store.json(["n"], .value(.double)))
            let request = AggregateRequest(
                try store.entity("Thing"), groupBy: [city], aggregates: [.count, .of(.sum, number), .of(.maximum, number)])
            try run.expect(
                try store.read { try $0.aggregate(request) },
                equals: [
                    AggregateRow(group: [.null], values: [.integer(2), .real(4), .real(4)]),
                    AggregateRow(group: [.text("x")], values: [.integer(2), .real(3.5), .real(2.5)]),
                    AggregateRow(group: [.text("y")], values: [.integer(1), .real(2), .real(2)]),
                ])
        },
        ConformanceCase("expression.json.of-related-objects", "Values in JSON of related objects, over relationships to one and to many.") {
            run in
            let store = try run.open(orders)
            try store.insert("Shop", [[.text("{\"city\":\"Kyiv\"}")], [.text("{\"city\":\"Lviv\"}")], [.null]])
            let rows: [(String, Int64?)] = [("[\"a\",\"b\"]", 1), ("[\"b\"]", 1), ("[\"a\"]", 2), ("[]", nil), ("{}", 3)]
            try store.insert("Order", rows.map { [.text($0.0), $0.1.map { .integer($0) } ?? .null] })
            let (shop, order) = (try store.entity("Shop"), try store.entity("Order"))
            let one = RelationshipReference(try store.relationship("Order", "shop"), in: store.schema)
            let many = RelationshipReference(try store.relationship("Shop", "orders"), in: store.schema)
            let (address, tags) = (
                QueryExpression.field(try store.field("Shop", "address")), QueryExpression.field(try store.field("Order", "tags"))
            )
            func ids(_ entity: Entity, _ predicate: QueryPredicate) throws -> [Int64] {
                try store.ids(FetchRequest(entity, predicate: predicate))
            }
            let field = JSONField(["city"], .value(.string))
            let kyiv = QueryExpression.constant(.text("Kyiv"), .string)
            guard let city = QueryExpression.json(field, of: address),
                let ofRelated = QueryExpression.json(field, of: .related(one, address)),
                let hasA = QueryExpression.json(JSONField([], .contains(.text("a"), .string)), of: tags)
            else { throw run.fail("types") }
            let isA = QueryPredicate.compare(hasA, .equal, .constant(.integer(1), .bool))
            for value in [ofRelated, .related(one, city)] {
                try run.expect(try ids(order, .compare(value, .equal, kyiv)), equals: [1, 2], "\(value)")
                try run.expect(try ids(order, .not(.compare(value, .equal, kyiv))), equals: [3], "not \(value)")
                try run.expect(try ids(order, .isNull(value)), equals: [4, 5], "null \(value)")
                try run.expect(try ids(order, .oneOf(value, [.text("Lviv")])), equals: [3], "a list, \(value)")
                try run.expect(
                    try ids(order, .text(value, .endsWith, .constant(.text("iv"), .string))), equals: [1, 2, 3], "a text, \(value)")
            }
            try run.expect(try ids(shop, .related(many, .any, isA)), equals: [1, 2])
            try run.expect(try ids(shop, .related(many, .all, isA)), equals: [2])
            try run.expect(try ids(shop, .compare(.count(many, where: isA), .equal, integer(1))), equals: [1, 2], "counted")
            try run.expect(
                try ids(order, .related(one, .one, .and([.compare(city, .equal, kyiv), .related(many, .any, isA)]))), equals: [1, 2],
                "both ways")
        },
        ConformanceCase("expression.json.types", "Only JSON has fields, and they are read as some types.") { run in
            for type in AttributeType.allCases {
                for other in AttributeType.allCases {
                    let value = QueryExpression.json(JSONField(["a"], .value(other)), of: .constant(.null, type))
                    let small = [.int8, .int16, .int32, .uint8, .uint16, .uint32].contains(other)
                    try run.expect(value?.type, equals: type == .json && !small ? other : nil, "\(other) in \(type)")
                }
            }
            let json = QueryExpression.constant(.null, .json)
            for (element, type, isAccepted) in [
                (.text("a"), .string, true), (.integer(1), .bool, true), (.null, .string, false), (.text("a"), .int64, false),
                (.text("1"), .json, false),
                (.integer(1), .int8, false),
            ] as [(Value, AttributeType, Bool)] {
                let value = QueryExpression.json(JSONField([], .contains(element, type)), of: json)
                try run.expect(value?.type, equals: isAccepted ? .bool : nil, "\(element.literal) as \(type)")
            }
        },
        ConformanceCase(
            "refusal.expression.json", "A value in an attribute that is not JSON of the entity, or on a path that is too long, is refused."
        ) {
            run in
            let store = try run.open(Fixtures.thing(.string))
            let wrong = QueryExpression.field(FieldReference(index: 0, name: "value", type: .json))
            guard let value = QueryExpression.json(JSONField(["a"], .value(.string)), of: wrong) else { throw run.fail("types") }
            try run.expectError(.invalidPredicate, "a text") { try store.ids(.isNull(value)) }
            let keys = Array(repeating: "a", count: FetchRequest.maximumDepth + 1)
            try run.expect(QueryExpression.json(JSONField(keys, .value(.string)), of: wrong) == nil, "a long path")
        },
    ]

/// A type, values in JSON that are read as it, and values that are null.
struct JSONReading: Sendable {
    let type: AttributeType
    let values: [(String, Value)]
    let nulls: [String]
}

/// Values in JSON that are null as every type.
let jsonNulls = ["null"]

let jsonReadings: [JSONReading] = [
    JSONReading(
        type: .string,
        values: [
            ("\"\"", .text("")), ("\"a\"", .text("a")), ("\"\\u0061\"", .text("a")), ("\"é\"", .text("é")),
            ("\"e\\u0301\"", .text("e\u{301}")),
            ("\"\\ud83d\\ude00\"", .text("😀")), ("\"😀\"", .text("😀")), ("\"a\\u0000b\"", .text("a\u{0}b")), ("\"\\u0000\"", .text("\u{0}")),
            ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .text("\"\\/\u{8}\u{c}\n\r\t")), ("\"\\uFFFF\"", .text("\u{ffff}")), ("\"1\"", .text("1")),
            ("\"null\"", .text("null")), ("\"\u{7f}\u{2028}\"", .text("\u{7f}\u{2028}")), ("\"\\udbff\\udfff\"", .text("\u{10ffff}")),
        ],
        nulls: [
            "1", "true", "[]", "[\"a\"]", "{}", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\udc00\\ud800\"", "\"\\ud800x\"",
        ]),
    JSONReading(type: .url, values: [("\"https:\\/\\/a.example\\/b?c#d\"", .text("https://a.example/b?c#d"))], nulls: ["1", "{}"]),
    JSONReading(type: .bool, values: [("true", .integer(1)), ("false", .integer(0))], nulls: ["1", "0", "\"true\"", "[true]", "{}"]),
    JSONReading(
        type: .int64,
        values: [
            ("0", .integer(0)), ("-0", .integer(0)), ("0.0", .integer(0)), ("0e999999999999999999999", .integer(0)), ("1", .integer(1)),
            ("1.0", .integer(1)), ("10e-1", .integer(1)), ("0.1e1", .integer(1)), ("1E+0", .integer(1)), ("-7", .integer(-7)),
            ("1e2", .integer(100)),
            ("1.5e1", .integer(15)), ("9007199254740993", .integer(9_007_199_254_740_993)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775807.000", .integer(.max)),
            ("922337203685477580.7e1", .integer(.max)),
            ("1000000000000000000000e-21", .integer(1)), ("0.00000000000000000001e20", .integer(1)),
        ],
        nulls: [
            "1.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999999999999999", "1e-999999999999999999999",
            "\"1\"", "true",
            "[1]", "{}", "9223372036854775807.5",
        ]),
    JSONReading(
        type: .uint64,
        values: [
            ("0", .integer(0)), ("-0", .integer(0)), ("18446744073709551615", .integer(-1)), ("1.8446744073709551615e19", .integer(-1)),
            ("7", .integer(7)),
        ],
        nulls: ["-1", "18446744073709551616", "0.5", "\"7\""]),
    JSONReading(
        type: .double,
        values: [
            ("0", .real(0)), ("-0", .real(0)), ("-0.0e5", .real(0)), ("1", .real(1)), ("1.0", .real(1)), ("0.1", .real(0.1)),
            ("0.1000000000000000055511151231257827", .real(0.1)), ("1e300", .real(1e300)),
            ("9007199254740993", .real(9_007_199_254_740_992)),
            ("123456789012345678901234567890", .real(0x1.8ee90ff6c373ep96)), ("1e-400", .real(0)),
            ("5e-324", .real(.leastNonzeroMagnitude)),
            ("1.7976931348623157e308", .real(.greatestFiniteMagnitude)), ("-2.5E-1", .real(-0.25)),
        ],
        nulls: ["1e309", "-1e999999999999999999999", "\"1\"", "true", "[1]", "{}"]),
    JSONReading(type: .float, values: [("0.1", .real(Double(Float(0.1)))), ("16777217", .real(16_777_216))], nulls: ["1e39", "\"1\""]),
    JSONReading(
        type: .date, values: [("0", .real(0)), ("86400.5", .real(86400.5)), ("-1e9", .real(-1e9))], nulls: ["\"2001-01-01\"", "1e400"]),
    JSONReading(
        type: .decimal,
        values: [
            ("0", .blob([0x80])), ("-0.00", .blob([0x80])), ("1", .blob([0x81, 0x80, 1, 2, 0])),
            ("1.50", .blob([0x81, 0x80, 1, 2, 51, 0])),
            ("-1.5", .blob([0x7f, 0x7f, 254, 253, 204, 255])),
        ], nulls: ["\"1\"", "true", "{}"]),
    JSONReading(
        type: .uuid,
        values: [
            ("\"00010203-0405-0607-0809-0A0B0C0D0E0F\"", .blob(Array(0..<16))),
            ("\"ffffffff-ffff-ffff-ffff-ffffffffffff\"", .blob(Array(repeating: 255, count: 16))),
        ], nulls: ["\"\"", "\"00010203\"", "1"]),
    JSONReading(
        type: .data, values: [("\"AQID\"", .blob([1, 2, 3])), ("\"\"", .blob([])), ("\"AA==\"", .blob([0]))], nulls: ["\"*\"", "[1,2,3]"]),
    JSONReading(
        type: .json,
        values: [
            ("1", .text("1")), ("1.0", .text("1.0")), ("\"a\"", .text("\"a\"")), ("[1, 2]", .text("[1, 2]")),
            ("{\"b\":1,\"a\":2}", .text("{\"b\":1,\"a\":2}")),
            ("true", .text("true")), ("\"\\ud800\"", .text("\"\\ud800\"")),
        ], nulls: []),
]

/// Shop(address) ⇄ Order(tags, shop).
private let orders = SchemaDescription(
    name: "Orders",
    entities: [
        EntityDescription(
            name: "Shop",
            properties: [
                .attribute(AttributeDescription(name: "address", type: .json, isOptional: true)),
                .relationship(RelationshipDescription(name: "orders", destination: "Order", isToMany: true)),
            ]),
        EntityDescription(
            name: "Order",
            properties: [
                .attribute(AttributeDescription(name: "tags", type: .json, isOptional: true)),
                .relationship(RelationshipDescription(name: "shop", destination: "Shop", isToMany: false, inverse: "orders")),
            ]),
    ])

private func integer(_ number: Int64) -> QueryExpression { .constant(.integer(number), .int64) }

extension TestStore {
    /// Returns a value within the attribute of Thing.
    func json(_ keys: [String], _ result: JSONField.Result) throws -> QueryExpression {
        guard let value = QueryExpression.json(JSONField(keys, result), of: .field(try field("Thing", "value"))) else {
            throw StoreError(.invalidPredicate, "\(keys) \(result)")
        }
        return value
    }
}
