import Foundation
import Observation
import PolyStore
import TestSupport
import Testing

/// What callbacks see of the other monitors, publishers and live lists of the context, and what they do to them.
@MainActor @Suite(.serialized) struct CallbackOrderTests {
    nonisolated private static let byName = From<Animal>().orderBy(.ascending(\.name))
    private final class Owner {}

    private final class Recorder: ListObjectObserver, ObjectObserver {
        typealias ListEntity = Animal
        typealias ObjectEntity = Animal
        var calls: [String] = []
        var onCall: ((String) -> Void)?

        private func record(_ call: String) {
            calls.append(call)
            onCall?(call)
        }

        func listMonitorWillChange(_ monitor: ListMonitor<Animal>) { record("will") }
        func listMonitor(_ monitor: ListMonitor<Animal>, didInsertObject object: Animal, toIndexPath indexPath: IndexPath) {
            record("+\(object.name)")
        }
        func listMonitorDidChange(_ monitor: ListMonitor<Animal>) { record("did") }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys: Set<String>) {
            record("updated \(object.name)")
        }
    }

    /// The first callback of a change already finds the new state everywhere in the context.
    @Test(arguments: Backend.forObjectLayer) func everyCallbackSeesOneState(backend: Backend) throws {
        let setup = try CallbackContext(backend, .view)
        try setup.insert(("a", 1), ("b", 2))
        let view = setup.stack.view
        let first = try view.monitorList(Self.byName)
        let id = try #require(first.objectIDs.first)
        let (list, object) = (try view.publishList(Self.byName), try view.publishObject(id))
        let last = try view.monitorList(Self.byName)
        let (recorder, owner) = (Recorder(), Owner())
        var states: [[String]] = []
        let before = list.snapshot
        func record() {
            states.append(
                [first.map(\.name), last.map(\.name), list.snapshot.map(\.name), [object.snapshot?.name ?? "none"]].map { "\($0)" })
            #expect(list.lastChanges?.applied(to: before) == list.snapshot)
        }
        recorder.onCall = { _ in record() }
        first.addObserver(recorder)
        last.addObserver(recorder)
        list.addObserver(owner) { _ in record() }
        object.addObserver(owner) { _ in record() }
        try setup.change { transaction in
            try transaction.edit(id).name = "c"
            try transaction.create(Into<Animal>()).name = "d"
        }
        #expect(states.count == 8)
        #expect(Set(states) == [["[\"b\", \"c\", \"d\"]", "[\"b\", \"c\", \"d\"]", "[\"b\", \"c\", \"d\"]", "[\"c\"]"]])
        withExtendedLifetime(owner) {}
    }

    /// A closure that is added when the publisher already has the new snapshot is not called for it.
    @Test(arguments: Backend.forObjectLayer) func aClosureAddedInACallbackIsNotCalledForTheChange(backend: Backend) throws {
        let setup = try CallbackContext(backend, .view)
        try setup.insert(("a", 1))
        let view = setup.stack.view
        let monitor = try view.monitorList(Self.byName)
        let list = try view.publishList(Self.byName)
        let object = try view.publishObject(try #require(monitor.objectIDs.first))
        let (recorder, owner) = (Recorder(), Owner())
        var counts: [Int] = []
        recorder.onCall = { call in
            guard call == "will" else { return }
            list.addObserver(owner) { counts.append($0.snapshot.count) }
            object.addObserver(owner) { counts.append($0.snapshot?.age ?? 0) }
        }
        monitor.addObserver(recorder)
        let id = object.objectID
        try setup.change { transaction in
            try transaction.edit(id).age = 7
            try transaction.create(Into<Animal>()).name = "b"
        }
        #expect(counts.isEmpty && list.snapshot.count == 2 && object.snapshot?.age == 7)
        recorder.onCall = nil
        try setup.change { try $0.edit(id).age = 8 }
        #expect(counts.sorted() == [2, 8])
        withExtendedLifetime(owner) {}
    }

    /// A monitor that is released in a callback reports the change that it already shows.
    @Test(arguments: Backend.forObjectLayer, CallbackContextKind.allCases)
    func aMonitorReleasedInACallbackReportsItsChange(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        try setup.insert(("a", 1))
        let first = try setup.context.monitorList(Self.byName)
        let id = try #require(first.objectIDs.first)
        var (list, object): (ListMonitor<Animal>?, ObjectMonitor<Animal>?) =
            (try setup.context.monitorList(Self.byName), try setup.context.monitorObject(id))
        let (recorder, other) = (Recorder(), Recorder())
        recorder.onCall = { _ in (list, object) = (nil, nil) }
        first.addObserver(recorder)
        list?.addObserver(other)
        object?.addObserver(other)
        try setup.change { transaction in
            try transaction.edit(id).age = 7
            try transaction.create(Into<Animal>()).name = "b"
        }
        #expect(list == nil && other.calls.sorted() == ["+b", "did", "updated a", "will"])
        try setup.insert(("c", 1))
        #expect(other.calls.count == 4 && recorder.calls.last == "did")
    }

    /// An object monitor that is released between the two calls of a change makes both.
    @Test(arguments: Backend.forObjectLayer, [CallbackContextKind.view, .refreshed])
    func aMonitorReleasedWhileAChangeIsAnnouncedReportsIt(backend: Backend, kind: CallbackContextKind) throws {
        final class Announced: ObjectObserver {
            typealias ObjectEntity = Animal
            var calls: [String] = []
            var onCall: (() -> Void)?

            func objectMonitor(_ monitor: ObjectMonitor<Animal>, willUpdateObject object: Animal) {
                calls.append("will \(object.age)")
                onCall?()
            }
            func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys: Set<String>) {
                calls.append("did \(object.age)")
            }
        }
        let setup = try CallbackContext(backend, kind)
        try setup.insert(("a", 1))
        let id = try #require(try setup.context.fetchOne(Self.byName)).objectID
        var first: ObjectMonitor<Animal>? = try setup.context.monitorObject(id)
        weak let released = first
        let second = try setup.context.monitorObject(id)
        let (one, two) = (Announced(), Announced())
        first?.addObserver(one)
        second.addObserver(two)
        two.onCall = { first = nil }
        try setup.change { try $0.edit(id).age = 7 }
        #expect(one.calls == ["will 1", "did 7"] && two.calls == one.calls)
        #expect(released == nil)
    }

    /// A publisher may be the owner of a closure, and live lists and objects show a change when it is reported to them.
    @Test(arguments: Backend.forObjectLayer) func everyAdapterReportsAChangeOnce(backend: Backend) throws {
        let setup = try CallbackContext(backend, .view)
        try setup.insert(("a", 1))
        let view = setup.stack.view
        let publisher = try view.publishList(Self.byName)
        let live = try LiveList(view, Self.byName)
        let object = try LiveObject(view, try #require(publisher.snapshot.objectIDs.first))
        var calls = 0
        publisher.addObserver(publisher) { publisher in
            calls += 1
            #expect(publisher.lastChanges?.inserted.count == 1)
        }
        final class Seen: @unchecked Sendable {  // used on the main actor
            var texts: [String] = []
        }
        let seen = Seen()
        func observe() {
            withObservationTracking {
                _ = (live.snapshot, object.snapshot)
            } onChange: {
                MainActor.assumeIsolated { seen.texts.append("\(live.count) \(object.snapshot?.age ?? 0)") }
            }
        }
        observe()
        try setup.insert(("b", 1))
        #expect(calls == 1 && publisher.snapshot == live.snapshot && publisher.lastChanges?.inserted.count == 1)
        // Observation calls before the change.
        #expect(seen.texts == ["1 1"] && live.count == 2)
        publisher.removeObserver(publisher)
        observe()
        let id = object.objectID
        try setup.change { try $0.edit(id).age = 9 }
        #expect(calls == 1 && publisher.lastChanges?.updated.count == 1 && object.snapshot?.age == 9)
        #expect(seen.texts.count == 2)
    }
}
