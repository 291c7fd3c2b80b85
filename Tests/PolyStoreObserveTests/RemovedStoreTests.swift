import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Lists and observed objects of a store that is removed from the stack, and added again.
@Suite struct RemovedStoreTests {
    private static let schema = {
        let models: [any Model.Type] = [Animal.self, Dog.self, Owner.self]
        return Schema("Monitors", models, configurations: ["First": models, "Second": models])
    }()

    /// A stack with two stores of the same classes. `a`, `b` and `c` are in the first one; `d` is in the second one.
    private final class Zoo: Sendable {
        let folder: Folder
        let stack: DataStack
        let logger = RecordingLogger()
        let backend: Backend
        let owner: ObjectID<Owner>
        let animals: [ObjectID<Animal>]

        init(_ backend: Backend) throws {
            self.backend = backend
            folder = try Folder()
            stack = try DataStack(RemovedStoreTests.schema, logger: logger)
            try stack.addStore(backend.store(in: folder, "first"), configuration: "First")
            try stack.addStore(backend.store(in: folder, "second"), configuration: "Second")
            (owner, animals) = try stack.performAndWait { transaction throws in
                let owner = try transaction.create(Into<Owner>("First")) { $0.title = "Jane" }
                var made: [Animal] = []
                for (age, name) in ["a", "b", "c"].enumerated() {
                    made.append(try transaction.create(Into<Animal>("First")) { ($0.name, $0.age, $0.owner) = (name, age, owner) })
                }
                made.append(try transaction.create(Into<Animal>("Second")) { ($0.name, $0.age) = ("d", 3) })
                return (owner.objectID, made.map(\.objectID))
            }
        }

        private func store(_ name: String) throws -> PersistentStore {
            try #require(stack.stores.first { $0.configurationName == name })
        }

        func removeFirst() async throws { try await stack.removeStore(store("First")) }
        func removeSecond() async throws { try await stack.removeStore(store("Second")) }

        /// Adds the first store again. A store in memory is then empty, so it gets one animal, `a`.
        func addFirst() async throws {
            try stack.addStore(backend.store(in: folder, "first"), configuration: "First")
            try await stack.perform { [backend] transaction in
                if backend == .memory {
                    try transaction.create(Into<Animal>("First")) { ($0.name, $0.age) = ("a", 20) }
                } else {
                    try transaction.edit(self.animals[0])?.age = 20
                }
            }
        }

        /// The names in the first store after ``addFirst()``.
        var namesAfterAddition: [String] { backend == .memory ? ["a"] : ["a", "b", "c"] }
    }

    /// Records the calls of monitors.
    private final class Observer: ListObserver, ListObjectObserver, ListSectionObserver, ObjectObserver {
        var calls: [String] = []

        func listMonitorWillChange(_ monitor: ListMonitor<Animal>) { calls.append("will") }
        func listMonitorDidChange(_ monitor: ListMonitor<Animal>) { calls.append("did") }
        func listMonitor(_ monitor: ListMonitor<Animal>, didInsertObject object: Animal, toIndexPath indexPath: IndexPath) {
            calls.append("+\(object.name)\(indexPath.map { $0 })")
        }
        func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteObject object: Animal, fromIndexPath indexPath: IndexPath) {
            calls.append("-\(object.name)\(indexPath.map { $0 })")
        }
        func listMonitor(_ monitor: ListMonitor<Animal>, didInsertSection section: ListSection, toSectionIndex index: Int) {
            calls.append("+\(section.name) at \(index)")
        }
        func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteSection section: ListSection, fromSectionIndex index: Int) {
            calls.append("-\(section.name) at \(index)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, willUpdateObject object: Animal) { calls.append("will update \(object.name)") }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys keys: Set<String>) {
            calls.append("updated \(object.name)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didDeleteObject object: Animal) { calls.append("deleted \(object.name)") }
    }

    private static let byName = OrderBy<Animal>(.ascending(\.name))

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func aListThatNamesTheStoreIsEmptyAndFollowsItWhenItIsAddedAgain(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let monitor = try zoo.stack.view.monitorList(From<Animal>("First"), Self.byName)
        let observer = Observer()
        monitor.addObserver(observer)
        let held = Array(monitor)
        #expect(held.map(\.name) == ["a", "b", "c"])
        try await zoo.removeFirst()
        #expect(Array(monitor).isEmpty)
        #expect(observer.calls == ["will", "-a[0, 0]", "-b[0, 1]", "-c[0, 2]", "did"])
        #expect(held.map(\.name) == ["a", "b", "c"])
        #expect(try monitor.explain().contains("its store was removed"))
        observer.calls = []
        try await zoo.addFirst()
        #expect(monitor.map(\.name) == zoo.namesAfterAddition)
        #expect(observer.calls.filter { $0.hasPrefix("+") }.count == zoo.namesAfterAddition.count)
        try await zoo.stack.perform { try $0.create(Into<Animal>("First")) { $0.name = "e" } }
        #expect(monitor.map(\.name) == zoo.namesAfterAddition + ["e"])
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func listsOfTheLastStoreAreEmpty(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let monitor = try zoo.stack.view.monitorList(From<Animal>(), Self.byName)
        let observer = Observer()
        monitor.addObserver(observer)
        let held = Array(monitor)
        try await zoo.removeFirst()
        #expect(monitor.map(\.name) == ["d"])
        try await zoo.removeSecond()
        #expect(Array(monitor).isEmpty)
        #expect(observer.calls == ["will", "-a[0, 0]", "-b[0, 1]", "-c[0, 2]", "did", "will", "-d[0, 0]", "did"])
        #expect(held.map(\.name) == ["a", "b", "c", "d"])
        try await zoo.addFirst()
        #expect(monitor.map(\.name) == zoo.namesAfterAddition)
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func sectionsPagesAndPrefetchesGo(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let view = zoo.stack.view
        let sections = try view.monitorSectionedList(From<Animal>("First"), SectionBy(\.age) { $0 == 0 ? "young" : "old" }, Self.byName)
        let page = try view.monitorList(From<Animal>("First").orderBy(.ascending(\.name)).limit(2).offset(1))
        let prefetched = try view.monitorList(From<Animal>("First").orderBy(.ascending(\.name)).prefetch(\.owner))
        let both = try view.monitorList(From<Animal>("First", "Second").orderBy(.descending(\.name)).limit(2))
        #expect(sections.sections.map(\.name) == ["young", "old"] && page.map(\.name) == ["b", "c"])
        #expect(prefetched.map { $0.owner?.title } == ["Jane", "Jane", "Jane"] && both.map(\.name) == ["d", "c"])
        let observer = Observer()
        sections.addObserver(observer)
        let held = Array(sections)
        try await zoo.removeFirst()
        #expect(sections.sections.isEmpty && sections.isEmpty && page.isEmpty && prefetched.isEmpty)
        #expect(both.map(\.name) == ["d"] && held.map(\.name) == ["a", "b", "c"])
        #expect(observer.calls == ["will", "-a[0, 0]", "-b[1, 0]", "-c[1, 1]", "-young at 0", "-old at 1", "did"])
        try await zoo.addFirst()
        #expect(sections.sections.map(\.name) == ["old"])
        #expect(page.map(\.name) == Array(zoo.namesAfterAddition.dropFirst()))
        #expect(prefetched.map(\.name) == zoo.namesAfterAddition)
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func listsWithAConditionOnAnObjectOfTheStoreLoseItsObjects(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let owner = try #require(try zoo.stack.view.fetchExisting(zoo.owner))
        let monitor = try zoo.stack.view.monitorList(From<Animal>(), Where(\.owner == owner), Self.byName)
        #expect(monitor.map(\.name) == ["a", "b", "c"])
        try await zoo.removeFirst()
        #expect(Array(monitor).isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func publishersLoseTheObjects(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let view = zoo.stack.view
        let list = try view.publishList(From<Animal>("First"), Self.byName)
        let live = try LiveList(view, From<Animal>("First"), Self.byName)
        let object = try view.publishObject(zoo.animals[0])
        let liveObject = try LiveObject(view, zoo.animals[1])
        var notices = 0
        list.addObserver(zoo) { _ in notices += 1 }
        object.addObserver(zoo) { _ in notices += 10 }
        try await zoo.removeFirst()
        #expect(list.snapshot.isEmpty && live.isEmpty && object.snapshot == nil && object.object == nil && liveObject.snapshot == nil)
        #expect(list.lastChanges?.deleted.count == 3)
        #expect(notices == 11)
        try await zoo.addFirst()
        #expect(list.snapshot.map(\.name) == zoo.namesAfterAddition && live.count == zoo.namesAfterAddition.count)
        // A store in memory is another one.
        #expect(object.snapshot?.age == (backend == .memory ? nil : 20))
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func objectMonitorsReportTheObjectAsDeleted(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let animal = try #require(try zoo.stack.view.fetchExisting(zoo.animals[0]))
        let monitor = try zoo.stack.view.monitorObject(animal)
        let other = try zoo.stack.view.monitorObject(try #require(try zoo.stack.view.fetchExisting(zoo.animals[3])))
        let (observer, otherObserver) = (Observer(), Observer())
        monitor.addObserver(observer)
        other.addObserver(otherObserver)
        try await zoo.removeFirst()
        #expect(monitor.object == nil && monitor.isObjectDeleted && observer.calls == ["deleted a"])
        #expect(animal.name == "a" && other.object?.name == "d" && otherObserver.calls == [])
        observer.calls = []
        try await zoo.addFirst()
        // Once, or twice if the view moves between the addition of the store and the commit.
        #expect(observer.calls.contains("updated a") == (backend != .memory), "\(observer.calls)")
        #expect(monitor.object?.age == (backend == .memory ? nil : 20))
        guard backend != .memory else { return }
        observer.calls = []
        try await zoo.stack.perform { try $0.edit(zoo.animals[0])?.age = 21 }
        #expect(observer.calls == ["will update a", "updated a"] && monitor.object?.age == 21)
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    func sequencesLoseTheObjects(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        var lists = zoo.stack.snapshots(of: From<Animal>("First"), Self.byName).makeAsyncIterator()
        var changes = zoo.stack.changes(of: From<Animal>("First"), Self.byName).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.name) == ["a", "b", "c"])
        #expect(try await changes.next()?.snapshot.count == 3)
        try await zoo.removeFirst()
        #expect(try await lists.next()?.isEmpty == true)
        let change = try await changes.next()
        #expect(change?.snapshot.isEmpty == true && change?.changes?.deleted.count == 3)
        try await zoo.addFirst()
        while let list = try await lists.next(), list.first?.age != 20 {}
        #expect(zoo.logger.lines == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func contextsThatMoveOnRequestLoseTheObjectsThen(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let view = zoo.stack.newView(.manual)
        let context = zoo.stack.newContext()
        let lists = [
            try view.monitorList(From<Animal>("First"), Self.byName), try context.monitorList(From<Animal>("First"), Self.byName),
        ]
        let object = try view.publishObject(zoo.animals[0])
        for list in lists { #expect(list.map(\.name) == ["a", "b", "c"]) }
        let store = try #require(zoo.stack.stores.first { $0.configurationName == "First" })
        try await zoo.stack.removeStore(store, evenIfInUse: true)
        for list in lists { #expect(list.count == 3) }
        try view.refresh()
        try context.refresh()
        for list in lists { #expect(list.isEmpty) }
        #expect(object.snapshot == nil)
        try await zoo.addFirst()
        try view.refresh()
        try context.refresh()
        for list in lists { #expect(list.map(\.name) == zoo.namesAfterAddition) }
        #expect(zoo.logger.lines == [])
    }

    /// A callback replaces the list while another one removes the store that the new list names.
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func aListThatIsReplacedInACallbackIsEmptyIfItsStoreIsRemovedMeanwhile(_ backend: Backend) async throws {
        let zoo = try Zoo(backend)
        let monitor = try zoo.stack.view.monitorList(From<Animal>("Second"), Self.byName)
        let publisher = try zoo.stack.view.publishList(From<Animal>("Second"), Self.byName)
        let first = try #require(zoo.stack.stores.first { $0.configurationName == "First" })
        var errors: [String] = []
        publisher.addObserver(zoo) { publisher in
            publisher.removeObserver(zoo)
            do {
                try publisher.refetch(From<Animal>("First"), Self.byName)
                try monitor.refetch(From<Animal>("First").orderBy(.ascending(\.name)))
                try zoo.stack.removeStoreAndWait(first)
                try zoo.stack.view.refresh()
            } catch { errors.append("\(error)") }
        }
        try await zoo.stack.perform { try $0.create(Into<Animal>("Second")) { $0.name = "e" } }
        #expect(errors == [])
        await Task.yield()
        try zoo.stack.view.refresh()
        #expect(monitor.isEmpty && publisher.snapshot.isEmpty)
        #expect(zoo.logger.lines == [])
    }
}
