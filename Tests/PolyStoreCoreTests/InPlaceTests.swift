import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// To-many relationships that are mutated in place: both sides agree after each statement, whatever it does to the collection.
@Suite struct InPlaceTests {
    struct Failure: Error {}

    /// Runs a body in a transaction of each kind, and commits it.
    static func inEachKind(_ stack: DataStack, _ body: @Sendable (Transaction) throws -> Void) throws {
        try stack.performAndWait { try body($0) }
        let draft = stack.beginUnsafe()
        try body(draft)
        try draft.commit()
        let parent = stack.beginUnsafe()
        let child = parent.beginUnsafe()
        try body(child)
        try child.commit()
        try parent.commit()
    }

    // MARK: Sets

    @Test(arguments: Backend.forObjectLayer, [1, 2, 3])
    func setsAgreeWithTheirOtherEnds(_ backend: Backend, _ seed: UInt64) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction in
            for number in 0..<3 { try transaction.create(Into<Department>()).title = "d\(number)" }
            // A project needs an owner.
            let spare = try transaction.create(Into<Department>())
            for _ in 0..<40 { try transaction.create(Into<Project>()).owner = spare }
        }
        try Self.inEachKind(company.stack) { transaction in
            var numbers = SplitMix64(seed: seed)
            let all = try transaction.fetchAll(From<Department>())
            let departments = Array(all.prefix(3))
            let projects = try transaction.fetchAll(From<Project>())
            var expected = departments.map(\.projects)
            for _ in 0..<80 {
                let (place, other) = (Int.random(in: 0..<3, using: &numbers), Int.random(in: 0..<3, using: &numbers))
                let some = Set(projects.shuffled(using: &numbers).prefix(Int.random(in: 0..<6, using: &numbers)))
                Self.edit(&expected, departments, place, other, some, Int.random(in: 0..<14, using: &numbers))
                for (department, wanted) in zip(departments, expected) {
                    #expect(department.projects == wanted)
                    #expect(projects.allSatisfy { ($0.owner === department) == wanted.contains($0) })
                }
            }
            for project in projects where project.owner == nil { project.owner = all[3] }
        }
        let isSame = try company.stack.readAndWait { context in
            try context.fetchAll(From<Department>()).allSatisfy { department in
                try Set(context.fetchAll(From<Project>()).filter { $0.owner === department }) == department.projects
            }
        }
        #expect(isSame)
    }

    /// Edits a relationship and the expected contents of all relationships alike.
    private static func edit(
        _ expected: inout [Set<Project>], _ departments: [Department], _ place: Int, _ other: Int, _ some: Set<Project>, _ kind: Int
    ) {
        let department = departments[place]
        func take(_ projects: Set<Project>) { for index in expected.indices { expected[index].subtract(projects) } }
        switch kind {
        case 0...2:
            take(some)
            expected[place].formUnion(some)
            for project in some { department.projects.insert(project) }
        case 3:
            expected[place].subtract(some)
            for project in some { department.projects.remove(project) }
        case 4:
            take(some)
            expected[place].formUnion(some)
            department.projects.formUnion(some)
        case 5:
            expected[place].subtract(some)
            department.projects.subtract(some)
        case 6:
            let wanted = expected[place].symmetricDifference(some)
            take(some)
            expected[place] = wanted
            department.projects.formSymmetricDifference(some)
        case 7:
            expected[place].formIntersection(some)
            department.projects.formIntersection(some)
        case 8:
            if let gone = department.projects.popFirst() { expected[place].remove(gone) }
        case 9:
            take(some)
            expected[place] = some
            department.projects = some
        case 10:
            take(some)
            expected[place].formUnion(some)
            for project in some { project.owner = department }
        case 11:
            expected[place] = []
            department.projects.removeAll(keepingCapacity: some.count > 2)
        case 12:
            // Removes an element by its index in memory and inserts others, so that the count can be unchanged.
            let gone = department.projects.first
            take(some)
            if let gone { expected[place].remove(gone) }
            expected[place].formUnion(some)
            change(&department.projects) { projects in
                if !projects.isEmpty { projects.removeFirst() }
                for project in some { projects.insert(project) }
            }
        default:
            let all = expected[other]
            take(all)
            expected[place] = all
            change(&department.projects) { $0 = departments[other].projects }
        }
    }

    private static func change<C>(_ collection: inout C, _ body: (inout C) -> Void) { body(&collection) }

    /// A relationship that is its own inverse.
    @Test(arguments: Backend.forObjectLayer)
    func friendsAgree(_ backend: Backend) throws {
        let company = try Company(backend)
        _ = try company.people(12)
        try Self.inEachKind(company.stack) { transaction in
            var numbers = SplitMix64(seed: 7)
            let people = try transaction.fetchAll(From<Person>())
            for _ in 0..<200 {
                let (one, two) = (people.randomElement(using: &numbers) ?? people[0], people.randomElement(using: &numbers) ?? people[1])
                if Bool.random(using: &numbers) { one.friends.insert(two) } else { one.friends.remove(two) }
                #expect(people.allSatisfy { person in person.friends.allSatisfy { $0.friends.contains(person) } })
            }
        }
    }

    // MARK: Lists

    @Test(arguments: Backend.forObjectLayer, [1, 2, 3])
    func listsAgreeWithTheirOtherEnds(_ backend: Backend, _ seed: UInt64) throws {
        let music = try OrderedTests.Music(backend, lists: 2, tracks: 40)
        let titles = Titles()
        try Self.inEachKind(music.stack) { transaction in
            var numbers = SplitMix64(seed: seed)
            let lists = try transaction.fetchAll(From<Playlist>())
            let tracks = try transaction.fetchAll(From<Track>())
            var expected = lists.map(\.tracks)
            for _ in 0..<80 {
                let place = Int.random(in: 0..<2, using: &numbers)
                let free = tracks.filter { track in !expected.contains { $0.contains(track) } }.shuffled(using: &numbers)
                let some = Array(free.prefix(Int.random(in: 0..<5, using: &numbers)))
                Self.edit(&expected, lists, place, some, Int.random(in: 0..<13, using: &numbers), &numbers)
                for (list, wanted) in zip(lists, expected) {
                    #expect(list.tracks == wanted)
                    #expect(tracks.allSatisfy { ($0.playlist === list) == wanted.contains($0) })
                }
            }
            titles.expected = expected.map { $0.map(\.title) }
        }
        #expect(try music.tracks() == titles.expected)
    }

    private final class Titles: @unchecked Sendable {  // bodies run one after another while the calling thread waits
        var expected: [[String]] = []
    }

    private static func edit(
        _ expected: inout [[Track]], _ lists: [Playlist], _ place: Int, _ some: [Track], _ kind: Int, _ numbers: inout SplitMix64
    ) {
        let list = lists[place]
        let count = expected[place].count
        let position = Int.random(in: 0...count, using: &numbers)
        func both(_ body: (inout [Track]) -> Void) {
            body(&expected[place])
            body(&list.tracks)
        }
        switch kind {
        case 0...2: for track in some { both { $0.append(track) } }
        case 3: both { $0.append(contentsOf: some) }
        case 4: for track in some { both { $0.insert(track, at: 0) } }
        case 5: both { $0.insert(contentsOf: some, at: position) }
        case 6: if position < count { both { $0.remove(at: position) } }
        case 7: if count > 0 { both { $0.removeLast() } }
        case 8: both { $0.removeSubrange(position...) }
        case 9: both { $0.reverse() }
        case 10: if position < count { both { $0.replaceSubrange(position..<position + 1, with: some) } }
        case 11:
            // Several changes that change the count like a single append.
            if let first = some.first, count > 1 {
                both {
                    $0.swapAt(0, $0.count - 1)
                    $0.append(first)
                }
            }
        default:
            for track in some {
                expected[place].append(track)
                track.playlist = list
            }
        }
    }

    /// A list, with or without an inverse, keeps only the first occurrence of an object that is added again.
    @Test(arguments: Backend.forObjectLayer)
    func objectsAlreadyInTheListKeepTheirPositions(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend)
        try Self.inEachKind(music.stack) { transaction in
            let list = try transaction.fetchAll(From<Playlist>())[0]
            let tracks = try transaction.fetchAll(From<Track>())
            list.tracks = [tracks[0], tracks[1], tracks[2]]
            list.tracks.append(tracks[0])
            #expect(list.tracks == [tracks[0], tracks[1], tracks[2]])
            list.extras = []
            list.extras.append(tracks[3])
            list.extras.append(tracks[3])
            list.extras.insert(tracks[4], at: 0)
            list.extras.insert(tracks[3], at: 0)
            #expect(list.extras == [tracks[3], tracks[4]])
        }
        #expect(try music.tracks()[0] == ["t0", "t1", "t2"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t3", "t4"])
    }

    // MARK: During a mutation

    @Test(arguments: Backend.forObjectLayer)
    func changesDuringAMutationAreKept(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend)
        try Self.inEachKind(music.stack) { transaction in
            let lists = try transaction.fetchAll(From<Playlist>())
            let tracks = try transaction.fetchAll(From<Track>())
            lists[0].tracks = []
            lists[1].tracks = []
            lists[0].tracks.append(tracks[0])
            lists[0].tracks.append(tracks[1])
            // The property still has its previous value.
            lists[0].tracks.removeAll { track in lists[0].tracks.contains(track) && track === tracks[0] }
            #expect(lists[0].tracks == [tracks[1]])
            // Another list takes an element during the mutation; the written value wins.
            Self.change(&lists[0].tracks) { list in
                lists[1].tracks.append(tracks[1])
                lists[0].tracks.append(tracks[2])
                list.append(tracks[3])
            }
            #expect(lists[0].tracks == [tracks[1], tracks[3]])
            #expect(lists[1].tracks == [])
            #expect(tracks[2].playlist == nil)
            // A mutation that throws keeps the changes made before the error.
            #expect(throws: Failure.self) {
                try Self.failing(&lists[0].tracks) { $0.append(tracks[4]) }
            }
            #expect(lists[0].tracks == [tracks[1], tracks[3], tracks[4]])
            #expect(tracks[4].playlist === lists[0])
        }
        #expect(try music.tracks()[0] == ["t1", "t3", "t4"])
    }

    private static func failing<C>(_ collection: inout C, _ body: (inout C) -> Void) throws {
        body(&collection)
        throw Failure()
    }

    /// Undo and redo handle mutations like assignments of the whole collection.
    @Test(arguments: Backend.forObjectLayer)
    func stepsAreUndone(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, tracks: 30)
        let draft = music.stack.beginUnsafe(supportsUndo: true)
        let list = try draft.fetchAll(From<Playlist>())[0]
        let tracks = try draft.fetchAll(From<Track>())
        var numbers = SplitMix64(seed: 3)
        var states: [[Track]] = [[]]
        var expected = [[Track](), []]
        let lists = try draft.fetchAll(From<Playlist>())
        for _ in 0..<60 {
            let free = tracks.filter { track in !expected[0].contains(track) }.shuffled(using: &numbers)
            Self.edit(&expected, lists, 0, Array(free.prefix(3)), Int.random(in: 0..<13, using: &numbers), &numbers)
            draft.flush()
            if expected[0] != states.last { states.append(expected[0]) }
        }
        for _ in 0..<2 {
            for state in states.reversed().dropFirst() {
                try draft.undo()
                #expect(list.tracks == state)
                #expect(tracks.allSatisfy { ($0.playlist === list) == state.contains($0) })
            }
            #expect(!draft.canUndo)
            for state in states.dropFirst() {
                try draft.redo()
                #expect(list.tracks == state)
            }
            #expect(!draft.canRedo)
        }
        try draft.commit()
        #expect(try music.tracks()[0] == states.last?.map(\.title))
    }

    // MARK: Cost in proportion to the change

    /// The elements keep their address: an append within the capacity copies nothing.
    @Test func nothingIsCopied() throws {
        let music = try OrderedTests.Music(.memory, tracks: 100)
        try music.change { _, lists, tracks in
            func address() -> UInt {
                let list = lists[0].tracks
                return withUnsafeBytes(of: list) { $0.load(as: UInt.self) }
            }
            lists[0].tracks.append(tracks[0])
            lists[0].tracks.reserveCapacity(1000)
            let before = address()
            for track in tracks.dropFirst() { lists[0].tracks.append(track) }
            lists[0].tracks.removeLast()
            #expect(address() == before)
            #expect(lists[0].tracks.count == 99)
        }
    }

    @Test func aDraftIsReleasedWithObjectsInItsCollections() throws {
        let music = try OrderedTests.Music(.memory)
        weak var gone: UnsafeTransaction?
        do {
            let draft = music.stack.beginUnsafe()
            gone = draft
            let list = try draft.fetchAll(From<Playlist>())[0]
            for track in try draft.fetchAll(From<Track>()) {
                list.tracks.append(track)
                list.extras.append(track)
            }
        }
        #expect(gone == nil)
    }
}
