import Foundation
import PolyStore
import Testing

/// A list that is updated by the calls of a monitor only, and records incorrect calls.
///
/// A list of an unqueued transaction contains objects until the transaction has reported that a callback discarded them.
final class ListMirror: ListSectionObserver {
    struct Section: Equatable {
        let name: String
        var ids: [ObjectID<Animal>]
    }

    private enum Step: Int, Comparable {
        case sectionInserts, deletes, inserts, updates, moves, sectionDeletes

        static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var sections: [Section]
    private(set) var problems: [String] = []
    private(set) var changeCount = 0
    private(set) var refetchCount = 0
    /// Called at the end of each call, with its name.
    var onCall: ((String) -> Void)?
    /// The objects of the last change, except those it deleted.
    private(set) var reported: Set<ObjectID<Animal>> = []

    private(set) var isChanging = false
    private(set) var isRefetching = false
    private var step = Step.sectionInserts
    private var insertedSections: [(index: Int, name: String)] = []
    private var deletedSections: [(index: Int, name: String)] = []
    private var removed: [(id: ObjectID<Animal>, path: IndexPath)] = []
    private var added: [(id: ObjectID<Animal>, path: IndexPath)] = []
    private var updated: [(id: ObjectID<Animal>, path: IndexPath)] = []
    private var touched: Set<ObjectID<Animal>> = []

    init(_ monitor: ListMonitor<Animal>) { sections = Self.contents(of: monitor) }

    static func contents(of monitor: ListMonitor<Animal>) -> [Section] {
        monitor.sections.map { section in Section(name: section.name, ids: section.range.map { monitor[$0].objectID }) }
    }

    func forgetReports() { reported = [] }

    private func fail(_ problem: String) { problems.append(problem) }

    private func enter(_ next: Step, _ id: ObjectID<Animal>? = nil) {
        if !isChanging { fail("a call outside of a change") }
        if next < step { fail("\(next) after \(step)") }
        step = next
        if let id, !touched.insert(id).inserted { fail("\(id) is reported twice") }
    }

    func listMonitorWillChange(_ monitor: ListMonitor<Animal>) {
        if isChanging || isRefetching { fail("a change in a change") }
        (isChanging, step) = (true, .sectionInserts)
        (insertedSections, deletedSections, removed, added, updated, touched) = ([], [], [], [], [], [])
        changeCount += 1
        onCall?("willChange")
    }

    func listMonitorWillRefetch(_ monitor: ListMonitor<Animal>) {
        if isChanging || isRefetching { fail("a refetch in a change") }
        isRefetching = true
        if sections != Self.contents(of: monitor) { fail("the list was replaced before listMonitorWillRefetch") }
        onCall?("willRefetch")
    }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Animal>) {
        if !isRefetching { fail("the end of no refetch") }
        isRefetching = false
        refetchCount += 1
        sections = Self.contents(of: monitor)
        onCall?("didRefetch")
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didInsertSection section: ListSection, toSectionIndex index: Int) {
        enter(.sectionInserts)
        if monitor.section(safe: index)?.name != section.name { fail("section \(index) is not \(section.name)") }
        insertedSections.append((index, section.name))
        onCall?("didInsertSection")
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteObject object: Animal, fromIndexPath path: IndexPath) {
        enter(.deletes, object.objectID)
        if monitor.contains(object) { fail("\(object.objectID) is deleted and still in the monitor") }
        removed.append((object.objectID, path))
        onCall?("didDelete")
    }

    /// Returns whether the monitor has an object at a position. An object that a callback has discarded may be represented by several ones.
    private func isThere(_ object: Animal, _ path: IndexPath, _ monitor: ListMonitor<Animal>) -> Bool {
        let found = monitor[safe: path]
        return found === object || object.isDeleted && found?.objectID == object.objectID
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didInsertObject object: Animal, toIndexPath path: IndexPath) {
        enter(.inserts, object.objectID)
        if !isThere(object, path, monitor) { fail("\(object.objectID) is not at \(path)") }
        added.append((object.objectID, path))
        reported.insert(object.objectID)
        onCall?("didInsert")
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didUpdateObject object: Animal, atIndexPath path: IndexPath) {
        enter(.updates, object.objectID)
        if monitor.indexPath(of: object) != path { fail("\(object.objectID) is not at \(path)") }
        updated.append((object.objectID, path))
        reported.insert(object.objectID)
        onCall?("didUpdate")
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didMoveObject object: Animal, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        enter(.moves, object.objectID)
        if !isThere(object, toIndexPath, monitor) { fail("\(object.objectID) did not move to \(toIndexPath)") }
        removed.append((object.objectID, fromIndexPath))
        added.append((object.objectID, toIndexPath))
        reported.insert(object.objectID)
        onCall?("didMove")
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteSection section: ListSection, fromSectionIndex index: Int) {
        enter(.sectionDeletes)
        deletedSections.append((index, section.name))
        onCall?("didDeleteSection")
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Animal>) {
        if !isChanging { fail("the end of no change") }
        isChanging = false
        if insertedSections.isEmpty, deletedSections.isEmpty, touched.isEmpty { fail("a change without changes") }
        apply()
        if sections != Self.contents(of: monitor) { fail("the calls give \(sections), the monitor has \(Self.contents(of: monitor))") }
        for (id, path) in updated where self.id(at: path) != id { fail("the updated \(id) is not at \(path)") }
        onCall?("didChange")
    }

    private func id(at path: IndexPath) -> ObjectID<Animal>? {
        guard sections.indices.contains(path[0]), sections[path[0]].ids.indices.contains(path[1]) else { return nil }
        return sections[path[0]].ids[path[1]]
    }

    /// Applies the calls in the documented order.
    private func apply() {
        for (id, path) in removed.sorted(by: { $0.path > $1.path }) {
            guard self.id(at: path) == id else { return fail("\(id) was not at \(path)") }
            sections[path[0]].ids.remove(at: path[1])
        }
        for (index, name) in deletedSections.sorted(by: { $0.index > $1.index }) {
            guard sections.indices.contains(index), sections[index] == Section(name: name, ids: []) else {
                return fail("section \(index) is not the empty \(name)")
            }
            sections.remove(at: index)
        }
        for (index, name) in insertedSections.sorted(by: { $0.index < $1.index }) {
            guard index <= sections.count else { return fail("section \(index) cannot be inserted") }
            sections.insert(Section(name: name, ids: []), at: index)
        }
        for (id, path) in added.sorted(by: { $0.path < $1.path }) {
            guard sections.indices.contains(path[0]), path[1] <= sections[path[0]].ids.count else {
                return fail("\(id) cannot be put at \(path)")
            }
            sections[path[0]].ids.insert(id, at: path[1])
        }
    }
}
