import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Conditions of extreme length or depth: each returns a result or an error, on a small stack.
@Suite struct HostileConditionTests {
    @Test(arguments: Backend.forObjectLayer)
    func longChainsAreAnswered(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        onSmallStack {
            let count = 10_000
            func chain(_ first: Where<Person>, _ next: (Int) -> Where<Person>, _ join: (Where<Person>, Where<Person>) -> Where<Person>)
                -> Where<Person>
            {
                (1..<count).reduce(first) { join($0, next($1)) }
            }
            let conditions: [(String, Where<Person>, Int)] = [
                ("||", chain(Where(\.age == 10), { Where(\.age == -$0) }, ||), 1),
                ("&&", chain(Where(\.age >= 10), { Where(\.age != -$0) }, &&), 5),
                ("|| from the right", chain(Where(\.age == 10), { Where(\.age == -$0) }, { $1 || $0 }), 1),
                ("&& from the right", chain(Where(\.age >= 10), { Where(\.age != -$0) }, { $1 && $0 }), 5),
                ("|| by name", chain(%"age" == 10, { %"age" == -$0 }, ||), 1),
                ("&& by format", chain(Where("age >= 10"), { Where("age != %d", -$0) }, &&), 5),
                ("&&?", chain(Where(\.age >= 10), { Where(\.age != -$0) }, { $0 &&? Optional($1) }), 5),
                ("not not", (0..<count).reduce(Where(\.age == 10)) { condition, _ in !condition }, 1),
                ("not not by name", (0..<count).reduce(%"age" == 10) { condition, _ in !condition }, 1),
            ]
            try stack.readAndWait { context throws in
                for (name, condition, expected) in conditions {
                    #expect(try context.fetchCount(From<Person>(), condition) == expected, "\(name)")
                    #expect(try context.fetchAll(From<Person>(), condition).count == expected, "\(name)")
                }
                var chained = From<Person>().where(\.age >= 10)
                for number in 1..<count { chained = chained.where(\.age != -number) }
                #expect(try context.fetchCount(chained) == 5)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func deepConditionsAreRefused(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        onSmallStack {
            let count = 10_000
            let path = Array(repeating: "spouse", count: count).joined(separator: ".")
            let friends = Array(repeating: "friends", count: count).joined(separator: ".")
            func deep(_ next: (Where<Person>) -> Where<Person>) -> Where<Person> {
                (0..<count).reduce(Where(\.age == 10)) { condition, _ in next(condition) }
            }
            let conditions: [(String, Where<Person>)] = [
                ("and, or", deep { (Where(\.age > 3) && $0) || Where(\.age == 3) }),
                ("and, not", deep { !(Where(\.age > 3) && $0) }),
                ("and, or by name", deep { (%"age" > 3 && $0) || %"age" == 3 }),
                ("any", deep { .any(\.friends, $0) }),
                ("one", deep { .one(\.spouse, $0) }),
                ("count", deep { .count(\.friends, $0, .greater, 0) }),
                ("path", Where("\(path).age > 3")), ("path of many", Where("ANY \(friends).age > 3")),
                ("path by key", %path == 3), ("path in a dictionary", Where([path: 3])), ("argument", Where("%K == 3", path)),
                ("subquery", Where("SUBQUERY(\(friends), $x, $x.age > 3).@count > 3")),
                ("parentheses", Where(String(repeating: "(", count: count) + "age > 3" + String(repeating: ")", count: count))),
                ("sum", Where(Array(repeating: "age", count: count).joined(separator: " + ") + " > 3")),
            ]
            try stack.readAndWait { context throws in
                for (name, condition) in conditions {
                    let error = expectError(.invalidPredicate) { try context.fetchCount(From<Person>(), condition) }
                    #expect(error.map { $0.message.utf8.count < 1000 } ?? false, "\(name)")
                    expectError(.invalidPredicate) { try context.fetchCount(From<Person>(), condition && Where(\.age > 3)) }
                }
                expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), OrderBy(.ascending(path))) }
                expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), OrderBy(.ascending("\(path).@count"))) }
                expectError(.invalidPredicate) { try context.queryAttributes(From<Person>(), Select(.attribute(path))) }
                expectError(.invalidPredicate) { try context.queryAttributes(From<Person>(), Select(.count(friends))) }
                expectError(.invalidPredicate) { try context.queryAttributes(From<Person>(), Select(SelectTerm("average(\(path).age)"))) }
                expectError(.invalidPredicate) { try context.queryAttributes(From<Person>(), Select(.count), GroupBy(path)) }
                expectError(.invalidPredicate) {
                    try context.queryAttributes(From<Person>(), Select(.count), GroupBy("age"), Having(%path > 3))
                }
                expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), Tweak { $0.prefetch = [path] }) }
            }
        }
    }

    /// Joining conditions takes linear time; with quadratic time the test would not end within its limit.
    @Test func joiningIsLinear() throws {
        let company = try Company.staffed(.memory) { _ in }
        let condition = (1..<100_000).reduce(Where<Person>(\.age == 10)) { $0 || Where(\.age == -$1) }
        let copy = condition || Where(\.age == 20)
        try company.stack.readAndWait { context throws in
            #expect(try context.fetchCount(From<Person>(), copy) == 2)
            #expect(try context.fetchCount(From<Person>(), condition) == 1)
        }
    }
}
