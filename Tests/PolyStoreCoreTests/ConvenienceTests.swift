import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Convenience API: creation with values, optional objects, multiple objects, completions, descriptions, ids and snapshots as JSON.
@Suite struct ConvenienceTests {
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func objectsAreCreatedEditedAndDeletedInOneLine(_ backend: Backend) async throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        struct Refused: Error {}
        try stack.performAndWait { transaction throws in
            let made = try transaction.create(Into<Person>()) { ($0.email, $0.age) = ("new", 99) }
            #expect(made.age == 99)
            #expect(try transaction.create(Department.self) { $0.title = "x" }.title == "x")
            #expect(throws: Refused.self) { try transaction.create(Person.self) { _ in throw Refused() } }
            #expect(try transaction.fetchCount(From<Person>()) == 7)
            let none = try transaction.fetchOne(From<Person>(), Where(\.age == 12345))
            try transaction.delete(none)
            #expect(try transaction.edit(none) == nil)
            try transaction.delete(try transaction.fetchOne(From<Person>(), Where(\.age == 50)))
            #expect(try transaction.deleteAll(Person.self, Where(\.age == 40)) == 1)
            #expect(try transaction.deleteAll(From<Person>(), [Where(\.age == 30)]) == 1)
        }
        #expect(try stack.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) == [0, 10, 20, 99])
        let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.age)))
        try await stack.perform(editing: people[0], people[1]) { _, first, second in (first.spouse, second.age) = (second, 11) }
        #expect(people[0].spouse === people[1] && people[1].age == 11)
        let research = try #require(try stack.fetchOne(Department.self, Where(\.title == "Research")))
        try await stack.perform(editing: people[3], research, people[2]) { _, new, department, other in
            new.department = department
            other.department = nil
        }
        #expect(people[3].department === research && people[2].department == nil)
        let sum = try await stack.perform(editing: people) { _, people in
            for person in people { person.age += 1 }
            return people.reduce(0) { $0 + $1.age }
        }
        #expect(sum == 1 + 12 + 21 + 100)
        #expect(people.map(\.age) == [1, 12, 21, 100])
        let gone = people[1].objectID
        try stack.performAndWait { try $0.delete(gone) }
        await #expect(throws: StoreError.self) { try await stack.perform(editing: people) { _, _ in } }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func severalObjectsAreEditedOnTheCallersThread(_ backend: Backend) throws {
        let company = try Company(backend)
        let stack = company.stack
        let ids = try company.people(3)
        let people = try ids.map { try #require(try stack.fetchExisting($0)) }
        let research = try stack.performAndWait { try $0.create(Department.self) { $0.title = "Research" }.objectID }
        let department = try #require(try stack.fetchExisting(research))
        try stack.performAndWait(editing: people[2], department, people[0]) { _, last, department, first in
            (last.department, first.spouse) = (department, last)
        }
        #expect(people[2].department === department && people[0].spouse === people[2])
        let names = try stack.performAndWait(editing: people, sourceIdentifier: "editor") { transaction, people in
            #expect(transaction.sourceIdentifier as? String == "editor")
            for person in people { person.age = 7 }
            return people.map(\.objectID)
        }
        #expect(names == ids && people.map(\.age) == [7, 7, 7])
        #expect(try stack.performAndWait(editing: ids.reversed()) { _, people in people.map(\.objectID) } == ids.reversed())
        try stack.performAndWait { try $0.delete(ids[1]) }
        #expect(throws: StoreError.self) { try stack.performAndWait(editing: ids) { _, _ in } }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func completionsComeOnTheMainActorInOrder(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        struct Refused: Error {}
        let results = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
            let seen = Kept()
            stack.perform(asynchronous: { try $0.createPerson(1).age }, completion: { seen.add("\((try? $0.get()) ?? -1)") })
            stack.perform(asynchronous: { _ -> Int in throw Refused() }, success: { _ in seen.add("no") }, failure: { seen.add("\($0)") })
            stack.perform(
                asynchronous: { try $0.createPerson(2).age },
                success: { age in
                    seen.add("\(age) of \((try? stack.fetchCount(From<Person>())) ?? -1)")
                    continuation.resume(returning: seen.all)
                }, failure: { _ in })
        }
        #expect(results == ["1", "Refused()", "2 of 2"])
    }

    @MainActor private final class Kept {
        var all: [String] = []
        func add(_ text: String) { all.append(text) }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func stepsAndChildrenNeedNoAwait(_ backend: Backend) async throws {
        let company = try Company(backend)
        let steps = company.stack.beginTransaction()
        steps.performLater { _ = try $0.createPerson(1) }
        try await steps.commit()
        #expect(try company.stack.fetchCount(From<Person>()) == 1)
        let draft = company.stack.beginUnsafe()
        let child = draft.beginUnsafe()
        _ = try child.createPerson(2)
        #expect(try child.commitAndWait())
        #expect(try draft.commitAndWait())
        #expect(try company.stack.fetchCount(From<Person>()) == 2)
        steps.performLater { _ = try $0.createPerson(3) }
        try company.stack.saveAllAndWait()
        #expect(try company.stack.fetchCount(From<Person>()) == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func objectsAndStacksDescribeThemselves(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { people in people[1].nickname = String(repeating: "x", count: 100) }
        let view = company.stack.view
        let person = try #require(try view.fetchOne(Person.self, Where(\.age == 10)))
        let text = "\(person)"
        #expect(text.hasPrefix("Person \(person.objectID.rowID) ("), "\(text)")
        #expect(text.contains("email: \"p1@example.com\"") && text.contains("age: 10") && text.contains("department: Dept"), "\(text)")
        #expect(text.contains("xxx…\"") && text.contains("spouse: nil"), "\(text)")
        #expect(String(reflecting: person) == text)
        #expect(Mirror(reflecting: person).children.contains { $0.label == "age" && "\($0.value)" == "10" })
        let faults = try company.stack.newView().fetchAll(From<Person>().tweak { $0.includesPropertyValues = false })
        #expect("\(faults[0])" == "\(faults[0].objectID) (fault)")
        #expect(faults[0].isFault)
        #expect("\(company.stack)".contains(company.stack.stores[0].url), "\(company.stack)")
        #expect(String(keyPath: \Person.age) == "age")
        #expect(String(keyPath: \Person.computed) == nil)
        let id = person.objectID
        try company.stack.performAndWait { transaction throws in
            let deleted = try transaction.edit(id)
            try transaction.delete(deleted)
            #expect("\(deleted)".contains("deleted"))
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func idsAndSnapshotsTravelAsJSON(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        let decoder = JSONDecoder()
        decoder.userInfo[.dataStack] = stack
        let person = try #require(try stack.fetchOne(Person.self, Where(\.age == 20)))
        let ids = try decoder.decode([ObjectID<Person>].self, from: JSONEncoder().encode([person.objectID]))
        #expect(ids == [person.objectID])
        let snapshot = try person.snapshot()
        let data = try JSONEncoder().encode(snapshot)
        let sorted = JSONEncoder()
        sorted.outputFormatting = .sortedKeys
        #expect(try sorted.encode(person) == sorted.encode(snapshot))
        try company.stack.performAndWait { transaction throws in
            let edited = try #require(try transaction.fetchOne(Person.self, Where(\.age == 20)))
            edited.nickname = "unsaved"
            #expect(String(decoding: try sorted.encode([edited]), as: UTF8.self).contains(#""nickname":"unsaved""#))
            edited.nickname = nil
        }
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["age"] as? Int == 20 && object["email"] as? String == "p2@example.com" && object["nickname"] is NSNull, "\(object)")
        #expect(object["objectID"] as? String == person.objectID.uri)
        #expect(object["department"] as? String == person.department?.objectID.uri)
        let read = try decoder.decode(ObjectSnapshot<Person>.self, from: data)
        #expect(read == snapshot)
        #expect(read.age == 20 && read.department == person.department?.objectID)
        let department = try #require(person.department).snapshot()
        let money = try decoder.decode(ObjectSnapshot<Department>.self, from: JSONEncoder().encode(department))
        #expect(money == department && money.budget == 100)
        // A snapshot decoded from some of its values.
        let part = try decoder.decode(ObjectSnapshot<Person>.self, from: Data(#"{"objectID": "\#(person.objectID.uri)", "age": 5}"#.utf8))
        #expect(part.age == 5)
        #expect(part != snapshot)
        #expect(throws: DecodingError.self) {
            try decoder.decode(ObjectID<Department>.self, from: JSONEncoder().encode(person.objectID))
        }
        #expect(throws: DecodingError.self) { try decoder.decode(ObjectSnapshot<Person>.self, from: Data(#"{"age": 5}"#.utf8)) }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func snapshotsAreFetchedWithoutObjects(_ backend: Backend) async throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        let chain = From<Person>().where(\.age > 10).orderBy(.descending(\.age))
        let snapshots = try await stack.read { try $0.fetchSnapshots(chain) }
        #expect(snapshots.map(\.age) == [50, 40, 30, 20])
        #expect(try snapshots == stack.fetchAll(chain).map { try $0.snapshot() })
        #expect(try stack.fetchSnapshots(Person.self, Where(\.age == 30), content: .attributes(\.email)).map(\.email) == ["p3@example.com"])
        #expect(try stack.fetchSnapshots(From<Person>(), Where(\.age == 30), content: .ids).map(\.id) == [snapshots[2].id])
        expectError(.invalidPredicate) { try stack.fetchSnapshots(Person.self, content: .attributes(\.computed)) }
        // Pending changes of the transaction are included, as in its other fetches.
        let pending = try stack.performAndWait { transaction throws in
            _ = try transaction.createPerson(60)
            try transaction.deleteAll(Person.self, Where(\.age == 40))
            let found = try transaction.fetchSnapshots(chain).map(\.age)
            try transaction.edit(snapshots[0].id).age = 70
            return try found + transaction.fetchSnapshots(chain).map(\.age)
        }
        #expect(pending == [60, 50, 30, 20, 70, 60, 30, 20])
    }

    @Test func snapshotsOfSeveralStoresAndOfHierarchiesAreFetched() throws {
        let gadgets = try Gadgets(.memory, configurations: ["Shop", "Store"])
        try gadgets.stack.performAndWait { transaction throws in
            try transaction.create(Into<Gadget>("Shop")) { $0.label = "b" }
            try transaction.create(Into<Gadget>("Store")) { $0.label = "a" }
        }
        #expect(
            try gadgets.stack.readAndWait { try $0.fetchSnapshots(From<Gadget>().orderBy(.ascending(\.label))) }.map(\.label) == ["a", "b"])
        let parties = try Parties(.memory)
        let names = try parties.read { try $0.fetchSnapshots(From<Human>().orderBy(.ascending(\.name))).map(\.name) }
        #expect(names == ["Ann", "Bob", "Cy"])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func observedChangesAreSentToAnotherTask(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let person = try #require(try company.stack.fetchExisting(id))
        let (changes, continuation) = AsyncStream.makeStream(of: ObservedChange<Int>.self)
        let observation = try person.observe(\.age) { _, change in continuation.yield(change) }
        try await company.stack.perform(editing: person) { _, person in person.age = 5 }
        try await company.stack.perform(editing: person) { _, person in person.age = 6 }
        observation.cancel()
        continuation.finish()
        let ages = await Task.detached {
            var ages: [Int] = []
            for await change in changes { ages += [change.oldValue ?? -1, change.newValue] }
            return ages
        }.value
        #expect(ages == [0, 5, 5, 6])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func aPropertyIsObserved(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let person = try #require(try company.stack.fetchExisting(id))
        var seen: [String] = []
        let observation = try person.observe(\.age) { person, change in seen.append("\(change.oldValue ?? -1) to \(change.newValue)") }
        try await company.stack.perform(editing: person) { _, person in person.age = 5 }
        try await company.stack.perform(editing: person) { _, person in person.nickname = "x" }
        try await company.stack.perform(editing: person) { _, person in person.age = 6 }
        #expect(seen == ["0 to 5", "5 to 6"])
        observation.cancel()
        try await company.stack.perform(editing: person) { _, person in person.age = 7 }
        #expect(seen.count == 2)
        expectError(.misuse) { try person.observe(\.computed) { _, _ in } }
        #expect(person.fetchSource() === company.stack.view)
        let sectioned = try company.stack.monitorList(From<Person>().sectionBy(\.age) { "\($0) years" }.orderBy(.ascending(\.age)))
        #expect(sectioned.sections.map(\.name) == ["7 years"])
        #expect(try company.stack.publishList(From<Person>().orderBy(.ascending(\.age))).snapshot.objectIDs == [id])
    }

    @Test func errorsAreFoundationErrorsToo() {
        let error = StoreError(.notFound, "The object is gone.", entity: "Person", location: "sqlite:x")
        #expect((error as any Error).localizedDescription == "The object is gone.")
        #expect((error as NSError).domain == "PolyStore" && (error as NSError).code == 3)
        #expect((error as NSError).userInfo["entity"] as? String == "Person")
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func theStackReturnsThePlansOfAFetch(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(3)
        let plans = try company.stack.plans(Person.self, Where<Person>(\.age > 5))
        #expect(plans.map(\.rowsReturned) == [2])
        #expect(try company.stack.plans(From<Person>().where(\.age > 5)).count == 1)
        #expect(try company.stack.view.plans(From<Person>(), Where<Person>(\.age > 5)).map(\.entity) == ["Person"])
    }
}
