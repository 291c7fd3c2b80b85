import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Fields of JSON: conditions, orders, groups and indexes.
@Suite(.withServer) struct JSONTests {
    private static let nested = String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
    private static let wide = "[" + Array(repeating: "{\"a\":[]}", count: 600).joined(separator: ",") + "]"
    /// Values of `a`; many are not what they seem.
    private static let values = [
        "0", "-0", "1", "-1", "1.0", "1e0", "10e-1", "1.5", "-2.5e3", "1e999", "-1e999", "1e-999", "0e999999999", "0e-99999", "0.000",
        "1" + String(repeating: "0", count: 30) + "e-30", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "1e18", "1e19", "1e99999999999999999999", "1e-99999999999999999999", "4.9e-324", "2e-324", "1e-400",
        "1.7976931348623157e308", "1.7976931348623159e308", "0.1e309", "1000e306", "0.00001e-320", "true", "false", "null", "\"\"",
        "\"abc\"", "\"a\\u0000c\"", "\"\\u0001\\u0003\"", "\"\\u0000\\u0003\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\ude00x\"",
        "\"\\ud83d\\ud83d\\ude00\"", "\"\\\\u0000\"", "\"\\\\\\u0000\"", "\"\\n\\/\\\"\\\\\"", "\"é\"", "\"e\\u0301\"", "\"1\"", "\"true\"",
        "[1]", "{}", "{\"a\":1}", "[[[1]]]", nested, wide, "01", "+1", ".5", "1.", "tru", "[1.0,\"abc\",true,null]",
        "[ \"\\u0001\\u0003\" , \"a\\u0000c\",-0]", "[1e-400, 9223372036854775807]", "\"\t\"", "\"\\x\"", "1 2", "",
        "\"6BA7B810-9DAD-11D1-80B4-00C04FD430C8\"", "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"",
        "\"{6ba7b810-9dad-11d1-80b4-00c04fd430c8}\"",
    ]
    private static let documents =
        values.map { "{\"b\":[0], \"a\" : \($0) , \"c\":{\"a\":\($0)}}" } + values.map { " \($0)\n" } + [
            "{\"a\":1,\"a\":2}", "{\"\\u0061\":3,\"a\":4}", "{\"a\\u0000\":5}", "{\"\\ud800\":1,\"a\":6}", "{\"a\":[\(nested)]}",
            "{\"a\":[[\(nested)]]}", "{\"a\":7}x", "\u{feff}{\"a\":8}", "{\"a\":9}\u{0}", "{\"a\":10}\u{1}", "{\"c\":1,\"c\":{\"a\":11}}",
            "{\"\":12}", "{\"é\":13,\"e\u{301}\":14}", "{\"a\":15,\"b\":\"\\u0000\"}", "nul", "[", "{\"a\"}", "{\"a\":}", "{a:1}",
        ]
    private static let paths = [["a"], ["c", "a"], [], ["a", "a"], [""], ["é"], ["e\u{301}"], ["a\u{0}"], ["b"]]
    private static let types: [AttributeType] = [.string, .bool, .int64, .double, .date, .uuid]

    /// Opens a store of the documents.
    /// - Parameter indexes: The paths with their types that have an index.
    private static func store(
        indexes: [([String], AttributeType)] = [], options: PostgreSQLOptions = TestServer.options(), isFilled: Bool = true
    ) throws -> Store {
        let entity = EntityDescription(
            name: "Thing",
            properties: [
                .attribute(AttributeDescription(name: "value", type: .json, isOptional: true)),
                .attribute(AttributeDescription(name: "tag", type: .int64, isOptional: true)),
            ], indexes: indexes.map { IndexDescription(parts: [.json("value", $0.0, as: $0.1)]) })
        let store = try Store(options: options, schema: try ResolvedSchema(SchemaDescription(name: "Documents", entities: [entity])))
        if isFilled { try fill(store) }
        return store
    }

    private static func fill(_ store: Store) throws {
        let thing = try store.entity("Thing")
        let changes = ChangeSet(store.schema)
        for (row, document) in documents.enumerated() {
            try changes.insert(thing, rowID: Int64(row + 1)) { record in
                record.setText(0, document)
                try record.set(thing.fields[1], .integer(Int64(row % 3)))
            }
        }
        try changes.insert(thing, rowID: Int64(documents.count + 1)) { _ in }
        try store.write(changes)
    }

    private func value(_ store: Store, _ path: [String], _ type: AttributeType) throws -> QueryExpression {
        try #require(.json(JSONField(path, .value(type)), of: .field(store.field("Thing", "value"))))
    }

    private func constants(_ type: AttributeType) -> [Value] {
        switch type {
        case .bool: [.integer(0), .integer(1)]
        case .int64: [.integer(0), .integer(1), .integer(.max), .integer(.min), .integer(7)]
        case .double, .date: [.real(0), .real(1), .real(1.5), .real(.nan), .real(.infinity), .real(.leastNonzeroMagnitude)]
        case .uuid: [.blob([0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0, 0xc0, 0x4f, 0xd4, 0x30, 0xc8])]
        default: [.text(""), .text("abc"), .text("a\u{0}c"), .text("\u{1}\u{3}"), .text("é"), .text("1"), .text("\u{0}")]
        }
    }

    private func conditions(_ store: Store, _ path: [String], _ type: AttributeType) throws -> [QueryPredicate] {
        let value = try value(store, path, type)
        var predicates: [QueryPredicate] = [.isNull(value), .oneOf(value, constants(type) + [.null])]
        for constant in constants(type) {
            for comparison in ComparisonOperator.allCases { predicates.append(.compare(value, comparison, .constant(constant, type))) }
            if !constant.isNaN, constant != .real(.infinity) {
                let field = JSONField(path, .contains(constant, type))
                let test = try #require(QueryExpression.json(field, of: .field(store.field("Thing", "value"))))
                predicates += [
                    .compare(test, .equal, .constant(.integer(1), .bool)), .compare(test, .equal, .constant(.integer(0), .bool)),
                ]
                predicates.append(.isNull(test))
            }
            guard type == .string else { continue }
            for operation in [.beginsWith, .like] as [TextOperator] {
                predicates.append(.text(value, operation, .constant(constant, type)))
            }
        }
        return predicates
    }

    /// Checks conditions and orders against the shared executor.
    private func check(_ store: Store, paths: [[String]], types: [AttributeType], ordered: Bool, most: Int = .max) throws {
        let thing = try store.entity("Thing")
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        var rows: [(Int64, RecordView, RecordArena)] = []
        for id in 1...Int64(Self.documents.count + 1) {
            let record = try #require(try reader.record(thing, rowID: id))
            let arena = RecordArena(capacity: record.count)
            rows.append((id, arena.view(arena.append(record.bytes), record.count, thing.layout), arena))
        }
        for path in paths {
            for type in types {
                for predicate in try conditions(store, path, type).prefix(most) {
                    let request = FetchRequest(thing, predicate: predicate)
                    let scan = try reader.scan(request)
                    scan.cursor.close()
                    #expect(scan.residual.isNothing, "\(predicate)")
                    let evaluator = PredicateEvaluator(predicate, reader)
                    let expected = try rows.filter { try evaluator.matches(id: $0.0, $0.1) }.map(\.0)
                    #expect(try reader.ids(request) == expected, "\(predicate)")
                }
                for isAscending in [true, false] where ordered {
                    let request = FetchRequest(
                        thing, sortKeys: [SortKey(try value(store, path, type), ascending: isAscending)], limit: 90, offset: 2)
                    let scan = try reader.scan(request)
                    scan.cursor.close()
                    #expect(scan.residual.isNothing, "order by \(path) as \(type)")
                    var sorted = request.unsorted
                    sorted.sortKeys = request.sortKeys
                    let all = try MaterializedCursor.sorted(reader.scan(request.unsorted).cursor, sorted, predicate: nil, reader)
                    var expected: [Int64] = []
                    while try all.next() { expected.append(all.rowID) }
                    #expect(try reader.ids(request) == Array(expected.dropFirst(2).prefix(90)), "order by \(path) as \(type)")
                }
            }
        }
    }

    @Test func conditionsAreThoseOfTheSharedExecutor() throws {
        let store = try Self.store()
        try check(store, paths: [["a"]], types: Self.types, ordered: false)
        try check(store, paths: Self.paths, types: [.string, .int64], ordered: false, most: 10)
    }

    @Test func indexesServeConditionsAndOrders() throws {
        let indexes = Self.types.flatMap { type in [["a"], ["c", "a"]].map { ($0, type) } }
        try check(try Self.store(indexes: indexes), paths: [["a"]], types: Self.types, ordered: true)
    }

    @Test func planNamesTheIndex() throws {
        let options = TestServer.options()
        let store = try Self.store(indexes: [(["a"], .string), (["n"], .int64)], options: options, isFilled: false)
        let thing = try store.entity("Thing")
        let changes = ChangeSet(store.schema)
        for id in 1...4000 as ClosedRange<Int64> {
            try changes.insert(thing, rowID: id) { $0.setText(0, "{\"a\":\"x\(id * 7919 % 4000)\",\"n\":\(id * 31 % 4000)}") }
        }
        try store.write(changes)
        try TestServer.get().psql("ANALYZE \(options.schema).\"Thing\"")
        let (text, number) = (try value(store, ["a"], .string), try value(store, ["n"], .int64))
        let names = Set(thing.indexes.map(\.name))
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let few: [(QueryPredicate, Int)] = [
            (.compare(text, .equal, .constant(.text("x17"), .string)), 1),
            (.text(text, .beginsWith, .constant(.text("x39"), .string)), 111),
            (.oneOf(text, [.text("x1"), .text("x2"), .null]), 2), (.compare(number, .less, .constant(.integer(20), .int64)), 20),
            (.oneOf(number, [.integer(5), .integer(6)]), 2), (.isNull(number), 0), (.isNull(text), 0),
            (
                .and([.compare(number, .greater, .constant(.integer(9), .int64)), .compare(number, .less, .constant(.integer(12), .int64))]
                ), 2
            ),
        ]
        for (predicate, count) in few {
            let plan = try reader.explain(FetchRequest(thing, predicate: predicate))
            #expect(plan.rowsReturned == count, "\(plan)")
            #expect(plan.accesses.allSatisfy { $0.index.map(names.contains) ?? false }, "\(plan)")
        }
        for key in [text, number] {
            let plan = try reader.explain(FetchRequest(thing, sortKeys: [SortKey(key, ascending: false)], limit: 3))
            #expect(plan.accesses.first?.index.map(names.contains) ?? false, "\(plan)")
            #expect(plan.rowsExamined ?? .max < 100, "\(plan)")
        }
    }

    @Test func groupsByFieldsAreComputedByTheServer() throws {
        let store = try Self.store()
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for type in Self.types {
            let value = try value(store, ["a"], type)
            let request = AggregateRequest(
                try store.entity("Thing"), groupBy: [value],
                aggregates: [.count, .of(.countDistinct, value)] + (type == .uuid ? [] : [.of(.maximum, value), .of(.minimum, value)]))
            let found = try #require(try reader.scanGroups(request))
            #expect(try found.rows == Unaided(reader).aggregate(request), "\(type)")
        }
    }

    @Test func indexesAreReplacedAlone() throws {
        let options = TestServer.options()
        try Self.store(indexes: [(["a"], .string)], options: options).backend.close()
        let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = '\(options.schema)' AND indexdef LIKE '%polystore_json_%'"
        #expect(try TestServer.get().psql(indexes) == "1")
        try Self.store(indexes: [(["a"], .string), (["é"], .int64)], options: options, isFilled: false).backend.close()
        #expect(try TestServer.get().psql(indexes) == "2")
        // Another field, whose key has other bytes.
        let store = try Self.store(indexes: [(["a"], .string), (["e\u{301}"], .int64)], options: options, isFilled: false)
        #expect(try TestServer.get().psql(indexes + " AND indexdef LIKE '%e' || chr(769) || '%'") == "1")
        #expect(try store.backend.verify() == [])
        try store.backend.close()
        try Self.store(options: options, isFilled: false).backend.close()
        #expect(try TestServer.get().psql(indexes) == "0")
    }
}

extension Value {
    fileprivate var isNaN: Bool { if case .real(let real) = self { real.isNaN } else { false } }
}
