import PolyStoreBackend

/// Indexes on fields of JSON attributes: every query has the result that it has without the index.
///
/// A backend that does not know such indexes passes these cases too, because it may index the texts of the attributes instead.
let jsonIndexCases: [ConformanceCase] =
    jsonReadings.filter { $0.type != .json }.map { reading in
        ConformanceCase(
            "json-index.equal-results.\(reading.type)",
            "Conditions and orders on a field of JSON that is read as \(reading.type) have the same results with and without an index on it."
        ) { run in
            let texts = reading.values.map(\.0) + jsonNulls + reading.nulls
            var rows: [[Value]] = []
            for (number, text) in texts.enumerated() {
                rows.append([.text("{\"b\": 0, \"a\" : \(text) , \"c\":{\"a\":\(text)}}"), .integer(Int64(number % 3))])
                // The other fields of the index repeat.
                rows.append([.text("{\"a\":\(text)}"), number % 4 == 0 ? .null : .integer(1)])
            }
            rows += [[.null, .integer(1)], [.null, .null], [.text("[]"), .integer(2)]]
            let pair = try IndexedPair(run, reading.type)
            try pair.insert(rows)
            try pair.check(reading.values.map(\.1), reading.type)
        }
    } + [
        ConformanceCase(
            "json-index.changed", "An index on a field of JSON follows updates of the attribute, of other fields, and deletions."
        ) { run in
            let pair = try IndexedPair(run, .int64)
            try pair.insert(
                (1...60).map { number -> [Value] in
                    [.text("{\"a\":\(number % 7),\"c\":{\"a\":\(number % 5)}}"), .integer(Int64(number % 4))]
                })
            let values = (0...8).map { Value.integer($0) }
            try pair.check(values, .int64, "after the insertion")
            try pair.change { thing, changes in
                for id in stride(from: 1, through: 60, by: 3) as StrideThrough<Int64> {
                    try changes.update(thing, rowID: id, ["value": .text("{\"a\":\(id % 9),\"c\":{\"a\":1}}")])
                }
            }
            try pair.check(values, .int64, "after updates of the attribute")
            try pair.change { thing, changes in
                for id in stride(from: 2, through: 60, by: 3) as StrideThrough<Int64> {
                    try changes.update(thing, rowID: id, ["tag": id % 2 == 0 ? .null : .integer(9)])
                }
            }
            try pair.check(values, .int64, "after updates of the other field")
            try pair.change { thing, changes in
                // The same value, another text, no text, no JSON.
                try changes.update(thing, rowID: 1, ["value": .text("{ \"a\" : 1.0, \"c\":{\"a\":1}}")])
                try changes.update(thing, rowID: 2, ["value": .null])
                try changes.update(thing, rowID: 3, ["value": .text("{\"a\":1")])
                try changes.update(thing, rowID: 4, ["value": .text("{\"a\":5}"), "tag": .integer(3)])
                // Over 64 KiB.
                try changes.update(thing, rowID: 5, ["value": .text("{\"z\":\"\(String(repeating: "z", count: 100_000))\",\"a\":5}")])
            }
            try pair.check(values, .int64, "after other texts")
            try pair.change { thing, changes in
                for id in 1...20 as ClosedRange<Int64> { changes.delete(thing, rowID: id) }
                try changes.insert(thing, rowID: 61, [.text("{\"a\":6}"), .integer(1)])
                try changes.insert(thing, rowID: 62, [.null, .null])
            }
            try pair.check(values, .int64, "after deletions")
        },
        ConformanceCase(
            "json-index.long-texts", "Texts in JSON that are too long for the key of an index are found, distinguished and ordered."
        ) { run in
            let long = String(repeating: "x", count: 5000)
            let texts = [long, long + "a", long + "b", "x", "", "x\u{0}y", "y", String(repeating: "\u{0}", count: 600), "x" + long, "é"]
            let pair = try IndexedPair(run, .string)
            func escaped(_ text: String) -> String { text.replacing("\u{0}", with: "\\u0000") }
            try pair.insert(
                (0..<30).map { number -> [Value] in
                    [.text("{\"a\":\"\(escaped(texts[number % texts.count]))\"}"), .integer(Int64(number % 2))]
                })
            try pair.check(texts.map { .text($0) }, .string)
        },
        ConformanceCase(
            "json-index.keys-by-bytes", "Keys that differ only in the form of a letter with an accent are different fields."
        ) { run in
            let (one, two) = ("caf\u{e9}", "cafe\u{301}")
            let pair = try IndexedPair(run, [IndexDescription(parts: [.json("value", [one], as: .string)])])
            try pair.insert([
                [.text("{\"\(one)\":\"x\"}"), .integer(1)], [.text("{\"\(two)\":\"x\"}"), .integer(1)],
                [.text("{\"\(one)\":\"y\",\"\(two)\":\"z\"}"), .integer(2)], [.text("{\"cafe\":\"x\"}"), .null],
            ])
            try pair.check(["x", "y", "z"].map { .text($0) }, .string, paths: [[one], [two]])
        },
        ConformanceCase(
            "json-index.hostile-texts",
            "Texts that are not valid JSON, repeat a key, or are nested deeply have the entry of a missing field."
        ) { run in
            let nested = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
            let texts = [
                "", "{", "{\"a\":1", "{\"a\":1,}", "{\"a\":1}}", "{\"a\":1}\u{0}", "{\"a\":1,\"a\":2}", "{\"\\u0061\":3,\"a\":1}",
                "{\"a\":1,\"b\":\(nested)}", "{\"a\":1e999}", "{\"a\":{\"a\":1}}", "[{\"a\":1}]", "1", "null", "{\"a\":01}", "{\"A\":1}",
                "{\"a\":1}", "{\"a\":2,\"c\":{\"a\":\"\\ud800\"}}", "{\"a\":9223372036854775808}", "{\"a\u{0}\":1}",
            ]
            let pair = try IndexedPair(run, .int64)
            try pair.insert(texts.map { [.text($0), .integer(1)] })
            try pair.check([.integer(0), .integer(1), .integer(2), .integer(3)], .int64)
        },
        ConformanceCase(
            "json-index.two-types", "Indexes on the same field of JSON as several types, and on several fields, do not affect each other."
        ) { run in
            let types: [AttributeType] = [.string, .int64, .double, .bool]
            let indexes =
                types.map { IndexDescription(parts: [.json("value", ["a"], as: $0)]) } + [
                    IndexDescription(parts: [.json("value", ["a.a"], as: .int64)]),
                    IndexDescription(parts: [.json("value", [], as: .int64)]),
                    IndexDescription(parts: [.json("value", ["c", "a"], as: .int64), .json("value", ["a"], as: .string)]),
                ]
            let pair = try IndexedPair(run, indexes)
            let texts = ["\"1\"", "1", "1.5", "true", "\"true\"", "false", "2", "\"b\"", "null", "1e0"]
            let members = texts.map { text -> [Value] in [.text("{\"a\":\(text),\"a.a\":\(text),\"c\":{\"a\":\(text)}}"), .null] }
            let alone = texts.map { text -> [Value] in [.text(text), .null] }
            try pair.insert(members + alone)
            for (type, values) in [
                (.string, [.text("1"), .text("b")]), (.int64, [.integer(1), .integer(2)]), (.double, [.real(1), .real(1.5)]),
                (.bool, [.integer(0), .integer(1)]),
            ] as [(AttributeType, [Value])] { try pair.check(values, type, "\(type)", paths: [["a"], ["a.a"], [], ["c", "a"]]) }
        },
        ConformanceCase(
            "json-index.related", "An index on a field of JSON serves conditions on related objects as any other."
        ) { run in
            for isIndexed in [true, false] {
                var schema = SchemaDescription([
                    EntityDescription(
                        "Shop", [.attribute("address", .json, isOptional: true)],
                        indexes: isIndexed ? [IndexDescription(parts: [.json("address", ["city"], as: .string)])] : [])
                ])
                schema.entities.append(
                    EntityDescription(
                        name: "Order",
                        properties: [
                            .relationship(RelationshipDescription(name: "shop", destination: "Shop", isToMany: false))
                        ]))
                let store = try run.open(schema, "indexed \(isIndexed)")
                let shops = ["Kyiv", "Lviv", "Kyiv"].map { city -> [Value] in [.text("{\"city\":\"\(city)\"}")] }
                try store.insert("Shop", shops + [[.null]])
                try store.insert("Order", (0..<12).map { number -> [Value] in [number % 5 == 4 ? .null : .integer(Int64(number % 5 + 1))] })
                let one = RelationshipReference(try store.relationship("Order", "shop"), in: store.schema)
                let address = QueryExpression.field(try store.field("Shop", "address"))
                guard let city = QueryExpression.json(JSONField(["city"], .value(.string)), of: address) else { throw run.fail("types") }
                let order = try store.entity("Order")
                for (condition, expected) in [
                    (.compare(city, .equal, .constant(.text("Kyiv"), .string)), [1, 3, 6, 8, 11]),
                    (.compare(city, .greater, .constant(.text("L"), .string)), [2, 7, 12]), (.isNull(city), [4, 9]),
                ] as [(QueryPredicate, [Int64])] {
                    let request = FetchRequest(order, predicate: .related(one, .one, condition))
                    try run.expect(try store.ids(request), equals: expected, "\(condition), indexed \(isIndexed)")
                }
            }
        },
        ConformanceCase(
            "migration.indexes.json-added-and-dropped",
            "A store can be opened with other indexes on fields of JSON, and all queries stay correct.",
            requires: [.migration, .persistence]
        ) { run in
            let sets: [[IndexDescription]] = [
                [], IndexedPair.indexes(.int64), IndexedPair.indexes(.string), [], IndexedPair.indexes(.int64),
                [IndexDescription(fields: ["value"])],
            ]
            for (number, indexes) in sets.enumerated() {
                let pair = try IndexedPair(run, indexes)
                if number == 0 {
                    try pair.insert(
                        (0..<100).map { number -> [Value] in
                            [.text("{\"a\":\(number % 7),\"c\":{\"a\":\"\(number % 5)\"}}"), .integer(Int64(number % 4))]
                        })
                } else {
                    try pair.change { thing, changes in
                        for id in 1...9 as ClosedRange<Int64> {
                            try changes.update(thing, rowID: id * Int64(number), ["value": .text("{\"a\":\(number)}")])
                        }
                    }
                }
                try pair.check([.integer(3)], .int64, "set \(number)")
                try pair.check([.text("3")], .string, "set \(number)", paths: [["c", "a"]])
                try pair.close()
            }
        },
        ConformanceCase(
            "migration.indexes.json-carried",
            "A migration keeps or creates indexes on fields of JSON: of a renamed entity or attribute, with other attributes, in another order.",
            requires: [.migration, .persistence]
        ) { run in
            func kept(_ field: Int) -> SchemaChange.FieldSource { .field(field, replacingNullWith: .null) }
            let value = PropertyDescription.attribute("value", .json, isOptional: true)
            let tag = PropertyDescription.attribute("tag", .int64, isOptional: true)
            let renamed = PropertyDescription.attribute("renamed", .json, isOptional: true)
            for (name, entity, attribute, properties, fields) in [
                (
                    "added", "Thing", "value", [value, tag, .attribute("more", .string, isOptional: true)],
                    [kept(0), kept(1), .constant(.null)]
                ),
                ("entity", "Other", "value", [value, tag], [kept(0), kept(1)]),
                ("attribute", "Thing", "renamed", [renamed, tag], [kept(0), kept(1)]),
                ("order", "Thing", "value", [tag, value], [kept(1), kept(0)]),
                (
                    "exchange", "Thing", "value", [.attribute("tag", .json, isOptional: true), value],
                    [kept(0), .constant(.text("{\"a\":1}"))]
                ),
                ("copied", "Thing", "value", [value, tag, renamed], [kept(0), kept(1), kept(0)]),
            ] as [(String, String, String, [PropertyDescription], [SchemaChange.FieldSource])] {
                let source = try run.open(
                    SchemaDescription([EntityDescription("Thing", [value, tag], indexes: IndexedPair.indexes(.int64))]), name)
                try source.insert(
                    "Thing",
                    (0..<50).map { number -> [Value] in
                        [.text("{\"a\":\(number % 7),\"c\":{\"a\":\(number % 5)}}"), .integer(Int64(number % 4))]
                    })
                let target = try ResolvedSchema(
                    SchemaDescription([
                        EntityDescription(
                            entity, properties,
                            indexes: [
                                IndexDescription(parts: [.json(attribute, ["a"], as: .int64)]),
                                IndexDescription(parts: [.json(attribute, ["c", "a"], as: .string)]),
                                IndexDescription(parts: ["tag", .json(attribute, ["a"], as: .int64)]),
                            ])
                    ]))
                let change = try SchemaChange(
                    identifier: name, source: source.schema, target: target, entities: [.carried(entity: 0, fields: fields)], links: [])
                try source.backend.beginMigration(change).commit()
                let store = TestStore(
                    run: run, schema: target,
                    backend: try run.target.store(run.location(name)).open(schema: target, configurationName: nil, logger: SilentLogger()))
                let field = QueryExpression.field(try store.field(entity, attribute))
                var sum = 0
                for number in 0...7 as ClosedRange<Int64> {
                    guard let member = QueryExpression.json(JSONField(["a"], .value(.int64)), of: field) else { throw run.fail("types") }
                    var request = FetchRequest(
                        target.entities[0], predicate: .compare(member, .equal, .constant(.integer(number), .int64)),
                        sortKeys: [SortKey(member, ascending: false)])
                    let found = try store.ids(request)
                    request.ignoresIndexes = true
                    try run.expect(try store.ids(request), equals: found, "\(name), \(number)")
                    sum += found.count
                }
                try run.expect(sum, equals: 50, name)
                guard run.target.capabilities.contains(.verification) else { continue }
                try run.expect(try store.backend.verify(), equals: [], name)
            }
        },
    ]

/// A store with indexes on fields of JSON, and one without, with the same objects.
private struct IndexedPair {
    private let run: ConformanceRun
    private let stores: [TestStore]

    /// The indexes of most cases: of one field, of a nested one, and of several fields.
    static func indexes(_ type: AttributeType) -> [IndexDescription] {
        [
            IndexDescription(parts: [.json("value", ["a"], as: type)]),
            IndexDescription(parts: [.json("value", ["c", "a"], as: type), "tag"]),
            IndexDescription(parts: ["tag", .json("value", ["a"], as: type)]),
        ]
    }

    init(_ run: ConformanceRun, _ type: AttributeType) throws { try self.init(run, Self.indexes(type)) }

    init(_ run: ConformanceRun, _ indexes: [IndexDescription]) throws {
        self.run = run
        stores = try [indexes, []].enumerated().map { number, indexes in
            try run.open(
                SchemaDescription([
                    EntityDescription(
                        "Thing", [.attribute("value", .json, isOptional: true), .attribute("tag", .int64, isOptional: true)],
                        indexes: indexes)
                ]), "store \(number)")
        }
    }

    func insert(_ rows: [[Value]]) throws { for store in stores { try store.insert("Thing", rows) } }

    func change(_ body: (Entity, ChangeSet) throws -> Void) throws {
        for store in stores { try store.change { try body(try store.entity("Thing"), $0) } }
    }

    func close() throws { for store in stores { try store.backend.close() } }

    /// Compares the results of conditions and orders on fields of both stores, and verifies the first one.
    func check(
        _ values: [Value], _ type: AttributeType, _ when: String = "", paths: [[String]] = [["a"], ["c", "a"]]
    ) throws {
        for path in paths {
            let value = try stores[0].json(path, .value(type))
            let tag = QueryExpression.field(try stores[0].field("Thing", "tag"))
            var conditions: [QueryPredicate] = [.isNull(value), .not(.isNull(value)), .oneOf(value, values), .not(.oneOf(value, values))]
            for constant in values {
                for comparison in ComparisonOperator.allCases {
                    let condition = QueryPredicate.compare(value, comparison, .constant(constant, type))
                    conditions += [condition, .not(condition)]
                }
                let isOne = QueryPredicate.compare(tag, .equal, .constant(.integer(1), .int64))
                let above = QueryPredicate.compare(value, .greaterOrEqual, .constant(constant, type))
                let equal = QueryPredicate.compare(value, .equal, .constant(constant, type))
                conditions += [.and([isOne, above]), .and([equal, isOne]), .or([equal, isOne]), .and([equal, .isNull(tag)])]
                if let last = values.last, last != constant {
                    conditions.append(.and([above, .compare(value, .less, .constant(last, type))]))
                    conditions.append(.or([equal, .compare(value, .equal, .constant(last, type))]))
                }
                if case .text(let text) = constant {
                    let beginning = QueryPredicate.text(value, .beginsWith, .constant(.text(String(text.prefix(2))), .string))
                    conditions += [beginning, .not(beginning), .text(value, .endsWith, .constant(.text("a"), .string))]
                }
            }
            for condition in conditions {
                try compare(FetchRequest(try stores[0].entity("Thing"), predicate: condition), "\(when), \(condition)")
            }
            try checkOrders(value, tag, values, type, when)
        }
        try verify(when)
    }

    private func checkOrders(
        _ value: QueryExpression, _ tag: QueryExpression, _ values: [Value], _ type: AttributeType, _ when: String
    ) throws {
        let conditions: [QueryPredicate] = [
            .all, .compare(tag, .equal, .constant(.integer(1), .int64)),
            values.first.map { .compare(value, .greater, .constant($0, type)) } ?? .all,
        ]
        for ascending in [true, false] {
            for nulls in [SortKey.NullPlacement.first, .last] {
                let key = SortKey(value, ascending: ascending, nulls: nulls)
                for keys in [[key], [key, SortKey(tag, ascending: ascending)], [SortKey(tag, ascending: ascending), key]] {
                    for condition in conditions {
                        for (limit, offset) in [(nil, 0), (3, 4)] as [(Int?, Int)] {
                            let request = FetchRequest(
                                try stores[0].entity("Thing"), predicate: condition, sortKeys: keys, limit: limit, offset: offset)
                            try compare(
                                request, "\(when), \(condition) by \(keys.map(\.field.name)), ascending \(ascending), nulls \(nulls)")
                        }
                    }
                }
            }
        }
    }

    /// Compares the results of a request in both stores, with and without indexes, and those of its count and of its row ids.
    private func compare(_ request: FetchRequest, _ what: String) throws {
        var request = request
        request.entity = try stores[1].entity("Thing")
        let expected = try stores[1].ids(request)
        request.entity = try stores[0].entity("Thing")
        try run.expect(try stores[0].ids(request), equals: expected, what)
        try run.expect(try stores[0].read { try $0.count(request) }, equals: expected.count, "the count, \(what)")
        var ids = request
        ids.onlyIDs = true
        try run.expect(try stores[0].ids(ids), equals: expected, "ids, \(what)")
        ids.ignoresIndexes = true
        try run.expect(try stores[0].ids(ids), equals: expected, "without indexes, \(what)")
    }

    private func verify(_ when: String) throws {
        guard run.target.capabilities.contains(.verification) else { return }
        var findings: [String] = []
        // An index may still be under construction in the background.
        for _ in 1...200 {
            findings = try stores[0].backend.verify()
            if findings.isEmpty { break }
            Deadline.pause(milliseconds: 10)
        }
        try run.expect(findings, equals: [], "the verification, \(when)")
    }
}
