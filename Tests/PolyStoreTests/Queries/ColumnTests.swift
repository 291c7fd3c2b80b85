import Foundation
import PolyStore
import TestSupport
import Testing

/// Conditions and orders by columns in closures, on each backend.
@Suite struct ColumnTests {
    private typealias Chain = FetchChain<Colleague>

    private static let date = Date(timeIntervalSinceReferenceDate: 2000)

    /// Each condition beside the same one in another form.
    private static var same: [(name: String, columns: Chain, other: Where<Colleague>)] {
        let all = From<Colleague>()
        return [
            ("equal", all.where { $0.name == "Bob" }, \.name == "Bob"),
            ("not equal", all.where { $0.age != 20 }, \.age != 20),
            ("less", all.where { $0.age < 30 }, \.age < 30), ("less or equal", all.where { $0.age <= 30 }, \.age <= 30),
            ("greater", all.where { $0.age > 30 }, \.age > 30), ("greater or equal", all.where { $0.age >= 30 }, \.age >= 30),
            ("an optional", all.where { $0.score > 2 }, \.score > 2), ("an optional, not equal", all.where { $0.score != 4 }, \.score != 4),
            ("nil", all.where { $0.score == nil }, \.score == nil), ("not nil", all.where { $0.score != nil }, \.score != nil),
            ("a variable that is nil", all.where { $0.score == (nil as Double?) }, \.score == nil),
            ("a date", all.where { $0.born < date }, \.born < date),
            ("a decimal", all.where { $0.salary > 1 && $0.bonus != nil }, \.salary > 1 && \.bonus != nil),
            ("an enum", all.where { $0.job == .doctor }, \.job == .doctor),
            ("an optional enum", all.where { $0.formerJob == .engineer }, \.formerJob == .engineer),
            ("an enum that is nil", all.where { $0.formerJob == nil }, \.formerJob == nil),
            ("an enum in its order", all.where { $0.priority >= .normal }, \.priority >= .normal),
            ("an optional enum in its order", all.where { $0.urgency < .high }, \.urgency < .high),
            ("a Boolean property", all.where { $0.isActive }, \.isActive == true),
            ("not a Boolean property", all.where { !$0.isActive }, \.isActive == false),
            (
                "Boolean properties among others", all.where { $0.isActive && $0.age > 15 || !$0.isActive && $0.isHead == true },
                Where("isActive == YES AND age > 15 OR isActive == NO AND isHead == YES")
            ),
            ("an optional Boolean", all.where { $0.isHead == true }, \.isHead == true),
            ("or", all.where { $0.age < 20 || $0.age > 50 || $0.name == "Cid" }, \.age < 20 || \.age > 50 || \.name == "Cid"),
            ("not", all.where { !($0.age < 20 || $0.score > 2) }, !(\.age < 20 || \.score > 2)),
            ("columns of optionals", all.where { $0.bonus != $0.boss.bonus }, Where("bonus != boss.bonus")),
            (
                "columns, one of them optional", all.where { $0.salary > ($0.bonus ?? 1) },
                Where("salary > bonus OR bonus == nil AND salary > 1")
            ),
            ("columns over a path", all.where { $0.boss.age < $0.age }, Where("boss.age < age")),
            ("a path", all.where { $0.boss.name == "Ann" }, \.boss?.name == "Ann"),
            ("not equal over a path", all.where { $0.boss.name != "Ann" }, \.boss?.name != "Ann"),
            ("an optional over a path", all.where { $0.boss.score == nil }, \.boss?.score == nil),
            ("an enum over a path", all.where { $0.boss.job == .engineer }, \.boss?.job == .engineer),
            ("a path in a cycle", all.where { $0.boss.boss.boss.name != "Ann" }, \.boss?.boss?.boss?.name != "Ann"),
            ("a relationship that is nil", all.where { $0.boss == nil }, \.boss == nil),
            ("a relationship over a path", all.where { $0.boss.boss != nil }, \.boss?.boss != nil),
            ("one of", all.where { $0.age.isIn([10, 60, 99]) }, [10, 60, 99] ~= \.age),
            ("one of a set of optionals", all.where { $0.bonus.isIn([Decimal(1)] as Set) }, [Decimal(1)] ~= \.bonus),
            ("one of some cases", all.where { $0.job.isIn([.doctor, .clerk]) }, [.doctor, .clerk] ~= \.job),
            ("one of some cases, optional", all.where { $0.formerJob.isIn([.doctor, .clerk]) }, [.doctor, .clerk] ~= \.formerJob),
            ("one of none", all.where { $0.age.isIn([Int]()) }, Where(false)),
            ("a closed range", all.where { $0.age.isIn(20...40) }, 20...40 ~= \.age),
            ("a half-open range", all.where { $0.age.isIn(20..<40) }, 20..<40 ~= \.age),
            ("ranges with one bound", all.where { $0.age.isIn(20...) && $0.born.isIn(..<date) }, 20... ~= \.age && ..<date ~= \.born),
            ("a range over a path", all.where { $0.boss.age.isIn(...10) }, Where("boss.age <= 10")),
            ("contains", all.where { $0.name.contains("an") }, .contains(\.name, "an")),
            (
                "contains, folded", all.where { $0.name.contains("an", options: .caseInsensitive) },
                .contains(\.name, "an", options: .caseInsensitive)
            ),
            ("begins", all.where { $0.name.beginsWith("A") }, .beginsWith(\.name, "A")),
            ("ends over a path", all.where { $0.boss.name.endsWith("b") }, Where("boss.name ENDSWITH 'b'")),
            ("like", all.where { $0.name.like("?a*") }, .like(\.name, "?a*")),
            ("matches", all.where { $0.name.matches("[A-D].*") }, .matches(\.name, "[A-D].*")),
            (
                "equals, folded", all.where { $0.name.equals("bOB", options: .caseInsensitive) },
                .equals(\.name, "bOB", options: .caseInsensitive)
            ),
            ("any", all.where { $0.friends.any { $0.age > 25 } }, .any(\.friends, \.age > 25)),
            ("all", all.where { $0.friends.all { $0.age > 25 } }, .all(\.friends, \.age > 25)),
            ("none", all.where { $0.friends.none { $0.age > 25 } }, .none(\.friends, \.age > 25)),
            ("a path in any", all.where { $0.friends.any { $0.boss.name == "Ann" } }, .any(\.friends, \.boss?.name == "Ann")),
            ("any over a path", all.where { $0.boss.reports.any { $0.age > 25 } }, Where("ANY boss.reports.age > 25")),
            ("any over a path, negated", all.where { !$0.boss.reports.any { $0.age > 25 } }, Where("NOT ANY boss.reports.age > 25")),
            ("none over a path", all.where { $0.boss.reports.none { $0.age > 25 } }, Where("NONE boss.reports.age > 25")),
            ("all over a path", all.where { $0.boss.reports.all { $0.age > 25 } }, Where("ALL boss.reports.age > 25")),
            ("all over a path, negated", all.where { !$0.boss.reports.all { $0.age > 25 } }, Where("NOT ALL boss.reports.age > 25")),
            ("a condition on null in all", all.where { $0.friends.all { $0.score > 2 } }, Where("ALL friends.score > 2")),
            ("a condition on null in none", all.where { $0.friends.none { $0.score > 2 } }, Where("NONE friends.score > 2")),
            ("any in any", all.where { $0.friends.any { $0.friends.any { $0.age == 30 } } }, .any(\.friends, .any(\.friends, \.age == 30))),
            ("an outer column", all.where { person in person.friends.any { $0.age > person.age } }, Where("ANY friends.age > age")),
            (
                "outer columns and constants",
                all.where { person in
                    let isYoung = person.age < 35
                    person.friends.any {
                        $0.age > 15
                        isYoung || person.age == 50
                        person.isActive || person.name.contains("O", options: .caseInsensitive) || person.score == nil
                            || person.job.isIn([.doctor])
                        !(person.salary < -10) && person.age != person.friends.count
                    }
                },
                Where(
                    "SUBQUERY(friends, $f, $f.age > 15 AND (age < 35 OR age == 50) AND (isActive == YES OR name CONTAINS[c] 'o' OR score == nil OR job IN {'doctor'}) AND NOT salary < -10).@count > 0"
                )
            ),
            (
                "two outer columns",
                all.where { person in
                    person.friends.any { friend in person.reports.any { $0.age > friend.age && $0.age > person.age } }
                }, Where("SUBQUERY(friends, $f, SUBQUERY(reports, $r, $r.age > $f.age AND $r.age > age).@count > 0).@count > 0")
            ),
            ("count", all.where { $0.friends.count > 1 }, \.friends.count > 1),
            ("count of some", all.where { $0.friends.count { $0.age > 15 } == 1 }, .count(\.friends, \.age > 15, .equal, 1)),
            ("count against a column", all.where { $0.errands.count > $0.friends.count }, Where("errands.@count > friends.@count")),
            ("arithmetic", all.where { $0.age * 2 + 1 > 50 && 100 - $0.age > 45 }, Where("age * 2 + 1 > 50 AND 100 - age > 45")),
            ("arithmetic of columns", all.where { $0.age - $0.boss.age == 10 }, Where("age - boss.age == 10")),
            ("arithmetic of an optional", all.where { $0.score * 2 > 5 }, Where("score * 2 > 5")),
            ("division by zero", all.where { 10 / ($0.age - 10) >= 0 }, Where("10 / (age - 10) >= 0")),
            ("remainder", all.where { $0.age % 20 == 10 }, Where("modulus:by:(age, 20) == 10")),
            ("a value for null", all.where { ($0.score ?? -1) < 0 }, Where("score < 0 OR score == nil")),
            ("a value for null over a path", all.where { ($0.boss.score ?? 3) == 3 }, Where("boss.score == nil OR boss.score == 3")),
            ("length", all.where { $0.boss.name.length == 3 }, Where("boss.name.length == 3")),
            ("case", all.where { $0.name.uppercased == "BOB" || $0.name.lowercased == "ann" }, Where("name IN {'Ann', 'Bob'}")),
            ("average", all.where { $0.friends.age.average > 15 }, Where("friends.@avg.age > 15")),
            ("sum", all.where { $0.errands.hours.sum == 0 }, Where("errands.@sum.hours == 0")),
            ("sum over a path", all.where { $0.boss.errands.hours.sum > 2 }, Where("boss.errands.@sum.hours > 2")),
            (
                "least and greatest", all.where { $0.friends.age.maximum < 40 && $0.friends.score.minimum < 2 },
                Where("friends.@max.age < 40 AND friends.@min.score < 2")
            ),
            ("greatest of none", all.where { $0.friends.age.maximum == nil }, Where("friends.@max.age == nil")),
            (
                "an aggregate in any", all.where { $0.friends.any { $0.friends.age.sum > 20 } },
                Where("SUBQUERY(friends, $f, $f.friends.@sum.age > 20).@count > 0")
            ),
            ("a position", all.where { $0.errands[0].title == "plan" }, Where("errands[0].title == 'plan'")),
            (
                "the last position", all.where { $0.errands.last.hours == 1 && $0.errands.first.hours > 2 },
                Where("errands[LAST].hours == 1 AND errands[FIRST].hours > 2")
            ),
            ("empty", all.where { $0.errands.isEmpty }, \.errands.count == 0),
            ("not empty", all.where { !$0.errands.isEmpty }, \.errands.count > 0),
            (
                "several lines",
                all.where {
                    $0.age > 15
                    $0.isActive
                    $0.friends.any { $0.age > 5 }
                }, Where("age > 15 AND isActive == YES AND ANY friends.age > 5")
            ),
            (
                "if",
                all.where {
                    if date > .distantPast { $0.age > 15 } else { $0.age < 15 }
                    if date < .distantPast { $0.age > 100 }
                    for limit in [50, 55] { $0.age < limit }
                }, \.age > 15 && \.age < 50
            ),
            ("two conditions", all.where { $0.age > 15 }.where { $0.age < 35 }, \.age > 15 && \.age < 35),
            ("with another form", all.where { $0.age > 15 }.where("age < 35"), \.age > 15 && \.age < 35),
        ]
    }

    /// Returns the initials of the objects of a fetch, in its order.
    private static func initials(_ context: Context, _ chain: Chain) throws -> String {
        String(try context.fetchAll(chain).compactMap(\.name.first))
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsByColumnsMeanTheSameAsTheOtherForms(_ backend: Backend) throws {
        let staff = try Staff(backend)
        for (name, chain, other) in Self.same {
            do {
                let expected = try staff.initials(other)
                let found = try staff.stack.readAndWait { try Self.initials($0, chain) }
                #expect(String(found.sorted()) == expected, "\(name)")
            } catch {
                Issue.record("\(name): \(error)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsAreCompared(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>()
            let ann = try #require(try context.fetchOne(all.where { $0.name == "Ann" }))
            let nobody: Colleague? = nil
            #expect(try Self.initials(context, all.where { $0.boss == ann }) == "B")
            #expect(try Self.initials(context, all.where { $0.boss == ann.objectID }) == "B")
            #expect(try Self.initials(context, all.where { $0.boss == nobody }) == Self.initials(context, all.where { $0.boss == nil }))
            #expect(try Self.initials(context, all.where { $0.boss != ann }) == Self.initials(context, all.where(\.boss != ann)))
            #expect(try Self.initials(context, all.where { $0.boss.isIn([ann]) }) == "B")
            #expect(try Self.initials(context, all.where { $0.friends.contains(ann) }) == "B")
            #expect(try Self.initials(context, all.where { $0.objectID == ann.objectID }) == "A")
            #expect(try Self.initials(context, all.where { $0.boss.objectID.isIn([ann.objectID]) }) == "B")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func ordersByColumns(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>()
            #expect(try Self.initials(context, all.orderBy { $0.age.descending }) == "JEDCBA")
            #expect(try Self.initials(context, all.orderBy { $0.name }) == "ABCDEJ")
            #expect(
                try Self.initials(context, all.orderBy { ($0.job, $0.age.descending) })
                    == Self.initials(context, all.orderBy(.ascending(\.job), .descending(\.age))))
            #expect(
                try Self.initials(context, all.orderBy { $0.score.ascending(nulls: .last) })
                    == Self.initials(context, all.orderBy(.ascending(\.score, nulls: .last))))
            #expect(
                try Self.initials(context, all.orderBy { $0.formerJob.descending })
                    == Self.initials(context, all.orderBy(.descending(\.formerJob))))
            #expect(
                try Self.initials(context, all.orderBy { ($0.boss.name.descending(options: .caseInsensitive), $0.name) })
                    == Self.initials(context, all.orderBy(.descending(\.boss?.name, options: .caseInsensitive), .ascending(\.name))))
            #expect(
                try Self.initials(context, all.orderBy { ($0.friends.count.descending, $0.age) })
                    == Self.initials(context, all.orderBy(.descending("friends.@count"), .ascending("age"))))
        }
    }

    @Test func whatIsNotStoredIsRefused() throws {
        let staff = try Staff(.memory)
        let all = From<Colleague>()
        for chain in [
            all.where { $0.initial == "A" }, all.where { $0.boss.initial == "A" },
            all.where { $0.age > 1 && $0.friends.any { $0.initial == "A" } },
            all.where { !($0.initial.contains("A")) }, all.orderBy { $0.initial }, all.where { $0.friends.initial.maximum == "A" },
            all.where { $0.initial.length + 1 > 2 }, all.where { $0.friendsOfFriends.count > 1 },
        ] {
            let error = failure { try staff.stack.readAndWait { _ = try $0.fetchAll(chain) } }
            #expect(error?.code == .invalidPredicate)
            // Only the class and the type of a property of an extension are known.
            #expect(error?.message.contains("Colleague.initial") == true || error?.message.contains("Set<Colleague>") == true)
            #expect(error?.message.contains("Colleague") == true && error?.message.contains("0x") == false, "\(error?.message ?? "")")
        }
    }

    @Test func columnsOfAnotherClosureAreRefused() throws {
        let staff = try Staff(.memory)
        let all = From<Colleague>()
        var kept: (colleague: Columns<Colleague>?, errand: Columns<Errand>?)
        _ = all.where { colleague in
            kept.colleague = colleague
            return colleague.errands.any { errand in
                kept.errand = errand
                return errand.hours > 1
            }
        }
        let (colleague, errand) = (try #require(kept.colleague), try #require(kept.errand))
        func error(_ chain: some FetchSource) -> StoreError? { failure { try staff.stack.readAndWait { _ = try $0.fetchCount(chain) } } }
        func code(_ chain: some FetchSource) -> StoreError.Code? { error(chain)?.code }
        for chain in [
            all.where { $0.age > 1 && errand.hours > 1 }, all.where { $0.errands.count > 5 || $0.reports.any { $0.age > errand.hours } },
        ] {
            let message = error(chain)?.message ?? ""
            #expect(error(chain)?.code == .invalidPredicate && message.contains("outside of that closure"), "\(message)")
        }
        #expect(code(From<Errand>().where { _ in colleague.age > 1 }) == .invalidPredicate)
        #expect(code(From<Errand>().where { $0.hours > colleague.age }) == .invalidPredicate)
        #expect(code(From<Errand>().where { $0.owner.friends.any { $0.age > colleague.age } }) == .invalidPredicate)
        // The same class, so the same objects.
        #expect(code(all.where { $0.age > 1 && colleague.age > 1 }) == nil)
        let chain = From<Errand>().orderBy { _ in colleague.age }
        let order = failure { try staff.stack.readAndWait { _ = try $0.fetchAll(chain) } }
        #expect(order?.code == .invalidPredicate)
    }

    /// In a query of values, a name in an order is an alias first; a column and a key path are properties.
    @Test(arguments: Backend.forObjectLayer)
    func aColumnOfAnOrderIsNoAlias(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            func names(_ chain: FetchChain<Colleague>) throws -> [String] {
                try context.queryAttributes(chain, Select("name", SelectTerm("salary", as: "age"))).compactMap { $0["name"]?.string }
            }
            let all = From<Colleague>()
            #expect(try names(all.orderBy { $0.age.descending }) == ["Jan", "Eve", "Dan", "Cid", "Bob", "Ann"])
            #expect(try names(all.orderBy { $0.age.descending }) == names(all.orderBy(.descending(\.age))))
            #expect(try names(all.orderBy(.descending("age"))) == ["Dan", "Jan", "Cid", "Bob", "Ann", "Eve"])
            let groups = try context.queryAttributes(
                all, Select("errands[0].title", .count(as: "all[people]")), GroupBy("errands[0].title"),
                OrderBy(.descending("all[people]"), .descending("errands[0].title")))
            #expect(groups.map { $0["errands[0].title"]?.string } == [nil, "test", "plan"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func columnsOfInheritedProperties(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Vehicles", Vehicle.self, Car.self, Truck.self, Boat.self, Garage.self, Ride.self, Trailer.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction in
            let garage = try transaction.create(Garage.self) { $0.name = "north" }
            for number in 1...3 {
                try transaction.create(Car.self) { ($0.plate, $0.title, $0.doors, $0.garage) = ("c\(number)", "car", number, garage) }
                try transaction.create(Truck.self) { ($0.plate, $0.title, $0.load) = ("t\(number)", "truck", Double(number)) }
                try transaction.create(Boat.self) { ($0.plate, $0.title) = ("b\(number)", "boat") }
            }
        }
        try stack.readAndWait { context throws in
            let vehicles = From<Vehicle>().where { $0.title != "boat" && $0.plate.endsWith("2") }.orderBy { $0.plate }
            #expect(try context.fetchAll(vehicles).map(\.plate) == ["c2", "t2"])
            let trucks = From<Truck>().where { $0.load > 1 && $0.title == "truck" && $0.doors == 4 }.orderBy {
                ($0.mass, $0.load.descending)
            }
            #expect(try context.fetchAll(trucks).map(\.plate) == ["t3", "t2"])
            #expect(try context.fetchCount(From<Car>().where { $0.garage.name == "north" && $0.doors > 1 }) == 2)
            #expect(try context.fetchCount(From<Garage>().where { $0.vehicles.any { $0.plate == "c3" } && $0.vehicles.count == 3 }) == 1)
            let old = Where<Truck>(Where<Vehicle> { $0.plate == "t1" })
            #expect(try context.fetchAll(From<Truck>().where(old)).map(\.load) == [1])
        }
    }

    @Test func equalClosuresMakeEqualConditions() {
        let all = From<Colleague>()
        func chain(_ age: Int) -> FetchChain<Colleague> {
            all.where { $0.age > age && $0.friends.any { $0.boss.age < age } }.orderBy { $0.boss.name.descending(nulls: .last) }
        }
        #expect(chain(10) == chain(10) && chain(10) != chain(11))
        #expect(Where<Colleague> { $0.age > 10 } == Where(\.age > 10))
    }

    @Test func equalClosuresMakeEqualClauses() {
        func chain() -> FetchChain<Colleague> {
            From<Colleague>().where { person in
                person.friends.any { friend in person.reports.any { $0.age > friend.age } } && person.friends.none { $0.age < 3 }
            }.orderBy { $0.friends.count { $0.age > 1 } }
        }
        func keys() -> GroupBy<Colleague> { GroupBy { $0.friends.count { $0.reports.any { $0.age > 2 } } } }
        #expect(chain() == chain())
        #expect(keys() == keys())
        #expect(Where<Colleague> { $0.friends.any { $0.age > 1 } } != Where { $0.friends.any { $0.age > 2 } })
        let text = "\(Where<Colleague> { $0.friends.any { $0.reports.any { $0.age > 1 } } })"
        #expect(text.contains("$related2"), "\(text)")
    }

    /// A closure within a closure of an order refers to the object of its own.
    @Test(arguments: Backend.forObjectLayer)
    func closuresWithinClosuresOfOrders(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>()
            let objects = try context.fetchAll(all)
            func count(_ person: Colleague) -> Int {
                person.friends.count { friend in friend.friends.contains { $0.age > friend.age } }
            }
            let expected = objects.map { (count($0), $0.name) }.sorted { $0 < $1 }.map { $1 }
            let chain = all.orderBy { ($0.friends.count { friend in friend.friends.any { $0.age > friend.age } }, $0.name) }
            #expect(try context.fetchAll(chain).map(\.name) == expected)
        }
    }

    @Test func longAndDeepConditions() throws {
        let staff = try Staff(.memory)
        let all = From<Colleague>()
        let many = all.where { person in for number in 0..<5000 { person.age != number * 10 + 25 } }
        #expect(try staff.stack.readAndWait { try $0.fetchCount(many) } == 6)
        @Sendable func nested(_ depth: Int, _ person: Columns<Colleague>) -> ColumnCondition {
            depth == 0 ? person.age > 0 : person.friends.any { nested(depth - 1, $0) }
        }
        #expect(try staff.stack.readAndWait { try $0.fetchCount(all.where { nested(20, $0) }) } == 5)
        let manyClosures = all.where { person in
            var condition = person.age > 0
            for _ in 0..<100_000 {
                let inner = condition
                condition = person.friends.any { _ in inner }
            }
            return condition
        }
        #expect(failure { try staff.stack.readAndWait { _ = try $0.fetchCount(manyClosures) } }?.code == .invalidPredicate)
        let manySums = all.where { person in
            var sum = person.age
            for _ in 0..<100_000 { sum = sum + 1 }
            return sum > 0
        }
        #expect(failure { try staff.stack.readAndWait { _ = try $0.fetchCount(manySums) } }?.code == .invalidPredicate)
        let error = failure { try staff.stack.readAndWait { _ = try $0.fetchCount(all.where { nested(300, $0) }) } }
        #expect(error?.code == .invalidPredicate)
        @Sendable func negated(_ depth: Int, _ condition: ColumnCondition) -> ColumnCondition {
            var condition = condition
            for _ in 0..<depth { condition = !(condition && condition) }
            return condition
        }
        #expect(
            failure { try staff.stack.readAndWait { _ = try $0.fetchCount(all.where { negated(100_000, $0.boss.age > 1) }) } }?.code
                == .invalidPredicate)
    }
}

extension Colleague {
    /// Not stored.
    var friendsOfFriends: Set<Colleague> { Set(friends.flatMap(\.friends)) }
}
