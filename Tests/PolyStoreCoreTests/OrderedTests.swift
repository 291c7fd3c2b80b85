import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Ordered relationships.
@Suite struct OrderedTests {
    /// A stack with lists l0, l1, … and tracks t0, t1, …. Fails on any warning.
    final class Music: Sendable {
        let folder: Folder
        let backend: Backend
        let stack: DataStack
        let logger = RecordingLogger()
        static let schema = Schema("Music", Playlist.self, Track.self, MusicTag.self)

        init(_ backend: Backend, lists: Int = 2, tracks: Int = 6, tags: Int = 3) throws {
            folder = try Folder()
            self.backend = backend
            stack = try DataStack(Self.schema, logger: logger)
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction in
                for number in 0..<lists { try transaction.create(Into<Playlist>()).title = "l\(number)" }
                for number in 0..<tracks { try transaction.create(Into<Track>()).title = "t\(number)" }
                for number in 0..<tags { try transaction.create(Into<MusicTag>()).name = "g\(number)" }
            }
        }

        deinit { if !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

        /// Runs a transaction with all lists and tracks, in the order of their creation.
        func change(
            isolation: isolated (any Actor)? = #isolation, _ body: @Sendable (Transaction, [Playlist], [Track]) throws -> Void
        ) throws {
            try stack.performAndWait(isolation: isolation) { transaction in
                try body(transaction, transaction.fetchAll(From<Playlist>()), transaction.fetchAll(From<Track>()))
            }
        }

        /// Returns the titles of each list in a new snapshot.
        func read(_ titles: @Sendable (Playlist) -> [String]) throws -> [[String]] {
            try stack.readAndWait { context in try context.fetchAll(From<Playlist>()).map(titles) }
        }

        func tracks() throws -> [[String]] { try read { $0.tracks.map(\.title) } }
        func isSound() throws -> Bool { try stack.stores[0].capabilities.has(.verification) ? stack.stores[0].verifyAndWait() == [] : true }
    }

    @Test(arguments: Backend.forObjectLayer)
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
            lists[0].tracks.insert(tracks[1], at: 1)  // moved from the other list
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

    /// A permutation is a change.
    @Test(arguments: Backend.forObjectLayer)
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

    @Test(arguments: Backend.forObjectLayer)
    func theOtherEndAppends(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            tracks[3].playlist = lists[0]
            tracks[1].playlist = lists[0]
            #expect(lists[0].tracks == [tracks[3], tracks[1]])
            tracks[2].playlist = lists[0]
            tracks[3].playlist = lists[1]
            tracks[3].playlist = lists[0]
            tracks[1].playlist = lists[0]  // already in the list
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

    @Test(arguments: Backend.forObjectLayer)
    func theFirstOccurrenceOfADuplicateIsKept(_ backend: Backend) throws {
        let music = try Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[1], tracks[0], tracks[1], tracks[2], tracks[0]]
            #expect(lists[0].tracks == [tracks[1], tracks[0], tracks[2]])
            lists[0].extras = [tracks[2], tracks[2]]
        }
        #expect(try music.tracks()[0] == ["t1", "t0", "t2"])
        #expect(try music.read { $0.extras.map(\.title) }[0] == ["t2"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func bothEndsOfALinkHaveAnOrder(_ backend: Backend) throws {
        let music = try Music(backend)
        func names() throws -> [[String]] {
            try music.read { $0.tags.map(\.name) }
                + music.stack.readAndWait { try $0.fetchAll(From<MusicTag>()).map { $0.lists.map(\.title) } }
        }
        try music.change { transaction, lists, _ in
            let tags = try transaction.fetchAll(From<MusicTag>())
            lists[1].tags = [tags[2], tags[0], tags[1]]
            lists[0].tags = [tags[1], tags[2]]
            #expect(tags[1].lists == [lists[1], lists[0]])
            #expect(tags[0].lists == [lists[1]])
        }
        #expect(try names() == [["g1", "g2"], ["g2", "g0", "g1"], ["l1"], ["l1", "l0"], ["l1", "l0"]])
        try music.change { transaction, lists, _ in
            let tags = try transaction.fetchAll(From<MusicTag>())
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

    @Test(arguments: Backend.forObjectLayer)
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
            try transaction.delete(lists[2])  // with its parts
            #expect(lists[0].parts == [lists[1], lists[4]])
        }
        #expect(try music.read(titles) == [["l1", "l0", "/", "l1", "l4"], ["l0", "/"], ["/"]])
        #expect(try music.isSound())
    }

    @Test(arguments: Backend.forObjectLayer)
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

    @Test(arguments: Backend.forObjectLayer)
    func countsAreChecked(_ backend: Backend) throws {
        let music = try Music(backend)
        let error = expectError(.constraint) { try music.change { _, lists, tracks in lists[0].picks = Array(tracks[0..<4]) } }
        #expect(error?.attribute == "picks")
        try music.change { _, lists, tracks in lists[0].picks = [tracks[2], tracks[0], tracks[2], tracks[1]] }
        #expect(try music.read { $0.picks.map(\.title) }[0] == ["t2", "t0", "t1"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsAndPrefetchingWorkAsOnSets(_ backend: Backend) throws {
        let music = try Music(backend, lists: 3)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[3], tracks[1]]
            lists[1].tracks = [tracks[2], tracks[0], tracks[4]]
            lists[1].extras = [tracks[5], tracks[1]]
        }
        /// Called before and after other changes, to include pending ones.
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
        // All changes are pending.
        try music.change { transaction, lists, tracks in
            lists[0].tracks = [tracks[1], tracks[3]]
            lists[0].tracks = [tracks[3], tracks[1]]
            lists[1].extras = []
            lists[1].extras = [tracks[5], tracks[1]]
            try check(transaction)
        }
    }
}
