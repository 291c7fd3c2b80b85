import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// A commit opens one snapshot of a store for all views, one for each other context that follows, and none if none follows.
@MainActor
@Suite struct SharedSnapshotTests {
    private let faults = Faults()
    private let folder: Folder

    init() throws {
        folder = try Folder()
        // The stack looks for the commits of other processes in snapshots of its own.
        faults.hide([.multiProcess])
    }

    private func stack(_ backend: Backend) throws -> DataStack {
        let stack = try DataStack(companySchema)
        try stack.addStore(backend.store(in: folder).wrapped(faults))
        try stack.performAndWait { try $0.create(Into<Person>()).email = "a" }
        return stack
    }

    private func setAge(_ age: Int, _ stack: DataStack) throws {
        try stack.performAndWait { try #require(try $0.fetchOne(From<Person>())).age = age }
    }

    @Test(arguments: Backend.allCases, [0, 1, 5])
    func viewsShareTheSnapshotOfACommit(_ backend: Backend, _ count: Int) throws {
        let stack = try stack(backend)
        var views = (0..<count).map { _ in stack.newView() }
        var people = try views.map { try #require(try $0.fetchOne(From<Person>())) }
        let before = faults.begunSnapshots
        for age in 1...3 {
            try setAge(age, stack)
            #expect(people.allSatisfy { $0.age == age })
        }
        #expect(faults.begunSnapshots - before == (count == 0 ? 0 : 3))
        #expect(faults.openSnapshots == (count == 0 ? 0 : 1))
        // The others read on after one has ended.
        if count > 1 {
            people.removeLast()
            views.removeLast()
            try setAge(4, stack)
            #expect(people.allSatisfy { $0.age == 4 })
            #expect(try views.allSatisfy { try $0.fetchCount(From<Person>(), Where(\.age == 4)) == 1 })
        }
        people = []
        views = []
        #expect(faults.openSnapshots == 0)
    }

    @Test(arguments: Backend.allCases)
    func otherContextsHaveSnapshotsOfTheirOwn(_ backend: Backend) throws {
        let stack = try stack(backend)
        let views = [stack.newView(), stack.newView()]
        let contexts = [stack.newContext(), stack.newContext()]
        for context in views + contexts {
            _ = context.startObserving()
            _ = try context.fetchOne(From<Person>())
        }
        let before = faults.begunSnapshots
        try setAge(1, stack)
        #expect(faults.begunSnapshots - before == 3)
        #expect(try views.allSatisfy { try $0.fetchCount(From<Person>(), Where(\.age == 1)) == 1 })
        // A context that is not a view shows its version until it is refreshed.
        #expect(try contexts.allSatisfy { try $0.fetchCount(From<Person>(), Where(\.age == 1)) == 0 })
    }
}
