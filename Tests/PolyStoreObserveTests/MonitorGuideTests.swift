import Foundation
import PolyStore
import TestSupport
import Testing

// The programs on monitors of docs/guides/observing.md.

@MainActor
private final class TrackList: @preconcurrency ListSectionObserver {
    typealias ListEntity = Worker

    private(set) var rows: [[String]] = []

    func listMonitorDidChange(_ monitor: ListMonitor<Worker>) {
        rows = monitor.sections.map { section in section.range.map { monitor[$0].name } }
    }
}

@MainActor
private final class TableController: @preconcurrency ListObjectObserver {
    typealias ListEntity = Worker

    private(set) var actions: [String] = []

    func listMonitor(_ monitor: ListMonitor<Worker>, didInsertObject worker: Worker, toIndexPath indexPath: IndexPath) {
        actions.append("insert \(worker.name) at \(indexPath[1])")
    }

    func listMonitor(_ monitor: ListMonitor<Worker>, didMoveObject worker: Worker, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        actions.append("move \(worker.name) from \(fromIndexPath[1]) to \(toIndexPath[1])")
    }
}

@MainActor
private final class DetailController: @preconcurrency ObjectObserver {
    typealias ObjectEntity = Worker

    private(set) var title = ""

    func objectMonitor(_ monitor: ObjectMonitor<Worker>, didUpdateObject worker: Worker, changedKeys: Set<String>) {
        if changedKeys.contains("name") { title = worker.name }
    }

    func objectMonitor(_ monitor: ObjectMonitor<Worker>, didDeleteObject worker: Worker) { title = "deleted" }
}

@MainActor @Suite struct MonitorGuideTests {
    @Test(arguments: Backend.forObjectLayer) func aListOfObjects(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        try workplace.insert(("Ada", 36), ("Bob", 20))
        let controller = TableController()

        let monitor = try stack.view.monitorList(From<Worker>().where { $0.age > 18 }.orderBy { $0.name })
        monitor.addObserver(controller)
        print(monitor.count, monitor[0].name)

        try workplace.insert(("Abe", 40))
        let bob = try #require(monitor.objectIDs.last)
        try workplace.edit(bob) { $0.name = "Aaron" }
        #expect(controller.actions == ["insert Abe at 0", "move Aaron from 2 to 0"])
    }

    @Test(arguments: Backend.forObjectLayer) func aSectionedList(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        try workplace.insert(("Ada", 36), ("Bob", 20), ("Abe", 24))
        let list = TrackList()

        let monitor = try stack.view.monitorSectionedList(
            From<Worker>(), SectionBy(\.age) { "\($0 / 10 * 10) to \($0 / 10 * 10 + 9)" }, OrderBy(.ascending(\.age)))
        monitor.addObserver(list)
        for section in monitor.sections { print(section.name, section.count) }
        print(monitor[1, 0].name, monitor[IndexPath(indexes: [1, 0])].name)

        try workplace.insert(("Eve", 25))
        #expect(list.rows == [["Bob", "Abe", "Eve"], ["Ada"]])
    }

    @Test(arguments: Backend.forObjectLayer) func anObject(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        let id = try workplace.insert(("Ada", 36))[0]
        let controller = DetailController()

        let monitor = try stack.view.monitorObject(id)
        monitor.addObserver(controller)

        try workplace.edit(id) { $0.age = 37 }
        #expect(controller.title == "")
        try workplace.edit(id) { $0.name = "Ada L." }
        #expect(controller.title == "Ada L.")
        try workplace.delete(id)
        #expect(controller.title == "deleted" && monitor.object == nil)
    }

    @Test(arguments: Backend.forObjectLayer) func pendingChanges(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack

        let draft = stack.beginUnsafe()
        let monitor = try draft.monitorList(From<Worker>().orderBy { $0.name })
        try draft.create(Into<Worker>()).name = "Ada"
        draft.flush()
        print(monitor.count)

        #expect(monitor.count == 1)
        draft.rollback()
        #expect(monitor.isEmpty)
    }
}
