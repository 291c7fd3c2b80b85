import Foundation
import PolyStoreBackend

/// Functions of values, conditional values, and elements of ordered relationships by position.
let functionCases: [ConformanceCase] =
    functions.map { row in
        ConformanceCase("expression.function.\(row.id)", row.statement) { run in
            for (number, (type, values, arguments, expected)) in row.tables.enumerated() {
                let store = try run.open(Fixtures.thing(type), "store\(number)")
                try store.insert("Thing", values.map { [$0] } + [[.null]])
                let field = QueryExpression.field(try store.field("Thing", "value"))
                guard let value = QueryExpression.function(row.function, [field] + arguments) else {
                    throw run.fail("\(row.id) of \(type)")
                }
                let all = Array(1...Int64(expected.count + 1))
                for (index, wanted) in expected.enumerated() {
                    let same = expected.indices.filter { expected[$0] == wanted }.map { Int64($0 + 1) }
                    let constant = QueryExpression.constant(wanted, value.type)
                    let predicate: QueryPredicate = wanted.isNull ? .isNull(value) : .compare(value, .equal, constant)
                    let found = try store.ids(FetchRequest(try store.entity("Thing"), predicate: predicate))
                    try run.expect(
                        found, equals: wanted.isNull ? same + [all.last ?? 0] : same, "\(predicate) for \(values[index].literal)")
                }
            }
        }
    } + [
        ConformanceCase("expression.function.types", "Functions accept values of their parameter types only; the result has a type.") {
            run in
            let types: [(ScalarFunction, [AttributeType], AttributeType?)] = [
                (.abs, [.int8], .int64), (.abs, [.uint64], .uint64), (.abs, [.float], .double), (.abs, [.decimal], nil),
                (.abs, [.string], nil),
                (.modulus, [.int64, .int8], .int64), (.modulus, [.int64, .double], .double), (.modulus, [.int64], nil),
                (.power, [.int64, .int64], .double), (.sqrt, [.int64], .double), (.sqrt, [.bool], nil), (.ln, [.uint64], .double),
                (.log, [.float], .double), (.exp, [.int8], .double), (.ln, [.decimal], nil), (.exp, [.date], nil),
                (.log, [.int64, .int64], nil),
                (.length, [.string], .int64),
                (.length, [.url], .int64), (.length, [.data], nil), (.uppercase, [.string], .string), (.lowercase, [.int64], nil),
                (.distinct, [.uuid], .uuid),
            ]
            for (function, operands, expected) in types {
                let made = QueryExpression.function(function, operands.map { .constant(.null, $0) })
                try run.expect(made?.type, equals: expected, "\(function) of \(operands)")
            }
        },
        ConformanceCase(
            "expression.conditional.unknown-is-the-second",
            "A conditional value is the second one if the condition is false or unknown."
        ) { run in
            let works = Works.start
            let store = try works.open(run)
            let age = try store.value("age")
            let old = try store.compare("age", .greater, .integer(26))
            guard let value = QueryExpression.conditional(old, age, .constant(.integer(-7), .int64)) else { throw run.fail("types") }
            for wanted in [Int64(-7), 30, 40, 25] {
                let predicate = QueryPredicate.compare(value, .equal, .constant(.integer(wanted), .int64))
                let expected = works.ids("Worker").filter { id in
                    let age = works[id].age
                    return (age ?? 0 > 26 ? age : -7) == wanted
                }
                try run.expect(try store.ids("Worker", predicate), equals: expected, "\(wanted)")
            }
            try run.expect(
                QueryExpression.conditional(old, age, try store.value("name")) == nil, "a number and a text are not values of one type")
        },
        ConformanceCase(
            "expression.aggregate.of-those-that-satisfy",
            "An aggregate of conditional values ignores the objects that do not satisfy the condition."
        ) { run in
            let works = Works.start
            let store = try works.open(run)
            let old = try store.compare("age", .greater, .integer(26))
            guard let value = QueryExpression.conditional(old, try store.value("age"), .constant(.null, .int64)) else {
                throw run.fail("types")
            }
            for function in [Aggregate.Function.count, .maximum, .sum] {
                let aggregate = QueryExpression.aggregate(function, try store.reference("friends"), value)
                for wanted in [Int64(0), 1, 30, 40] {
                    let predicate = QueryPredicate.compare(aggregate, .equal, .constant(.integer(wanted), .int64))
                    let expected = works.ids("Worker").filter { id in
                        let ages = works[id].friends.compactMap { works[$0].age }.filter { $0 > 26 }
                        switch function {
                        case .count: return Int64(ages.count) == wanted
                        case .maximum: return ages.max() == wanted
                        default: return ages.reduce(0, +) == wanted
                        }
                    }
                    try run.expect(try store.ids("Worker", predicate), equals: expected, "\(function) \(wanted)")
                }
            }
        },
        ConformanceCase("expression.aggregate.distinct", "An aggregate of distinct values counts equal values once.") { run in
            let works = Works.start
            let store = try works.open(run)
            guard let age = QueryExpression.function(.distinct, [try store.value("age")]) else { throw run.fail("types") }
            for function in [Aggregate.Function.count, .sum] {
                let aggregate = QueryExpression.aggregate(function, try store.reference("Team.members"), age)
                for wanted in [Int64(2), 3, 55] {
                    let predicate = QueryPredicate.compare(aggregate, .equal, .constant(.integer(wanted), .int64))
                    let expected = works.ids("Team").filter { id in
                        let ages = Set(works.members(team: id).compactMap { works[$0].age })
                        let sum = ages.reduce(Int128(0)) { $0 + Int128($1) }
                        return function == .count ? Int64(ages.count) == wanted : sum == Int128(wanted)
                    }
                    try run.expect(try store.ids("Team", predicate), equals: expected, "\(function) \(wanted)")
                }
            }
        },
        ConformanceCase(
            "expression.element.by-position",
            "An element of an ordered relationship is found by position, from the front or as the last; it may be missing."
        ) { run in
            let store = try Playlists.open(run, lists: 3)
            try store.insert("Track", [("a", 1, 30), ("b", 1, 10), ("c", 1, 20), ("d", 2, 5)].map { Playlists.track($0.0, $0.1, $0.2) })
            let tracks = RelationshipReference(try store.relationship("Playlist", "tracks"), in: store.schema)
            let title = QueryExpression.field(try store.field("Track", "title"))
            let list = try store.entity("Playlist")
            func lists(_ position: Int, _ title: QueryExpression, _ wanted: Value) throws -> [Int64] {
                let element = QueryExpression.element(tracks, at: position, title)
                let predicate = wanted.isNull ? QueryPredicate.isNull(element) : .compare(element, .equal, .constant(wanted, title.type))
                return try store.ids(FetchRequest(list, predicate: predicate))
            }
            try run.expect(try lists(0, title, .text("b")), equals: [1])
            try run.expect(try lists(1, title, .text("c")), equals: [1])
            try run.expect(try lists(-1, title, .text("a")), equals: [1])
            try run.expect(try lists(-1, title, .text("d")), equals: [2])
            try run.expect(try lists(0, title, .null), equals: [3], "no member")
            try run.expect(try lists(1, title, .null), equals: [2, 3])
            try run.expect(try lists(0, .field(.objectID), .integer(4)), equals: [2], "the member itself")
        },
    ]

/// A function, and for each table: the type of an attribute, its values, further arguments, and the results.
private struct FunctionRow: Sendable {
    let id: String
    let function: ScalarFunction
    let statement: String
    let tables: [(AttributeType, [Value], [QueryExpression], [Value])]
}

private func integers(_ values: Int64...) -> [Value] { values.map { .integer($0) } }
private func reals(_ values: Double...) -> [Value] { values.map { .real($0) } }
private func texts(_ values: String...) -> [Value] { values.map { .text($0) } }
private func integer(_ value: Int64) -> QueryExpression { .constant(.integer(value), .int64) }
private func real(_ value: Double) -> QueryExpression { .constant(.real(value), .double) }

private let functions: [FunctionRow] = [
    FunctionRow(
        id: "modulus", function: .modulus, statement: "A remainder has the sign of the dividend; with divisor 0 it is null.",
        tables: [
            (.int64, integers(7, -7, 6, .min), [integer(3)], integers(1, -1, 0, -2)),
            (.int64, integers(7, 0), [integer(0)], [.null, .null]),
            (.int64, integers(.min), [integer(-1)], integers(0)), (.uint64, integers(-1, 4), [integer(10)], integers(5, 4)),
            (.double, reals(7.5, -7.5), [real(2)], reals(1.5, -1.5)), (.int8, integers(7), [real(2.5)], reals(2)),
        ]),
    FunctionRow(
        id: "power", function: .power, statement: "A power is a real; an undefined one is null.",
        tables: [
            (.int64, integers(2, -2, 0), [integer(10)], reals(1024, 1024, 0)), (.double, reals(4, 0.25), [real(0.5)], reals(2, 0.5)),
            (.double, reals(-4), [real(0.5)], [.null]), (.int64, integers(2), [integer(-1)], reals(0.5)),
        ]),
    FunctionRow(
        id: "abs", function: .abs, statement: "The absolute value; null if it overflows 64 bits.",
        tables: [
            (.int64, integers(5, -5, 0, .min), [], [.integer(5), .integer(5), .integer(0), .null]),
            (.uint64, integers(-1, 3), [], integers(-1, 3)), (.double, reals(-0.5, 2, -.infinity), [], reals(0.5, 2, .infinity)),
        ]),
    FunctionRow(
        id: "ceiling", function: .ceiling, statement: "The least integer that is not less.",
        tables: [(.double, reals(1.2, -1.2, 3, -0.5), [], reals(2, -1, 3, 0)), (.int16, integers(-3), [], integers(-3))]),
    FunctionRow(
        id: "floor", function: .floor, statement: "The greatest integer that is not greater.",
        tables: [(.double, reals(1.8, -1.2, 3), [], reals(1, -2, 3)), (.float, reals(0.5), [], reals(0))]),
    FunctionRow(
        id: "trunc", function: .trunc, statement: "The number without its fraction.",
        tables: [(.double, reals(1.8, -1.8, 3), [], reals(1, -1, 3))]),
    FunctionRow(
        id: "sqrt", function: .sqrt, statement: "A square root is a real; of a negative number it is null.",
        tables: [(.int64, integers(9, 0, -1), [], [.real(3), .real(0), .null]), (.double, reals(2.25), [], reals(1.5))]),
    FunctionRow(
        id: "ln", function: .ln, statement: "A natural logarithm is a real; of 0 and of a negative number it is null.",
        tables: [
            (.double, reals(1, .infinity, 2.5, 1e-300), [], reals(0, .infinity, log(2.5), log(1e-300))),
            (.double, reals(0, -1, -.infinity, .leastNonzeroMagnitude), [], [.null, .null, .null, .real(log(.leastNonzeroMagnitude))]),
            (.double, reals(.nan), [], reals(.nan)), (.uint64, integers(-1, 1), [], reals(log(0x1p64), 0)),
            (.int64, integers(10, 0, -3, .max), [], [.real(log(10)), .null, .null, .real(log(0x1p63))]),
        ]),
    FunctionRow(
        id: "log", function: .log, statement: "A logarithm to the base of 10 is a real; of 0 and of a negative number it is null.",
        tables: [
            (.double, reals(1, 1000, 0.01, 2.5, .infinity), [], reals(0, 3, -2, log10(2.5), .infinity)),
            (.double, reals(0, -1, -.infinity), [], [.null, .null, .null]), (.double, reals(.nan), [], reals(.nan)),
            (.int16, integers(100, 0, -1), [], [.real(2), .null, .null]), (.float, reals(0.5), [], reals(log10(0.5))),
        ]),
    FunctionRow(
        id: "exp", function: .exp, statement: "The exponential is a real; it is infinite where it overflows, and 0 where it underflows.",
        tables: [
            (.double, reals(0, 1, -1, 710, -750), [], reals(1, exp(1), exp(-1), .infinity, 0)),
            (.double, reals(.infinity, -.infinity, 2.5), [], reals(.infinity, 0, exp(2.5))), (.double, reals(.nan), [], reals(.nan)),
            (.int64, integers(2, -3, .min), [], reals(exp(2), exp(-3), 0)), (.uint64, integers(-1, 0), [], reals(.infinity, 1)),
        ]),
    FunctionRow(
        id: "length", function: .length, statement: "The length of a text is its number of characters, as Swift counts them.",
        tables: [(.string, texts("abc", "", "e\u{301}", "👩‍👩‍👧", "a\u{0}b"), [], integers(3, 0, 1, 1, 3))]),
    FunctionRow(
        id: "uppercase", function: .uppercase, statement: "The uppercase text, independent of the locale.",
        tables: [(.string, texts("straße", "ABC", "é"), [], texts("STRASSE", "ABC", "É"))]),
    FunctionRow(
        id: "lowercase", function: .lowercase, statement: "The lowercase text, independent of the locale.",
        tables: [(.string, texts("ABC", "É", "I"), [], texts("abc", "é", "i"))]),
]
