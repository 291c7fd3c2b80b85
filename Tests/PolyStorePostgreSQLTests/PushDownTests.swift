import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// What the server evaluates, compared with the shared executor on the same rows.
@Suite(.withServer) struct PushDownTests {
    /// A store of numbers and texts at the ends of their ranges.
    private static func store() throws -> Store {
        let attributes: [(String, AttributeType)] = [
            ("i", .int64), ("k", .int16), ("u", .uint64), ("d", .double), ("e", .double), ("f", .float), ("b", .bool), ("s", .string),
        ]
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Numbers",
                entities: [
                    EntityDescription(
                        name: "Thing",
                        properties: attributes.map { .attribute(AttributeDescription(name: $0.0, type: $0.1, isOptional: true)) } + [
                            .relationship(RelationshipDescription(name: "parent", destination: "Thing", isToMany: false, inverse: "parts")),
                            .relationship(RelationshipDescription(name: "parts", destination: "Thing", isToMany: true)),
                        ])
                ]))
        let store = try Store(schema: schema)
        let changes = ChangeSet(schema)
        let thing = try store.entity("Thing")
        for row in 0..<60 as Range<Int64> {
            let at = { (values: [Value], step: Int64) in values[Int((row * step + row / Int64(values.count)) % Int64(values.count))] }
            let values = [
                at(integers, 1), at(small, 3), at(integers, 5), at(reals, 1), at(reals, 7), at(floats, 1), at(bools, 1), at(texts, 1),
            ]
            try changes.insert(thing, rowID: row + 1) { record in
                for (field, value) in values.enumerated() { try record.set(thing.fields[field], value) }
                if row % 5 != 0 { try record.set(thing.fields[8], .integer(row % 7 + 1)) }
            }
        }
        try store.write(changes)
        return store
    }

    private static let integers: [Value] = [
        .null, .integer(0), .integer(1), .integer(-1), .integer(2), .integer(7), .integer(-7), .integer(.max), .integer(.min),
        .integer(1 << 53),
        .integer((1 << 53) + 1), .integer(3_037_000_500),
    ]
    private static let small: [Value] = [.null, .integer(-32768), .integer(32767), .integer(0), .integer(3)]
    private static let reals: [Value] = [
        .null, .real(0), .real(1), .real(-1.5), .real(2.5), .real(.nan), .real(.infinity), .real(-.infinity),
        .real(.greatestFiniteMagnitude), .real(-.greatestFiniteMagnitude), .real(.leastNonzeroMagnitude), .real(-.leastNonzeroMagnitude),
        .real(1e-200), .real(1e200), .real(-1e-200), .real(0.1), .real(9_007_199_254_740_992),
    ]
    private static let floats: [Value] = [.null, .real(0.5), .real(Double(Float(0.1))), .real(.nan), .real(-3)]
    private static let bools: [Value] = [.null, .integer(0), .integer(1)]
    private static let texts: [Value] = [
        .null, .text(""), .text("abc"), .text("a%c"), .text("a_c"), .text("a\u{0}c"), .text("\u{0}"), .text("a\u{1}\u{0}c"), .text("äöü"),
        .text("👍🏽c"), .text("a\nc"), .text("a\\c"), .text("\u{1}\u{3}"), .text("aXbXc"),
    ]

    /// Checks that the server evaluates a condition as the shared executor does.
    private func check(_ predicates: [QueryPredicate], _ store: Store) throws {
        let thing = try store.entity("Thing")
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for predicate in predicates.flatMap({ [$0, .not($0)] }) {
            let request = FetchRequest(thing, predicate: predicate)
            let scan = try reader.scan(request)
            scan.cursor.close()
            #expect(scan.residual.isNothing, "\(predicate)")
            let evaluator = PredicateEvaluator(predicate, reader)
            var expected: [Int64] = []
            for id in 1...60 as ClosedRange<Int64> {
                let record = try #require(try reader.record(thing, rowID: id))
                let arena = RecordArena(capacity: record.count)
                let copy = arena.view(arena.append(record.bytes), record.count, thing.layout)
                if try evaluator.matches(id: id, copy) { expected.append(id) }
            }
            #expect(try reader.ids(request) == expected, "\(predicate)")
        }
    }

    private func value(_ store: Store, _ name: String) throws -> QueryExpression { .field(try store.field("Thing", name)) }

    @Test func arithmeticIsThatOfTheSharedExecutor() throws {
        let store = try Self.store()
        let pairs = [
            ("i", "i"), ("i", "k"), ("i", "u"), ("u", "u"), ("d", "e"), ("e", "d"), ("i", "d"), ("d", "u"), ("f", "d"), ("k", "f"),
        ]
        var predicates: [QueryPredicate] = []
        for (left, right) in pairs {
            for operation in ArithmeticOperator.allCases {
                let result = try #require(QueryExpression.arithmetic(operation, value(store, left), value(store, right)))
                predicates.append(.isNull(result))
                for comparison in [.less, .equal, .greaterOrEqual] as [ComparisonOperator] {
                    predicates.append(.compare(result, comparison, .constant(.integer(0), .int64)))
                    predicates.append(.compare(result, comparison, result.type == .int64 ? try value(store, "u") : try value(store, "e")))
                }
                let other = try #require(QueryExpression.arithmetic(.multiply, result, value(store, right)))
                predicates.append(.compare(other, .less, result))
            }
        }
        try check(predicates, store)
    }

    @Test func functionsAreThoseOfTheSharedExecutor() throws {
        let store = try Self.store()
        var predicates: [QueryPredicate] = []
        for name in ["i", "k", "u", "d", "f"] {
            let field = try value(store, name)
            for function in [.abs, .ceiling, .floor, .trunc, .sqrt] as [ScalarFunction] {
                let result = try #require(QueryExpression.function(function, [field]))
                predicates += [.isNull(result), .compare(result, .less, .constant(.integer(2), .int64))]
                predicates.append(.compare(result, .equal, result.type.physical == .real ? try value(store, "d") : try value(store, "i")))
            }
        }
        for (left, right) in [("i", "k"), ("i", "i"), ("u", "i"), ("i", "u")] {
            let result = try #require(QueryExpression.function(.modulus, [value(store, left), value(store, right)]))
            predicates += [.isNull(result), .compare(result, .lessOrEqual, .constant(.integer(0), .int64))]
        }
        try check(predicates, store)
    }

    @Test func datePartsAreThoseOfTheSharedExecutor() throws {
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Dates",
                entities: [
                    EntityDescription(
                        name: "Day", properties: [.attribute(AttributeDescription(name: "date", type: .date, isOptional: true))])
                ]))
        let store = try Store(schema: schema)
        let entity = try store.entity("Day")
        var dates: [Double] = [
            .nan, .infinity, -.infinity, 0, -0.5, 86_399.999_999_9, 0x1p53, -0x1p53, 0x1p54, 1e300, -978_307_200, -63_114_076_800.25,
        ]
        var state: UInt64 = 1
        for step in 0..<700 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Some within centuries, some within the whole range.
            dates.append(Double(Int64(bitPattern: state) >> (step % 2 == 0 ? 30 : 10)) / 4)
        }
        // The first and last seconds of years, and of February.
        for year in 1900...2104 { dates.append(Double((year - 2001) * 31_556_952)) }
        let changes = ChangeSet(schema)
        try changes.insert(entity, rowID: 1) { _ in }
        for (index, date) in dates.enumerated() { try changes.insert(entity, rowID: Int64(index + 2)) { $0.setReal(0, date) } }
        try store.write(changes)
        let field = QueryExpression.field(FieldReference(entity.fields[0]))
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for part in DatePart.allCases {
            for zone in [.utc, try #require(QueryTimeZone(secondsFromUTC: -16_207))] as [QueryTimeZone] {
                let value = try #require(QueryExpression.datePart(part, of: field, in: zone))
                let request = AggregateRequest(entity, groupBy: [value, .field(.objectID)], aggregates: [])
                let found = try #require(try reader.scanGroups(request))
                #expect(try found.rows == Unaided(reader).aggregate(request), "\(value)")
            }
        }
    }

    @Test func numbersOfDifferentTypesCompareByValue() throws {
        let store = try Self.store()
        var predicates: [QueryPredicate] = []
        let constants: [(Value, AttributeType)] = [
            (.real(0.5), .double), (.real(-1), .double), (.real(9_007_199_254_740_992), .double), (.integer(-1), .int64),
            (.integer(1 << 53), .int64), (.integer(-1), .uint64), (.integer(.min), .uint64), (.integer(0), .int64),
        ]
        for name in ["i", "k", "u", "d", "f"] {
            for (constant, type) in constants {
                // Some are compared by the shared executor.
                if name == "d" || name == "f", constant == .integer(-1), type == .uint64 { continue }
                for comparison in ComparisonOperator.allCases {
                    predicates.append(.compare(try value(store, name), comparison, .constant(constant, type)))
                }
            }
        }
        for name in ["d", "f"] {
            let field = try store.field("Thing", name)
            let low = QueryPredicate.compare(field, .greaterOrEqual, .real(-1.5))
            for comparison in [.less, .lessOrEqual] as [ComparisonOperator] {
                let high = QueryPredicate.compare(field, comparison, .real(2.5))
                predicates += [.and([low, high]), .and([low, .or([high, .isNull(field)])]), .and([low, .not(high)]), .or([low, high])]
            }
            predicates += [.oneOf(field, [.real(.nan), .real(1)]), .oneOf(field, [.real(0.5), .real(1), .null]), .isNull(field)]
            predicates.append(.and([.compare(field, .greaterOrEqual, .real(.nan)), .compare(field, .less, .real(1))]))
        }
        for (left, right) in [("i", "u"), ("k", "u"), ("u", "k"), ("d", "e"), ("f", "d"), ("i", "k")] {
            for comparison in ComparisonOperator.allCases {
                predicates.append(.compare(try value(store, left), comparison, try value(store, right)))
            }
        }
        try check(predicates, store)
    }

    @Test func indexServesOrdersAndRangesOfReals() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: companySchema(isScoreIndexed: true))
        let person = try store.entity("Person")
        let changes = ChangeSet(store.schema)
        for id in 1...3000 as ClosedRange<Int64> {
            try changes.insert(person, rowID: id) { record in
                record.setText(0, "n")
                if id % 7 != 0 { record.setReal(2, id % 100 == 1 ? .nan : Double(id)) }
            }
        }
        try store.write(changes)
        try TestServer.get().psql("ANALYZE \(options.schema).\"Person\"")
        let score = try store.field("Person", "score")
        let name = try #require(person.indexes.first { $0.fields == [2] }?.name)
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for isAscending in [true, false] {
            for nulls in [.smallest, isAscending ? .first : .last] as [SortKey.NullPlacement] {
                let request = FetchRequest(person, sortKeys: [SortKey(score, ascending: isAscending, nulls: nulls)], limit: 5)
                let plan = try reader.explain(request)
                #expect(plan.accesses.first?.index == name, "\(plan)")
                #expect(plan.rowsExamined ?? .max < 100, "\(plan)")
            }
        }
        let bounds = QueryPredicate.and([.compare(score, .greaterOrEqual, .real(500)), .compare(score, .less, .real(520))])
        for predicate in [
            bounds, .compare(score, .equal, .real(502)), .compare(score, .equal, .real(.nan)), .compare(score, .less, .real(5)),
        ] {
            let plan = try reader.explain(FetchRequest(person, predicate: predicate))
            #expect(plan.accesses.allSatisfy { $0.index == name }, "\(plan)")
            #expect(plan.rowsExamined ?? .max < 100, "\(plan)")
        }
    }

    @Test func uniqueIndexServesOrders() throws {
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Codes",
                entities: [
                    EntityDescription(
                        name: "Item", properties: [.attribute(AttributeDescription(name: "code", type: .int64, isUnique: true))])
                ]))
        let options = TestServer.options()
        let store = try Store(options: options, schema: schema)
        let item = try store.entity("Item")
        let changes = ChangeSet(schema)
        for id in 1...3000 as ClosedRange<Int64> { try changes.insert(item, rowID: id) { $0.setInteger(0, id * 7 % 3001) } }
        try store.write(changes)
        try TestServer.get().psql("ANALYZE \(options.schema).\"Item\"")
        let code = FieldReference(item.fields[0])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for isAscending in [true, false] {
            let plan = try reader.explain(FetchRequest(item, sortKeys: [SortKey(code, ascending: isAscending)], limit: 5))
            #expect(plan.accesses.first?.index == item.indexes.first?.name, "\(plan)")
            #expect(plan.rowsExamined ?? .max < 20, "\(plan)")
        }
    }

    @Test func patternsMatchScalars() throws {
        let store = try Self.store()
        let field = try store.field("Thing", "s")
        let patterns = [
            "a?c", "a*c", "*", "?", "??", "???", "a\\?c", "a%c", "a_c", "*\u{0}*?", "?\u{0}?c", "a??c", "*X*X*", "\\*", "a\\\\c", "*\\",
            "?*c",
            "\u{1}?", "?ö?", "a*b*c?",
        ]
        try check(patterns.map { .text(field, .like, $0) }, store)
    }

    @Test func conditionsOnRelatedValuesAreEvaluatedByTheServer() throws {
        let store = try Self.store()
        let relationships = try store.entity("Thing").relationships
        let parent = RelationshipReference(try #require(relationships.first { $0.name == "parent" }), in: store.schema)
        let parts = RelationshipReference(try #require(relationships.first { $0.name == "parts" }), in: store.schema)
        let (i, d, k) = (try value(store, "i"), try value(store, "d"), try value(store, "k"))
        let isOdd = QueryPredicate.compare(i, .greater, .constant(.integer(0), .int64))
        let chosen = try #require(QueryExpression.conditional(isOdd, i, k))
        let mixed = try #require(QueryExpression.conditional(isOdd, k, d))
        try check(
            [
                .compare(.related(parent, i), .less, i), .compare(d, .greaterOrEqual, .related(parent, d)),
                .compare(.count(parts), .greater, .constant(.integer(3), .int64)), .compare(.count(parts, where: isOdd), .less, k),
                .compare(chosen, .equal, k), .compare(mixed, .less, d), .isNull(chosen), .oneOf(chosen, [.integer(1), .null, .integer(3)]),
                .oneOf(mixed, [.real(3), .real(.nan)]), .compare(.aggregate(.sum, parts, i), .less, k), .isNull(.aggregate(.sum, parts, i)),
                .compare(.aggregate(.sum, parts, k), .greater, k), .compare(.aggregate(.minimum, parts, i), .less, i),
                .compare(.aggregate(.maximum, parts, try value(store, "u")), .greaterOrEqual, try value(store, "u")),
                .compare(.aggregate(.maximum, parts, try value(store, "s")), .greater, try value(store, "s")),
                .compare(.aggregate(.average, parts, i), .less, d), .compare(.aggregate(.count, parts, d), .equal, .count(parts)),
                .compare(.related(parent, .related(parent, i)), .less, i),
            ], store)
    }

    @Test func constantsOfConditionalValuesAreThoseOfTheSharedExecutor() throws {
        let store = try Self.store()
        let (i, d, f, s) = (try value(store, "i"), try value(store, "d"), try value(store, "f"), try value(store, "s"))
        let test = QueryPredicate.compare(i, .greater, .constant(.integer(0), .int64))
        var predicates: [QueryPredicate] = []
        // A constant of the type Float keeps the value that a Float would round.
        for number in [0.1, 1e300, .nan, 0.5] {
            let constant = QueryExpression.constant(.real(number), .float)
            for chosen in [
                QueryExpression.conditional(test, f, constant), .conditional(test, constant, f), .conditional(test, constant, constant),
                .conditional(test, constant, d),
            ] {
                let chosen = try #require(chosen)
                for comparison in ComparisonOperator.allCases {
                    predicates += [.compare(chosen, comparison, .constant(.real(number), .double)), .compare(chosen, comparison, d)]
                }
                predicates += [.isNull(chosen), .oneOf(chosen, [.real(number), .real(Double(Float(number)))])]
            }
        }
        // A null has the type of the other value.
        let types: [(QueryExpression, AttributeType)] = [(s, .int64), (i, .string), (d, .string), (f, .uuid), (s, .data), (i, .decimal)]
        for (value, type) in types {
            let null = QueryExpression.constant(.null, type)
            for chosen in [QueryExpression.conditional(test, value, null), .conditional(test, null, value)] {
                let chosen = try #require(chosen)
                predicates += [.isNull(chosen), .compare(chosen, .equal, value)]
            }
        }
        let null = try #require(QueryExpression.conditional(test, .constant(.null, .string), .constant(.null, .int64)))
        predicates.append(.isNull(null))
        try check(predicates, store)
    }

    @Test func dataIsNeverNaN() throws {
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Bytes",
                entities: [
                    EntityDescription(
                        name: "Part", properties: [.attribute(AttributeDescription(name: "data", type: .data, isOptional: true))])
                ]))
        let store = try Store(schema: schema)
        let part = try store.entity("Part")
        let changes = ChangeSet(schema)
        // The byte of the second is that of a decimal that is NaN.
        for (id, byte) in [(1, 0x7d), (2, 0x7e), (3, 0x7f)] as [(Int64, UInt8)] {
            try changes.insert(part, rowID: id) { try $0.set(part.fields[0], .blob([byte])) }
        }
        try store.write(changes)
        let data = FieldReference(part.fields[0])
        for (comparison, expected) in [(.equal, [2]), (.notEqual, [1, 3]), (.less, [1]), (.greaterOrEqual, [2, 3])]
            as [(ComparisonOperator, [Int64])]
        {
            let predicate = QueryPredicate.compare(data, comparison, .blob([0x7e]))
            #expect(try store.ids(FetchRequest(part, predicate: predicate)) == expected, "\(predicate)")
        }
    }

    @Test func conditionsWithMoreConstantsThanTheServerAcceptsRemain() throws {
        let store = try Self.store()
        let thing = try store.entity("Thing")
        let (i, k) = (try store.field("Thing", "i"), try store.field("Thing", "k"))
        let pairs = (0..<33_000 as Range<Int64>).map {
            QueryPredicate.and([.compare(i, .equal, .integer($0)), .compare(k, .equal, .integer($0 % 4))])
        }
        let positive = QueryPredicate.compare(i, .greater, .integer(0))
        let predicate = QueryPredicate.and([positive, .or(pairs)])
        let transaction = try store.backend.beginWrite()
        defer { transaction.rollback() }
        let scan = try transaction.scan(FetchRequest(thing, predicate: predicate))
        scan.cursor.close()
        #expect(!scan.residual.isNothing)
        let expected = try transaction.ids(FetchRequest(thing, predicate: .and([positive, .oneOf(i, [.integer(2), .integer(7)])])))
            .filter { id in
                let record = try #require(try transaction.record(thing, rowID: id))
                return !record.isNull(1) && record.integer(1) == record.integer(0) % 4
            }
        #expect(try transaction.ids(FetchRequest(thing, predicate: predicate)) == expected)
        #expect(try transaction.count(FetchRequest(thing, predicate: predicate)) == expected.count)
        #expect(try transaction.scanGroups(AggregateRequest(thing, predicate: predicate, groupBy: [], aggregates: [.count])) == nil)
        // One of the two parts alone fits.
        let half = QueryPredicate.or(Array(pairs[..<20_000]))
        let other = QueryPredicate.or(Array(pairs[..<8]) + Array(pairs[13_000...]))
        let both = FetchRequest(thing, predicate: .and([half, other]))
        let common = QueryPredicate.or(Array(pairs[..<8]) + Array(pairs[13_000..<20_000]))
        #expect(try transaction.ids(both) == transaction.ids(FetchRequest(thing, predicate: common)))
    }

    @Test func groupsByExpressionsAreThoseOfTheSharedExecutor() throws {
        let store = try Self.store()
        let (i, d, k, b) = (try value(store, "i"), try value(store, "d"), try value(store, "k"), try value(store, "b"))
        let half = try #require(QueryExpression.arithmetic(.divide, k, .constant(.integer(2), .int64)))
        let isPositive = QueryPredicate.compare(d, .greater, .constant(.real(0), .double))
        let sign = try #require(QueryExpression.conditional(isPositive, .constant(.text("+"), .string), .constant(.text("-"), .string)))
        let functions: [Aggregate] = [
            .count, .of(.average, i), .of(.average, b), .of(.sum, half), .of(.minimum, d), .of(.maximum, half), .of(.countDistinct, sign),
            .of(.average, try value(store, "u")),
        ]
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for keys in [[half], [sign], [sign, b], [d], []] as [[QueryExpression]] {
            let request = AggregateRequest(try store.entity("Thing"), groupBy: keys, aggregates: functions)
            let found = try #require(try reader.scanGroups(request))
            #expect(try found.rows == Unaided(reader).aggregate(request), "\(keys)")
        }
    }
}
