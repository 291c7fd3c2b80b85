import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport

extension Tally: ImportableUniqueObject {
    package static var uniqueIDKeyPath: ReferenceWritableKeyPath<Tally, String> { \.name }
    package static func uniqueID(from source: Int, in transaction: Transaction) throws -> String? { "tally \(source)" }
    package func update(from source: Int, in transaction: Transaction) throws { value = source }
}

extension CountedOperation {
    static let all: [CountedOperation] = writing + relationships + reading + observing

    // MARK: The objects

    /// Creates a thousand people, each with two friends, in ten departments.
    @MainActor
    private static func people(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in
            let departments = try (0..<10).map { number in
                let department = try transaction.create(Department.self)
                department.title = "d\(number)"
                return department
            }
            let people = try (0..<1000).map { try transaction.createPerson($0) }
            for (number, person) in people.enumerated() {
                person.department = departments[number % 10]
                person.friends = [people[(number + 1) % 1000], people[(number + 2) % 1000]]
            }
        }
    }

    /// Creates a thousand departments with a person each.
    @MainActor
    private static func departments(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in
            for number in 0..<1000 {
                let department = try transaction.create(Department.self)
                department.title = "d\(number)"
                try transaction.createPerson(number).department = department
            }
        }
    }

    /// Creates a hundred playlists with ten tracks each.
    @MainActor
    private static func playlists(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in
            for number in 0..<100 {
                let playlist = try transaction.create(Playlist.self)
                playlist.title = "list \(number)"
                playlist.tracks = try (0..<10).map { _ in try transaction.create(Track.self) }
            }
        }
    }

    /// Creates a hundred departments with two projects each.
    @MainActor
    private static func projects(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in
            for _ in 0..<100 {
                let department = try transaction.create(Department.self)
                for _ in 0..<2 { try transaction.create(Project.self).owner = department }
            }
        }
    }

    /// Imports a thousand objects.
    @MainActor
    private static func tallies(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in _ = try transaction.importUniqueObjects(Into<Tally>(), from: 0..<1000) }
    }

    private static let byAge = From<Person>().orderBy(.ascending(\.age))

    // MARK: Writing

    private static let writing: [CountedOperation] = [
        CountedOperation("insert 1,000 people") { stack in
            try stack.performAndWait { transaction throws in for number in 0..<1000 { _ = try transaction.createPerson(number) } }
        },
        CountedOperation("update 1,000 people", prepare: people) { stack in
            try stack.performAndWait { transaction throws in for person in try transaction.fetchAll(From<Person>()) { person.age += 1 } }
        },
        CountedOperation("update 1,000 people by ids", prepare: people) { stack in
            try stack.performAndWait { transaction throws in
                let ids = try transaction.fetchObjectIDs(From<Person>())
                for person in try transaction.fetchExisting(ids) { person.age += 1 }
            }
        },
        CountedOperation("deleteAll of 1,000 people with friends", prepare: people) { stack in
            _ = try stack.performAndWait { transaction throws in try transaction.deleteAll(From<Person>()) }
        },
        CountedOperation("delete 1,000 people with friends by ids", prepare: people) { stack in
            try stack.performAndWait { transaction throws in try transaction.delete(try transaction.fetchObjectIDs(From<Person>())) }
        },
        CountedOperation("deleteAll of 100 playlists with 10 tracks each", prepare: playlists) { stack in
            _ = try stack.performAndWait { transaction throws in try transaction.deleteAll(From<Playlist>()) }
        },
        CountedOperation("deleteAll of 100 departments with 2 projects each, which cascade", prepare: projects) { stack in
            _ = try stack.performAndWait { transaction throws in try transaction.deleteAll(From<Department>()) }
        },
        CountedOperation("import of 1,000 new objects with unique keys") { stack in try tallies(stack) },
        CountedOperation("import of 1,000 existing objects with unique keys", prepare: tallies) { stack in try tallies(stack) },
        CountedOperation("one transaction that only writes") { stack in
            try stack.performAndWait { transaction throws in _ = try transaction.createPerson(0) }
        },
        CountedOperation("64 queued transactions that only write, in one group") { stack in try await group(stack) },
    ]

    /// Commits 64 transactions as a group, which are queued while the first transaction runs. It counts too.
    @MainActor
    private static func group(_ stack: DataStack) async throws {
        let (isInside, isOpen) = (Protected(false), Flag())
        let first = Task.detached {
            try await stack.perform { transaction in
                isInside.exchange(true)
                isOpen.wait()
                _ = try transaction.createPerson(64)
            }
        }
        while !isInside.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 { group.addTask { try await stack.perform { transaction in _ = try transaction.createPerson(number) } } }
            do {
                // Raised also if the sleep throws: the first transaction waits for it.
                defer { isOpen.raise() }
                while stack.queuedTransactionCount < 64 { try await Task.sleep(for: .milliseconds(1)) }
            }
            try await group.waitForAll()
        }
        try await first.value
    }

    // MARK: Relationships

    private static let relationships: [CountedOperation] = [
        CountedOperation("department.people.insert(new) for 1,000 departments", prepare: departments) { stack in
            try stack.performAndWait { transaction throws in
                for (number, department) in try transaction.fetchAll(From<Department>()).enumerated() {
                    department.people.insert(try transaction.createPerson(1000 + number))
                }
            }
        },
        CountedOperation("400 times friends.insert", prepare: people) { stack in
            try stack.performAndWait { transaction throws in
                let people = try transaction.fetchAll(byAge)
                for number in 0..<400 { people[number].friends.insert(people[number + 500]) }
            }
        },
        CountedOperation("tracks.append for 100 playlists", prepare: playlists) { stack in
            try stack.performAndWait { transaction throws in
                for playlist in try transaction.fetchAll(From<Playlist>()) { playlist.tracks.append(try transaction.create(Track.self)) }
            }
        },
        CountedOperation("person.department = other for 1,000 people", prepare: people) { stack in
            try stack.performAndWait { transaction throws in
                let department = try transaction.create(Department.self)
                for person in try transaction.fetchAll(From<Person>()) { person.department = department }
            }
        },
        CountedOperation("read friends of 1,000 people", prepare: people) { stack in
            _ = try stack.readAndWait { context in try context.fetchAll(From<Person>()).reduce(0) { $0 + $1.friends.count } }
        },
        CountedOperation("read friends of 1,000 people with prefetch", prepare: people) { stack in
            _ = try stack.readAndWait { context in
                try context.fetchAll(From<Person>().prefetch(\.friends)).reduce(0) { $0 + $1.friends.count }
            }
        },
        CountedOperation("read the members of 1,000 departments", prepare: departments) { stack in
            _ = try stack.readAndWait { context in try context.fetchAll(From<Department>()).reduce(0) { $0 + $1.people.count } }
        },
        CountedOperation("read the department of 1,000 people, of 10 departments", prepare: people) { stack in
            _ = try stack.readAndWait { context in try context.fetchAll(From<Person>()).map { $0.department?.title ?? "" } }
        },
        CountedOperation("read the department of 1,000 people, of 10 departments, with prefetch", prepare: people) { stack in
            _ = try stack.readAndWait { context in
                try context.fetchAll(From<Person>().prefetch(\.department)).map { $0.department?.title ?? "" }
            }
        },
        CountedOperation("read the department of 1,000 people, of 1,000 departments", prepare: departments) { stack in
            _ = try stack.readAndWait { context in try context.fetchAll(From<Person>()).map { $0.department?.title ?? "" } }
        },
        CountedOperation("read 1,000 people that were fetched without values", prepare: people) { stack in
            _ = try stack.readAndWait { context in
                try context.fetchAll(From<Person>(), Tweak { $0.includesPropertyValues = false }).reduce(0) { $0 + $1.age }
            }
        },
    ]

    // MARK: Reading

    private static func read(
        _ name: String, pushesDown: Bool = true, _ prepare: @escaping @MainActor @Sendable (DataStack) throws -> Void = people,
        _ body: @escaping @Sendable (SnapshotContext) throws -> Void
    ) -> CountedOperation {
        CountedOperation(name, pushesDown: pushesDown, prepare: prepare) { stack in try stack.readAndWait { context in try body(context) } }
    }

    private static let reading: [CountedOperation] = [
        read("fetchAll of 1,000 people") { context in _ = try context.fetchAll(From<Person>()) },
        read("fetchAll of 1,000 people, nothing pushed down", pushesDown: false) { context in _ = try context.fetchAll(byAge) },
        read("fetchOne by a unique attribute") { context in _ = try context.fetchOne(From<Person>().where(\.email == "n500")) },
        read("fetchExisting(id) of 1,000 people, in a loop") { context in
            for id in try context.fetchObjectIDs(From<Person>()) { _ = try context.fetchExisting(id) }
        },
        read("fetchExisting(ids) of 1,000 people") { context in
            _ = try context.fetchExisting(try context.fetchObjectIDs(From<Person>()))
        },
        read("fetchCount") { context in _ = try context.fetchCount(From<Person>().where(\.age > 500)) },
        read("sum, average and maximum") { context in
            _ = try context.queryAttributes(From<Person>(), Select(.sum("age"), .average("age"), .maximum("age")))
        },
        read("groups with their counts") { context in
            _ = try context.queryAttributes(From<Person>(), Select("nickname", .count), GroupBy("nickname"))
        },
        read("groups with their counts, nothing pushed down", pushesDown: false) { context in
            _ = try context.queryAttributes(From<Person>(), Select("nickname", .count), GroupBy("nickname"))
        },
        read("ANY friends.age > 3 over 1,000 people") { context in
            _ = try context.fetchAll(From<Person>().where(.any(\.friends, \.age > 3)))
        },
        read("ANY friends.age > 3 over 1,000 people, nothing pushed down", pushesDown: false) { context in
            _ = try context.fetchAll(From<Person>().where(.any(\.friends, \.age > 3)))
        },
        read("department.title == 'd3' over 1,000 people, nothing pushed down", pushesDown: false) { context in
            _ = try context.fetchAll(From<Person>().where(Where("department.title == 'd3'")))
        },
        read("ANY people.age > 3 over 1,000 departments, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.fetchAll(From<Department>().where(.any(\.people, \.age > 3)))
        },
        read("the first of 1,000 departments with ANY people.age > 3, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.fetchOne(From<Department>().where(.any(\.people, \.age > 3)))
        },
        read("the number of departments with ANY people.age > 3", departments) { context in
            _ = try context.fetchCount(From<Department>().where(.any(\.people, \.age > 3)))
        },
        read("the number of departments with ANY people.age > 3, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.fetchCount(From<Department>().where(.any(\.people, \.age > 3)))
        },
        read("1,000 people ordered by department.title, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.fetchAll(From<Person>().orderBy(.ascending("department.title")))
        },
        read("1,000 values of department.title, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.queryAttributes(From<Person>(), Select("department.title"))
        },
        read("groups by department.title, nothing pushed down", pushesDown: false, departments) { context in
            _ = try context.queryAttributes(From<Person>(), Select("department.title", .count), GroupBy("department.title"))
        },
        CountedOperation("read the history of 10 transactions", history: HistoryOptions(), prepare: tenTransactions) { stack in
            _ = try stack.historyAndWait()
        },
        CountedOperation("a transaction with history", history: HistoryOptions(), prepare: tenTransactions) { stack in
            try stack.performAndWait { transaction throws in _ = try transaction.createPerson(10) }
        },
        CountedOperation("open a new store", countsOpening: true) { _ in },
        CountedOperation("open a new store with history", countsOpening: true, history: HistoryOptions()) { _ in },
    ]

    @MainActor
    private static func tenTransactions(_ stack: DataStack) throws {
        for number in 0..<10 { try stack.performAndWait { transaction throws in _ = try transaction.createPerson(number) } }
    }

    // MARK: Observing

    private static let observing: [CountedOperation] = [
        CountedOperation("open a live list of 1,000 people", prepare: people) { stack in
            let list = try LiveList(stack.view, byAge)
            withExtendedLifetime(list) {}
        },
        CountedOperation("open a live list of 1,000 people, and one commit", prepare: people) { stack in
            let list = try LiveList(stack.view, byAge)
            try stack.performAndWait { transaction throws in _ = try transaction.createPerson(1000) }
            withExtendedLifetime(list) {}
        },
        CountedOperation("open a monitor of 1,000 people", prepare: people) { stack in
            let monitor = try stack.view.monitorList(byAge)
            withExtendedLifetime(monitor) {}
        },
        CountedOperation("open a monitor of 1,000 people, and one commit", prepare: people) { stack in
            let monitor = try stack.view.monitorList(byAge)
            try stack.performAndWait { transaction throws in _ = try transaction.createPerson(1000) }
            withExtendedLifetime(monitor) {}
        },
    ]
}
