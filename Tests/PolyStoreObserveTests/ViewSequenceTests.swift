import Foundation
import Observation
import PolyStore
import TestSupport
import Testing

/// Sequences, publishers and observable wrappers of the main actor's view.
@MainActor
@Suite struct ViewSequenceTests {
    private static let byName = From<Worker>().orderBy(.ascending(\.name))

    @Test(arguments: Backend.forObjectLayer) func sequencesOfTheViewAreInStepWithIt(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let view = workplace.stack.view
        var updates = CheckedUpdates(view.changes(of: Self.byName))
        _ = try await updates.next()
        for number in 0..<20 {
            try await workplace.stack.perform { transaction in
                let worker = try transaction.create(Into<Worker>())
                (worker.name, worker.age) = ("w\(number)", number)
            }
            let changes = try await updates.next()
            #expect(changes?.inserted.count == 1)
            let snapshot = try #require(updates.snapshot)
            #expect(snapshot.count == number + 1)
            #expect(try view.fetchExisting(snapshot.objectIDs).map(\.name) == snapshot.map(\.name))
        }
    }

    @Test func sequencesOfTheViewEndWithTheStack() async throws {
        var workplace: Workplace? = try Workplace(.memory)
        var lists = try #require(workplace?.stack.view.snapshots(of: Self.byName)).makeAsyncIterator()
        let first = try await lists.next()
        #expect(first?.isEmpty == true)
        weak let stack = workplace?.stack
        workplace = nil
        let last = try await lists.next()
        #expect(last == nil && stack == nil)
    }

    @Test func aListThatCannotBeFetchedEndsTheSequence() async throws {
        let workplace = try Workplace(.memory)
        var lists = workplace.stack.view.snapshots(of: From<Worker>(), content: .attributes(\.label)).makeAsyncIterator()
        await #expect(throws: StoreError.self) { try await lists.next() }
        let next = try await lists.next()
        #expect(next == nil)
    }

    @Test(arguments: Backend.forObjectLayer) func publishersNotifyTheirObservers(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2))
        let publisher = try workplace.stack.view.publishList(From<Worker>(), OrderBy(.ascending(\.name)))
        var owner: Owner? = Owner()
        let other = Owner()
        var seen: [[String]] = []
        publisher.addObserver(try #require(owner), notifyInitial: true) { seen.append($0.snapshot.map(\.name)) }
        publisher.addObserver(other) { publisher in publisher.removeObserver(other) }
        try await workplace.stack.perform { try $0.edit(ids[0]).name = "E" }
        #expect(seen == [["B", "D"], ["D", "E"]] && publisher.lastChanges?.moved.count == 1)
        // A commit that does not change the list.
        try await workplace.stack.perform { transaction in try transaction.create(Into<Team>()).title = "t" }
        #expect(seen.count == 2)
        try publisher.refetch(From<Worker>(), Where(\.age > 1), OrderBy(.ascending(\.name)))
        #expect(seen.last == ["D"] && publisher.lastChanges == nil)
        try await workplace.stack.perform { try $0.edit(ids[0]).age = 5 }
        #expect(seen.last == ["D", "E"])
        owner = nil
        try await workplace.stack.perform { try $0.delete(ids[0]) }
        #expect(seen.count == 4 && publisher.snapshot.map(\.name) == ["D"])
    }

    @Test(arguments: Backend.forObjectLayer) func objectPublishersFollowOneObject(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2))
        let publisher = try workplace.stack.view.publishObject(ids[0])
        let owner = Owner()
        var seen: [String] = []
        publisher.addObserver(owner) { seen.append($0.snapshot?.brief ?? "deleted") }
        try await workplace.stack.perform { try $0.edit(ids[1]).age = 5 }
        try await workplace.stack.perform { try $0.edit(ids[0]).age = 7 }
        #expect(publisher.object?.age == 7)
        try await workplace.stack.perform { try $0.delete(ids[0]) }
        #expect(seen == ["B7", "deleted"] && publisher.object == nil && publisher.snapshot == nil)
        withExtendedLifetime(owner) {}
    }

    @Test(arguments: Backend.forObjectLayer) func liveListsAndObjectsAreObservable(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2))
        let list = try LiveList(workplace.stack.view, From<Worker>(), OrderBy(.ascending(\.name)), sectionBy: SectionBy(\.age))
        let object = try LiveObject(workplace.stack.view, ids[0])
        let notified = Counter()
        func observe() {
            withObservationTracking {
                _ = (list.count, object.snapshot)
            } onChange: {
                notified.increment()
            }
        }
        observe()
        #expect(list.sections.map(\.text) == ["1: B1", "2: D2"])
        try await workplace.stack.perform { try $0.edit(ids[1]).age = 1 }
        #expect(notified.value == 1 && list.sections.map(\.text) == ["1: B1 D1"])
        observe()
        try await workplace.stack.perform { try $0.edit(ids[0]).name = "C" }
        #expect(notified.value == 2 && object.snapshot?.name == "C" && object.object?.name == "C")
        observe()
        try await workplace.stack.perform { transaction in try transaction.create(Into<Team>()).title = "t" }
        #expect(notified.value == 2)
        try list.refetch(From<Worker>(), OrderBy(.descending(\.name)))
        #expect(notified.value == 3 && list.snapshot.map(\.name) == ["D", "C"] && !list.isEmpty)
    }

    private final class Owner {}
}
