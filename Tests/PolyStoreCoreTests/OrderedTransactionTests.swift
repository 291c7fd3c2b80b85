import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Ordered relationships in transactions of every kind, in the view, after reopening, and under random changes.
@Suite struct OrderedTransactionTests {
    private typealias Music = OrderedTests.Music

    /// Objects that another transaction adds to a list are kept, after the rearranged ones.
    @Test(arguments: Backend.forObjectLayer)
    func ordersOfUnqueuedTransactionsAreKept(_ backend: Backend) throws {
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

    /// A new order is an undo step, though no object changes.
    @Test(arguments: Backend.forObjectLayer)
    func anOrderIsUndoneAndRedone(_ backend: Backend) throws {
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
    @Test(arguments: Backend.forObjectLayer)
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

    @Test(arguments: Backend.persistent)
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

    /// This includes transactions of one commit group: each sees the objects that its predecessors appended.
    @Test(arguments: Backend.forObjectLayer)
    func manyTransactionsAppendInOrder(_ backend: Backend) async throws {
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

    @Test(arguments: Backend.forObjectLayer)
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
        let tail = try music.stack.readAndWait { context in try context.fetchExisting(list)?.tracks.suffix(2).map(\.objectID.rowID) }
        #expect(tail?.first == last.rowID && tail?.last != last.rowID)
    }

    /// Positions are written for the moved objects, not for the whole list.
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

    @Test(arguments: Backend.forObjectLayer, 1...5)
    func listsAgreeWithArraysAfterAnyChange(_ backend: Backend, _ seed: Int) throws {
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
                let tags = try transaction.fetchAll(From<MusicTag>())
                var model = before
                for (number, step) in steps.enumerated() {
                    step.apply(to: &model)
                    if (number + round) % 4 == 1 {
                        // In a child transaction, which sees and keeps the order that is pending here.
                        let child = transaction.beginUnsafe()
                        let (mine, others) = (try child.fetchAll(From<Playlist>()), try child.fetchAll(From<MusicTag>()))
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
            let found = try music.stack.readAndWait { try OrderedModel($0.fetchAll(From<Playlist>()), $0.fetchAll(From<MusicTag>())) }
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

    /// Creates a model from objects whose titles are a letter and a number.
    init(_ playlists: [Playlist], _ all: [MusicTag]) {
        func number(_ title: String) -> Int { Int(title.dropFirst()) ?? -1 }
        tracks = playlists.map { $0.tracks.map { number($0.title) } }
        extras = playlists.map { $0.extras.map { number($0.title) } }
        tags = playlists.map { $0.tags.map { number($0.name) } }
        lists = all.map { $0.lists.map { number($0.title) } }
    }

    /// One change of a list, described by numbers.
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

        /// Returns a changed list.
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
            case 3:  // changed on the other side
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

        func apply(_ lists: [Playlist], _ tracks: [Track], _ tags: [MusicTag]) {
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
