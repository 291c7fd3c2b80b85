import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct FetchOrCreateTests {
    @Test(arguments: Backend.forObjectLayer)
    func findsExistingObjectsAndCreatesMissingOnes(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        try company.stack.performAndWait { transaction throws in
            let found = try transaction.fetchOrCreate(From<Person>(), Where(\.email == "p1@example.com"))
            #expect(found.objectID == ids[1])
            #expect(!transaction.hasChanges)
            let made = try transaction.fetchOrCreate(
                From<Person>(), Where(\.email == "new@example.com" && \.age == 33 && \.nickname == nil))
            #expect(made.isInserted)
            #expect((made.email, made.age, made.nickname) == ("new@example.com", 33, nil))
            #expect(made.changedKeys == ["email", "age", "nickname"])
            let again = try transaction.fetchOrCreate(From<Person>().where(\.email == "new@example.com").where(\.age == 33))
            #expect(again === made)
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.age == 33)) } == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesDecide(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).age = 77
            #expect(try transaction.fetchOrCreate(From<Person>(), Where(\.age == 77)).objectID == ids[0])
            try transaction.delete(ids[1])
            let made = try transaction.fetchOrCreate(
                From<Person>().where(\.email == "p1@example.com").tweak { $0.includesPendingChanges = false })
            #expect(made.isInserted && made.objectID != ids[1])
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 2)
    }

    /// Conditions of every dialect that assign the same values.
    static let dialects: [(String, @Sendable () -> Where<Person>)] = [
        ("key paths", { Where(\.email == "x" && \.age == 7) }),
        ("a format string", { Where("email == %@ AND %d == age", "x", 7) }),
        ("literals", { Where("email == 'x' AND age == 7.0") }),
        ("keys", { %"email" == "x" && %"age" == 7 }),
        ("a dictionary", { Where(["email": "x", "age": 7]) }),
        ("isEqualTo", { Where("email", isEqualTo: "x").and(["age": 7]) }),
        ("a Foundation predicate", { Where(#Predicate<Person> { $0.email == "x" && $0.age == 7 }) }),
    ]

    @Test(arguments: Backend.forObjectLayer, dialects.map(\.0))
    func everyDialectFills(_ backend: Backend, _ dialect: String) throws {
        let company = try Company(backend)
        let condition = try #require(Self.dialects.first { $0.0 == dialect }).1
        let age = try company.stack.performAndWait { transaction throws in
            let made = try transaction.fetchOrCreate(From<Person>(), condition())
            #expect(made.email == "x")
            return made.age
        }
        #expect(age == 7)
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), condition()) } == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsAreFilledWithBothEnds(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.performAndWait { transaction throws in
            let research = try #require(try transaction.fetchOne(From<Department>(), Where(\.title == "Research")))
            let byObject = try transaction.fetchOrCreate(From<Person>(), Where(\.email == "a" && \.department == research))
            #expect(byObject.department === research)
            #expect(research.people.contains(byObject))
            let byID = try transaction.fetchOrCreate(From<Person>(), Where("email == 'b' AND department == %@", research.objectID))
            #expect(byID.department === research)
            let byKey = try transaction.fetchOrCreate(From<Person>(), %"email" == "c" && %"department" == research)
            #expect(byKey.department === research)
            let none = try transaction.fetchOrCreate(From<Person>(), Where(\.email == "d" && \.department == nil))
            #expect(none.department == nil)
            // A key path assigns no value, but the assigned values satisfy it.
            let path = try transaction.fetchOrCreate(
                From<Person>(), Where(\.email == "e" && \.department == research && \.department?.title == "Research"))
            #expect(path.department === research)
            #expect(research.people.count == 7)
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.department?.title == "Research")) } == 7)
    }

    @Test(arguments: Backend.forObjectLayer)
    func valuesOfEveryTypeAreFilled(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        let (date, code) = (Date(timeIntervalSinceReferenceDate: 12.5), UUID())
        let conditions: [Where<Gadget>] = [
            Where(\.label == "a\0b"), Where(\.kind == .fancy), Where(\.level == -7), Where(\.serial == .max), Where(\.weight == 0.5),
            Where(\.ratio == 0.25), Where(\.price == Decimal(string: "12.34")!), Where(\.isOn == true), Where(\.made == date),
            Where(\.code == code), Where(\.bonus == 3),
        ]
        try gadgets.stack.performAndWait { transaction throws in
            let made = try transaction.fetchOrCreate(From<Gadget>(), conditions.dropFirst().reduce(conditions[0]) { $0 && $1 })
            #expect((made.label, made.kind, made.level, made.serial) == ("a\0b", .fancy, -7, .max))
            #expect((made.weight, made.ratio, made.price, made.isOn) == (0.5, 0.25, Decimal(string: "12.34"), true))
            #expect((made.made, made.code, made.bonus) == (date, code, 3))
            #expect(made.tags == [])
            // Literals of another numeric type.
            let other = try transaction.fetchOrCreate(From<Gadget>(), Where("weight == 3 AND bonus == 4.0 AND serial == 5.0"))
            #expect((other.weight, other.bonus, other.serial) == (3, 4, 5))
        }
        #expect(
            try gadgets.stack.readAndWait { try $0.fetchCount(From<Gadget>(), conditions.dropFirst().reduce(conditions[0]) { $0 && $1 }) }
                == 1)
    }

    /// Conditions that no new object satisfies, with a part of the error's message.
    static let refused: [(Where<Person>, String)] = [
        (Where(\.email == "x" && \.age > 5), "age > 5"),
        (Where("email == 'x' OR age == 5"), "email == \"x\" OR age == 5"),
        (Where(\.email == "x" && !(\.age == 0)), "NOT age == 0"),
        (Where(\.email == "x" && \.department?.title == "Research"), "ONE department"),
        (Where("email ==[c] 'X'"), "email[c] =="),
        (Where(\.age == 1 && \.age == 2), "age == 1"),
        (Where("SELF.department.title == 'x'"), "department"),
        (Where("friends.@count > 0"), "friends"),
        (Where<Person>(false), "FALSEPREDICATE"),
        (Where("age == 1.5"), "age equals nothing that it is compared with"),
        (Where("nickname != nil"), "nickname"),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func aTermThatCannotBeFilledIsNamedAndNothingIsCreated(_ backend: Backend) throws {
        let company = try Company(backend)
        for (condition, name) in Self.refused {
            try company.stack.performAndWait { transaction throws in
                let error = expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Person>(), condition) }
                #expect(error?.message.contains(name) ?? false, "\(error?.message ?? "") should name \(name)")
                #expect(!transaction.hasChanges)
            }
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func termsThatTheDefaultsSatisfyAreNoObstacle(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            let made = try transaction.fetchOrCreate(
                From<Person>(),
                Where("email == 'x' AND age < 5 AND age IN {0, 1} AND nickname == nil AND friends.@count == 0 AND NOT age == 3"),
                OrderBy(.descending(\.age)))
            #expect(made.age == 0)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aValueThatTheTypeCannotHoldIsRefused(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        let conditions: [Where<Gadget>] = [
            Where("level == 300"), Where("kind == 'none'"), Where("tags == 'no JSON'"), Where("serial == -1"),
        ]
        for condition in conditions {
            try gadgets.stack.performAndWait { transaction throws in
                expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Gadget>(), condition) }
                #expect(!transaction.hasChanges)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func ofSeveralStoresOneMustBeNamed(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        try gadgets.stack.performAndWait { transaction throws in
            expectError(.ambiguousStore) { try transaction.fetchOrCreate(From<Gadget>(), Where(\.label == "a")) }
            let made = try transaction.fetchOrCreate(From<Gadget>(), Where(\.label == "a"), into: Into("Store"))
            #expect(made.objectID.configuration == "Store")
            #expect(try transaction.fetchOrCreate(From<Gadget>(), Where(\.label == "a"), into: Into("Shop")) === made)
            #expect(try transaction.fetchOrCreate(From<Gadget>("Shop"), Where(\.label == "a")).objectID.configuration == "Shop")
            expectError(.misuse) { try transaction.fetchOrCreate(From<Gadget>("Shop"), Where(\.label == "b"), into: Into("Store")) }
            expectError(.storeNotFound) { try transaction.fetchOrCreate(From<Gadget>(), Where(\.label == "c"), into: Into("None")) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aLimitOrAnOffsetIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Person>(), Where(\.age == 1), Tweak { $0.offset = 1 }) }
            expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Person>().limit(0)) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUnassignedRequiredAttributeStillRefusesTheCommit(_ backend: Backend) throws {
        let company = try Company(backend)
        let error = expectError(.constraint) {
            try company.stack.performAndWait { _ = try $0.fetchOrCreate(From<Person>(), Where(\.age == 7)) }
        }
        #expect(error?.attribute == "email")
    }
}
