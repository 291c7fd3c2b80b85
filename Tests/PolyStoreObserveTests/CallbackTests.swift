import Foundation
import PolyStore
import TestSupport
import Testing

/// What happens in a callback is reported when all callbacks have returned.
@MainActor @Suite(.serialized) struct CallbackTests {
    private final class ObjectRecorder: ObjectObserver {
        typealias ObjectEntity = Animal
        var calls: [String] = []
        var onCall: ((String) -> Void)?

        private func record(_ call: String) {
            calls.append(call)
            onCall?(call)
        }

        func objectMonitor(_ monitor: ObjectMonitor<Animal>, willUpdateObject object: Animal) { record("will") }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys: Set<String>) {
            record("did " + changedKeys.sorted().joined(separator: ","))
        }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didDeleteObject object: Animal) { record("delete") }
    }

    nonisolated private static let byName = From<Animal>().orderBy(.ascending(\.name))
    nonisolated private static let byAge = SectionBy<Animal>(\.age) { "\($0)" }

    private func mirror(_ monitor: ListMonitor<Animal>) -> ListMirror {
        let mirror = ListMirror(monitor)
        monitor.addObserver(mirror)
        return mirror
    }

    private func check(_ mirrors: [ListMirror], _ monitor: ListMonitor<Animal>, _ comment: Comment) {
        for mirror in mirrors {
            #expect(mirror.problems.isEmpty, comment)
            #expect(mirror.sections == ListMirror.contents(of: monitor), comment)
        }
    }

    nonisolated private static let calls = [
        "willChange", "didInsertSection", "didDelete", "didInsert", "didUpdate", "didMove", "didDeleteSection", "didChange",
    ]

    /// Changes a list so that each call occurs.
    private func changeAll(_ setup: CallbackContext) throws {
        try setup.insert(("a", 1), ("b", 2), ("c", 3), ("d", 3), ("f", 1))
    }

    nonisolated private static let change: @Sendable (Transaction) throws -> Void = { transaction in
        let animals = try transaction.fetchAll(byName)
        // Deletes a section and the first object of another, moves an object between sections, updates one and inserts a section.
        try transaction.delete(animals[0])
        try transaction.delete(animals[1])
        animals[2].age = 1
        animals[3].city = "Oslo"
        let new = try transaction.create(Into<Animal>())
        (new.name, new.age) = ("e", 9)
    }

    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func aRefetchInACallbackIsReportedAfterwards(backend: Backend, kind: CallbackContextKind) throws {
        for call in Self.calls {
            let setup = try CallbackContext(backend, kind)
            try changeAll(setup)
            let monitor = try setup.context.monitorSectionedList(Self.byName, Self.byAge)
            let (first, second) = (mirror(monitor), mirror(monitor))
            var isDone = false
            first.onCall = { name in
                guard name == call, !isDone else { return }
                isDone = true
                // One section instead of three.
                do { try monitor.refetch(Self.byName.where(\.age > 0)) } catch { Issue.record(error) }
                #expect(throws: StoreError.self) { try monitor.refetch(From<Animal>().where(Where("nothing == 3"))) }
            }
            var calls: [String] = []
            second.onCall = { if calls.last != $0 { calls.append($0) } }
            try setup.change(Self.change)
            #expect(isDone, "\(call)")
            check([first, second], monitor, "\(call)")
            #expect(first.refetchCount == 1 && second.refetchCount == 1, "\(call)")
            #expect(calls == Self.calls + ["willRefetch", "didRefetch"], "\(call)")
            #expect(monitor.map(\.name) == ["c", "d", "e", "f"] && monitor.sections.count == 1, "\(call)")
        }
    }

    /// The other monitor has not reported the change yet when its list is replaced.
    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func aRefetchOfAnotherMonitorIsReportedAfterwards(backend: Backend, kind: CallbackContextKind) throws {
        for call in Self.calls {
            let setup = try CallbackContext(backend, kind)
            try changeAll(setup)
            let monitors = try (0..<2).map { _ in try setup.context.monitorSectionedList(Self.byName, Self.byAge) }
            let mirrors = monitors.map(mirror)
            var isDone = [false, false]
            for index in 0..<2 {
                mirrors[index].onCall = { name in
                    guard name == call, !isDone[index] else { return }
                    isDone[index] = true
                    do { try monitors[1 - index].refetch(Self.byName.where(\.age > 2)) } catch { Issue.record(error) }
                }
            }
            try setup.change(Self.change)
            for (monitor, mirror) in zip(monitors, mirrors) {
                check([mirror], monitor, "\(call)")
                #expect(mirror.changeCount == 1 && mirror.refetchCount == 1, "\(call)")
                #expect(monitor.map(\.name) == ["d", "e"] && monitor.sections.count == 1, "\(call)")
            }
        }
    }

    /// An observer that is added when the list already shows the change gets none of its calls.
    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func anObserverAddedInACallbackGetsNoPartOfAChange(backend: Backend, kind: CallbackContextKind) throws {
        for call in Self.calls {
            let setup = try CallbackContext(backend, kind)
            try changeAll(setup)
            let monitors = try (0..<2).map { _ in try setup.context.monitorSectionedList(Self.byName, Self.byAge) }
            let first = mirror(monitors[0])
            var added: [(mirror: ListMirror, monitor: ListMonitor<Animal>)] = []
            first.onCall = { name in
                guard name == call else { return }
                for monitor in monitors { added.append((mirror(monitor), monitor)) }
                // An observer that is added again is a new one.
                monitors[0].removeObserver(added[0].mirror)
                monitors[0].addObserver(added[0].mirror)
            }
            try setup.change(Self.change)
            for (mirror, monitor) in added {
                check([mirror], monitor, "\(call)")
                #expect(mirror.changeCount == 0, "\(call)")
            }
            first.onCall = nil
            try setup.insert(("g", 1))
            for (mirror, monitor) in added {
                check([mirror], monitor, "\(call)")
                #expect(mirror.changeCount == 1, "\(call)")
            }
        }
    }

    /// An observer that is added while the list is still the old one gets both calls of the refetch.
    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func anObserverAddedBeforeARefetchGetsBothCalls(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        try changeAll(setup)
        let monitor = try setup.context.monitorSectionedList(Self.byName, Self.byAge)
        let first = mirror(monitor)
        var added: [ListMirror] = []
        first.onCall = { _ in
            added.append(mirror(monitor))
            do { try setup.insert(("x\(added.count)", 4)) } catch { Issue.record(error) }
            if added.count == 2 { first.onCall = nil }
        }
        try monitor.refetch(Self.byName.where(\.age > 2))
        check([first] + added, monitor, "")
        #expect(added.map(\.refetchCount) == [1, 0] && first.refetchCount == 1)
        #expect(monitor.map(\.name) == ["c", "d", "x1", "x2"])
    }

    /// Monitors and observers that are created while objects still have their old values are notified of the change.
    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func whatIsAddedBeforeAnUpdateIsNotifiedOfIt(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        try changeAll(setup)
        let id = try #require(try setup.context.fetchOne(Self.byName)).objectID
        let object = try setup.context.monitorObject(id)
        let list = try setup.context.monitorList(Self.byName)
        let (first, second) = (ObjectRecorder(), ObjectRecorder())
        var made: [(ListMonitor<Animal>, ListMirror)] = []
        var objects: [ObjectMonitor<Animal>] = []
        first.onCall = { call in
            guard call == "will" else { return }
            object.addObserver(second)
            do {
                let monitor = try setup.context.monitorSectionedList(Self.byName, Self.byAge)
                made.append((monitor, mirror(monitor)))
                made.append((list, mirror(list)))
                objects.append(try setup.context.monitorObject(id))
                try list.refetch(Self.byName.where(\.age > 2))
            } catch { Issue.record(error) }
        }
        object.addObserver(first)
        try setup.change { transaction in try transaction.edit(id).age = 3 }
        #expect(first.calls == ["will", "did age"])
        // In an unqueued transaction the object has its new value from the beginning.
        #expect(second.calls == (setup.draft == nil ? ["will", "did age"] : []))
        for (monitor, mirror) in made { check([mirror], monitor, "") }
        #expect(list.map(\.name) == ["a", "c", "d"])
        #expect(made.first?.0.sections.map(\.name).sorted() == ["1", "2", "3"])
        let third = ObjectRecorder()
        objects.first?.addObserver(third)
        first.onCall = nil
        try setup.change { transaction in try transaction.edit(id).city = "Rome" }
        #expect(third.calls == ["will", "did city"] && first.calls.count == 4)
    }

    @Test(arguments: Backend.allCases, CallbackContextKind.allCases)
    func anObserverAddedInADidCallOfAnObjectGetsNoPart(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        try changeAll(setup)
        let id = try #require(try setup.context.fetchOne(Self.byName)).objectID
        let monitors = try (0..<2).map { _ in try setup.context.monitorObject(id) }
        let (first, second, third) = (ObjectRecorder(), ObjectRecorder(), ObjectRecorder())
        first.onCall = { call in
            guard call != "will" else { return }
            monitors[0].addObserver(second)
            monitors[1].addObserver(third)
        }
        monitors[0].addObserver(first)
        try setup.change { transaction in try transaction.edit(id).age = 3 }
        #expect(second.calls.isEmpty && third.calls.isEmpty)
        try setup.change { transaction in try transaction.edit(id).age = 4 }
        #expect(second.calls == ["will", "did age"] && third.calls == second.calls)
    }

    // MARK: Unqueued transactions

    private enum Action: String, CaseIterable, Sendable {
        case flush, rollback, commit, undo, redo, refresh
    }

    private func run(_ action: Action, _ draft: UnsafeTransaction) throws {
        switch action {
        case .flush:
            try draft.create(Into<Animal>()).name = "flushed"
            draft.flush()
        case .rollback: draft.rollback()
        case .commit: try draft.commit()
        case .undo: try draft.undo()
        case .redo:
            try draft.undo()
            try draft.redo()
        case .refresh: draft.refresh()
        }
    }

    @Test(arguments: Backend.allCases, [CallbackContextKind.draft, .child])
    func aTransactionIsChangedInACallback(backend: Backend, kind: CallbackContextKind) throws {
        for action in Action.allCases {
            for call in ["willChange", "didInsert", "didChange"] {
                let setup = try CallbackContext(backend, kind)
                let draft = try #require(setup.draft)
                try changeAll(setup)
                try draft.commit()
                let monitors = try (0..<2).map { _ in try setup.context.monitorSectionedList(Self.byName, Self.byAge) }
                let mirrors = monitors.flatMap { [mirror($0), mirror($0)] }
                var isDone = false
                mirrors[0].onCall = { name in
                    guard name == call, !isDone else { return }
                    isDone = true
                    do { try run(action, draft) } catch { Issue.record(error) }
                }
                try setup.change(Self.change)
                #expect(isDone)
                for (index, monitor) in monitors.enumerated() {
                    check(Array(mirrors[2 * index..<2 * index + 2]), monitor, "\(action) in \(call)")
                    let fetched = try draft.fetchAll(Self.byName).map { "\($0.age) \($0.name)" }
                    #expect(monitor.map { "\($0.age) \($0.name)" }.sorted() == fetched.sorted(), "\(action) in \(call)")
                    #expect(monitor.allSatisfy { !$0.isDeleted }, "\(action) in \(call)")
                }
            }
        }
    }

    @Test(arguments: Backend.allCases, [CallbackContextKind.draft, .child])
    func aMonitoredObjectComesBackWhenItsDeletionIsUndone(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        let draft = try #require(setup.draft)
        try setup.insert(("a", 1), ("b", 2))
        try draft.commit()
        let monitor = try draft.monitorObject(try #require(try draft.fetchOne(Self.byName)))
        let observer = ObjectRecorder()
        monitor.addObserver(observer)
        try draft.delete(try #require(monitor.object))
        draft.flush()
        #expect(monitor.isObjectDeleted && observer.calls == ["delete"])
        try draft.undo()
        #expect(monitor.object?.name == "a")
        #expect(observer.calls.count == 3 && observer.calls.last?.hasPrefix("did age,city,name,owner") == true)
        try draft.redo()
        #expect(monitor.isObjectDeleted && observer.calls.last == "delete")
        draft.rollback()
        #expect(monitor.object?.name == "a")
        // A created object leaves when its creation is undone, and returns when it is redone.
        try draft.create(Into<Animal>()).name = "c"
        draft.flush()
        let created = try draft.monitorObject(try #require(try draft.fetchOne(Self.byName.where(\.name == "c"))))
        let second = ObjectRecorder()
        created.addObserver(second)
        try draft.undo()
        #expect(created.isObjectDeleted && second.calls == ["delete"])
        try draft.redo()
        #expect(created.object?.name == "c" && second.calls.count == 3)
    }

    /// To-many relationships that undo, redo and rollback restore, and those of a commit without a flush.
    @Test(arguments: Backend.allCases, [CallbackContextKind.draft, .child])
    func restoredToManyRelationshipsAreReported(backend: Backend, kind: CallbackContextKind) throws {
        let setup = try CallbackContext(backend, kind)
        let draft = try #require(setup.draft)
        try setup.insert(("a", 1), ("b", 2))
        try draft.commit()
        let animals = try draft.fetchAll(Self.byName)
        let monitor = try draft.monitorObject(animals[0])
        let observer = ObjectRecorder()
        monitor.addObserver(observer)
        animals[0].friends.insert(animals[1])
        draft.flush()
        #expect(observer.calls == ["will", "did friends"])
        try draft.undo()
        #expect(observer.calls.count == 4 && observer.calls.last == "did friends")
        try draft.redo()
        #expect(observer.calls.count == 6 && observer.calls.last == "did friends")
        draft.rollback()
        #expect(observer.calls.count == 8 && observer.calls.last == "did friends")
        animals[0].friends.insert(animals[1])
        try draft.commit()
        #expect(observer.calls.count == 10 && observer.calls.last == "did friends")
    }

    /// Observers of pending changes get the changes of a callback afterwards, and all in the same order.
    @Test(arguments: Backend.allCases, [CallbackContextKind.draft, .child])
    func pendingChangesOfACallbackAreDeliveredAfterwards(backend: Backend, kind: CallbackContextKind) throws {
        for action in Action.allCases {
            let setup = try CallbackContext(backend, kind)
            let draft = try #require(setup.draft)
            try setup.insert(("a", 1))
            try draft.commit()
            let monitor = try draft.monitorList(Self.byName)
            let list = mirror(monitor)
            var (first, second): ([String], [String]) = ([], [])
            func text(_ changes: PendingChanges) -> String {
                "\(changes.inserted.count) \(changes.updated.count) \(changes.deleted.count)"
            }
            let one = draft.observe { changes in
                first.append(text(changes))
                guard first.count == 1 else { return }
                do { try run(action, draft) } catch { Issue.record(error) }
                first.append("end")
            }
            let two = draft.observe { second.append(text($0)) }
            try setup.insert(("b", 2))
            #expect(first.prefix(2) == ["1 0 0", "end"], "\(action)")
            #expect(first.filter { $0 != "end" } == second, "\(action)")
            check([list], monitor, "\(action)")
            #expect(try monitor.map(\.name) == setup.names(), "\(action)")
            withExtendedLifetime((one, two)) {}
        }
    }

    /// A change that an observer makes when it is notified of a commit belongs to the next commit.
    @Test(arguments: Backend.allCases, [CallbackContextKind.draft, .child])
    func aChangeInACallbackOfACommitIsKept(backend: Backend, kind: CallbackContextKind) throws {
        for usesMonitor in [false, true] {
            let setup = try CallbackContext(backend, kind)
            let draft = try #require(setup.draft)
            try setup.insert(("a", 1))
            try draft.commit()
            let monitor = try draft.monitorList(Self.byName)
            let list = mirror(monitor)
            var count = 0
            func create() {
                count += 1
                guard count == 1 else { return }
                do { try draft.create(Into<Animal>()).name = "more" } catch { Issue.record(error) }
            }
            if usesMonitor { list.onCall = { _ in create() } }
            let observation = draft.observe { _ in if !usesMonitor { create() } }
            try draft.create(Into<Animal>()).name = "b"
            try draft.commit()
            #expect(count > 0 && draft.hasChanges, "\(usesMonitor)")
            try draft.commit()
            #expect(try setup.names() == ["a", "b", "more"], "\(usesMonitor)")
            check([list], monitor, "\(usesMonitor)")
            #expect(monitor.map(\.name) == ["a", "b", "more"], "\(usesMonitor)")
            withExtendedLifetime(observation) {}
        }
    }

    /// A cancelled observation receives no further calls, even for changes that are being delivered.
    @Test func anObservationCancelledInACallbackIsNotCalled() throws {
        let setup = try CallbackContext(.memory, .draft)
        let draft = try #require(setup.draft)
        var second: PendingChangesObservation?
        var count = 0
        let first = draft.observe { _ in second?.cancel() }
        second = draft.observe { _ in count += 1 }
        try setup.insert(("a", 1))
        #expect(count == 0)
        withExtendedLifetime(first) {}
    }

    // MARK: Publishers

    @Test(arguments: Backend.allCases) func aPublisherIsRefetchedInACallback(backend: Backend) throws {
        let setup = try CallbackContext(backend, .view)
        try changeAll(setup)
        let view = setup.stack.view
        let publishers = try (0..<2).map { _ in try view.publishList(Self.byName, content: .ids) }
        final class Owner {}
        let (first, second, third) = (Owner(), Owner(), Owner())
        var calls: [String] = []
        publishers[0].addObserver(first) { publisher in
            calls.append("first \(publisher.snapshot.count)")
            guard calls.count == 1 else { return }
            for other in publishers { do { try other.refetch(Self.byName.where(\.age > 2)) } catch { Issue.record(error) } }
            publisher.addObserver(third) { calls.append("third \($0.snapshot.count)") }
            do { try setup.insert(("y", 9)) } catch { Issue.record(error) }
        }
        publishers[0].addObserver(second) { calls.append("second \($0.snapshot.count)") }
        try setup.insert(("x", 9))
        #expect(
            calls == [
                "first 6", "second 6", "first 3", "second 3", "third 3", "first 4", "second 4", "third 4",
            ])
        #expect(publishers.map(\.snapshot.count) == [4, 4])
    }

    /// Calling a closure with the initial snapshot is a callback too.
    @Test(arguments: Backend.allCases) func theInitialCallOfAPublisherIsACallback(backend: Backend) throws {
        let setup = try CallbackContext(backend, .view)
        let publisher = try setup.stack.view.publishList(Self.byName)
        final class Owner {}
        let owner = Owner()
        var counts: [Int] = []
        publisher.addObserver(owner, notifyInitial: true) { publisher in
            counts.append(publisher.snapshot.count)
            if counts.count == 1 { do { try setup.insert(("a", 1)) } catch { Issue.record(error) } }
            counts.append(publisher.snapshot.count)
        }
        #expect(counts == [0, 0, 1, 1])
    }
}
