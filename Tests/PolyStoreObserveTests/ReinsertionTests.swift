import Foundation
import PolyStore
import TestSupport
import Testing

/// Lists and monitors of contexts, when an object is deleted and inserted again, once or several times, between two snapshots.
@MainActor
@Suite struct ReinsertionTests {
    /// What happens to an object between two refreshes of a view.
    enum Event: String, CaseIterable, CustomTestStringConvertible {
        case edit, delete, reinsert
        var testDescription: String { rawValue }
    }

    /// The sequences of events that are possible for an existing object, with up to five events.
    private nonisolated static let sequences: [[Event]] = {
        var all: [[Event]] = []
        func extend(_ events: [Event], isThere: Bool) {
            if !events.isEmpty { all.append(events) }
            if events.count == 5 { return }
            if isThere {
                extend(events + [.edit], isThere: true)
                extend(events + [.delete], isThere: false)
            } else {
                extend(events + [.reinsert], isThere: true)
            }
        }
        extend([], isThere: true)
        return all
    }()

    /// Commits an event. An object is inserted again by the commit of a transaction that edited it before its deletion.
    private func commit(_ events: [Event], _ id: ObjectID<Worker>, _ stack: DataStack) throws {
        var drafts: [UnsafeTransaction] = []
        for (number, event) in events.enumerated() {
            switch event {
            case .edit: try stack.performAndWait { try $0.edit(id).age += 1 }
            case .delete:
                let draft = stack.beginUnsafe()
                try draft.edit(id).age = 100 + number
                drafts.append(draft)
                try stack.performAndWait { try $0.delete(id) }
            case .reinsert: try drafts.popLast()?.commitAndWait(mergePolicy: .mineWins)
            }
        }
    }

    /// Records the calls of a list monitor as the set of names that they give.
    private final class Names: ListObjectObserver {
        var names: Set<String>
        var problems: [String] = []

        init(_ monitor: ListMonitor<Worker>) { names = Set(monitor.map(\.name)) }

        func listMonitorWillChange(_ monitor: ListMonitor<Worker>) {}
        func listMonitorDidChange(_ monitor: ListMonitor<Worker>) {}
        func listMonitor(_ monitor: ListMonitor<Worker>, didInsertObject object: Worker, toIndexPath path: IndexPath) {
            if !names.insert(object.name).inserted { problems.append("inserted again") }
        }
        func listMonitor(_ monitor: ListMonitor<Worker>, didDeleteObject object: Worker, fromIndexPath path: IndexPath) {
            names = names.filter { $0 != "a" }
        }
    }

    /// Records the calls of an object monitor, with the age of the object in each.
    private final class Ages: ObjectObserver {
        var calls: [String] = []

        func objectMonitor(_ monitor: ObjectMonitor<Worker>, willUpdateObject object: Worker) { calls.append("will \(object.age)") }
        func objectMonitor(_ monitor: ObjectMonitor<Worker>, didUpdateObject object: Worker, changedKeys: Set<String>) {
            calls.append("did \(object.age)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Worker>, didDeleteObject object: Worker) { calls.append("deleted") }
    }

    @Test(arguments: Backend.allCases)
    func listsAndMonitorsOfManualViewsShowTheEnd(_ backend: Backend) throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        for events in Self.sequences {
            let ids = try workplace.insert(("a", 1), ("b", 2))
            let view = stack.newView(.manual)
            let list = try view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
            let adults = try view.monitorList(From<Worker>().where(\.age > 0).orderBy(.ascending(\.age)))
            let page = try view.monitorList(From<Worker>().orderBy(.ascending(\.name)).limit(5))
            let calls = Names(list)
            list.addObserver(calls)
            let worker = try #require(try view.fetchExisting(ids[0]))
            let monitor = try view.monitorObject(worker)
            let ages = Ages()
            monitor.addObserver(ages)
            let publisher = try view.publishList(From<Worker>().orderBy(.ascending(\.name)))
            let object = try view.publishObject(ids[0])
            try commit(events, ids[0], stack)
            try view.refresh()
            let isThere = events.last != .delete
            let expected = isThere ? ["a", "b"] : ["b"]
            let context = Comment(rawValue: "\(events.map(\.rawValue))")
            #expect(list.map(\.name) == expected, context)
            #expect(Set(adults.map(\.name)) == Set(expected), context)
            #expect(page.map(\.name) == expected, context)
            #expect(calls.names == Set(expected) && calls.problems.isEmpty, context)
            #expect(monitor.isObjectDeleted == !isThere, context)
            #expect(publisher.snapshot.map { $0.name } == expected, context)
            #expect((object.snapshot == nil) == !isThere, context)
            if isThere {
                let age = try stack.readAndWait { try $0.fetchExisting(ids[0])?.age }
                #expect(worker.age == age && object.snapshot?.age == age, context)
                // The announcement precedes the change. An object with its previous values has not changed.
                #expect(ages.calls == (age == 1 ? [] : ["will 1", "did \(worker.age)"]), context)
            } else {
                #expect(ages.calls == ["deleted"], context)
            }
            try stack.performAndWait { _ = try $0.deleteAll(From<Worker>()) }
        }
    }

    /// A sequence whose consumer is slower than the commits delivers combined changes; the last state is the end.
    @Test(arguments: Backend.forObjectLayer)
    func sequencesShowTheEnd(_ backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        for events in Self.sequences {
            let ids = try workplace.insert(("a", 1), ("b", 2))
            var updates = CheckedUpdates(stack.changes(of: From<Worker>().orderBy(.ascending(\.name))))
            var adults = CheckedUpdates(stack.changes(of: From<Worker>().where(\.age > 0).orderBy(.ascending(\.name))))
            _ = try await (updates.next(), adults.next())
            try commit(events, ids[0], stack)
            _ = try workplace.insert(("end", 3))
            let expected = events.last != .delete ? ["a", "b", "end"] : ["b", "end"]
            // If the last object never comes, the time limit of the test ends this.
            while updates.snapshot?.last?.name != "end" { _ = try await updates.next() }
            while adults.snapshot?.last?.name != "end" { _ = try await adults.next() }
            let context = Comment(rawValue: "\(events.map(\.rawValue))")
            #expect(updates.snapshot?.map { $0.name } == expected, context)
            #expect(adults.snapshot?.map { $0.name } == expected, context)
            let age = try stack.readAndWait { try $0.fetchExisting(ids[0])?.age }
            #expect(updates.snapshot?[ids[0]]?.age == age && adults.snapshot?[ids[0]]?.age == age, context)
            try stack.performAndWait { _ = try $0.deleteAll(From<Worker>()) }
        }
    }

    /// The same for an object that is new to the view.
    @Test(arguments: Backend.allCases)
    func newObjectsAreListedOnce(_ backend: Backend) throws {
        let workplace = try Workplace(backend)
        let stack = workplace.stack
        for events in Self.sequences {
            let view = stack.newView(.manual)
            let list = try view.monitorList(From<Worker>().orderBy(.ascending(\.name)))
            let calls = Names(list)
            list.addObserver(calls)
            let id = try workplace.insert(("a", 1))[0]
            try commit(events, id, stack)
            try view.refresh()
            let expected = events.last != .delete ? ["a"] : []
            let context = Comment(rawValue: "\(events.map(\.rawValue))")
            #expect(list.map(\.name) == expected, context)
            #expect(calls.names == Set(expected) && calls.problems.isEmpty, context)
            try stack.performAndWait { _ = try $0.deleteAll(From<Worker>()) }
        }
    }
}
