import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// To-one relationships that no transaction changes, in objects that a merge policy writes or inserts again.
@Suite struct UntouchedRelationshipTests {
    /// The kinds of transactions whose commits take a merge policy.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case unsafe, awaited, child, childOfQueued, steps, batch
        var testDescription: String { rawValue }
    }

    static let cases: [(Backend, Kind)] = Backend.allCases.flatMap { backend in Kind.allCases.map { (backend, $0) } }

    private typealias Change = @Sendable (Transaction) throws -> Void

    /// Changes objects in a transaction of a kind, changes them elsewhere, and commits the transaction with a policy.
    private func merge(
        _ stack: DataStack, _ kind: Kind, _ policy: MergePolicy, mine: @escaping Change, theirs: @escaping Change
    ) async throws {
        switch kind {
        case .unsafe:
            let draft = stack.beginUnsafe()
            try mine(draft)
            try stack.performAndWait(theirs)
            try draft.commitAndWait(mergePolicy: policy)
        case .awaited:
            let draft = stack.beginUnsafe()
            try mine(draft)
            try stack.performAndWait(theirs)
            try await draft.commit(mergePolicy: policy)
        case .child:
            let parent = stack.beginUnsafe()
            let child = parent.beginUnsafe()
            try mine(child)
            try theirs(parent)
            try child.commitAndWait(mergePolicy: policy)
            try parent.commitAndWait()
        case .childOfQueued:
            try stack.performAndWait { parent in
                let child = parent.beginUnsafe()
                try mine(child)
                try theirs(parent)
                try child.commitAndWait(mergePolicy: policy)
            }
        case .steps:
            let transaction = stack.beginTransaction()
            try await transaction.perform { try mine($0) }
            try stack.performAndWait(theirs)
            try await transaction.commit(mergePolicy: policy)
        case .batch:
            try await stack.performBatch { batch in
                try mine(batch)
                try stack.performAndWait(theirs)
                try batch.commitAndWait(mergePolicy: policy)
            }
        }
    }

    /// The objects of a test, each with the relationships that must be kept.
    private struct Graph: Sendable {
        let person: ObjectID<Person>
        let spouse: ObjectID<Person>
        let project: ObjectID<Project>
        let track: ObjectID<Track>
        let names: [String]

        /// Creates two spouses in a department, a project with a parent, and a playlist of three tracks.
        init(_ stack: DataStack) throws {
            self = try stack.performAndWait { transaction throws in
                let (person, spouse) = (try transaction.create(Person.self), try transaction.create(Person.self))
                (person.email, spouse.email) = ("p", "s")
                let department = try transaction.create(Department.self)
                department.title = "d"
                (person.spouse, person.department, spouse.department) = (spouse, department, department)
                let (project, parent) = (try transaction.create(Project.self), try transaction.create(Project.self))
                (project.name, parent.name) = ("child", "parent")
                (project.owner, parent.owner, project.parent) = (department, department, parent)
                let playlist = try transaction.create(Playlist.self)
                playlist.title = "list"
                let tracks = try (0..<3).map { number in
                    let track = try transaction.create(Track.self)
                    track.title = "t\(number)"
                    return track
                }
                playlist.tracks = tracks
                return Graph(
                    person: person.objectID, spouse: spouse.objectID, project: project.objectID, track: tracks[1].objectID,
                    names: try Graph.names(transaction))
            }
        }

        private init(
            person: ObjectID<Person>, spouse: ObjectID<Person>, project: ObjectID<Project>, track: ObjectID<Track>, names: [String]
        ) {
            (self.person, self.spouse, self.project, self.track, self.names) = (person, spouse, project, track, names)
        }

        /// Edits an attribute of each object.
        @Sendable func edit(_ transaction: Transaction) throws {
            try transaction.edit(person).age += 1
            try transaction.edit(project).name += "!"
            try transaction.edit(track).title += "!"
        }

        @Sendable func delete(_ transaction: Transaction) throws {
            try transaction.delete(person)
            try transaction.delete(project)
            try transaction.delete(track)
        }

        /// Returns all relationships of all objects, from both sides.
        static func names(_ context: Context) throws -> [String] {
            var names: [String] = []
            for person in try context.fetchAll(From<Person>().orderBy(.ascending(\.email))) {
                names.append("\(person.email) \(person.age): \(person.department?.title ?? "-") \(person.spouse?.email ?? "-")")
            }
            for department in try context.fetchAll(From<Department>()) {
                names.append("\(department.title): \(department.people.map(\.email).sorted()) \(department.projects.map(\.name).sorted())")
            }
            for project in try context.fetchAll(From<Project>().orderBy(.ascending(\.name))) {
                names.append("\(project.name): \(project.owner?.title ?? "-") \(project.parent?.name ?? "-")")
            }
            for playlist in try context.fetchAll(From<Playlist>()) { names.append("\(playlist.title): \(playlist.tracks.map(\.title))") }
            return names
        }

        @Sendable static func all(_ context: Context) throws -> [String] { try names(context) }
    }

    private func company(_ backend: Backend) throws -> (stack: DataStack, folder: Folder) {
        let folder = try Folder()
        let schema = Schema(
            "Merge", Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self)
        let stack = try DataStack(schema)
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder))
        return (stack, folder)
    }

    private static let expected = [
        "p 1: d s", "s 0: d p", "d: [\"p\", \"s\"] [\"child!\", \"parent\"]", "child!: d parent", "parent: d -",
    ]

    @Test(arguments: cases)
    func mineWinsKeepsThemIfBothEditAnAttribute(_ backend: Backend, _ kind: Kind) async throws {
        let (stack, folder) = try company(backend)
        defer { withExtendedLifetime(folder) {} }
        let graph = try Graph(stack)
        let theirs: Change = { transaction in
            try transaction.edit(graph.person).age = 70
            try transaction.edit(graph.project).name = "theirs"
            try transaction.edit(graph.track).title = "theirs"
        }
        try await merge(stack, kind, .mineWins, mine: graph.edit, theirs: theirs)
        let found = try stack.readAndWait { try Graph.names($0) }
        #expect(found == Self.expected + ["list: [\"t0\", \"t1!\", \"t2\"]"])
    }

    @Test(arguments: cases, [MergePolicy.mineWins, .attributesMineWins])
    func reinsertionKeepsThem(_ of: (backend: Backend, kind: Kind), _ policy: MergePolicy) async throws {
        let (stack, folder) = try company(of.backend)
        defer { withExtendedLifetime(folder) {} }
        let graph = try Graph(stack)
        try await merge(stack, of.kind, policy, mine: graph.edit, theirs: graph.delete)
        let found = try stack.readAndWait { try Graph.names($0) }
        // A deleted track leaves its list and is appended again.
        #expect(found == Self.expected + ["list: [\"t0\", \"t2\", \"t1!\"]"])
    }

    /// The targets of untouched relationships are deleted too, so the relationships are cleared.
    @Test(arguments: cases)
    func thoseToDeletedObjectsAreCleared(_ backend: Backend, _ kind: Kind) async throws {
        let (stack, folder) = try company(backend)
        defer { withExtendedLifetime(folder) {} }
        let graph = try Graph(stack)
        try await merge(
            stack, kind, .mineWins, mine: { try $0.edit(graph.person).age = 1 },
            theirs: { transaction in
                try transaction.delete(graph.spouse)
                try transaction.edit(graph.person).age = 70
            })
        let found = try stack.readAndWait { try Graph.names($0) }
        #expect(found.prefix(2) == ["p 1: d -", "d: [\"p\"] [\"child\", \"parent\"]"])
    }

    /// Objects that reference each other are both inserted again.
    @Test(arguments: cases)
    func reinsertedObjectsReferenceEachOther(_ backend: Backend, _ kind: Kind) async throws {
        let (stack, folder) = try company(backend)
        defer { withExtendedLifetime(folder) {} }
        let graph = try Graph(stack)
        let edit: Change = { transaction in
            try transaction.edit(graph.person).age = 1
            try transaction.edit(graph.spouse).age = 2
        }
        try await merge(
            stack, kind, .attributesMineWins, mine: edit,
            theirs: { transaction in
                try transaction.delete(graph.person)
                try transaction.delete(graph.spouse)
            })
        let found = try stack.readAndWait { try Graph.names($0) }
        #expect(found.prefix(2) == ["p 1: d s", "s 2: d p"])
    }
}
