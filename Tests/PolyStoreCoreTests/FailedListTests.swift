import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Observed lists and objects that cannot be read when their context moves: they show what they showed before, and are read again with the next move.
@MainActor
@Suite struct FailedListTests {
    /// A list that is updated in another way, or has sections.
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: FetchChain<Person>
        var section: SectionBy<Person>?

        static let byName = From<Person>().orderBy(.ascending(\.nickname))
        static let all = [
            Shape(testDescription: "row by row", source: byName),
            Shape(testDescription: "sections", source: byName, section: SectionBy(\.age)),
            Shape(testDescription: "a window", source: byName.limit(10)),
            Shape(testDescription: "related objects", source: byName.where(Where("department.title == nil"))),
            Shape(
                testDescription: "sections in another order", source: byName,
                section: SectionBy(\.nickname) { ($0 ?? "").hasSuffix("2") ? "even" : "odd" }),
        ]
    }

    /// Replays the calls of a monitor.
    private final class Mirror: ListSectionObserver {
        private(set) var sections: [[ObjectID<Person>]]
        private(set) var changeCount = 0
        private var removed: [IndexPath] = []
        private var removedSections: [Int] = []
        private var addedSections: [Int] = []
        private var added: [(ObjectID<Person>, IndexPath)] = []

        init(_ monitor: ListMonitor<Person>) { sections = Self.contents(of: monitor) }

        static func contents(of monitor: ListMonitor<Person>) -> [[ObjectID<Person>]] {
            let ids = monitor.objectIDs
            return monitor.sections.map { Array(ids[$0.range]) }
        }

        func listMonitor(_ monitor: ListMonitor<Person>, didInsertSection section: ListSection, toSectionIndex index: Int) {
            addedSections.append(index)
        }
        func listMonitor(_ monitor: ListMonitor<Person>, didDeleteSection section: ListSection, fromSectionIndex index: Int) {
            removedSections.append(index)
        }
        func listMonitor(_ monitor: ListMonitor<Person>, didDeleteObject object: Person, fromIndexPath path: IndexPath) {
            removed.append(path)
        }
        func listMonitor(_ monitor: ListMonitor<Person>, didInsertObject object: Person, toIndexPath path: IndexPath) {
            added.append((object.objectID, path))
        }
        func listMonitor(
            _ monitor: ListMonitor<Person>, didMoveObject object: Person, fromIndexPath from: IndexPath, toIndexPath to: IndexPath
        ) {
            removed.append(from)
            added.append((object.objectID, to))
        }
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
            changeCount += 1
            for path in removed.sorted().reversed() { sections[path[0]].remove(at: path[1]) }
            for section in removedSections.reversed() { sections.remove(at: section) }
            for section in addedSections { sections.insert([], at: section) }
            for (id, path) in added.sorted(by: { $0.1 < $1.1 }) { sections[path[0]].insert(id, at: path[1]) }
            (removed, removedSections, addedSections, added) = ([], [], [], [])
        }
    }

    /// Names that begin with the same bytes, so that a record is read to compare them.
    private nonisolated static func name(_ number: Int) -> String { String(repeating: "a", count: 40) + "\(number)" }

    /// A stack with four people, over a backend with faults.
    @MainActor
    private struct Fixture {
        let faults = Faults()
        private let company: Company
        let ids: [ObjectID<Person>]
        var stack: DataStack { company.stack }
        var logger: RecordingLogger { company.logger }
        /// The number of logged errors. A slow machine can add warnings about snapshots that are open for long.
        var errorCount: Int { logger.entries.filter { $0.level == .error }.count }

        init(_ backend: Backend) throws {
            company = try Company(backend, faults: faults, expectsSilence: false)
            ids = try company.stack.performAndWait(isolation: nil) { transaction throws in
                try [("b", 1), (name(1), 2), (name(2), 2), (name(3), 2)].map { name, age in
                    let person = try transaction.createPerson(age)
                    (person.nickname, person.email) = (name, "\(name)@example.org")
                    return person.objectID
                }
            }
        }

        /// Moves a row, and one from section to section.
        func commitFirst() throws {
            let ids = ids
            try stack.performAndWait {
                try $0.edit(ids[2]).nickname = name(9)
                try $0.edit(ids[0]).age = 2
            }
        }

        func commitSecond() throws {
            let ids = ids
            try stack.performAndWait {
                try $0.edit(ids[1]).nickname = name(8)
                try $0.createPerson(7).nickname = name(4)
            }
        }

        func commitThird() throws {
            let ids = ids
            try stack.performAndWait {
                try $0.delete(ids[1])
                try $0.edit(ids[3]).age = 1
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer, Shape.all)
    func listsKeepTheirRowsAndAreReadWithTheNextMove(_ backend: Backend, _ shape: Shape) async throws {
        let fixture = try Fixture(backend)
        let (view, stack) = (fixture.stack.view, fixture.stack)
        let monitor: ListMonitor<Person> =
            if let section = shape.section { try view.monitorSectionedList(shape.source, section) } else {
                try view.monitorList(shape.source)
            }
        let mirror = Mirror(monitor)
        monitor.addObserver(mirror)
        let publisher = try view.publishList(shape.source, sectionBy: shape.section)
        var published = 0
        publisher.addObserver(mirror) { _ in published += 1 }
        let live = try LiveList(view, shape.source, sectionBy: shape.section)
        var lists = view.snapshots(of: shape.source, sectionBy: shape.section).makeAsyncIterator()
        var changes = view.changes(of: shape.source, sectionBy: shape.section).makeAsyncIterator()
        var background = stack.changes(of: shape.source, sectionBy: shape.section).makeAsyncIterator()
        let before = monitor.objectIDs
        let first = try #require(try await changes.next()).snapshot
        #expect(try await lists.next() == first)
        #expect(try await background.next()?.snapshot == first)
        #expect(first.objectIDs == before && before.count == 4)

        fixture.faults.breakNextSnapshots()
        for commit in [fixture.commitFirst, fixture.commitSecond] {
            try commit()
            #expect(monitor.objectIDs == before && mirror.changeCount == 0)
            #expect(publisher.snapshot == first && live.snapshot == first && published == 0)
        }
        fixture.faults.breakSnapshots()
        try fixture.commitThird()
        let fetched = try stack.readAndWait { try $0.fetchSnapshots(shape.source) }
        #expect(Set(monitor.objectIDs) == Set(fetched.map(\.id)) && mirror.changeCount == 1)
        #expect(mirror.sections == Mirror.contents(of: monitor))
        #expect(publisher.snapshot.objectIDs == monitor.objectIDs && published == 1)
        #expect(live.snapshot == publisher.snapshot && Set(live.snapshot) == Set(fetched))
        #expect(publisher.lastChanges?.applied(to: first) == publisher.snapshot)
        #expect(try await lists.next() == live.snapshot)
        let update = try #require(try await changes.next())
        #expect(update.snapshot == live.snapshot && update.changes?.applied(to: first) == update.snapshot)
        // The queue of the sequences off the main actor may have combined the moves in any way.
        var last = first
        while last != live.snapshot, let update = try await background.next() {
            #expect(update.changes?.applied(to: last) == update.snapshot)
            last = update.snapshot
        }
        // Each of the five lists of the view reports the error once, and the one in the background at most once.
        let count = fixture.logger.entries(.error, "could not be brought up to date").count
        #expect((5...6).contains(count) && fixture.errorCount == count, "\(fixture.logger.lines)")

        // A later error is reported again.
        fixture.faults.breakNextSnapshots()
        try fixture.commitFirst()
        try stack.performAndWait { try $0.createPerson(9).nickname = Self.name(5) }
        #expect(fixture.logger.lines.count > count)
        #expect(live.snapshot == publisher.snapshot && monitor.objectIDs == live.snapshot.objectIDs)
        withExtendedLifetime(mirror) {}
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsKeepTheirValuesAndAreReadWithTheNextMove(_ backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let view = fixture.stack.view
        let id = fixture.ids[2]
        let publisher = try view.publishObject(id)
        let live = try LiveObject(view, id)
        // A monitor in another view: it retains its object, which gets the values of a commit without a read.
        let monitor = try fixture.stack.newView().monitorObject(id)
        let observer = ObjectCounter()
        monitor.addObserver(observer)
        let owner = Mirror(try view.monitorList(Shape.byName))
        var published = 0
        publisher.addObserver(owner) { _ in published += 1 }
        fixture.faults.breakNextSnapshots()
        for commit in [fixture.commitFirst, fixture.commitSecond] {
            try commit()
            #expect(publisher.snapshot?.nickname == Self.name(2) && live.snapshot == publisher.snapshot && published == 0)
            #expect(monitor.object != nil && observer.updated == [])
        }
        fixture.faults.breakSnapshots()
        try fixture.commitThird()
        #expect(publisher.snapshot?.nickname == Self.name(9) && live.snapshot == publisher.snapshot && published == 1)
        #expect(monitor.object?.nickname == Self.name(9) && observer.updated == [["nickname"]])
        #expect(fixture.errorCount == 3, "\(fixture.logger.lines)")
        withExtendedLifetime(owner) {}
    }

    /// A list that is read again for a request of a callback is that of the request if the context cannot be read any more.
    @Test(arguments: Backend.forObjectLayer)
    func aRefetchInACallbackKeepsItsRows(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let view = fixture.stack.view
        let publisher = try view.publishList(Shape.byName)
        let (owner, other) = (Mirror(try view.monitorList(Shape.byName)), Mirror(try view.monitorList(Shape.byName)))
        let second = try view.publishList(Shape.byName)
        var counts: [Int] = []
        publisher.addObserver(owner) { publisher in
            counts.append(publisher.snapshot.count)
            guard counts.count == 1 else { return }
            do { try second.refetch(From<Person>().where(\.age == 2)) } catch { Issue.record(error) }
            fixture.faults.breakNextSnapshots()
        }
        second.addObserver(other) { counts.append($0.snapshot.count) }
        try fixture.commitFirst()
        #expect(counts == [4, 4, 4] && second.snapshot.count == 4)
        fixture.faults.breakSnapshots()
        try fixture.commitThird()
        #expect(second.snapshot.allSatisfy { $0.age == 2 } && second.snapshot.count == 2)
        withExtendedLifetime((owner, other)) {}
    }
}

private final class ObjectCounter: ObjectObserver {
    var updated: [Set<String>] = []
    func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedKeys: Set<String>) {
        updated.append(changedKeys)
    }
}
