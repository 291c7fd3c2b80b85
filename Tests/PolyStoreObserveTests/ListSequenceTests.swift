import Foundation
import PolyStore
import TestSupport
import Testing

/// Lists as sequences of snapshots and of changes, off the main actor.
@Suite struct ListSequenceTests {
    private static let byName = From<Worker>().orderBy(.ascending(\.name))

    @Test(arguments: Backend.forObjectLayer) func snapshotsBeginWithTheListAndFollowEachKindOfChange(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2))
        var lists = workplace.stack.snapshots(of: Self.byName).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.brief) == ["B1", "D2"])
        try workplace.insert(("C", 3))
        #expect(try await lists.next()?.map(\.brief) == ["B1", "C3", "D2"])
        try workplace.edit(ids[1]) { $0.age = 20 }
        #expect(try await lists.next()?.map(\.brief) == ["B1", "C3", "D20"])
        try workplace.edit(ids[1]) { $0.name = "A" }
        #expect(try await lists.next()?.map(\.brief) == ["A20", "B1", "C3"])
        try workplace.delete(ids[0])
        #expect(try await lists.next()?.map(\.brief) == ["A20", "C3"])
    }

    @Test(arguments: Backend.forObjectLayer) func changesDescribeTheCommitExactly(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2), ("F", 3))
        var updates = CheckedUpdates(workplace.stack.changes(of: From<Worker>(), OrderBy(.ascending(\.name))))
        #expect(try await updates.next() == nil)
        #expect(updates.snapshot?.objectIDs == ids)
        let inserted = try workplace.insert(("C", 4))
        var changes = try #require(try await updates.next())
        #expect(changes.inserted.map(\.id) == inserted && changes.inserted.map(\.position.item) == [1])
        #expect(changes.deleted.isEmpty && changes.moved.isEmpty && changes.updated.isEmpty)
        try workplace.edit(ids[0]) { $0.age = 10 }
        changes = try #require(try await updates.next())
        #expect(changes.updated.map(\.id) == [ids[0]] && changes.inserted.isEmpty && changes.moved.isEmpty)
        try workplace.edit(ids[0]) { $0.name = "E" }
        changes = try #require(try await updates.next())
        #expect(changes.moved.map(\.id) == [ids[0]] && changes.moved.allSatisfy(\.isUpdated) && changes.updated.isEmpty)
        #expect(changes.moved.map { [$0.from.item, $0.to.item] } == [[0, 2]])
        try workplace.delete(ids[1])
        changes = try #require(try await updates.next())
        #expect(changes.deleted.map(\.id) == [ids[1]] && changes.deleted.map(\.position.item) == [1] && changes.inserted.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer) func sectionsComeGoAndChange(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 30), ("B", 30), ("C", 50))
        var updates = CheckedUpdates(workplace.stack.changes(of: Self.byName, sectionBy: SectionBy(\.age) { "\($0) years" }))
        _ = try await updates.next()
        #expect(updates.snapshot?.sections.map(\.text) == ["30 years: A30 B30", "50 years: C50"])
        try workplace.insert(("D", 40))
        var changes = try #require(try await updates.next())
        #expect(changes.insertedSections.map { "\($0.index) \($0.name)" } == ["1 40 years"])
        #expect(updates.snapshot?.sections.map(\.text) == ["30 years: A30 B30", "40 years: D40", "50 years: C50"])
        try workplace.edit(ids[2]) { $0.age = 30 }
        changes = try #require(try await updates.next())
        #expect(changes.deletedSections.map { "\($0.index) \($0.name)" } == ["2 50 years"])
        #expect(changes.moved.map { [$0.from.section, $0.from.item, $0.to.section, $0.to.item] } == [[2, 0, 0, 2]])
        let snapshot = try #require(updates.snapshot)
        #expect(snapshot.isSectioned && changes.difference == nil)
        #expect(snapshot[0, 2].id == ids[2] && snapshot[[1, 0]].name == "D" && snapshot[safe: 1, 1] == nil && snapshot[safe: 2, 0] == nil)
        #expect(snapshot.indexPath(of: ids[2]) == [0, 2] && snapshot.index(of: ids[2]) == 2 && snapshot[ids[2]]?.name == "C")
        #expect(snapshot[safe: 3]?.name == "D" && snapshot[safe: 4] == nil && snapshot[safe: [0, 0]]?.name == "A")
        #expect(snapshot.sections[0].range == 0..<3 && snapshot.sections[0].objectIDs == ids)
    }

    @Test(arguments: Backend.forObjectLayer) func aSlowConsumerGetsOneCombinedChange(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2), ("F", 3))
        var updates = CheckedUpdates(workplace.stack.changes(of: Self.byName))
        _ = try await updates.next()
        for number in 0..<30 {
            let new = try workplace.insert(("M\(number)", number))
            try workplace.edit(ids[0]) { $0.age = number }
            if number % 3 != 0 { try workplace.delete(new[0]) }
        }
        try workplace.edit(ids[1]) { $0.name = "A" }
        try workplace.delete(ids[2])
        // Each change is checked against the previous list, so a gap would be detected. The number of changes depends on scheduling.
        let wanted = ["A", "B"] + (0..<30).filter { $0 % 3 == 0 }.map { "M\($0)" }.sorted()
        while updates.snapshot?.map(\.name) != wanted { _ = try #require(try await updates.next()) }
    }

    @Test(arguments: Backend.forObjectLayer) func theContentOptionDeterminesWhichChangesAreDelivered(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("B", 1), ("D", 2))
        var named = workplace.stack.snapshots(of: Self.byName, content: .attributes(\.name)).makeAsyncIterator()
        var bare = CheckedUpdates(workplace.stack.changes(of: Self.byName, content: .ids))
        #expect(try await named.next()?.map(\.name) == ["B", "D"])
        _ = try await bare.next()
        try workplace.edit(ids[0]) { $0.age = 7 }
        try workplace.edit(ids[0]) { $0.name = "C" }
        #expect(try await named.next()?.map(\.name) == ["C", "D"])
        try workplace.edit(ids[0]) { $0.name = "E" }
        let changes = try #require(try await bare.next())
        #expect(changes.moved.map(\.id).count == 1 && changes.moved.allSatisfy { !$0.isUpdated } && changes.updated.isEmpty)
        #expect(bare.snapshot?.objectIDs == [ids[1], ids[0]])
    }

    @Test func aKeyPathThatIsNotStoredIsRefused() async throws {
        let workplace = try Workplace(.memory)
        var lists = workplace.stack.snapshots(of: From<Worker>(), content: .attributes(\.label)).makeAsyncIterator()
        let error = await #expect(throws: StoreError.self) { try await lists.next() }
        #expect(error?.code == .invalidPredicate && error?.entity == "Worker")
        #expect(try await lists.next() == nil)
    }

    @Test func cancellationEndsTheIteration() async throws {
        let workplace = try Workplace(.memory)
        try workplace.insert(("A", 0))
        let started = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for try await _ in workplace.stack.snapshots(of: Self.byName) {
                count += 1
                started.continuation.yield()
            }
            return count
        }
        for await _ in started.stream { break }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test(arguments: Backend.forObjectLayer) func theSequencesEndWithTheStack(backend: Backend) async throws {
        var workplace: Workplace? = try Workplace(backend)
        try workplace?.insert(("A", 0))
        var lists = try #require(workplace?.stack.snapshots(of: Self.byName)).makeAsyncIterator()
        var updates = try #require(workplace?.stack.changes(of: Self.byName)).makeAsyncIterator()
        let late = try #require(workplace?.stack.snapshots(of: Self.byName))
        let list = try await lists.next()
        #expect(try await updates.next()?.snapshot == list)
        workplace = nil
        #expect(try await lists.next() == nil)
        #expect(try await updates.next() == nil)
        var begun = late.makeAsyncIterator()
        #expect(try await begun.next() == nil)
        #expect(list?.map(\.brief) == ["A0"], "a snapshot outlives the stack")
    }

    @Test(arguments: Backend.allCases) func severalTasksFollowWhileOthersWrite(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var updates = CheckedUpdates(workplace.stack.changes(of: Self.byName, sectionBy: SectionBy(\.age)))
                    while updates.snapshot?.count != 40 {
                        _ = try await updates.next()
                    }
                }
            }
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<10 {
                        let id = try workplace.insert(("w\(writer)\(number)", writer))[0]
                        try workplace.edit(id) { $0.age = number % 3 }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension ObjectSnapshot<Worker> {
    var brief: String { "\(self.name)\(self.age)" }
}

extension ListSnapshotSection<Worker> {
    /// The name and the objects.
    var text: String { "\(name): \(map(\.brief).joined(separator: " "))" }
}
