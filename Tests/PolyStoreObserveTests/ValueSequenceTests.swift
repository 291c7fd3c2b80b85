import Foundation
import PolyStore
import TestSupport
import Testing

/// The results of queries, after each commit that changes them.
@Suite struct ValueSequenceTests {
    @Test(arguments: Backend.forObjectLayer) func theCurrentResultComesFirstAndThenEachOther(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 10), ("B", 20))
        var averages = workplace.stack.values(of: From<Worker>().where(\.age > 5), .average(\.age)).makeAsyncIterator()
        #expect(try await averages.next() == 15)
        try workplace.edit(ids[0]) { $0.age = 40 }
        #expect(try await averages.next() == 30)
        try workplace.delete(ids[1])
        #expect(try await averages.next() == 40)
        try workplace.insert(("C", 60))
        #expect(try await averages.next() == 50)
        try workplace.edit(ids[0]) { $0.age = 1 }
        #expect(try await averages.next() == 60)
    }

    @Test(arguments: Backend.forObjectLayer) func aQueryRunsOnlyAfterCommitsThatTouchIt(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 10), ("B", 20))
        let runs = Counter()
        var counts = workplace.stack.values(of: { context in
            runs.increment()
            return try context.fetchCount(From<Worker>().where(\.age > 15))
        }).makeAsyncIterator()
        #expect(try await counts.next() == 1)
        let before = runs.value
        for number in 0..<20 {
            try workplace.edit(ids[0]) { $0.name = "n\(number)" }
            try workplace.stack.performAndWait { transaction throws in try transaction.create(Into<Team>()).title = "t\(number)" }
        }
        // Commits are evaluated in order: the result of the last one implies that the earlier ones were evaluated.
        try workplace.edit(ids[0]) { $0.age = 16 }
        #expect(try await counts.next() == 2)
        #expect(before == 1 && runs.value == 2)
    }

    @Test(arguments: Backend.forObjectLayer) func equalResultsAreNotDeliveredTwice(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 10), ("B", 20))
        var counts = workplace.stack.values(of: From<Worker>().where(\.age > 15), .count).makeAsyncIterator()
        #expect(try await counts.next() == 1)
        for age in 30..<40 { try workplace.edit(ids[1]) { $0.age = age } }
        try workplace.insert(("C", 30))
        #expect(try await counts.next() == 2)
    }

    @Test(arguments: Backend.forObjectLayer) func resultsFollowRelatedObjects(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 10), ("B", 20))
        let team = try workplace.stack.performAndWait { transaction throws in
            let team = try transaction.create(Into<Team>())
            team.title = "Red"
            return team.objectID
        }
        var counts = workplace.stack.values(of: From<Worker>().where(\.team?.title == "Red"), .count).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try workplace.stack.performAndWait { transaction throws in
            for id in ids { try transaction.edit(id).team = try transaction.edit(team) }
        }
        #expect(try await counts.next() == 2)
        try workplace.stack.performAndWait { transaction throws in try transaction.edit(team).title = "Blue" }
        #expect(try await counts.next() == 0)
        var friends = workplace.stack.values(of: { try $0.fetchCount(From<Worker>().where(\.friends.count > 0)) }).makeAsyncIterator()
        #expect(try await friends.next() == 0)
        try workplace.stack.performAndWait { transaction throws in try transaction.edit(ids[0]).friends = [try transaction.edit(ids[1])] }
        #expect(try await friends.next() == 2)
    }

    @Test(arguments: Backend.forObjectLayer) func valuesOfObjectsAreObservedToo(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 10), ("B", 20))
        var names = workplace.stack.values(of: { try $0.fetchAll(From<Worker>().orderBy(.ascending(\.age))).map(\.name) })
            .makeAsyncIterator()
        #expect(try await names.next() == ["A", "B"])
        try workplace.edit(ids[0]) { ($0.name, $0.age) = ("Z", 30) }
        #expect(try await names.next() == ["B", "Z"])
    }

    @Test func aSlowConsumerGetsTheNewestResult() async throws {
        let workplace = try Workplace(.memory)
        let id = try workplace.insert(("A", 0))[0]
        var ages = workplace.stack.values(of: From<Worker>(), .maximum(\.age)).makeAsyncIterator()
        #expect(try await ages.next() == 0)
        for age in 1...200 { try workplace.edit(id) { $0.age = age } }
        var seen: [Int] = []
        while seen.last != 200, let age = try await ages.next() { seen.append(age ?? -1) }
        #expect(seen == seen.sorted() && Set(seen).count == seen.count && seen.last == 200)
    }

    @Test func cancellationEndsTheSequence() async throws {
        let workplace = try Workplace(.memory)
        try workplace.insert(("A", 0))
        let started = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for try await _ in workplace.stack.values(of: From<Worker>(), .count) {
                count += 1
                started.continuation.yield()
            }
            return count
        }
        for await _ in started.stream { break }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test func theSequenceEndsWithTheStack() async throws {
        var workplace: Workplace? = try Workplace(.memory)
        try workplace?.insert(("A", 0))
        var counts = try #require(workplace?.stack.values(of: From<Worker>(), .count)).makeAsyncIterator()
        #expect(try await counts.next() == 1)
        workplace = nil
        #expect(try await counts.next() == nil)
        #expect(try await counts.next() == nil)
    }

    @Test func errorsOfTheQueryEndTheSequence() async throws {
        let workplace = try Workplace(.memory)
        workplace.stack.logger = SilentLogger()
        var counts = workplace.stack.values(of: From<Worker>().limit(1), .count).makeAsyncIterator()
        await #expect(throws: StoreError.self) { try await counts.next() }
        #expect(try await counts.next() == nil)
    }

    /// The consumers ask for the next result when the queries have failed or are about to.
    @Test(arguments: Backend.forObjectLayer) func anErrorWaitsForItsConsumer(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        workplace.stack.logger = SilentLogger()
        let (failures, failed) = AsyncStream<Void>.makeStream()
        let counts = workplace.stack.values(of: { context in
            guard try context.fetchCount(From<Worker>()) > 0 else { return 0 }
            failed.yield()
            throw CancellationError()
        })
        var iterators = (0..<40).map { _ in counts.makeAsyncIterator() }
        for index in iterators.indices { #expect(try await iterators[index].next() == 0) }
        try workplace.insert(("A", 10))
        var count = 0
        for await _ in failures {
            count += 1
            if count == iterators.count { break }
        }
        for index in iterators.indices {
            await #expect(throws: CancellationError.self) { try await iterators[index].next() }
            #expect(try await iterators[index].next() == nil)
        }
        try workplace.stack.closeAndWait()
    }

    @Test(arguments: Backend.forObjectLayer) func severalTasksObserveAtOnce(backend: Backend) async throws {
        let workplace = try Workplace(backend)
        let last = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var last = 0
                    for try await count in workplace.stack.values(of: From<Worker>(), .count) {
                        last = count
                        if count == 25 { break }
                    }
                    return last
                }
            }
            group.addTask {
                for number in 0..<25 { try workplace.insert(("w\(number)", number)) }
                return 25
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(last == Array(repeating: 25, count: 9))
    }

    @Test @MainActor func theViewOffersThemToo() async throws {
        let workplace = try Workplace(.memory)
        var counts = workplace.stack.view.values(of: From<Worker>(), .count).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try workplace.insert(("A", 0))
        #expect(try await counts.next() == 1)
    }
}
