import Foundation
import PolyStore
import TestSupport
import Testing

/// CoreStore's README, "Observing changes and notifications".
@MainActor @Suite struct CoreStoreMonitorTests {
    /// The view controller of the reference's documentation. Records each notification as a line.
    @MainActor
    private final class ViewController: @preconcurrency ListSectionObserver, @preconcurrency ObjectObserver {
        typealias ListEntity = MyPerson
        typealias ObjectEntity = MyPerson

        var events: [String] = []

        func objectMonitor(_ monitor: ObjectMonitor<MyPerson>, willUpdateObject object: MyPerson) {
            events.append("will update \(object.age)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<MyPerson>, didUpdateObject object: MyPerson, changedKeys: Set<String>) {
            events.append("did update \(object.age) \(changedKeys.sorted())")
        }
        func objectMonitor(_ monitor: ObjectMonitor<MyPerson>, didDeleteObject object: MyPerson) {
            events.append("did delete, object is \(monitor.object == nil ? "nil" : "there")")
        }

        func listMonitorWillChange(_ monitor: ListMonitor<MyPerson>) { events.append("will change") }
        func listMonitorDidChange(_ monitor: ListMonitor<MyPerson>) { events.append("did change") }
        func listMonitor(_ monitor: ListMonitor<MyPerson>, didInsertObject object: MyPerson, toIndexPath indexPath: IndexPath) {
            events.append("insert \(object.name) \(Array(indexPath))")
        }
        func listMonitor(_ monitor: ListMonitor<MyPerson>, didDeleteObject object: MyPerson, fromIndexPath indexPath: IndexPath) {
            events.append("delete \(Array(indexPath))")
        }
        func listMonitor(_ monitor: ListMonitor<MyPerson>, didUpdateObject object: MyPerson, atIndexPath indexPath: IndexPath) {
            events.append("update \(object.name) \(Array(indexPath))")
        }
        func listMonitor(
            _ monitor: ListMonitor<MyPerson>, didMoveObject object: MyPerson, fromIndexPath: IndexPath, toIndexPath: IndexPath
        ) {
            events.append("move \(object.name) \(Array(fromIndexPath)) \(Array(toIndexPath))")
        }
        func listMonitor(_ monitor: ListMonitor<MyPerson>, didInsertSection section: ListSection, toSectionIndex index: Int) {
            events.append("insert section \(section.name) \(index)")
        }
        func listMonitor(_ monitor: ListMonitor<MyPerson>, didDeleteSection section: ListSection, fromSectionIndex index: Int) {
            events.append("delete section \(section.name) \(index)")
        }

        func take() -> [String] {
            defer { events = [] }
            return events
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSingleObjectIsObserved(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let person = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")))
        let controller = ViewController()
        let monitor = try stack.view.monitorObject(person)
        monitor.addObserver(controller)
        #expect(monitor.object === person)
        try await stack.perform(editing: person) { _, jane in (jane.age, jane.location) = (23, "Kyoto") }
        #expect(controller.take() == ["will update 22", "did update 23 [\"age\", \"location\"]"])
        // Another screen shares the monitor. The monitor does not retain its observers.
        var other: ViewController? = ViewController()
        other.map { monitor.addObserver($0) }
        other = nil
        monitor.removeObserver(controller)
        try await stack.perform(editing: person) { _, jane in jane.age = 24 }
        #expect(controller.take().isEmpty)
        monitor.addObserver(controller)
        let id = person.objectID
        try await stack.perform { transaction in try transaction.delete([id]) }
        #expect(controller.take() == ["did delete, object is nil"])
        #expect(monitor.isObjectDeleted)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aListIsObserved(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let controller = ViewController()
        let monitor = try stack.view.monitorList(
            From<MyPerson>(), Where("age > 30"), OrderBy(.ascending("name"), .ascending("age")), Tweak { $0.includesPropertyValues = true })
        monitor.addObserver(controller)
        #expect(monitor.map(\.age) == [42, 35])
        let firstPerson = monitor[0]
        #expect(firstPerson.name == "Monk")
        try await stack.perform { transaction in
            let person = try transaction.create(Into<MyPerson>())
            (person.name, person.age) = ("Abel", 50)
        }
        #expect(controller.take() == ["will change", "insert Abel [0, 0]", "did change"])
        try await stack.perform(editing: firstPerson) { _, monk in monk.surname = "A." }
        #expect(controller.take() == ["will change", "update Monk [0, 1]", "did change"])
        try await stack.perform(editing: firstPerson) { _, monk in (monk.name, monk.surname) = ("Zorro", "Z") }
        #expect(controller.take() == ["will change", "move Zorro [0, 1] [0, 2]", "did change"])
        try await stack.perform(editing: firstPerson) { _, monk in monk.age = 3 }
        #expect(controller.take() == ["will change", "delete [0, 2]", "did change"])
        try await stack.perform { transaction in
            _ = try transaction.deleteAll(From<MyPerson>(), Where(\.age == 16))
        }
        #expect(controller.take().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSectionedListIsObserved(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let controller = ViewController()
        let monitor = try stack.view.monitorSectionedList(
            From<MyPerson>(), SectionBy("gender"), Where("location == %@", "Taipei"), OrderBy(.ascending("gender"), .ascending("age")))
        monitor.addObserver(controller)
        #expect(monitor.sections.map(\.name) == ["F", "M"] && monitor.sections.map(\.count) == [1, 3])
        let indexPath = IndexPath(indexes: [1, 2])
        #expect(monitor[indexPath] === monitor[1, 2] && monitor[1, 2].age == 42)
        #expect(monitor[safe: 1, 3] == nil && monitor[safe: IndexPath(indexes: [2, 0])] == nil)
        try await stack.perform { transaction in
            guard let jane = try transaction.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")) else { return }
            (jane.gender, jane.age) = ("N", 23)
        }
        #expect(
            controller.take() == ["will change", "insert section N 1", "move Jane Doe [0, 0] [1, 0]", "delete section F 0", "did change"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSectionNameIsMadeByAClosure(_ backend: Backend) throws {
        let people = try People(backend)
        let monitor = try people.stack.view.monitorSectionedList(
            From<MyPerson>(), SectionBy(\.age) { "\($0) years old" }, OrderBy(.ascending(\.age), .ascending(\.name)))
        let titles = (0..<monitor.numberOfSections).map { monitor.sections[$0].name }
        #expect(titles == [16, 17, 22, 30, 35, 42].map { "\($0) years old" })
    }

    /// cygy's CoreDataStack: fetched results are fetched again after the default context was refreshed.
    @Test(arguments: Backend.forObjectLayer)
    func aContextThatIsRefreshedByHandBringsItsListUpToDate(_ backend: Backend) async throws {
        let people = try People(backend)
        let view = people.stack.newView(.manual)
        let results = try view.monitorList(From<MyPerson>(), OrderBy(.ascending(\.age)))
        try await people.stack.perform { transaction in try transaction.create(Into<MyPerson>()).age = 1 }
        #expect(results.count == 6)
        try view.refresh()
        #expect(results.count == 7 && results[0].age == 1)
    }
}
