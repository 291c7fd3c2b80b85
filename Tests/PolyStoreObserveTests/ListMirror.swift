import Foundation
import PolyStore
import Testing

/// A list that is updated by the calls of a monitor only, and records incorrect calls.
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
    /// The objects of the last change, except those it deleted.
    private(set) var reported: Set<ObjectID<Animal>> = []

    private var isChanging = false
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
        if isChanging { fail("a change in a change") }
        (isChanging, step) = (true, .sectionInserts)
        (insertedSections, deletedSections, removed, added, updated, touched) = ([], [], [], [], [], [])
        changeCount += 1
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didInsertSection section: ListSection, toSectionIndex index: Int) {
        enter(.sectionInserts)
        if monitor.section(safe: index)?.name != section.name { fail("section \(index) is not \(section.name)") }
        insertedSections.append((index, section.name))
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteObject object: Animal, fromIndexPath path: IndexPath) {
        enter(.deletes, object.objectID)
        if monitor.contains(object) { fail("\(object.objectID) is deleted and still in the monitor") }
        removed.append((object.objectID, path))
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didInsertObject object: Animal, toIndexPath path: IndexPath) {
        enter(.inserts, object.objectID)
        if monitor[safe: path] !== object { fail("\(object.objectID) is not at \(path)") }
        added.append((object.objectID, path))
        reported.insert(object.objectID)
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didUpdateObject object: Animal, atIndexPath path: IndexPath) {
        enter(.updates, object.objectID)
        if monitor.indexPath(of: object) != path { fail("\(object.objectID) is not at \(path)") }
        updated.append((object.objectID, path))
        reported.insert(object.objectID)
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didMoveObject object: Animal, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        enter(.moves, object.objectID)
        if monitor[safe: toIndexPath] !== object { fail("\(object.objectID) did not move to \(toIndexPath)") }
        removed.append((object.objectID, fromIndexPath))
        added.append((object.objectID, toIndexPath))
        reported.insert(object.objectID)
    }

    func listMonitor(_ monitor: ListMonitor<Animal>, didDeleteSection section: ListSection, fromSectionIndex index: Int) {
        enter(.sectionDeletes)
        deletedSections.append((index, section.name))
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Animal>) {
        if !isChanging { fail("the end of no change") }
        isChanging = false
        if insertedSections.isEmpty, deletedSections.isEmpty, touched.isEmpty { fail("a change without changes") }
        apply()
        if sections != Self.contents(of: monitor) { fail("the calls give \(sections), the monitor has \(Self.contents(of: monitor))") }
        for (id, path) in updated where self.id(at: path) != id { fail("the updated \(id) is not at \(path)") }
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
