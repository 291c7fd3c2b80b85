import EngineTestSupport
import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

/// Two processes that overwrite each other's changes and insert objects again that the other one has deleted. The lists and objects of an automatic view
/// equal those of a new context.
///
/// For more commits: `POLYSTORE_TWO_PROCESS_COMMITS=5000 swift test --filter TwoProcessTests`; with `POLYSTORE_TWO_PROCESS_SEED=7` of another seed.
@MainActor
@Suite(.serialized) struct TwoProcessTests {
    /// The number of commits of both processes.
    private static let commits = TestEnvironment.number("POLYSTORE_TWO_PROCESS_COMMITS") ?? Ring.size(150, thorough: 5_000)
    private static let seed = UInt64(TestEnvironment.number("POLYSTORE_TWO_PROCESS_SEED") ?? 1)

    /// The lists and objects of a view that a test compares.
    @MainActor
    private struct Watch {
        let view: ViewContext
        let stack: DataStack
        let lists: [(name: String, source: FetchChain<Person>, monitor: ListMonitor<Person>)]
        let cars: ListMonitor<Car>
        let teams: ListPublisher<Team>
        /// The objects that the view has shown, which it keeps up to date, and the monitors of some of them.
        var people: [ObjectID<Person>: Person] = [:]
        var owners: [ObjectID<Team>: Team] = [:]
        var monitors: [ObjectMonitor<Person>] = []

        init(_ stack: DataStack) throws {
            self.stack = stack
            view = stack.view
            let sources: [(String, FetchChain<Person>)] = [
                ("by name", From<Person>().orderBy(.ascending(\.name))),
                ("of an age", From<Person>().where(\.age > 20).orderBy(.descending(\.age))),
                ("by team", From<Person>().orderBy(.ascending(\.team?.title), .ascending(\.name))),
                ("of a team", From<Person>().where(\.team?.title == "T1").orderBy(.ascending(\.age))),
                ("by friends", From<Person>().orderBy(.descending("friends.@count"), .ascending(\.age))),
                ("of old friends", From<Person>().where(Where("ANY friends.age > 40")).orderBy(.ascending(\.name))),
                ("first", From<Person>().orderBy(.ascending(\.age)).limit(6)),
            ]
            lists = try sources.map { ($0.0, $0.1, try stack.view.monitorList($0.1)) }
            cars = try stack.view.monitorList(From<Car>().orderBy(.ascending(\.doors)))
            teams = try stack.view.publishList(From<Team>().orderBy(.ascending(\.title)))
            try hold()
        }

        /// Reads all objects of the view, with their relationships.
        mutating func hold() throws {
            for person in try view.fetchAll(From<Person>()) {
                _ = (person.age, person.team?.title, person.friends.count)
                if people.updateValue(person, forKey: person.objectID) == nil, people.count % 3 == 0 {
                    monitors.append(try view.monitorObject(person))
                }
            }
            for team in try view.fetchAll(From<Team>()) {
                _ = (team.title, team.staff.count)
                owners[team.objectID] = team
            }
        }

        static func describe(_ person: Person) -> String {
            "\(person.objectID.rowID) \(person.name) \(person.age) \(person.note ?? "-") \(person.team?.objectID.rowID ?? 0) "
                + "\(person.friends.map(\.objectID.rowID).sorted())"
        }

        static func describe(_ team: Team) -> String { "\(team.objectID.rowID) \(team.title) \(team.staff.map(\.objectID.rowID).sorted())" }

        /// Compares everything with a new context.
        /// - Returns: The differences.
        func problems() throws -> [String] {
            var problems: [String] = []
            let fresh = stack.newContext()
            for (name, source, monitor) in lists {
                let (shown, fetched) = (monitor.map(Self.describe), try fresh.fetchAll(source).map(Self.describe))
                if shown != fetched { problems.append("\(name): the list has \(shown), fetched is \(fetched)") }
                let again = try view.fetchAll(source).map(Self.describe)
                if again != fetched { problems.append("\(name): the view fetches \(again), fetched is \(fetched)") }
            }
            let doors = try fresh.fetchAll(From<Car>().orderBy(.ascending(\.doors))).map { "\($0.objectID.rowID) \($0.doors)" }
            let shownDoors = cars.map { "\($0.objectID.rowID) \($0.doors)" }
            if shownDoors != doors { problems.append("cars: the list has \(shownDoors), fetched is \(doors)") }
            let titles = try fresh.fetchAll(From<Team>().orderBy(.ascending(\.title))).map(\.title)
            if teams.snapshot.map({ $0.title }) != titles { problems.append("teams: fetched is \(titles)") }
            for (id, person) in people {
                let expected = try fresh.fetchExisting(id).map(Self.describe)
                _ = person.age
                let found = person.isDeleted ? nil : Self.describe(person)
                if found != expected { problems.append("the object \(id) is \(found ?? "deleted"), fetched is \(expected ?? "nothing")") }
            }
            for (id, team) in owners {
                let expected = try fresh.fetchExisting(id).map(Self.describe)
                _ = team.title
                let found = team.isDeleted ? nil : Self.describe(team)
                if found != expected { problems.append("the object \(id) is \(found ?? "deleted"), fetched is \(expected ?? "nothing")") }
            }
            for monitor in monitors where try monitor.isObjectDeleted != (fresh.fetchExisting(monitor.objectID) == nil) {
                problems.append("the monitor of \(monitor.objectID) says deleted: \(monitor.isObjectDeleted)")
            }
            return problems
        }
    }

    @Test(arguments: Backend.shared, [true, false])
    func theAutomaticViewEqualsANewContext(_ engine: Backend, hasHistory: Bool) async throws {
        let folder = try Folder()
        let history = hasHistory ? HistoryOptions() : nil
        let stack = try engine.stack(folder, history: history, logger: SilentLogger(), mapSize: 64 << 20)
        var merges = RandomMerges(stack, seed: Self.seed)
        try merges.run(commits: 10)
        let child = try Child(
            program: "history-child", "merge", engine.rawValue, folder.file(), "\(Self.commits)", "\(Self.seed + 1000)",
            hasHistory ? "" : "no-history")
        #expect(child.line() == "ready")
        var watch = try Watch(stack)
        var random = SplitMix64(seed: Self.seed + 2000)
        var (count, round) = (0, 0)
        while count < Self.commits {
            round += 1
            try child.goOn()
            let own = merges.count
            // At the same time as the child, after it, or not at all.
            let moment = random.below(3)
            if moment == 0 { try merges.run(commits: 1 + random.below(3)) }
            let others = try #require(child.line().flatMap { Int($0) })
            if moment == 1 { try merges.run(commits: 1 + random.below(3)) }
            count += others + 1 + merges.count - own
            while try watch.view.fetchOne(From<Team>().where(\.title == "marker"))?.note != "\(round)" {
                try await Task.sleep(for: .milliseconds(1))
            }
            // The last own commit can be newer than the marker.
            await stack.catchUpView()
            let problems = try watch.problems()
            #expect(problems.isEmpty, "seed \(Self.seed), round \(round), \(count) commits")
            if !problems.isEmpty { return }
            try watch.hold()
        }
    }
}

private struct SilentLogger: StoreLogger {
    func isEnabled(_ level: LogLevel) -> Bool { false }
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {}
}

extension DataStack {
    /// Waits until the view shows the own commits.
    @MainActor
    fileprivate func catchUpView() async { try? await perform { _ in } }
}
