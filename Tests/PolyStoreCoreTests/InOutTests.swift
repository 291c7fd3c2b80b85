import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Several changes to a to-many relationship in one access: both ends agree with a model when the access ends.
@Suite struct InOutTests {
    private static func change<C>(_ collection: inout C, _ body: (inout C) throws -> Void) rethrows { try body(&collection) }

    /// The length of the longest list: changes in the middle are far from both ends.
    private static let count = 100

    // MARK: Single programs

    @Test(arguments: Backend.allCases)
    func aReplacementAndAnAppend(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, lists: 2, tracks: Self.count + 2)
        try InPlaceTests.inEachKind(music.stack) { transaction in
            let lists = try transaction.fetchAll(From<Playlist>())
            let tracks = try transaction.fetchAll(From<Track>())
            let (old, new, last) = (tracks[50], tracks[Self.count], tracks[Self.count + 1])
            let all = Array(tracks.prefix(Self.count))
            let expected = Array(all[..<50]) + [new] + all[51...] + [last]
            /// Makes both changes in one access, after which the first request is that of the caller.
            func edit() {
                lists[1].tracks = []
                lists[0].tracks = all
                lists[0].tracks.removeLast()
                lists[0].tracks.append(all[Self.count - 1])
                Self.change(&lists[0].tracks) { list in
                    list[50] = new
                    list.append(last)
                }
            }
            edit()
            #expect(new.playlist === lists[0])
            edit()
            #expect(old.playlist == nil)
            edit()
            #expect(lists[0].tracks == expected)
            edit()
            #expect(try transaction.fetchCount(From<Track>().where(\.title == new.title && \.playlist == lists[0])) == 1)
            edit()
            #expect(try transaction.fetchAll(From<Playlist>(), Where("ANY tracks.title == %@", new.title)) == [lists[0]])
            edit()
            #expect(new.hasChanges && new.changedKeys.contains("playlist"))
            edit()
            #expect(try new.snapshot().playlist == lists[0].objectID)
            edit()
            lists[1].tracks.append(new)
            #expect(!lists[0].tracks.contains(new) && new.playlist === lists[1] && lists[0].tracks.count == Self.count)
            edit()
            new.playlist = lists[1]
            #expect(!lists[0].tracks.contains(new) && lists[1].tracks == [new])
            edit()
            new.playlist = nil
            #expect(!lists[0].tracks.contains(new) && old.playlist == nil)
            edit()
            Self.change(&lists[0].tracks) { list in
                Self.change(&list) { $0.swapAt(20, 80) }
                list.removeFirst()
            }
            var swapped = expected
            swapped.swapAt(20, 80)
            #expect(lists[0].tracks == Array(swapped.dropFirst()) && tracks[0].playlist == nil)
            edit()
        }
        let titles = (0..<Self.count).map { $0 == 50 ? "t\(Self.count)" : "t\($0)" } + ["t\(Self.count + 1)"]
        #expect(try music.tracks()[0] == titles)
    }

    /// The owner of the list is released before the commit.
    @Test(arguments: Backend.allCases)
    func theOwnerIsReleased(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, lists: 2, tracks: Self.count + 2)
        try music.change { _, lists, tracks in lists[0].tracks = Array(tracks.prefix(Self.count)) }
        for commit in 0..<2 {
            let draft = music.stack.beginUnsafe()
            let run: (Transaction) throws -> Void = { transaction in
                var tracks: [Track] = []
                do {
                    let list = try transaction.fetchAll(From<Playlist>())[0]
                    tracks = try transaction.fetchAll(From<Track>())
                    Self.change(&list.tracks) { list in
                        list[30 + commit] = tracks[Self.count + commit]
                        list.removeLast()
                    }
                }
                // Reading another list removes the lists of released objects.
                let other = try transaction.fetchAll(From<Playlist>())[1]
                other.extras.append(tracks[0])
                #expect(tracks[Self.count + commit].playlist?.title == "l0")
            }
            if commit == 0 {
                try run(draft)
                try draft.commit()
            } else {
                try withoutActuallyEscaping(run) { run in
                    nonisolated(unsafe) let run = run  // called on this thread, before the call returns
                    try music.stack.performAndWait { try run($0) }
                }
            }
        }
        let titles = try music.tracks()[0]
        #expect(titles.count == Self.count - 2 && titles[30] == "t\(Self.count)" && titles[31] == "t\(Self.count + 1)")
    }

    /// Steps of undo contain the changes made in them.
    @Test(arguments: Backend.allCases)
    func stepsContainTheirChanges(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, lists: 2, tracks: Self.count + 3)
        let draft = music.stack.beginUnsafe(supportsUndo: true)
        let lists = try draft.fetchAll(From<Playlist>())
        let tracks = try draft.fetchAll(From<Track>())
        lists[0].tracks = Array(tracks.prefix(Self.count))
        draft.flush()
        let first = lists[0].tracks
        Self.change(&lists[0].tracks) { list in
            list[50] = tracks[Self.count]
            list.append(tracks[Self.count + 1])
        }
        draft.flush()
        lists[0].tracks.append(tracks[Self.count + 2])
        draft.flush()
        try draft.undo()
        #expect(tracks[Self.count].playlist === lists[0] && tracks[50].playlist == nil && lists[0].tracks.count == Self.count + 1)
        try draft.undo()
        #expect(lists[0].tracks == first && tracks[Self.count].playlist == nil && tracks[50].playlist === lists[0])
        try draft.redo()
        #expect(tracks[Self.count].playlist === lists[0] && tracks[50].playlist == nil)
    }

    /// A set whose storage is replaced by another one, which may be allocated at the same address.
    @Test(arguments: Backend.allCases)
    func aSetReplacedDuringAnAccess(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction in
            for number in 0..<2 { try transaction.create(Into<Department>()).title = "d\(number)" }
            for _ in 0..<80 { try transaction.create(Into<Project>()).name = "p" }
            let departments = try transaction.fetchAll(From<Department>())
            let projects = try transaction.fetchAll(From<Project>())
            for project in projects { project.owner = departments[1] }
            for _ in 0..<20 {
                departments[0].tags = Set(projects.prefix(39))
                for project in projects[39..<40] { departments[0].tags.insert(project) }
                let others = Set(projects.suffix(40))
                var last: Set<Project> = []
                Self.change(&departments[0].tags) { tags in
                    tags = []
                    // Copied without hashing; the copy can be at the address of the first set.
                    var copy = others
                    copy.reserveCapacity(40)
                    tags = copy
                    last = copy
                }
                #expect(departments[0].tags == last)
                #expect(Set(try transaction.fetchAll(From<Project>().where(\.owner == departments[1]))).isSuperset(of: last))
                #expect(try transaction.fetchCount(From<Department>(), Where("ANY tags IN %@", Array(last))) == 1)
            }
        }
    }

    // MARK: Cost

    /// A loop that only changes one list compares it once, when something else is read.
    @Test(arguments: Backend.allCases)
    func aLoopComparesTheListOnce(_ backend: Backend) throws {
        let count = 400
        let music = try OrderedTests.Music(backend, lists: 2, tracks: count)
        try music.change { transaction, lists, tracks in
            func compared(_ body: () -> Void) -> Int {
                let before = transaction.comparedMemberCount
                body()
                return transaction.comparedMemberCount - before
            }
            let appends = compared {
                for track in tracks { lists[0].tracks.append(track) }
                _ = tracks[0].playlist
                for track in tracks { _ = track.playlist }
            }
            let removals = compared {
                for _ in tracks { lists[0].tracks.removeLast() }
                _ = lists[0].tracks
            }
            let insertions = compared {
                for (number, track) in tracks.enumerated() { lists[0].tracks.insert(track, at: number / 2) }
                _ = lists[0].tracks
            }
            let attributes = compared {
                for number in 0..<count {
                    lists[0].tracks.remove(at: (count - number) / 2)
                    tracks[number].title = "x\(number)"
                }
            }
            let others = compared {
                for (number, track) in tracks.enumerated() {
                    // None of these depends on the list.
                    _ = try? transaction.fetchCount(From<MusicTag>())
                    lists[1].whole = number.isMultiple(of: 2) ? lists[0] : nil
                    _ = lists[1].whole
                    _ = lists[0].tags.count
                    lists[0].tracks.append(track)
                }
            }
            #expect(appends <= count && removals <= count && insertions <= count && attributes <= count && others <= count)
        }
    }

    /// Lists of changes contain those that no access has shown yet.
    @Test(arguments: Backend.forObjectLayer)
    func hiddenChangesAreAmongTheUpdatedObjects(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, lists: 2, tracks: 402)
        try music.change { _, lists, tracks in lists[0].tracks = Array(tracks[..<400]) }
        try music.change { transaction, lists, tracks in
            Self.change(&lists[0].tracks) {
                $0[100] = tracks[401]
                $0.append(tracks[400])
            }
            #expect(transaction.updatedObjectIDs(Track.self) == Set([100, 400, 401].map { tracks[$0].objectID }))
        }
    }

    /// The end of a step compares a limited number of members on average, however long the list is.
    @Test(arguments: Backend.forObjectLayer)
    func aStepComparesALimitedNumberOfMembers(_ backend: Backend) throws {
        var compared: [Int] = []
        for count in [600, 2_400] {
            let music = try OrderedTests.Music(backend, lists: 1, tracks: count)
            let draft = music.stack.beginUnsafe(supportsUndo: true)
            let list = try #require(try draft.fetchOne(From<Playlist>()))
            let tracks = try draft.fetchAll(From<Track>())
            for track in tracks {
                list.tracks.append(track)
                draft.flush()
                // A button that undoes asks for this in each turn.
                #expect(draft.canUndo && !draft.canRedo)
            }
            #expect(draft.comparedMemberCount <= 256 * count)
            compared.append(draft.comparedMemberCount)
            #expect(tracks.allSatisfy { $0.playlist === list })
            for number in [1, 2, 3] {
                try draft.undo()
                #expect(list.tracks.count == count - number && tracks[count - number].playlist == nil)
            }
            for _ in 3..<count { try draft.undo() }
            #expect(list.tracks.isEmpty && !draft.canUndo)
        }
        #expect(compared[1] <= 4 * 256 * 600)
    }

    /// Several changes of a long list in one access, and further steps before anything reads the list.
    @Test(arguments: Backend.forObjectLayer, [false, true])
    func stepsOfLongLists(_ backend: Backend, isObserved: Bool) throws {
        let count = 1_000
        let music = try OrderedTests.Music(backend, lists: 1, tracks: count + 8)
        let draft = music.stack.beginUnsafe(supportsUndo: true)
        let list = try #require(try draft.fetchOne(From<Playlist>()))
        let tracks = try draft.fetchAll(From<Track>())
        list.tracks = Array(tracks.prefix(count))
        draft.flush()
        let observation = isObserved ? draft.observe { _ in } : nil
        var states = [list.tracks]
        /// Replaces a member in the middle and appends one. The changes of the last step belong to it.
        func edit(_ position: Int, _ number: Int) {
            Self.change(&list.tracks) { list in
                list[position] = tracks[number]
                list.append(tracks[number + 1])
            }
            var next = states[states.count - 1]
            next[position] = tracks[number]
            next.append(tracks[number + 1])
            states.append(next)
            draft.flush()
        }
        edit(500, count)
        try draft.undo()
        #expect(list.tracks == states[0] && tracks[count].playlist == nil && tracks[500].playlist === list)
        try draft.redo()
        #expect(list.tracks == states[1] && tracks[count].playlist === list && tracks[500].playlist == nil)
        for (position, number) in [(300, count + 2), (700, count + 4)] { edit(position, number) }
        list.tracks.append(tracks[count + 6])
        draft.flush()
        states.append(states[3] + [tracks[count + 6]])
        #expect(list.tracks == states[4])
        #expect([300, 500, 700].allSatisfy { tracks[$0].playlist == nil } && tracks[count + 4].playlist === list)
        for number in [3, 2, 1, 0] {
            try draft.undo()
            // The steps of an observed transaction are exact. Both ends agree in any case.
            if isObserved { #expect(list.tracks == states[number]) }
            #expect(tracks.allSatisfy { ($0.playlist === list) == list.tracks.contains($0) })
        }
        #expect(list.tracks == states[0])
        for _ in 0..<4 { try draft.redo() }
        #expect(list.tracks == states[4])
        try draft.commit()
        #expect(try music.tracks()[0] == states[4].map(\.title))
        withExtendedLifetime(observation) {}
    }

    // MARK: Random programs

    private final class Titles: @unchecked Sendable {  // bodies run one after another while the calling thread waits
        var expected: [[String]] = []
    }

    @Test(arguments: Backend.allCases, [1, 2, 3, 4])
    func randomPrograms(_ backend: Backend, _ seed: UInt64) throws {
        let music = try OrderedTests.Music(backend, lists: 3, tracks: 160)
        let titles = Titles()
        try InPlaceTests.inEachKind(music.stack) { transaction in
            var numbers = SplitMix64(seed: seed)
            var program = InOutProgram(
                transaction, try transaction.fetchAll(From<Playlist>()), try transaction.fetchAll(From<Track>()))
            for number in 0..<60 {
                try program.step(&numbers)
                if !program.problems.isEmpty {
                    Issue.record("step \(number): \(program.problems)")
                    return
                }
            }
            titles.expected = try program.finish()
            #expect(program.problems.isEmpty)
        }
        #expect(try music.tracks() + music.read { $0.extras.map(\.title) } == titles.expected)
        #expect(try music.isSound())
    }
}
