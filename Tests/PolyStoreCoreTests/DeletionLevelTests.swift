import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Objects that are deleted together, and the objects that their delete rules reach level by level.
@Suite struct DeletionLevelTests {
    /// Random objects of every kind of relationship. Equal seeds give equal graphs.
    private struct Graph {
        let stack: DataStack
        private let folder: Folder

        init(_ seed: UInt64, _ store: (Folder) -> StoreConfiguration) throws {
            folder = try Folder()
            stack = try DataStack(
                Schema("Levels", Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self))
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(store(folder))
            try stack.performAndWait { transaction throws in
                var random = SplitMix64(seed: seed)
                func make<T: Model>(_ count: Int, _ type: T.Type, _ name: (T, String) -> Void) throws -> [T] {
                    try (0..<count).map { number in
                        let object = try transaction.create(type)
                        name(object, "\(number)")
                        return object
                    }
                }
                let departments = try make(6, Department.self) { $0.title = $1 }
                let people = try make(20, Person.self) { $0.email = $1 }
                let projects = try make(16, Project.self) { $0.name = $1 }
                let tracks = try make(12, Track.self) { $0.title = $1 }
                let playlists = try make(10, Playlist.self) { $0.title = $1 }
                for project in projects {
                    project.owner = random.pick(departments)
                    if random.once(in: 2) { project.parent = random.pick(projects) }
                }
                for department in departments { department.tags = Set(random.pick(3, of: projects)) }
                for person in people {
                    // The other departments can be deleted.
                    if random.once(in: 3) { person.department = departments[random.below(2)] }
                    if random.once(in: 2) { person.spouse = random.pick(people) }
                    person.friends.formUnion(random.pick(3, of: people))
                }
                for playlist in playlists {
                    playlist.tracks = random.pick(2, of: tracks)
                    playlist.extras = random.pick(3, of: tracks)
                    playlist.similar = random.pick(2, of: playlists)
                    if random.once(in: 2) { playlist.whole = random.pick(playlists) }
                }
            }
        }

        /// Deletes random objects together or one by one.
        /// - Returns: The code of the error, or all relationships of all objects that are left.
        func deleting(_ seed: UInt64, together: Bool) throws -> [String] {
            let refusal = failure {
                try stack.performAndWait { transaction throws in
                    var random = SplitMix64(seed: seed)
                    func delete<T: Model>(_ type: T.Type, _ count: Int) throws {
                        let ids = try transaction.fetchObjectIDs(From<T>())
                        let chosen = random.pick(count, of: ids)
                        if together {
                            let areFetched = random.once(in: 2)
                            try transaction.delete(areFetched ? transaction.fetchExisting(chosen) : chosen.map { try transaction.edit($0) })
                        } else {
                            _ = random.once(in: 2)
                            for id in chosen.reversed() { try transaction.delete(id) }
                        }
                    }
                    // Pending changes of the relationships of stored and new objects.
                    for person in random.pick(4, of: try transaction.fetchAll(From<Person>())) {
                        person.spouse = nil
                        person.friends = []
                    }
                    for project in try transaction.fetchAll(From<Project>()) where random.once(in: 4) { project.parent = nil }
                    try delete(Person.self, 8)
                    try delete(Project.self, 5)
                    try delete(Playlist.self, 3)
                    try delete(Track.self, 4)
                    if random.once(in: 3) { try delete(Department.self, 2) }
                }
            }
            return try refusal.map { ["\($0.code)"] } ?? stack.readAndWait { try Self.contents($0) }
        }

        @Sendable static func contents(_ context: Context) throws -> [String] {
            var lines: [String] = []
            for person in try context.fetchAll(From<Person>()) {
                let friends = person.friends.map(\.email).sorted()
                lines.append("person \(person.email) \(person.department?.title ?? "-") \(person.spouse?.email ?? "-") \(friends)")
            }
            for department in try context.fetchAll(From<Department>()) {
                let people = department.people.map(\.email).sorted()
                lines.append(
                    "department \(department.title) \(people) \(department.projects.map(\.name).sorted()) \(department.tags.map(\.name).sorted())"
                )
            }
            for project in try context.fetchAll(From<Project>()) {
                lines.append("project \(project.name) \(project.owner?.title ?? "-") \(project.parent?.name ?? "-")")
            }
            for playlist in try context.fetchAll(From<Playlist>()) {
                let lists = [
                    playlist.tracks.map(\.title), playlist.extras.map(\.title), playlist.similar.map(\.title), playlist.parts.map(\.title),
                ]
                lines.append("playlist \(playlist.title) \(lists) \(playlist.whole?.title ?? "-")")
            }
            for track in try context.fetchAll(From<Track>()) { lines.append("track \(track.title) \(track.playlist?.title ?? "-")") }
            return lines.sorted()
        }
    }

    /// A store in the process, and one on a server, which reads members ahead.
    private static let stores: [@Sendable (Folder) -> StoreConfiguration] = [
        { _ in .inMemory() }, { Backend.sqlite.store(in: $0) }, { _ in .simulatedServer(SimulatedServer(batchSize: 5)) },
    ]

    @Test func objectsDeletedTogetherLeaveWhatObjectsDeletedOneByOneLeave() throws {
        for seed in 1...Ring.size(12, thorough: 200) as ClosedRange<Int> {
            let seed = UInt64(seed)
            var outcomes: Set<[String]> = []
            for store in Self.stores {
                for together in [true, false] { outcomes.insert(try Graph(seed, store).deleting(seed, together: together)) }
            }
            #expect(outcomes.count == 1, "seed \(seed): \(outcomes)")
        }
    }

    /// The number of calls does not depend on the number of deleted objects.
    @Test func deletionReadsEachRelationshipOnceForALevel() throws {
        func calls(_ count: Int) throws -> [SimulatedServer.Call: Int] {
            let server = SimulatedServer()
            let stack = try DataStack(companySchema)
            try stack.addStore(.simulatedServer(server))
            try stack.performAndWait { transaction throws in
                for number in 0..<count {
                    let department = try transaction.create(Department.self)
                    let project = try transaction.create(Project.self)
                    project.owner = department
                    let person = try transaction.createPerson(number)
                    person.spouse = try transaction.createPerson(1000 + number)
                    person.friends = person.spouse.map { [$0] } ?? []
                    department.tags = [project]
                }
            }
            return try server.calls {
                try stack.performAndWait { transaction throws in
                    try transaction.deleteAll(From<Person>().where(\.age < 1000))
                    try transaction.deleteAll(From<Department>())
                }
            }
        }
        #expect(try calls(10) == calls(100))
    }

    /// Deletes objects of one kind that objects of other kinds refer to, and objects that they own.
    private static let deletions: [@Sendable (Transaction, Bool) throws -> Void] = [
        { try $0.delete($0.fetchAll(From<Person>().orderBy(.ascending(\.email)).limit($1 ? 8 : 1))) },
        { try $0.delete($0.fetchAll(From<Playlist>().orderBy(.ascending(\.title)).limit($1 ? 5 : 1))) },
        { try $0.delete($0.fetchAll(From<Department>().orderBy(.descending(\.title)).limit($1 ? 4 : 1))) },
    ]

    /// Whatever call fails, a caller that ignores the error cannot commit a deletion whose rules are applied in part.
    @Test(arguments: [true, false])
    func aDeletionThatFailsInTheMiddleCannotBeCommitted(_ together: Bool) throws {
        var refused = 0
        for (kind, delete) in Self.deletions.enumerated() {
            for call in [SimulatedServer.Call.fetch, .scan, .related, .record] {
                var number = 0
                while true {
                    number += 1
                    let server = SimulatedServer(batchSize: 3)
                    let graph = try Graph(1) { _ in .simulatedServer(server) }
                    let before = try graph.stack.readAndWait { try Graph.contents($0) }
                    let deletion = Protected<StoreError?>(nil)
                    server.resetCounts()
                    server.fail(call, at: number, with: .refused)
                    let commit = failure {
                        try graph.stack.performAndWait { transaction throws in
                            let error = failure { try delete(transaction, together) }
                            deletion.withLock { $0 = error }
                        }
                    }
                    server.endFaults()
                    if server.faultCount == 0 { break }
                    // The failure is that of the deletion, or that of the validation before the commit.
                    guard let error = deletion.withLock({ $0 }) else { continue }
                    let after = try graph.stack.readAndWait { try Graph.contents($0) }
                    #expect(after == before, "\(kind) \(call) \(number)")
                    guard let commit else { continue }
                    refused += 1
                    #expect(commit.code == error.code && commit.message == error.message)
                }
            }
        }
        #expect(refused > 3)
    }

    /// The error is gone with the changes.
    @Test func aTransactionIsUsableAfterTheRollbackOfAFailedDeletion() throws {
        let server = SimulatedServer()
        let graph = try Graph(1) { _ in .simulatedServer(server) }
        let transaction = graph.stack.beginUnsafe()
        let playlist = try #require(try transaction.fetchOne(From<Playlist>().orderBy(.ascending(\.title)))).objectID
        var refused = 0
        for number in 1...20 {
            server.resetCounts()
            server.fail(.related, at: number, with: .refused)
            let deletion = failure { try transaction.delete(playlist) }
            server.endFaults()
            if deletion == nil { break }
            if failure({ try transaction.commitAndWait() }) != nil { refused += 1 }
            transaction.rollback()
        }
        #expect(refused > 0)
        #expect(try transaction.commitAndWait())
        #expect(try graph.stack.readAndWait { try $0.fetchExisting(playlist) == nil })
    }
}
