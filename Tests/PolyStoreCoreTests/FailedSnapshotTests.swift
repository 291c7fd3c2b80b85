import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Contexts whose snapshots cannot begin, or cannot be read any more.
@MainActor
@Suite struct FailedSnapshotTests {
    private nonisolated static let byAge = From<Person>().orderBy(.ascending(\.age))

    enum Kind: String, CaseIterable {
        case automaticView, manualView, context

        @MainActor
        func make(_ stack: DataStack) -> RefreshableContext {
            switch self {
            case .automaticView: stack.newView()
            case .manualView: stack.newView(.manual)
            case .context: stack.newContext()
            }
        }
    }

    /// A stack with people aged 10 and 20, over a backend with faults.
    @MainActor
    private struct Fixture {
        let faults = Faults()
        private let company: Company
        let ids: [ObjectID<Person>]
        var stack: DataStack { company.stack }
        var logger: RecordingLogger { company.logger }

        init(_ backend: Backend) throws {
            company = try Company(backend, faults: faults, expectsSilence: false)
            ids = try company.stack.performAndWait(isolation: nil) { transaction throws in
                try [10, 20].map { try transaction.createPerson($0).objectID }
            }
        }

        /// Changes the first person's age and adds a person.
        func commit(_ age: Int) throws {
            let id = ids[0]
            try stack.performAndWait {
                try $0.edit(id).age = age
                _ = try $0.createPerson(age + 1)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func refreshReplacesASnapshotThatCannotBeRead(_ backend: Backend, _ kind: Kind) throws {
        let fixture = try Fixture(backend)
        let context = kind.make(fixture.stack)
        let list = try context.monitorList(Self.byAge)
        let counter = ListCounter()
        list.addObserver(counter)
        let first = try #require(try context.fetchExisting(fixture.ids[0]))
        let monitor = try context.monitorObject(first)
        #expect(first.age == 10)
        let unread = try #require(try context.fetchExisting(fixture.ids[1]))
        try context.refresh()

        fixture.faults.breakSnapshots()
        for _ in 0..<2 { expectError(.io) { try context.fetchAll(From<Person>()) } }
        // The object is a fault since the refresh. An accessor cannot throw; the error is logged, and the object keeps its last values.
        #expect(unread.age == 20)
        #expect(fixture.logger.lines.count == 1)
        try context.refresh()
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [10, 20])
        #expect((first.age, unread.age) == (10, 20))
        #expect("\(unread)".contains("20"))

        try fixture.commit(30)
        if kind != .automaticView { try context.refresh() }
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [20, 30, 31])
        #expect(list.map(\.age) == [20, 30, 31])
        #expect(first.age == 30)
        #expect(monitor.object?.age == 30)
        #expect(counter.changes == 1)
        #expect(fixture.logger.lines.count == 1)
        #expect(fixture.stack.openSnapshots.count == 1)
    }

    /// The snapshot breaks, and then the context moves to a commit.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func monitorsFollowACommitAfterASnapshotThatCannotBeRead(_ backend: Backend, _ kind: Kind) throws {
        let fixture = try Fixture(backend)
        let context = kind.make(fixture.stack)
        let list = try context.monitorList(Self.byAge)
        let first = try #require(try context.fetchExisting(fixture.ids[0]))
        let monitor = try context.monitorObject(first)
        fixture.faults.breakSnapshots()
        try fixture.commit(30)
        if kind != .automaticView { try context.refresh() }
        #expect(list.map(\.age) == [20, 30, 31])
        #expect((first.age, monitor.object?.age) == (30, 30))
        try fixture.commit(40)
        if kind != .automaticView { try context.refresh() }
        #expect(list.map(\.age) == [20, 31, 40, 41])
        #expect((first.age, monitor.object?.age) == (40, 40))
    }

    /// Monitors that cannot read the new snapshot either read it after the next refresh, although no commit came in between.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func monitorsThatFailedAreReadAgain(_ backend: Backend, _ kind: Kind) throws {
        let fixture = try Fixture(backend)
        let context = kind.make(fixture.stack)
        let list = try context.monitorList(Self.byAge.limit(5))
        let first = try #require(try context.fetchExisting(fixture.ids[0]))
        let monitor = try context.monitorObject(first)
        fixture.faults.breakNextSnapshots()
        try fixture.commit(30)
        try? context.refresh()
        fixture.faults.breakSnapshots()
        try context.refresh()
        #expect(list.map(\.age) == [20, 30, 31])
        #expect((first.age, monitor.object?.age) == (30, 30))
        try fixture.commit(40)
        if kind != .automaticView { try context.refresh() }
        #expect(list.map(\.age) == [20, 31, 40, 41])
    }

    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func aContextWhoseFirstSnapshotFailsReadsLater(_ backend: Backend, _ kind: Kind) throws {
        let fixture = try Fixture(backend)
        let context = kind.make(fixture.stack)
        fixture.faults.failReads(.max)
        for _ in 0..<2 { expectError(.io) { try context.fetchAll(From<Person>()) } }
        fixture.faults.failReads(0)
        #expect(fixture.stack.openSnapshots.isEmpty)
        let list = try context.monitorList(Self.byAge)
        try fixture.commit(30)
        if kind != .automaticView { try context.refresh() }
        #expect(list.map(\.age) == [20, 30, 31])
    }

    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func aRefreshThatFailsCanBeRepeated(_ backend: Backend, _ kind: Kind) throws {
        let fixture = try Fixture(backend)
        let context = kind.make(fixture.stack)
        let list = try context.monitorList(Self.byAge)
        let first = try #require(try context.fetchExisting(fixture.ids[0]))
        fixture.faults.failReads(.max)
        try fixture.commit(30)
        for _ in 0..<2 { expectError(.io) { try context.refresh() } }
        // It shows the version of before.
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [10, 20])
        #expect(list.map(\.age) == [10, 20])
        fixture.faults.failReads(0)
        try context.refresh()
        #expect(list.map(\.age) == [20, 30, 31])
        #expect(first.age == 30)
        try fixture.commit(40)
        if kind != .automaticView { try context.refresh() }
        #expect(list.map(\.age) == [20, 31, 40, 41])
        #expect(first.age == 40)
    }

    /// The snapshots of all stores begin together, or none.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func snapshotsOfSeveralStoresBeginTogether(_ backend: Backend, _ kind: Kind) throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let stack = try DataStack(
            Schema("Split", models, configurations: ["A": models, "B": models]), logger: RecordingLogger())
        let faults = Faults()
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        try stack.addStore(backend.store(in: folder, "b").wrapped(faults), configuration: "B")
        let context = kind.make(stack)
        faults.failReads(.max)
        expectError(.io) { try context.fetchCount(From<Person>("A")) }
        faults.failReads(0)
        #expect(stack.openSnapshots.isEmpty)
        try stack.performAndWait {
            for store in ["A", "B"] { try $0.create(Into<Person>(store)).email = "1" }
        }
        #expect(try context.fetchCount(From<Person>("A")) == 1)
        #expect(try context.fetchCount(From<Person>("B")) == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func refreshOfAnUnqueuedTransactionReplacesItsSnapshot(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let draft = fixture.stack.beginUnsafe()
        let first = try draft.edit(fixture.ids[0])
        first.age = 15
        let second = try #require(try draft.fetchExisting(fixture.ids[1]))
        draft.refresh()
        #expect(try draft.fetchCount(From<Person>()) == 2)
        fixture.faults.breakSnapshots()
        expectError(.io) { try draft.fetchAll(Self.byAge) }
        #expect(second.age == 20)
        draft.refresh()
        #expect(try draft.fetchAll(Self.byAge).map(\.age) == [15, 20])
        second.age = 25
        try draft.commit()
        let ages = try fixture.stack.readAndWait { try $0.fetchAll(Self.byAge).map(\.age) }
        #expect(ages == [15, 25])
    }

    @Test(arguments: Backend.forObjectLayer)
    func sequencesContinueAfterASnapshotThatCannotBeRead(_ backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var lists = fixture.stack.snapshots(of: Self.byAge).makeAsyncIterator()
        #expect(try await lists.next()?.map { $0[\.age] } == [10, 20])
        fixture.faults.breakSnapshots()
        try fixture.commit(30)
        #expect(try await lists.next()?.map { $0[\.age] } == [20, 30, 31])
        try fixture.commit(40)
        #expect(try await lists.next()?.map { $0[\.age] } == [20, 31, 40, 41])
    }
}

private final class ListCounter: ListObserver {
    var changes = 0
    func listMonitorDidChange(_ monitor: ListMonitor<Person>) { changes += 1 }
}
