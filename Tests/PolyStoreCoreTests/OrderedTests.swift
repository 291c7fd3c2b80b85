import PolyStoreBackend
import PolyStoreCore
import Testing

/// Relationships whose objects have an order of their own.
@Suite struct OrderedTests {
    /// A stack with lists l0, l1, … and tracks t0, t1, …; warnings are not expected.
    final class Music: Sendable {
        let folder: Folder
        let backend: Backend
        let stack: DataStack
        let logger = RecordingLogger()
        static let schema = Schema("Music", Playlist.self, Track.self, Tag.self)

        init(_ backend: Backend, lists: Int = 2, tracks: Int = 6, tags: Int = 3) throws {
            folder = try Folder()
            self.backend = backend
            stack = try DataStack(Self.schema, logger: logger)
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction in
                for number in 0..<lists { try transaction.create(Into<Playlist>()).title = "l\(number)" }
                for number in 0..<tracks { try transaction.create(Into<Track>()).title = "t\(number)" }
                for number in 0..<tags { try transaction.create(Into<Tag>()).name = "g\(number)" }
            }
        }

        deinit { if !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

        /// A transaction over all lists and tracks, in the order of their making.
        func change(
            isolation: isolated (any Actor)? = #isolation, _ body: @Sendable (Transaction, [Playlist], [Track]) throws -> Void
        ) throws {
            try stack.performAndWait(isolation: isolation) { transaction in
                try body(transaction, transaction.fetchAll(From<Playlist>()), transaction.fetchAll(From<Track>()))
            }
        }

        /// What a new snapshot shows of each list.
        func read(_ titles: @Sendable (Playlist) -> [String]) throws -> [[String]] {
            try stack.readAndWait { context in try context.fetchAll(From<Playlist>()).map(titles) }
        }

        func tracks() throws -> [[String]] { try read { $0.tracks.map(\.title) } }
        func isSound() throws -> Bool { try stack.stores[0].capabilities.has(.verification) ? stack.stores[0].verify() == [] : true }
    }

    @Test(arguments: Backend.allCases)
    func aListKeepsItsOrder(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[4], tracks[0], tracks[3]]
            #expect(lists[0].tracks == [tracks[4], tracks[0], tracks[3]])
            #expect(tracks[0].playlist === lists[0])
            lists[1].tracks = [tracks[5], tracks[1]]
        }
        #expect(try music.tracks() == [["t4", "t0", "t3"], ["t5", "t1"]])
        try music.change { _, lists, tracks in
            #expect(lists[0].tracks == [tracks[4], tracks[0], tracks[3]])
            lists[0].tracks.append(tracks[2])
            lists[0].tracks.insert(tracks[1], at: 1)  // from the other list
            lists[0].tracks.swapAt(0, 4)
            #expect(lists[0].tracks == [tracks[2], tracks[1], tracks[0], tracks[3], tracks[4]])
            #expect(lists[1].tracks == [tracks[5]])
        }
        #expect(try music.tracks() == [["t2", "t1", "t0", "t3", "t4"], ["t5"]])
        try music.change { _, lists, _ in lists[0].tracks.reverse() }
        #expect(try music.tracks() == [["t4", "t3", "t0", "t1", "t2"], ["t5"]])
        try music.change { _, lists, tracks in
            lists[0].tracks.removeAll { $0 === tracks[0] }
            #expect(tracks[0].playlist == nil)
        }
        #expect(try music.tracks() == [["t4", "t3", "t1", "t2"], ["t5"]])
        #expect(try music.isSound())
    }

    /// A permutation alone is a change.
    @Test(arguments: Backend.allCases)
    func movingIsWrittenAndPublished(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in (lists[0].tracks, lists[0].extras) = (tracks, tracks) }
        let before = try music.stack.readAndWait { try $0.fetchAll(From<Track>()).map(\.objectID) }
        try music.change { transaction, lists, tracks in
            #expect(!transaction.hasChanges)
            lists[0].tracks.swapAt(1, 2)
            #expect(transaction.hasChanges)
            #expect(!tracks[1].hasChanges && lists[0].hasChanges)
            lists[0].extras.reverse()
        }
        #expect(try music.tracks()[0] == ["t0", "t2", "t1", "t3", "t4", "t5"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t5", "t4", "t3", "t2", "t1", "t0"])
        #expect(try music.stack.readAndWait { try $0.fetchAll(From<Track>()).map(\.objectID) } == before)
    }

    @Test(arguments: Backend.allCases)
    func theOtherEndAppends(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            tracks[3].playlist = lists[0]
            tracks[1].playlist = lists[0]
            #expect(lists[0].tracks == [tracks[3], tracks[1]])
            tracks[2].playlist = lists[0]
            tracks[3].playlist = lists[1]
            tracks[3].playlist = lists[0]
            tracks[1].playlist = lists[0]  // is there already
            #expect(lists[0].tracks == [tracks[1], tracks[2], tracks[3]])
        }
        #expect(try music.tracks() == [["t1", "t2", "t3"], []])
        try music.change { _, lists, tracks in
            tracks[0].playlist = lists[0]
            tracks[2].playlist = nil
        }
        #expect(try music.tracks() == [["t1", "t3", "t0"], []])
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[0], tracks[3], tracks[1]]
            tracks[5].playlist = lists[0]
            tracks[3].playlist = lists[1]
        }
        #expect(try music.tracks() == [["t0", "t1", "t5"], ["t3"]])
        #expect(try music.isSound())
    }

    @Test(arguments: Backend.allCases)
    func ofAnObjectThatIsThereTwiceTheFirstPlaceCounts(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[1], tracks[0], tracks[1], tracks[2], tracks[0]]
            #expect(lists[0].tracks == [tracks[1], tracks[0], tracks[2]])
            lists[0].extras = [tracks[2], tracks[2]]
        }
        #expect(try music.tracks()[0] == ["t1", "t0", "t2"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t2"])
    }

    @Test(arguments: Backend.allCases)
    func bothEndsOfALinkHaveAnOrder(_ backend: Backend) throws {
        let music = try Music(backend)
        func names() throws -> [[String]] {
            try music.read { $0.tags.map(\.name) }
                + music.stack.readAndWait { try $0.fetchAll(From<Tag>()).map { $0.lists.map(\.title) } }
        }
        try music.change { transaction, lists, _ in
            let tags = try transaction.fetchAll(From<Tag>())
            lists[1].tags = [tags[2], tags[0], tags[1]]
            lists[0].tags = [tags[1], tags[2]]
            #expect(tags[1].lists == [lists[1], lists[0]])
            #expect(tags[0].lists == [lists[1]])
        }
        #expect(try names() == [["g1", "g2"], ["g2", "g0", "g1"], ["l1"], ["l1", "l0"], ["l1", "l0"]])
        try music.change { transaction, lists, _ in
            let tags = try transaction.fetchAll(From<Tag>())
            tags[2].lists = [lists[0], lists[1]]
            lists[1].tags.swapAt(0, 1)
            tags[0].lists.insert(lists[0], at: 0)
            #expect(lists[0].tags == [tags[1], tags[2], tags[0]])
        }
        #expect(try names() == [["g1", "g2", "g0"], ["g0", "g2", "g1"], ["l0", "l1"], ["l1", "l0"], ["l0", "l1"]])
        try music.change { transaction, lists, _ in try transaction.delete(lists[0]) }
        #expect(try names() == [["g0", "g2", "g1"], ["l1"], ["l1"], ["l1"]])
        #expect(try music.isSound())
    }

    @Test(arguments: Backend.allCases)
    func aListMayLeadToItsOwnEntity(_ backend: Backend) throws {
        let music = try Music(backend, lists: 5)
        try music.change { _, lists, _ in
            lists[0].similar = [lists[3], lists[0], lists[1]]
            lists[1].similar = [lists[2], lists[0], lists[3]]
            #expect(lists[3].similar == [lists[0], lists[1]])
            #expect(lists[2].similar == [lists[1]])
            lists[0].parts = [lists[4], lists[2]]
            lists[2].parts = [lists[3]]
            lists[1].whole = lists[0]
        }
        let titles: @Sendable (Playlist) -> [String] = { $0.similar.map(\.title) + ["/"] + $0.parts.map(\.title) }
        let whole = [
            ["l3", "l0", "l1", "/", "l4", "l2", "l1"], ["l2", "l0", "l3", "/"], ["l1", "/", "l3"], ["l0", "l1", "/"], ["/"],
        ]
        #expect(try music.read(titles) == whole)
        try music.change { transaction, lists, _ in
            lists[0].similar.reverse()
            lists[0].parts.reverse()
            try transaction.delete(lists[2])  // with what is part of it
            #expect(lists[0].parts == [lists[1], lists[4]])
        }
        #expect(try music.read(titles) == [["l1", "l0", "/", "l1", "l4"], ["l0", "/"], ["/"]])
        #expect(try music.isSound())
    }

    @Test(arguments: Backend.allCases)
    func deletedObjectsLeaveTheirLists(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = tracks.reversed()
            lists[1].extras = tracks
        }
        try music.change { transaction, lists, tracks in
            let new = try transaction.create(Into<Track>())
            lists[0].tracks.insert(new, at: 2)
            lists[1].extras.insert(new, at: 0)
            try transaction.delete(tracks[4], tracks[1])
            try transaction.delete(new)
            #expect(lists[0].tracks == [tracks[5], tracks[3], tracks[2], tracks[0]])
            #expect(lists[1].extras == [tracks[0], tracks[2], tracks[3], tracks[5]])
        }
        #expect(try music.tracks()[0] == ["t5", "t3", "t2", "t0"])
        #expect(try music.read { $0.extras.map(\.title) }[1] == ["t0", "t2", "t3", "t5"])
        try music.change { transaction, lists, _ in try transaction.delete(lists[0]) }
        let left = try music.stack.readAndWait { try $0.fetchAll(From<Track>()).map { $0.playlist?.title } }
        #expect(left == [nil, nil, nil, nil])
        #expect(try music.isSound())
    }

    @Test(arguments: Backend.allCases)
    func countsAreChecked(_ backend: Backend) throws {
        let music = try Music(backend)
        let error = expectError(.constraint) { try music.change { _, lists, tracks in lists[0].picks = Array(tracks[0..<4]) } }
        #expect(error?.attribute == "picks")
        try music.change { _, lists, tracks in lists[0].picks = [tracks[2], tracks[0], tracks[2], tracks[1]] }
        #expect(try music.read { $0.picks.map(\.title) }[0] == ["t2", "t0", "t1"])
    }

    @Test(arguments: Backend.allCases)
    func conditionsAndPrefetchingWorkAsOnSets(_ backend: Backend) throws {
        let music = try Music(backend, lists: 3)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[3], tracks[1]]
            lists[1].tracks = [tracks[2], tracks[0], tracks[4]]
            lists[1].extras = [tracks[5], tracks[1]]
        }
        /// Before and after other changes, so that pending ones are looked at too.
        @Sendable func check(_ context: Context) throws {
            func titles(_ condition: Where<Playlist>) throws -> [String] { try context.fetchAll(From<Playlist>(), condition).map(\.title) }
            #expect(try titles(.any(\.tracks, \.title == "t1")) == ["l0"])
            #expect(try titles(.none(\.tracks, \.title == "t1")) == ["l1", "l2"])
            #expect(try titles(.all(\.extras, \.title > "t0")) == ["l0", "l1", "l2"])
            #expect(try titles(.count(\.tracks, Where(true), .greater, 2)) == ["l1"])
            #expect(try titles(.count(\.tracks, \.title > "t1", .equal, 1)) == ["l0"])
            #expect(try titles(Where(\.tracks.count == 2)) == ["l0"])
            #expect(try titles(Where("ANY tracks.title == 't4'")) == ["l1"])
            #expect(try titles(Where("SUBQUERY(extras, $x, $x.title == 't5').@count == 1")) == ["l1"])
            let fetched = try context.fetchAll(From<Playlist>().tweak { $0.prefetch = ["tracks", "extras"] })
            #expect(fetched.map { $0.tracks.map(\.title) } == [["t3", "t1"], ["t2", "t0", "t4"], []])
            #expect(fetched[1].extras.map(\.title) == ["t5", "t1"])
        }
        try music.stack.readAndWait { try check($0) }
        try music.change { transaction, lists, tracks in
            tracks[5].title = "t5"
            lists[2].title = "l2"
            try check(transaction)
        }
        // Everything pending.
        try music.change { transaction, lists, tracks in
            lists[0].tracks = [tracks[1], tracks[3]]
            lists[0].tracks = [tracks[3], tracks[1]]
            lists[1].extras = []
            lists[1].extras = [tracks[5], tracks[1]]
            try check(transaction)
        }
    }

    /// What others put into a list meanwhile is kept, behind what was arranged.
    @Test(arguments: Backend.allCases)
    func ordersOfTransactionsOutsideOfTheLineAreKept(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[0], tracks[1], tracks[2]]
            lists[0].extras = [tracks[0], tracks[1]]
        }
        let unsafe = music.stack.beginUnsafe()
        let list = try #require(try unsafe.fetchOne(From<Playlist>()))
        list.tracks.reverse()
        list.extras.swapAt(0, 1)
        #expect(unsafe.hasChanges)
        try music.change { _, lists, tracks in
            tracks[3].playlist = lists[0]
            lists[0].extras.append(tracks[5])
        }
        #expect(try unsafe.commit())
        #expect(try music.tracks()[0] == ["t2", "t1", "t0", "t3"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t1", "t0", "t5"])
        let (first, second) = (try unsafe.create(Into<Track>()), try unsafe.create(Into<Track>()))
        (first.title, second.title) = ("first", "second")
        second.playlist = list
        first.playlist = list
        #expect(try unsafe.commit())
        #expect(try music.tracks()[0] == ["t2", "t1", "t0", "t3", "second", "first"])
        #expect(try music.isSound())
    }

    /// A new order is a step, though no object changes.
    @Test(arguments: Backend.allCases)
    func anOrderIsTakenBackAndDoneAgain(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[0], tracks[1], tracks[2]]
            lists[0].extras = [tracks[3], tracks[4]]
        }
        let unsafe = music.stack.beginUnsafe(supportsUndo: true)
        let list = try #require(try unsafe.fetchOne(From<Playlist>()))
        func titles() -> [String] { (list.tracks + list.extras).map(\.title) }
        list.tracks.swapAt(0, 2)
        unsafe.flush()
        list.extras.reverse()
        unsafe.flush()
        let extra = try #require(list.extras.first)
        list.tracks.insert(extra, at: 1)
        #expect(titles() == ["t2", "t4", "t1", "t0", "t4", "t3"])
        try unsafe.undo()
        #expect(titles() == ["t2", "t1", "t0", "t4", "t3"])
        #expect(extra.playlist == nil)
        try unsafe.undo()
        #expect(titles() == ["t2", "t1", "t0", "t3", "t4"])
        try unsafe.undo()
        #expect(titles() == ["t0", "t1", "t2", "t3", "t4"])
        #expect(!unsafe.canUndo)
        for _ in 0..<3 { try unsafe.redo() }
        #expect(titles() == ["t2", "t4", "t1", "t0", "t4", "t3"])
        try unsafe.undo()
        #expect(try unsafe.commit())
        #expect(try music.tracks()[0] == ["t2", "t1", "t0"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t4", "t3"])
    }

    @MainActor
    @Test(arguments: Backend.allCases)
    func theViewSeesMoves(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in (lists[0].tracks, lists[0].extras) = (tracks, [tracks[0], tracks[1]]) }
        let list = try #require(try music.stack.view.fetchOne(From<Playlist>()))
        let track = try #require(list.tracks.first)
        #expect(list.tracks.map(\.title) == ["t0", "t1", "t2", "t3", "t4", "t5"] && list.extras.count == 2)
        try music.change { _, lists, _ in
            lists[0].tracks.swapAt(0, 5)
            lists[0].extras.reverse()
        }
        #expect(list.tracks.map(\.title) == ["t5", "t1", "t2", "t3", "t4", "t0"])
        #expect(list.extras.map(\.title) == ["t1", "t0"])
        #expect(track.title == "t0" && track.playlist === list)  // only its position was written
        try music.change { _, lists, tracks in tracks[2].playlist = lists[1] }
        #expect(list.tracks.map(\.title) == ["t5", "t1", "t3", "t4", "t0"])
    }

    @Test(arguments: Backend.allCases.filter { $0 != .memory })
    func ordersSurviveReopening(_ backend: Backend) throws {
        let folder: Folder
        do {
            let music = try Music(backend)
            folder = music.folder
            try music.change { _, lists, tracks in
                lists[0].tracks = [tracks[2], tracks[5], tracks[0]]
                lists[1].extras = [tracks[4], tracks[0], tracks[2]]
            }
        }
        let again = try DataStack(Music.schema)
        try again.addStore(backend.store(in: folder))
        let lists = try again.readAndWait { context in
            try context.fetchAll(From<Playlist>()).map { [$0.tracks.map(\.title), $0.extras.map(\.title)] }
        }
        #expect(lists == [[["t2", "t5", "t0"], []], [[], ["t4", "t0", "t2"]]])
    }

    /// Those that are committed together too: each sees what its predecessors appended.
    @Test(arguments: Backend.allCases)
    func manyTransactionsAppendOneBehindTheOther(_ backend: Backend) async throws {
        let music = try Music(backend, tracks: 0)
        let list = try #require(try music.stack.readAndWait { try $0.fetchObjectID(From<Playlist>()) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    try await music.stack.perform { transaction in
                        let (list, new) = (try transaction.edit(list), try transaction.create(Into<Track>()))
                        new.title = "t\(list.tracks.count)"
                        new.playlist = list
                        list.extras.append(new)
                    }
                }
            }
            try await group.waitForAll()
        }
        let titles = (0..<60).map { "t\($0)" }
        #expect(try music.tracks()[0] == titles)
        #expect(try music.read { $0.extras.map(\.title) }[0] == titles)
    }

    @Test(arguments: Backend.allCases)
    func aLongListGrowsAtItsEnd(_ backend: Backend) throws {
        let music = try Music(backend, tracks: 3000)
        try music.change { _, lists, tracks in for track in tracks { track.playlist = lists[0] } }
        let ids = try music.stack.readAndWait { context in
            (try context.fetchObjectID(From<Playlist>()), try context.fetchObjectIDs(From<Track>()).last)
        }
        let (list, last) = (try #require(ids.0), try #require(ids.1))
        try music.stack.performAndWait { transaction in
            let new = try transaction.create(Into<Track>())
            new.title = "last"
            new.playlist = try transaction.object(with: list)
        }
        let tail = try music.stack.readAndWait { context in try context.fetchExisting(list)?.tracks.suffix(2).map(\.objectID.key) }
        #expect(tail?.first == last.key && tail?.last != last.key)
    }

    /// Positions are written for what moves, not for the whole list.
    @Test func fewObjectsAreWritten() throws {
        let music = try Music(.memory, tracks: 100)
        try music.change { _, lists, tracks in lists[0].tracks = tracks }
        for (what, most) in [("append", 1), ("first", 1), ("move", 1), ("rotate", 1), ("swap", 2)] as [(String, Int)] {
            let written = try music.stack.performAndWait { transaction in
                let list = try #require(try transaction.fetchOne(From<Playlist>()))
                switch what {
                case "append": list.tracks.append(try transaction.create(Into<Track>()))
                case "first": list.tracks.insert(list.tracks[60], at: 0)
                case "move": list.tracks.insert(list.tracks.remove(at: 20), at: 70)
                case "rotate": list.tracks.append(list.tracks.remove(at: 0))
                default: list.tracks.swapAt(3, 80)
                }
                return try transaction.pendingPositionCount()
            }
            #expect(written <= most, "\(what)")
        }
    }

    @Test(arguments: Backend.allCases, 1...5)
    func listsAreArraysWhateverIsDone(_ backend: Backend, _ seed: Int) throws {
        let music = try Music(backend, lists: 3, tracks: 12, tags: 4)
        var random = GraphTests.Random(seed)
        /// By list: tracks, extras, tags; by tag: lists.
        var model = OrderedModel(lists: 3, tags: 4)
        for round in 0..<25 {
            let steps = (0..<1 + random.next(8)).map { _ in OrderedModel.Step(&random) }
            let before = model
            let after = try music.stack.performAndWait { transaction in
                let lists = try transaction.fetchAll(From<Playlist>())
                let tracks = try transaction.fetchAll(From<Track>())
                let tags = try transaction.fetchAll(From<Tag>())
                var model = before
                for (number, step) in steps.enumerated() {
                    step.apply(to: &model)
                    if (number + round) % 4 == 1 {
                        // In a child, which sees and keeps the order that is pending here.
                        let child = transaction.beginUnsafe()
                        let (mine, others) = (try child.fetchAll(From<Playlist>()), try child.fetchAll(From<Tag>()))
                        step.apply(mine, try child.fetchAll(From<Track>()), others)
                        #expect(OrderedModel(mine, others) == model, "seed \(seed), round \(round), in a child, \(number) \(step)")
                        try child.commit()
                    } else {
                        step.apply(lists, tracks, tags)
                    }
                    if (number + round) % 3 == 0 {
                        #expect(OrderedModel(lists, tags) == model, "seed \(seed), round \(round), after \(number) \(step)")
                    }
                }
                return model
            }
            model = after
            let found = try music.stack.readAndWait { try OrderedModel($0.fetchAll(From<Playlist>()), $0.fetchAll(From<Tag>())) }
            #expect(found == model, "seed \(seed), round \(round), after the commit of \(steps)")
        }
        #expect(try music.isSound())
    }
}

/// Lists as arrays of numbers.
struct OrderedModel: Equatable, Sendable {
    var tracks: [[Int]]
    var extras: [[Int]]
    var tags: [[Int]]
    var lists: [[Int]]

    init(lists: Int, tags: Int) {
        tracks = Array(repeating: [], count: lists)
        (extras, self.tags) = (tracks, tracks)
        self.lists = Array(repeating: [], count: tags)
    }

    /// What objects show, whose titles are a letter and a number.
    init(_ playlists: [Playlist], _ all: [Tag]) {
        func number(_ title: String) -> Int { Int(title.dropFirst()) ?? -1 }
        tracks = playlists.map { $0.tracks.map { number($0.title) } }
        extras = playlists.map { $0.extras.map { number($0.title) } }
        tags = playlists.map { $0.tags.map { number($0.name) } }
        lists = all.map { $0.lists.map { number($0.title) } }
    }

    /// One change of a list, told by numbers.
    struct Step: Sendable, CustomStringConvertible {
        private let kind: Int
        private let list: Int
        private let track: Int
        private let place: Int

        init(_ random: inout GraphTests.Random) {
            (kind, list, track, place) = (random.next(9), random.next(3), random.next(12), random.next(13))
        }

        var description: String { "(\(kind), list \(list), track \(track), place \(place))" }
        private var tag: Int { track % 4 }

        /// What is done to one list of anything.
        private func changed<T: Equatable>(_ list: [T], _ element: T) -> [T] {
            var list = list
            list.removeAll { $0 == element }
            switch place {
            case 12: break  // removed
            case 11: list.reverse()
            default: list.insert(element, at: min(place, list.count))
            }
            return list
        }

        func apply(to model: inout OrderedModel) {
            switch kind {
            case 0...2:
                let wanted = changed(model.tracks[list], track)
                if wanted.contains(track) {
                    for other in model.tracks.indices where other != list { model.tracks[other].removeAll { $0 == track } }
                }
                model.tracks[list] = wanted
            case 3:  // from the other end
                guard !model.tracks[list].contains(track) else { return }
                for other in model.tracks.indices { model.tracks[other].removeAll { $0 == track } }
                model.tracks[list].append(track)
            case 4: for other in model.tracks.indices { model.tracks[other].removeAll { $0 == track } }
            case 5, 6: model.extras[list] = changed(model.extras[list], track)
            case 7:
                model.tags[list] = changed(model.tags[list], tag)
                if !model.tags[list].contains(tag) { model.lists[tag].removeAll { $0 == list } }
                if model.tags[list].contains(tag), !model.lists[tag].contains(list) { model.lists[tag].append(list) }
            default:
                model.lists[tag] = changed(model.lists[tag], list)
                if !model.lists[tag].contains(list) { model.tags[list].removeAll { $0 == tag } }
                if model.lists[tag].contains(list), !model.tags[list].contains(tag) { model.tags[list].append(tag) }
            }
        }

        func apply(_ lists: [Playlist], _ tracks: [Track], _ tags: [Tag]) {
            switch kind {
            case 0...2: lists[list].tracks = changed(lists[list].tracks, tracks[track])
            case 3: tracks[track].playlist = lists[list]
            case 4: tracks[track].playlist = nil
            case 5, 6: lists[list].extras = changed(lists[list].extras, tracks[track])
            case 7: lists[list].tags = changed(lists[list].tags, tags[tag])
            default: tags[tag].lists = changed(tags[tag].lists, lists[list])
            }
        }
    }
}

/// The numbers behind the order.
@Suite struct ListPositionTests {
    /// Carries changes out.
    private func apply(_ changes: [(key: Int64, position: Int64)], _ stored: [Int64: Int64]) -> [Int64: Int64] {
        stored.merging(changes.map { ($0.key, $0.position) }) { $1 }
    }

    private func order(_ places: [Int64: Int64]) -> [Int64] { places.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) }

    @Test func appendingAndPrependingWritesOneEach() {
        var places: [Int64: Int64] = [:]
        var list: [Int64] = []
        for key in 1...1000 as ClosedRange<Int64> {
            if key % 3 == 0 { list.insert(key, at: 0) } else { list.append(key) }
            let changes = ListPositions.changes(list, places)
            #expect(changes.count == 1)
            places = apply(changes, places)
        }
        #expect(order(places) == list)
    }

    /// At one and the same place there is room for 32; then some neighbours are moved, and the price of each insertion stays low.
    @Test func insertingAtOnePlaceStaysCheap() {
        var list: [Int64] = Array(1...400)
        var places = apply(ListPositions.changes(list, [:]), [:])
        var written = 0
        for key in 401...1400 as ClosedRange<Int64> {
            list.insert(key, at: 200)
            let changes = ListPositions.changes(list, places)
            written += changes.count
            places = apply(changes, places)
            if key % 500 == 0 { #expect(order(places) == list) }
        }
        #expect(written < 1000 * 8, "\(written)")
    }

    @Test func atTheEndsOfTheNumbersAllBegin() {
        let edges: [[Int64: Int64]] = [
            [1: .max], [1: .max - 1, 2: .max], [1: .min], [1: .min, 2: .min + 1], [1: .min, 2: .max], [1: .min, 2: 0, 3: .max],
        ]
        for stored in edges {
            let list = order(stored)
            for place in 0...list.count {
                var wanted = list
                wanted.insert(contentsOf: [10, 11, 12], at: place)
                #expect(order(apply(ListPositions.changes(wanted, stored), stored)) == wanted, "\(stored) \(place)")
            }
        }
        #expect(ListPositions.after(.max - 5, count: 1) == nil)
        #expect(ListPositions.after(nil, count: 2) == [0, ListPositions.step])
    }

    @Test(arguments: 1...20)
    func everyOrderIsReached(_ seed: Int) {
        var random = GraphTests.Random(seed)
        var places: [Int64: Int64] = [:]
        for round in 0..<60 {
            var wanted: [Int64] = []
            for key in 0..<20 as Range<Int64> where random.next(5) > 0 { wanted.insert(key, at: random.next(wanted.count + 1)) }
            // Equal and crowded ones too.
            if round % 7 == 3 { for key in places.keys.sorted() { places[key] = Int64(random.next(6)) } }
            places = places.filter { wanted.contains($0.key) }
            let changes = ListPositions.changes(wanted, places)
            places = apply(changes, places)
            #expect(order(places) == wanted, "seed \(seed), round \(round)")
            #expect(Set(places.values).count == wanted.count, "seed \(seed), round \(round)")
            #expect(ListPositions.changes(wanted, places).isEmpty)
        }
    }
}
