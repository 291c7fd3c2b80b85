import Foundation
import PolyStore
import TestSupport
import Testing

/// Guarantees of monitors other than the contents of the list.
@MainActor @Suite struct ListMonitorTests {
    private final class Observer: ListObjectObserver {
        typealias ListEntity = Worker
        var changes = 0
        var refetches = 0
        var onChange: ((ListMonitor<Worker>) -> Void)?

        func listMonitorDidChange(_ monitor: ListMonitor<Worker>) {
            changes += 1
            onChange?(monitor)
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Worker>) { refetches += 1 }
    }

    @Test(arguments: Backend.forObjectLayer) func observersAreAddedAndRemovedInCallbacks(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let monitor = try workplace.stack.view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
        let (first, second, third) = (Observer(), Observer(), Observer())
        first.onChange = { monitor in
            monitor.removeObserver(second)
            monitor.addObserver(third)
        }
        monitor.addObserver(first)
        monitor.addObserver(first)
        monitor.addObserver(second)
        try workplace.insert(("A", 1))
        #expect(first.changes == 1 && second.changes == 0)
        try workplace.insert(("B", 1))
        #expect(first.changes == 2 && second.changes == 0 && third.changes >= 1)
        var last: Observer? = Observer()
        weak let weakLast = last
        last.map { monitor.addObserver($0) }
        last = nil
        #expect(weakLast == nil)
        try workplace.insert(("C", 1))
        #expect(first.changes == 3)
    }

    /// A commit in a callback is reported after the callbacks have returned.
    @Test(arguments: Backend.forObjectLayer) func aCommitInACallbackIsReportedAfterwards(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let monitor = try workplace.stack.view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
        let observer = Observer()
        var counts: [Int] = []
        observer.onChange = { monitor in
            counts.append(monitor.count)
            if monitor.count < 4 { _ = try? workplace.insert(("more", 1)) }
            counts.append(monitor.count)
        }
        monitor.addObserver(observer)
        try workplace.insert(("A", 1))
        #expect(counts == [1, 1, 2, 2, 3, 3, 4, 4])
    }

    /// The limit is over before the commit, and a longer one follows if it is over before the first batch.
    @Test(arguments: Backend.forObjectLayer) func aCommitInAnIterationIsNotReportedWithinItsLimit(backend: Backend) throws {
        let workplace = try Workplace(backend)
        try workplace.insert(("A", 1), ("B", 2), ("D", 3))
        let view = workplace.stack.view
        let all = From<Worker>().orderBy(.ascending(\.name))
        let monitors = try [view.monitorList(all), view.monitorList(all.limit(2)), view.monitorList(all.offset(1))]
        var limit: Duration = .milliseconds(5)
        var isCalled = false
        while !isCalled {
            do {
                try view.fetchInBatches(all.timeLimit(limit), size: 1) { _ in
                    guard !isCalled else { return }
                    isCalled = true
                    let end = ContinuousClock.now + limit
                    while .now < end {}
                    try workplace.insert(("C", 4))
                    #expect(monitors.map { $0.map(\.name) } == [["A", "B", "C", "D"], ["A", "B"], ["B", "C", "D"]])
                    try workplace.insert(("AA", 5))
                    #expect(monitors.map { $0.map(\.name) } == [["A", "AA", "B", "C", "D"], ["A", "AA"], ["AA", "B", "C", "D"]])
                }
            } catch let error as StoreError where error.code == .timedOut {}
            limit *= 2
        }
    }

    @Test(arguments: Backend.forObjectLayer) func clausesAreReplaced(backend: Backend) throws {
        let workplace = try Workplace(backend)
        try workplace.insert(("A", 1), ("B", 2), ("C", 3))
        let monitor = try workplace.stack.view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
        let observer = Observer()
        monitor.addObserver(observer)
        try monitor.refetch(From<Worker>().where(\.age > 1).orderBy(.descending(\.name)))
        #expect(observer.refetches == 1 && observer.changes == 0 && monitor.map(\.name) == ["C", "B"])
        try workplace.insert(("D", 4))
        #expect(observer.changes == 1 && monitor.map(\.name) == ["D", "C", "B"])
        try monitor.refetch(From<Worker>().orderBy(.ascending(\.age)), sectionBy: SectionBy(\.age))
        #expect(monitor.sections.map(\.name) == ["1", "2", "3", "4"])
        #expect(throws: StoreError.self) { try monitor.refetch(From<Worker>().where(Where("nothing == 3"))) }
        #expect(monitor.count == 4)
        // The new list, with another age, is observed too.
        try monitor.refetch(From<Worker>().where(\.age == 4))
        try workplace.insert(("E", 4), ("F", 5))
        #expect(monitor.map(\.name) == ["D", "E"])
    }

    @Test(arguments: Backend.forObjectLayer) func positionsAndSections(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("Ann", 30), ("Bob", 20), ("Abe", 30))
        let view = workplace.stack.view
        let monitor = try view.monitorSectionedList(
            From<Worker>().orderBy(.ascending(\.name)), SectionBy(\.name) { String($0.prefix(1)) })
        #expect(monitor.sectionIndexTitles == ["A", "B"] && monitor.numberOfSections == 2)
        #expect(monitor.numberOfObjects(inSection: 0) == 2 && monitor.objects(inSection: 0).map(\.name) == ["Abe", "Ann"])
        #expect(monitor.targetSection(forIndexTitle: "B", at: 1) == 1 && monitor.targetSection(forIndexTitle: "C", at: 7) == nil)
        #expect(monitor.index(of: ids[0]) == 1 && monitor.indexPath(of: ids[1]) == IndexPath(indexes: [1, 0]))
        #expect(monitor.index(of: monitor[2]) == 2 && monitor[safe: 3] == nil && monitor[safe: -1] == nil)
        #expect(monitor.section(safe: 2) == nil && monitor.objectIDs == [ids[2], ids[0], ids[1]])
        let plain = try view.monitorList(From<Worker>().where(\.age > 90))
        #expect(plain.isEmpty && !plain.hasObjects && plain.numberOfSections == 1 && plain.sections[0].count == 0)
        let other = try Workplace(backend)
        let strangers = try other.insert(("X", 1))
        #expect(monitor.index(of: strangers[0]) == nil)
    }

    @Test(arguments: Backend.forObjectLayer) func explainDescribesHowAListIsUpdated(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let view = workplace.stack.view
        #expect(try view.monitorList(From<Worker>().orderBy(.ascending(\.name))).explain().contains("followed incrementally"))
        #expect(try view.monitorList(From<Worker>().limit(3)).explain().contains("it has a limit or an offset"))
        #expect(try view.monitorList(From<Worker>().where(\.team?.title == "A")).explain().contains("related object"))
    }

    @Test(arguments: Backend.forObjectLayer) func aLongListIsReadOffTheMainActor(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        try workplace.insert(("A", 1), ("B", 2))
        let monitor = try await workplace.stack.view.loadListMonitor(
            From<Worker>().orderBy(.descending(\.name)), sectionBy: SectionBy(\.age))
        #expect(monitor.map(\.name) == ["B", "A"] || monitor.map(\.name) == ["A", "B"])
        let observer = Observer()
        monitor.addObserver(observer)
        try workplace.insert(("C", 3))
        #expect(observer.changes == 1 && monitor.count == 3)
    }

    @Test(arguments: Backend.forObjectLayer) func aStoreThatIsAddedLaterJoinsTheList(backend: Backend) async throws {
        let folder = try Folder()
        let stack = try DataStack(
            Schema("Two", [Worker.self, Team.self], configurations: ["One": [Worker.self, Team.self], "Two": [Worker.self, Team.self]]))
        try stack.addStore(backend.store(in: folder, "one"), configuration: "One")
        try await stack.perform { transaction in try transaction.create(Into<Worker>("One")).name = "A" }
        let monitor = try stack.view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
        let observer = Observer()
        monitor.addObserver(observer)
        try stack.addStore(backend.store(in: folder, "two"), configuration: "Two")
        try await stack.perform { transaction in try transaction.create(Into<Worker>("Two")).name = "B" }
        #expect(monitor.map(\.name) == ["A", "B"] && observer.changes == 1)
    }

    /// A context with too many unprocessed changes compares its objects with the store.
    @Test(arguments: Backend.allCases) func aContextThatIsFarBehindCatchesUp(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 1), ("B", 2))
        let view = workplace.stack.newView(.manual)
        let monitor = try view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
        let object = try view.monitorObject(ids[0])
        let observer = Observer()
        monitor.addObserver(observer)
        // More changes than are retained for a context.
        let long = String(repeating: "x", count: 1 << 20)
        for number in 0..<20 { try workplace.edit(ids[0]) { $0.city = "\(number)" + long } }
        try workplace.delete(ids[1])
        try view.refresh()
        #expect(observer.changes == 1 && monitor.map(\.name) == ["A"])
        #expect(object.object?.city?.hasPrefix("19x") ?? false)
    }
}
