import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct BatchUpdateTests {
    @Test(arguments: Backend.forObjectLayer)
    func updatesMatchingObjectsAndReturnsTheirNumber(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(6)
        let count = try company.stack.performAndWait { transaction throws in
            try transaction.batchUpdate(From<Person>().where(\.age >= 30)) {
                $0.set(\.nickname, to: "old")
                $0.increment(\.age, by: 1)
            }
        }
        #expect(count == 3)
        let people = try company.stack.readAndWait {
            try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map { "\($0.age) \($0.nickname ?? "-")" }
        }
        #expect(people == ["0 -", "10 -", "20 -", "31 old", "41 old", "51 old"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func stepsAreTakenInOrder(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(2)
        try company.stack.performAndWait { transaction throws in
            try transaction.batchUpdate(From<Person>()) {
                $0.set(\.age, to: 5)
                $0.increment(\.age, by: 2)
                $0.update(\.age) { $0 * 10 }
                $0.set(\.nickname, to: "n")
                $0.update(\.nickname) { $0.map { $0 + "!" } }
                $0.set("email", to: "overwritten")
                $0.update(\.email) { "\($0)\($0.utf8.count)" }
                $0.set(\.email, to: \.email)
            }
            #expect(try transaction.fetchAll(From<Person>()).map(\.age) == [70, 70])
            // Two objects have the same value of a unique attribute here; the commit would refuse that.
            try transaction.batchUpdate(From<Person>(), Where(\.nickname == "n!"), OrderBy(.ascending(\.age)), Tweak { $0.limit = 1 }) {
                $0.set(\.email, to: "other")
            }
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email).sorted() } == ["other", "overwritten11"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesAreSeenAndFetchesSeeTheUpdate(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(4)
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).age = 100
            try transaction.delete(ids[3])
            let new = try transaction.create(Into<Person>())
            new.email = "new"
            new.age = 50
            #expect(try transaction.batchUpdate(From<Person>(), Where(\.age >= 20)) { $0.set(\.nickname, to: "x") } == 3)
            #expect(new.nickname == "x")
            #expect(
                try transaction.fetchAll(From<Person>().where(\.nickname == "x").orderBy(.ascending(\.age))).map(\.age) == [20, 50, 100])
            #expect(transaction.updatedObjectIDs(Person.self) == [ids[0], ids[2]])
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.nickname == "x")) } == 3)
    }

    /// The condition is on the updated attribute: an object that matches only because of the update is not updated again.
    @Test(arguments: Backend.forObjectLayer)
    func matchesAreDeterminedBeforeTheUpdate(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(2000)
        let count = try company.stack.performAndWait { transaction throws in
            try transaction.batchUpdate(From<Person>().where(\.age < 10_000).orderBy(.ascending(\.age))) { $0.increment(\.age, by: 5000) }
        }
        #expect(count == 1000)
        let sum = try company.stack.readAndWait { try $0.queryValue(From<Person>(), .sum(\.age)) }
        #expect(sum == (0..<2000).reduce(0) { $0 + $1 * 10 } + 1000 * 5000)
    }

    @Test(arguments: Backend.forObjectLayer)
    func unchangedValuesAreNotWritten(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(3)
        try company.stack.performAndWait { transaction throws in
            #expect(try transaction.batchUpdate(From<Person>()) { $0.set(\.age, to: 10) } == 3)
            #expect(transaction.updatedObjects(Person.self).count == 2)
            #expect(try transaction.batchUpdate(From<Person>()) { $0.set(\.nickname, to: nil) } == 3)
            #expect(transaction.updatedObjects(Person.self).count == 2)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func valuesOfEveryTypeCanBeSet(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        let (date, code) = (Date(timeIntervalSinceReferenceDate: 12.5), UUID())
        try gadgets.stack.performAndWait { transaction throws in
            let part = try transaction.create(Into<Gadget>())
            part.label = "part"
            try transaction.create(Into<Gadget>()).bonus = 1
        }
        try gadgets.stack.performAndWait { transaction throws in
            let part = try #require(try transaction.fetchObjectID(From<Gadget>(), Where(\.label == "part")))
            let count = try transaction.batchUpdate(From<Gadget>(), Where(\.bonus == 1)) {
                $0.set(\.label, to: "z")
                $0.set(\.kind, to: .fancy)
                $0.set(\.level, to: 5)
                $0.increment(\.level, by: -10)
                $0.set(\.serial, to: .max)
                $0.set(\.weight, to: 1.5)
                $0.increment(\.weight, by: 1)
                $0.set(\.ratio, to: 0.25)
                $0.set("price", to: Decimal(string: "1.10"))
                $0.increment(\.price, by: Decimal(string: "0.05")!)
                $0.set(\.isOn, to: true)
                $0.set(\.made, to: date)
                $0.set(\.code, to: code)
                $0.set(\.tags, to: ["a", "b"])
                $0.increment(\.bonus, by: 1)
                $0.set(\.part, to: part)
            }
            #expect(count == 1)
        }
        try gadgets.stack.readAndWait { context throws in
            let found = try #require(try context.fetchOne(From<Gadget>(), Where(\.label == "z")))
            #expect((found.kind, found.level, found.serial, found.weight, found.ratio) == (.fancy, -5, .max, 2.5, 0.25))
            #expect((found.price, found.isOn, found.made, found.code) == (Decimal(string: "1.15"), true, date, code))
            #expect((found.tags, found.bonus, found.part?.label) == (["a", "b"], 2, "part"))
        }
        try gadgets.stack.performAndWait { transaction throws in
            try transaction.batchUpdate(From<Gadget>(), Where(\.label == "z")) {
                $0.set(\.made, to: nil)
                $0.increment(\.bonus, by: 1)
                $0.set("part", to: nil)
                $0.set("weight", to: 7)
            }
            try transaction.batchUpdate(From<Gadget>(), Where(\.label == "part")) { $0.increment(\.bonus, by: 1) }
        }
        try gadgets.stack.readAndWait { context throws in
            let found = try #require(try context.fetchOne(From<Gadget>(), Where(\.label == "z")))
            #expect(found.made == nil && found.bonus == 3 && found.part == nil && found.weight == 7)
            #expect(try context.fetchOne(From<Gadget>(), Where(\.label == "part"))?.bonus == nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsKeepBothEnds(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.performAndWait { transaction throws in
            let departments = try transaction.fetchAll(From<Department>().orderBy(.ascending(\.title)))
            let research = departments[0]
            let sales = departments[1]
            let count = try transaction.batchUpdate(From<Person>(), Where(\.department == research)) { $0.set(\.department, to: sales) }
            #expect(count == 3)
            #expect(research.people.isEmpty)
            #expect(sales.people.count == 4)
            #expect(transaction.updatedObjects(Department.self).count == 2)
            try transaction.batchUpdate(From<Person>(), Where(\.age == 0)) { $0.set(\.department, to: nil) }
            #expect(sales.people.count == 3)
            try transaction.delete(research)  // denied while the department has people
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Department>()).map(\.people.count) } == [3])
    }

    @Test(arguments: Backend.forObjectLayer)
    func rulesHoldAsForSingleChanges(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)  // logs a warning about the deleted object
        let ids = try company.people(3)
        let error = expectError(.constraint) {
            try company.stack.performAndWait { _ = try $0.batchUpdate(From<Person>()) { $0.set(\.email, to: "same") } }
        }
        #expect(error?.attribute == "email")
        // Swapped unique values conflict only if the final values do.
        let gadgets = try Gadgets(backend)
        let codes = (0..<4).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0))) }
        try gadgets.stack.performAndWait { transaction throws in
            for code in codes.dropLast() { try transaction.create(Into<Gadget>()).code = code }
        }
        try gadgets.stack.performAndWait { transaction throws in
            try transaction.batchUpdate(From<Gadget>()) {
                $0.update(\.code) { code in codes[Int(code.map { $0.uuid.15 } ?? 0) + 1] }
            }
        }
        #expect(try gadgets.stack.readAndWait { Set(try $0.fetchAll(From<Gadget>()).compactMap(\.code)) } == Set(codes.dropFirst()))
        // A relationship to a deleted object is refused.
        try company.stack.performAndWait { try $0.delete(ids[2]) }
        expectError(.constraint) {
            try company.stack.performAndWait { transaction throws in
                _ = try transaction.batchUpdate(From<Person>(), Where(\.age == 0)) { $0.set(\.spouse, to: ids[2]) }
            }
        }
        expectError(.notFound) {
            try company.stack.performAndWait { transaction throws in
                try transaction.delete(ids[1])
                _ = try transaction.batchUpdate(From<Person>(), Where(\.age == 0)) { $0.set(\.spouse, to: ids[1]) }
            }
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email) } == ["p0@example.com", "p1@example.com"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func valuesThatCannotBeSetAreRefused(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        try gadgets.stack.performAndWait { try $0.create(Into<Gadget>()).level = 100 }
        let refused: [(StoreError.Code, String, @Sendable (inout BatchChanges<Gadget>) throws -> Void)] = [
            (.invalidValue, "level", { $0.increment(\.level, by: 100) }),
            (
                .invalidValue, "serial",
                {
                    $0.increment(\.serial, by: .max)
                    $0.increment(\.serial, by: 1)
                }
            ),
            (.invalidPredicate, "nothing", { $0.set("nothing", to: 1) }),
            (.invalidPredicate, "label", { $0.set("label", to: 1) }),
            (.invalidPredicate, "label", { $0.set("label", to: ["a", "b"]) }),
            (.invalidPredicate, "Gadget", { $0.set(\.part?.label, to: "x") }),
            (.invalidValue, "kind", { $0.set("kind", to: "none") }),
        ]
        for (code, name, changes) in refused {
            let error = expectError(code) { try gadgets.stack.performAndWait { try $0.batchUpdate(From<Gadget>(), set: changes) } }
            #expect(error?.message.contains(name) ?? false, "\(error?.message ?? "") should name \(name)")
        }
        #expect(try gadgets.stack.readAndWait { try $0.fetchAll(From<Gadget>()).map(\.level) } == [100])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func theViewFollows(_ backend: Backend) async throws {
        let company = try Company(backend)
        try company.people(5)
        let people = try company.stack.view.fetchAll(From<Person>().orderBy(.ascending(\.age)))
        try await company.stack.perform { _ = try $0.batchUpdate(From<Person>(), Where(\.age > 20)) { $0.set(\.age, to: 0) } }
        #expect(people.map(\.age) == [0, 10, 20, 0, 0])
    }

    @Test(arguments: Backend.forObjectLayer)
    func severalStoresAreUpdatedTogether(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend, configurations: ["Shop", "Store"])
        try gadgets.stack.performAndWait { transaction throws in
            for name in ["Shop", "Store"] { for level in 0..<3 as Range<Int8> { try transaction.create(Into<Gadget>(name)).level = level } }
        }
        try gadgets.stack.performAndWait { transaction throws in
            #expect(try transaction.batchUpdate(From<Gadget>(), Where(\.level > 0)) { $0.increment(\.level, by: 10) } == 4)
            #expect(try transaction.batchUpdate(From<Gadget>("Shop")) { $0.set(\.label, to: "s") } == 3)
            #expect(
                try transaction.batchUpdate(From<Gadget>(), OrderBy(.descending(\.level)), Tweak { $0.limit = 1 }) {
                    $0.set(\.label, to: "top")
                } == 1)
        }
        let labels = try gadgets.stack.readAndWait {
            try $0.fetchAll(From<Gadget>().orderBy(.ascending(\.level), .ascending(\.label))).map { "\($0.level)\($0.label)" }
        }
        #expect(labels == ["0", "0s", "11", "11s", "12", "12top"])
    }
}
