import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

extension Person {
    fileprivate var agePlusTen: Int { age + 10 }
    fileprivate var shownName: String { nickname ?? "" }
    fileprivate var mentor: Person? { spouse }
}

extension Department {
    fileprivate var doubled: Decimal { budget * 2 }
}

extension Gadget {
    fileprivate var sortedTags: [String] { tags.sorted() }
    fileprivate var otherKind: Kind { kind == .plain ? .fancy : .plain }
}

/// The notations for values, ranges, key paths and configurations.
@Suite struct QueryShapeTests {
    // MARK: Ranges

    private static let ages: [(name: String, condition: Where<Person>, ages: [Int])] = [
        ("closed", 10...30 ~= \.age, [10, 20, 30]),
        ("half-open", 10..<30 ~= \.age, [10, 20]),
        ("from", 30... ~= \.age, [30, 40, 50]),
        ("through", ...20 ~= \.age, [0, 10, 20]),
        ("up to", ..<20 ~= \.age, [0, 10]),
        ("huge", 10...1_000_000_000 ~= \.age, [10, 20, 30, 40, 50]),
        ("over a path", 30... ~= \.spouse!.age, [40, 50]),
        ("key, closed", 10...30 ~= %"age", [10, 20, 30]),
        ("key, half-open", 10..<30 ~= %"age", [10, 20]),
        ("key, from", 30... ~= %"age", [30, 40, 50]),
        ("key, through", ...20 ~= %"age", [0, 10, 20]),
        ("key, up to", ..<20 ~= %"age", [0, 10]),
        ("key, any", 30... ~= %"friends.age"%.any, [20]),
        ("key, any, half-open", 20..<30 ~= %"friends.age"%.any, [10, 30]),
        ("member of", Where("age", isMemberOf: 30...), [30, 40, 50]),
        ("member of, closed", Where("age", isMemberOf: 10...1_000_000_000), [10, 20, 30, 40, 50]),
        ("generic", generic(30..., \.age), [30, 40, 50]),
        ("generic, key", genericKey(0..<1_000_000_000, %"age"), [0, 10, 20, 30, 40, 50]),
        ("#Predicate", fromThirty, [30, 40, 50]),
        ("#Predicate, up to", upToTwenty, [0, 10]),
    ]

    private static var fromThirty: Where<Person> {
        let range = 30...
        return Where(#Predicate { range.contains($0.age) })
    }
    private static var upToTwenty: Where<Person> {
        let range = ..<20
        return Where(#Predicate { range.contains($0.age) })
    }

    private static func generic<S: Sequence<Int>>(_ values: S, _ path: KeyPath<Person, Int>) -> Where<Person> { values ~= path }
    private static func genericKey<S: Sequence<Int>>(_ values: S, _ key: QueryKey) -> Where<Person> { values ~= key }

    @Test(arguments: Backend.forObjectLayer)
    func rangesOfEveryShapeAreComparedWithTheirBounds(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { $0[5].spouse = $0[4] }
        try company.stack.readAndWait { context throws in
            for (name, condition, ages) in Self.ages {
                #expect(try context.fetchAll(From<Person>(), condition, OrderBy(.ascending(\.age))).map(\.age) == ages, "\(name)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func rangesOnOptionalsAreComparedWithTheirBounds(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        let day = Date(timeIntervalSinceReferenceDate: 0)
        try gadgets.stack.performAndWait { transaction throws in
            for number in 0..<10 {
                let gadget = try transaction.create(Into<Gadget>())
                gadget.level = Int8(number)
                if number > 0 { (gadget.bonus, gadget.made) = (number, day.addingTimeInterval(Double(number))) }
            }
        }
        func date(_ number: Double) -> Date { day.addingTimeInterval(number) }
        let cases: [(Where<Gadget>, [Int8])] = [
            (3...5 ~= \.bonus, [3, 4, 5]), (3..<5 ~= \.bonus, [3, 4]), (8... ~= \.bonus, [8, 9]), (...2 ~= \.bonus, [1, 2]),
            (..<2 ~= \.bonus, [1]), (1...1_000_000_000_000 ~= \.bonus, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            (date(3)...date(5) ~= \.made, [3, 4, 5]), (date(3)..<date(5) ~= \.made, [3, 4]), (date(8)... ~= \.made, [8, 9]),
            (...date(2) ~= \.made, [1, 2]), (..<date(2) ~= \.made, [1]), (!(date(2)... ~= \.made), [1]),
        ]
        try gadgets.stack.readAndWait { context throws in
            for (index, (condition, levels)) in cases.enumerated() {
                #expect(try context.fetchAll(From<Gadget>(), condition, OrderBy(.ascending(\.level))).map(\.level) == levels, "\(index)")
            }
            let plan = try context.explain(From<Gadget>(), 1...1_000_000 ~= \.bonus)
            #expect(plan.utf8.count < 2000, "\(plan.prefix(2000))")
        }
    }

    // MARK: Key paths

    @Test(arguments: Backend.forObjectLayer)
    func keyPathsThatAreNotExactlyStoredAreRefused(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let gadgets = try Gadgets(backend)
        let conditions: [Where<Person>] = [
            Where(\.agePlusTen > 15), Where(\.email.localizedUppercase == "X"), Where(\.shownName == "x"), Where(\.age.magnitude > 3),
            Where(\.department?.doubled > 3), Where(\.department!.budget.magnitude > 3), Where(\.nickname?.localizedUppercase == "x"),
            Where(\.mentor?.age == 3), Where(\.friends.capacity > 1), Where(\.spouse?.friends.hashValue == 1), Where(\.email.count > 3),
            Where(\.spouse?.agePlusTen == 1), Where(\.computed == "x"), Where(\.spouse?.mentor == nil),
        ]
        try company.stack.readAndWait { context throws in
            for (index, condition) in conditions.enumerated() {
                let error = expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), condition) }
                #expect(error?.message.contains("format string") ?? false, "\(index): \(error?.message ?? "")")
            }
            expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), OrderBy(.ascending(\.agePlusTen))) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), OrderBy(.descending(\.email.localizedUppercase))) }
            expectError(.invalidPredicate) { try context.queryAttributes(From<Person>(), Select("email"), GroupBy(\.agePlusTen)) }
            expectError(.invalidPredicate) { try context.queryValue(From<Person>(), Select<Int>(.sum(\Person.agePlusTen))) }
            expectError(.invalidPredicate) { try context.queryValue(From<Person>(), .sum(\.agePlusTen)) }
            // Stored properties, over relationships and unwrapped, are accepted.
            let accepted: [Where<Person>] = [
                Where(\.nickname! == "x"), Where(\.department!.budget > 3), Where(\.spouse?.spouse?.department?.title == "x"),
                Where(\.spouse?.nickname! == "x"), Where(\.self.age == 3),
            ]
            for condition in accepted { _ = try context.fetchAll(From<Person>(), condition) }
        }
        try gadgets.stack.readAndWait { context throws in
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), Where(\.tags[0] == "x")) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), Where(\.tags.first! == "x")) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), Where(\.part!.tags[7] == "x")) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), Where(\.otherKind == .plain)) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), Where(\.weight.magnitude > 1)) }
            expectError(.invalidPredicate) { try context.fetchAll(From<Gadget>(), OrderBy(.ascending(\.sortedTags))) }
            #expect(try context.fetchAll(From<Gadget>(), Where(\.part?.kind == .plain), OrderBy(.ascending(\.part?.tags))).isEmpty)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func theCountBehindARelationshipToOneIsAKeyPath(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { $0[5].spouse = $0[2] }
        try company.stack.readAndWait { context throws in
            func ages(_ condition: Where<Person>) throws -> [Int] {
                try context.fetchAll(From<Person>(), condition, OrderBy(.ascending(\.age))).map(\.age)
            }
            #expect(try ages(Where(\.department?.people.count == 3)) == [0, 10, 20])
            #expect(try ages(Where(\.department!.people.count == 1)) == [30])
            #expect(try ages(Where(\.spouse?.department?.people.count > 2)) == [50])
            #expect(try ages(Where(\.department?.people.count == nil)) == [40, 50])
            #expect(try context.fetchAll(From<Person>(), OrderBy(.descending(\.spouse?.friends.count), .ascending(\.age))).first?.age == 50)
            #expect(try ages(.count(\.friends, .greaterOrEqual, 2)) == [20])
            #expect(try ages(%"email"%.beginsWith("P1", options: .caseInsensitive)) == [10])
            #expect(try ages((%"email").endsWith("com") && %"age" < 10) == [0])
            #expect(try ages(%"department.title"%.any == "Sales") == [30])
            #expect(try ages(%"department.title"%.all == "Sales") == [30, 40, 50])
            #expect(try ages(Where("NONE department.title == 'Research'")) == [30, 40, 50])
            #expect(try ages(Where("NOT ANY department.title == 'Research'")) == [30, 40, 50])
        }
    }

    // MARK: Configurations

    @Test(arguments: Backend.forObjectLayer)
    func eachStoreIsReadOnce(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        try gadgets.stack.performAndWait { transaction throws in
            for (name, level) in [("Shop", 1), ("Shop", 2), ("Store", 4)] {
                try transaction.create(Into<Gadget>(name)).level = Int8(level)
            }
        }
        try gadgets.stack.readAndWait { context throws in
            for (from, levels) in [
                (From<Gadget>("Shop", "Shop"), [1, 2] as [Int8]), (From("Shop", "Store", "Shop"), [1, 2, 4]), (From("Store", nil), [4]),
                (From(nil, "Shop"), [1, 2]), (From("Store", "Shop"), [1, 2, 4]),
            ] {
                #expect(try context.fetchAll(from, OrderBy(.ascending(\.level))).map(\.level) == levels)
                #expect(try context.fetchCount(from) == levels.count)
                #expect(try context.queryValue(from, .sum(\.level)) == levels.reduce(0) { $0 + Int($1) })
                #expect(try context.queryAttributes(from, Select("level")).count == levels.count)
            }
            expectError(.storeNotFound) { try context.fetchAll(From<Gadget>(nil)) }
            expectError(.storeNotFound) { try context.fetchAll(From<Gadget>(nil, "None")) }
        }
    }

    // MARK: Values

    @Test(arguments: Backend.forObjectLayer)
    func batchUpdatesRefuseInvalidValues(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        try gadgets.stack.performAndWait { transaction throws in
            for number in 0..<3 { try transaction.create(Into<Gadget>()).label = "g\(number)" }
        }
        let wrong: [(String, any QueryArgument & Sendable)] = [
            ("level", 300), ("level", -129), ("level", 1e300), ("ratio", 1e300), ("ratio", -1e39), ("price", 1e300), ("price", 1e-300),
            ("price", Double.infinity), ("serial", -1), ("kind", "bogus"), ("bonus", UInt64.max), ("bonus", 1.5),
        ]
        try gadgets.stack.performAndWait { transaction throws in
            for (name, value) in wrong {
                do {
                    try transaction.batchUpdate(From<Gadget>()) {
                        $0.set("label", to: "changed")
                        $0.set(name, to: value)
                    }
                    Issue.record("\(name) takes \(value)")
                } catch let error as StoreError {
                    #expect([.invalidValue, .corrupt].contains(error.code) && error.message.contains(name), "\(error)")
                }
                #expect(!transaction.hasChanges, "\(name)")
                #expect(try transaction.fetchCount(From<Gadget>(), Where(\.label == "changed")) == 0, "\(name)")
            }
            // A deleted object, after existing ones.
            let gone = try transaction.create(Into<Gadget>())
            let id = gone.objectID
            try transaction.delete(gone)
            expectError(.notFound) {
                try transaction.batchUpdate(From<Gadget>()) {
                    $0.set(\.label, to: "changed")
                    $0.set(\.part, to: id)
                }
            }
            #expect(try transaction.fetchCount(From<Gadget>(), Where(\.label == "changed")) == 0)
            try transaction.batchUpdate(From<Gadget>()) {
                $0.set("level", to: 127)
                $0.set("ratio", to: 0.1)
                $0.set("price", to: 1.25)
            }
            #expect(try transaction.fetchCount(From<Gadget>(), Where(\.level == 127 && \.ratio == 0.1 && \.price == 1.25)) == 3)
            expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Gadget>(), Where("level == 300")) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func decimalsCompareWithRealsOfAnySize(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        // A literal such as 3.133 is converted from a Double and is not exact.
        let prices: [Decimal] = [-5, 0, 0.1, 2.5, Decimal(string: "3.133") ?? 0, Decimal(string: "1e100") ?? 0]
        try gadgets.stack.performAndWait { transaction throws in
            for price in prices { try transaction.create(Into<Gadget>()).price = price }
        }
        let cases: [(String, Double, [Int])] = [
            (">", 1e300, []), ("<", 1e300, [0, 1, 2, 3, 4, 5]), (">", -1e300, [0, 1, 2, 3, 4, 5]), ("<=", -1e300, []),
            (">", 1e-300, [2, 3, 4, 5]), ("<", 1e-300, [0, 1]), (">", -1e-300, [1, 2, 3, 4, 5]), ("<=", -1e-300, [0]),
            (">", .infinity, []), ("<", .infinity, [0, 1, 2, 3, 4, 5]), (">=", -.infinity, [0, 1, 2, 3, 4, 5]), ("<", -.infinity, []),
            ("==", .infinity, []), ("!=", .infinity, [0, 1, 2, 3, 4, 5]), ("==", .nan, []), ("<", .nan, []),
            (">", .nan, [0, 1, 2, 3, 4, 5]),
            ("==", 0.1, [2]), ("==", 3.133, [4]), (">=", 2.5, [3, 4, 5]), ("==", 1e100, [5]), (">", 9.9e99, [5]), ("==", -0.0, [1]),
            ("<", 0.1, [0, 1]), ("==", -5, [0]),
        ]
        try gadgets.stack.readAndWait { context throws in
            func found(_ condition: Where<Gadget>) throws -> [Int] {
                try context.fetchAll(From<Gadget>(), condition, OrderBy(.ascending(\.price))).compactMap { prices.firstIndex(of: $0.price) }
            }
            for (operation, real, expected) in cases {
                #expect(try found(Where("price \(operation) %@", real)) == expected, "price \(operation) \(real)")
            }
            #expect(try found(Where("price IN %@", [0.1, 1e300, .infinity, 2.5])) == [2, 3])
            #expect(try found(Where("price BETWEEN {%@, %@}", -1e300, 1e-300)) == [0, 1])
            #expect(try found(Where("price > 1e300 OR 1e300 < price")) == [])
            #expect(try found(%"price" == Double.infinity || %"price" < -4.5) == [0])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func distinctResultsKeepTextsOfDifferentBytesApart(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        let labels = ["\u{e9}", "e\u{301}", "\u{e9}", "x"]
        try gadgets.stack.performAndWait { transaction throws in
            for label in labels { try transaction.create(Into<Gadget>()).label = label }
        }
        try gadgets.stack.readAndWait { context throws in
            let rows = try context.queryAttributes(From<Gadget>(), Select("label"), Tweak { $0.returnsDistinctResults = true })
            #expect(rows.count == 3)
            #expect(try context.queryAttributes(From<Gadget>(), Select("label", .count), GroupBy("label")).count == 3)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func errorsOfFormatStringsHaveAPlace(_ backend: Backend) throws {
        let company = try Company(backend)
        let path = Array(repeating: "spouse", count: 150).joined(separator: ".")
        let nested = String(repeating: "NOT (", count: 90) + "\(path).age > 3" + String(repeating: ")", count: 90)
        let formats = [
            ("nickname MATCHES '['", "(at 1:1)"), ("age > 1 AND nickname MATCHES '('", "(at 1:13)"),
            ("email MATCHES nickname", "(at 1:1)"), ("1 == 1 OR email MATCHES[c] nickname", "(at 1:11)"), (nested, "nested too deeply"),
            (nested, "(at 1:451)"),
            (Array(repeating: "spouse", count: 10_000).joined(separator: ".") + " == NULL", "(at 1:1)"),
        ]
        try company.stack.readAndWait { context throws in
            for (format, place) in formats {
                let error = expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), Where(format)) }
                #expect(error?.message.contains(place) ?? false, "\(error?.message ?? "")")
            }
        }
    }
}
