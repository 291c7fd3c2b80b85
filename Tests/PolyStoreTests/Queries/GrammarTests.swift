import Foundation
import PolyStore
import PolyStoreConditions
import TestSupport
import Testing

/// The grammar of format strings, on each backend.
@Suite struct GrammarTests {
    private static let conditions: [(format: String, initials: String)] = [
        // Text on the right side of IN.
        ("'an' IN name", "DJ"), ("'an' IN[c] name", "ADJ"), ("name IN name", "ABCDEJ"), ("name IN 'Ann and Bob'", "AB"),
        // Enclosing object.
        ("ANY friends.age > age", "ABD"), ("ALL friends.age > age", "ADJ"), ("NONE friends.age > age", "CEJ"), ("boss IN friends", "BCD"),
        ("friends CONTAINS boss", "BCD"), ("SELF IN boss.friends", "BCD"), ("ANY friends.age BETWEEN {age, 40}", "AB"),
        ("SUBQUERY(friends, $f, $f.age > age).@count > 0", "ABD"), ("SUBQUERY(friends, $f, $f.age > SELF.age).@count == 1", "ABD"),
        ("SUBQUERY(boss.friends, $f, $f.age >= age).@count > 0", "BCD"),
        ("SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g.age > age AND $g.age > $f.age).@count > 0).@count > 0", "A"),
        ("SUBQUERY(friends, $f, SUBQUERY(friends, $g, $g.age > $f.age).@count > 0).@count > 0", "B"),
        ("SUBQUERY(friends, $f, ANY friends.age > $f.age).@count > 0", "B"), ("SUBQUERY(friends, $f, boss == $f).@count > 0", "BCD"),
        // Values of subqueries.
        ("SUBQUERY(friends, $f, $f.age > 15).@max.age == 30", "B"), ("SUBQUERY(friends, $f, $f.age > 100).@max.age == nil", "ABCDEJ"),
        ("SUBQUERY(friends, $f, $f.age < 15).@sum.age == 10", "B"), ("SUBQUERY(friends, $f, $f.age < 15).age.@sum == 10", "B"),
        ("SUBQUERY(friends, $f, TRUEPREDICATE)[SIZE] == 2", "B"), ("SUBQUERY(friends, $f, $f.age < age).@min.age < 15", "B"),
        // Positions.
        ("friends[SIZE] == 2", "B"), ("errands[FIRST].title == 'plan'", "A"), ("errands[LAST].hours == 1", "A"),
        ("errands[1].title == 'build'", "A"), ("errands[0].hours == 2", "B"), ("errands[0] == nil", "CDEJ"),
        ("errands[0].hours > errands[last].hours", "A"), ("boss.errands[0].title == 'plan'", "B"), ("errands[0].owner.age == 10", "A"),
        ("SUBQUERY(friends, $f, $f.errands[0].hours > 2).@count > 0", "B"), ("ANY friends.errands[0].hours > 2", "B"),
        // Distinct values.
        ("friends.@distinctUnionOfObjects.job.@count == 2", "B"), ("count(friends.@distinctUnionOfObjects.job) == 2", "B"),
        ("ANY friends.@distinctUnionOfObjects.age > 25", "BDE"), ("friends.@distinctUnionOfObjects.age.@sum == 40", "BE"),
        // Functions.
        ("age ** 2 == 400", "B"), ("2 ** (age / 10) == 16", "D"), ("-age ** 2 == -100", "A"), ("age == 10 * 2 ** 2", "D"),
        ("modulus:by:(age, 20) == 0", "BDJ"), ("modulus(age, 20) == 10", "ACE"), ("abs(score) == 2.5", "C"), ("abs:(score) > 3", "DE"),
        ("ceiling(score) == 2", "A"), ("floor(score) == -3", "C"), ("trunc(score) == -2", "C"), ("sqrt(score) == 3", "E"),
        ("length(name) == 3", "ABCDEJ"), ("name.length > 2 AND length(job) == 6", "BE"), ("boss.name.length == 3", "BCD"),
        ("uppercase(name) == 'BOB'", "B"), ("lowercase:(name) BEGINSWITH 'e'", "E"), ("born < now()", "ABDEJ"),
        ("CAST(now(), 'NSNumber') - CAST(born, 'NSNumber') > 3600", "ABDEJ"), ("born == CAST(1000, 'NSDate')", "B"),
        ("CAST(age * 100, 'NSDate') > born", "ABDEJ"), ("salary == CAST(0.2, 'NSDecimalNumber')", "B"),
        ("TERNARY(age > 30, age, 0) == 40", "D"), ("TERNARY(score > 0, score, -1) == -1", "BCJ"),
        ("TERNARY(boss == nil, 'none', boss.name) == 'Ann'", "B"), ("TERNARY(isActive == YES, salary, bonus) > 3", "DE"),
        ("add:to:(age, 5) == 15", "A"), ("from:subtract:(age, 5) == 5", "A"), ("raise:toPower:(age, 2) == 400", "B"),
        // Constant expressions.
        ("age == 2 + 3 * 6", "B"), ("age > 10 + 0.5", "BCDEJ"), ("age == abs(-20)", "B"), ("age == 1 / 0", ""),
        // Reals compared with integers.
        ("age == 20.5", ""), ("age != 20.5", "ABCDEJ"), ("NOT age == 20.5", "ABCDEJ"), ("age IN {20.5, 30}", "C"), ("age < 20.5", "AB"),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func formatStringsMeanTheSameOnEveryBackend(_ backend: Backend) throws {
        let staff = try Staff(backend)
        for (format, initials) in Self.conditions {
            do {
                let found = try staff.initials(Where(format))
                #expect(found == initials, "\(format)")
                // Parses the printed form.
                let printed = try Condition(format: format).description
                #expect(try staff.initials(Where(printed)) == initials, "\(printed)")
            } catch {
                Issue.record("\(format): \(error)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsOnOuterObjectsSeePendingChanges(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.performAndWait { transaction in
            let ann = try #require(try transaction.fetchOne(From<Colleague>(), Where(\.name == "Ann")))
            ann.age = 25
            ann.errands = [ann.errands[2], ann.errands[0]]
            func initials(_ format: String) throws -> String {
                String(try transaction.fetchAll(From<Colleague>(), Where(format), OrderBy(.ascending(\.name))).compactMap(\.name.first))
            }
            #expect(try initials("ANY friends.age > age") == "BD")
            #expect(try initials("errands[0].title == 'test'") == "AB")
            #expect(try initials("SUBQUERY(friends, $f, $f.age > age).@count == 2") == "B")
        }
    }

    @Test func ordersAndSelectionsTakeFunctionsToo() throws {
        let staff = try Staff(.sqlite)
        try staff.stack.readAndWait { context in
            let names = try context.fetchAll(From<Colleague>(), OrderBy(.descending("errands[SIZE]"), .ascending("name"))).map(\.name)
            #expect(names == ["Ann", "Bob", "Cid", "Dan", "Eve", "Jan"])
            let rows = try context.queryAttributes(
                From<Colleague>(), Select("name", SelectTerm("length(job)", as: "length")), Where(\.age == 10))
            #expect(rows == [["name": "Ann", "length": 8]])
        }
    }

    @Test func errorsNameTheSupportedForm() throws {
        let staff = try Staff(.memory)
        let wrong: [(String, String)] = [
            ("SUBQUERY(friends, $f, TRUEPREDICATE) == 1", "ask for one value of it, such as .@count"),
            ("SUBQUERY(friends, $f, $f.age > $g.age).@count > 0", "There is no value for $g"),
            ("friends[0].age == 1", "Colleague.friends is not ordered, so its members have no positions."),
            ("errands[-1].title == 'a'", "Expected a position from 0 on, FIRST, LAST or SIZE"),
            ("errands[99999999999999999999].title == 'a'", "Expected a position from 0 on, FIRST, LAST or SIZE"),
            ("ANY errands[0].owner.friends.age > 3", "ANY cannot follow a position to many objects. Write a SUBQUERY"),
            ("length(age) == 1", "length takes a text, not int64."), ("sqrt(name) == 1", "sqrt takes a number, not string."),
            ("modulus:by:(age) == 1", "modulus:by:(…) takes 2 values, not 1"), ("sqrt() == 1", "sqrt(…) takes one value, not 0"),
            ("random(1) == 1", "random(…) is not supported: write shuffle(objectID, 42), which a seed determines"),
            ("year(age) == 1", "year takes a date, not int64."), ("hour(born, 'Mars') == 1", "\"Mars\" is not a time zone."),
            ("FUNCTION(name, 'length') == 3", "write the function itself, as in length(name)"),
            ("age IN name", "name is a text, and only texts can be IN it; age is int64."),
            ("'a' IN age", "IN needs a list"),
            ("TERNARY(age > 1, age, name) == 1", "TERNARY takes two values of one type, not int64 and string."),
            ("TERNARY(age, 1, 2) == 1", "Expected an operator"),
            ("CAST(name, 'NSDate') == 1", "CAST cannot make a value of date of name, string."),
            ("CAST(age, 'NSObject') == 1", "Expected 'NSDate', 'NSNumber'"), ("now(1) > born", "Expected \")\""),
            ("friends.@nothing.age == 1", "There is no @nothing"),
        ]
        for (format, message) in wrong {
            let found = try staff.error(Where(format))
            #expect(found.contains(message), "\(format): \(found)")
        }
    }
}
