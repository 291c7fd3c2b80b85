import PolyStoreBackend
import SeededRandom

/// To-many relationships with ordered targets.
let orderedCases: [ConformanceCase] = [
    ConformanceCase(
        "relationship.ordered.position-is-a-hidden-field",
        "The position in the inverse of a to-one is a field of the target's record, after all declared fields."
    ) { run in
        let store = try Playlists.open(run, lists: 1)
        let track = try store.entity("Track")
        try run.expect(track.fields.map(\.name), equals: ["title", "playlist", "length", "_order_playlist"])
        try run.expect(track.fields.map(\.isHidden), equals: [false, false, false, true])
        try run.expect(track.field(named: "_order_playlist") == nil, equals: true)
        try store.insert("Track", [Playlists.track("a", 1, 77), Playlists.track("b", nil, nil)])
        try run.expect(try store.row("Track", 1), equals: [.text("a"), .integer(1), .real(1), .integer(77)])
        try run.expect(try store.row("Track", 2), equals: [.text("b"), .null, .real(1), .null])
        try store.change { try $0.update(track, rowID: 1, ["length": .real(5)]) }
        try run.expect(try store.row("Track", 1), equals: [.text("a"), .integer(1), .real(5), .integer(77)])
    },
    ConformanceCase(
        "relationship.ordered.inverse-by-position",
        "The targets of an ordered relationship are in position order, ties by id; null is the lowest position."
    ) { run in
        let store = try Playlists.open(run, lists: 2)
        let positions: [Int64?] = [50, -3, .max, nil, 7, .min, 7, 0]
        try store.insert("Track", positions.enumerated().map { Playlists.track("t\($0.offset)", $0.offset == 4 ? 2 : 1, $0.element) })
        let tracks = try store.relationship("Playlist", "tracks")
        try store.read { transaction in
            let found = try transaction.related(tracks, of: [2, 1, 3])
            try run.expect(found[1], equals: [4, 6, 2, 8, 7, 1, 3])
            try run.expect(found.positions(of: 1), equals: [.min, .min, -3, 0, 7, 50, .max])
            try run.expect(found[2], equals: [5])
            try run.expect(found.positions(of: 2), equals: [7])
            try run.expect(found[3], equals: [])
        }
    },
    ConformanceCase(
        "relationship.ordered.inverse-follows-changes", "The order follows moves within a list and to another list, clearing and deletion."
    ) { run in
        let store = try Playlists.open(run, lists: 2)
        try store.insert("Track", (0..<5).map { Playlists.track("t\($0)", 1, Int64($0) * 10) })
        let (track, tracks) = (try store.entity("Track"), try store.relationship("Playlist", "tracks"))
        try store.change { try $0.place(track, 5, at: 15) }
        try run.expect(try store.read { try $0.related(tracks, of: [1])[1] }, equals: [1, 2, 5, 3, 4])
        try store.change { changes in
            try changes.place(track, 1, at: 3, in: 2)
            try changes.place(track, 4, at: 2, in: 2)
            try changes.place(track, 3, at: nil, in: .some(nil))
            changes.delete(track, rowID: 2)
        }
        try store.read { transaction in
            let found = try transaction.related(tracks, of: [1, 2])
            try run.expect([found[1], found[2]], equals: [[5], [4, 1]])
        }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
    },
    ConformanceCase(
        "relationship.ordered.link-by-position",
        "Ordered links are in position order, ties by id; a new one without a position is at 0."
    ) { run in
        let store = try Playlists.open(run, lists: 2)
        try store.insert("Track", (0..<5).map { Playlists.track("t\($0)", nil, nil) })
        let extras = try store.relationship("Playlist", "extras")
        try store.change { changes in
            for (track, position) in [(1, 9), (2, -9), (3, nil), (4, 0), (5, .max)] as [(Int64, Int64?)] {
                changes.link(try store.pair(extras, 1, track, at: position))
            }
            changes.link(try store.pair(extras, 2, 1, at: 5))
        }
        try store.read { transaction in
            let found = try transaction.related(extras, of: [1, 2])
            try run.expect(found[1], equals: [2, 3, 4, 1, 5])
            try run.expect(found.positions(of: 1), equals: [-9, 0, 0, 9, .max])
            try run.expect(found[2], equals: [1])
            // The inverse is not declared, so it has no order.
            guard let reversed = extras.reversed else { throw run.fail("extras has no way back") }
            let back = try transaction.related(reversed, of: [1])
            try run.expect(back[1], equals: [1, 2])
            try run.expect(back.positions(of: 1), equals: [])
        }
    },
    ConformanceCase(
        "relationship.ordered.link-both-directions", "If both ends are ordered, each has its own order, and a move in one keeps the other."
    ) { run in
        let store = try Playlists.open(run, lists: 3)
        try store.insert("Tag", (0..<3).map { [.text("tag\($0)")] })
        let (tags, lists) = (try store.relationship("Playlist", "tags"), try store.relationship("Tag", "lists"))
        try store.change { changes in
            for list in 1...3 as ClosedRange<Int64> {
                for tag in 1...3 as ClosedRange<Int64> {
                    changes.link(try store.pair(tags, list, tag, at: 10 - tag, back: list * (tag - 2)))
                }
            }
        }
        func expect(_ forward: [[Int64]], _ backward: [[Int64]], _ what: String) throws {
            try store.read { transaction in
                let found = try transaction.related(tags, of: [1, 2, 3])
                try run.expect((1...3).map { found[$0] }, equals: forward, what)
                let back = try transaction.related(lists, of: [1, 2, 3])
                try run.expect((1...3).map { back[$0] }, equals: backward, what)
            }
        }
        try expect([[3, 2, 1], [3, 2, 1], [3, 2, 1]], [[3, 2, 1], [1, 2, 3], [1, 2, 3]], "as made")
        try store.change { $0.link(try store.pair(tags, 2, 1, at: 0)) }
        try expect([[3, 2, 1], [1, 3, 2], [3, 2, 1]], [[3, 2, 1], [1, 2, 3], [1, 2, 3]], "moved in a list's tags")
        try store.change { $0.link(try store.pair(lists, 1, 2, at: 100)) }
        try expect([[3, 2, 1], [1, 3, 2], [3, 2, 1]], [[3, 1, 2], [1, 2, 3], [1, 2, 3]], "moved in a tag's lists")
        try store.change { $0.link(try store.pair(tags, 2, 3, isAddition: false)) }
        try expect([[3, 2, 1], [1, 2], [3, 2, 1]], [[3, 1, 2], [1, 2, 3], [1, 3]], "removed")
    },
    ConformanceCase(
        "relationship.ordered.link-added-again",
        "Adding an existing pair sets the given positions and keeps others; removing and adding it resets them."
    ) { run in
        let store = try Playlists.open(run, lists: 1)
        try store.insert("Tag", (0..<3).map { [.text("tag\($0)")] })
        let (tags, lists) = (try store.relationship("Playlist", "tags"), try store.relationship("Tag", "lists"))
        func positions() throws -> [Int64] {
            try store.read { transaction in
                try transaction.related(tags, of: [1]).positions(of: 1) + transaction.related(lists, of: [1, 2, 3]).positions(of: 1)
            }
        }
        try store.change { $0.link(try store.pair(tags, 1, 1, at: 5, back: 6)) }
        try store.change { $0.link(try store.pair(tags, 1, 1)) }
        try run.expect(try positions(), equals: [5, 6], "no positions given")
        try store.change { changes in
            changes.link(try store.pair(tags, 1, 1, at: 7))
            changes.link(try store.pair(tags, 1, 1, at: nil, back: 8))
            changes.link(try store.pair(tags, 1, 1, at: 9))
        }
        try run.expect(try positions(), equals: [9, 8], "positions given one after the other")
        try store.change { changes in
            changes.link(try store.pair(tags, 1, 1, isAddition: false))
            changes.link(try store.pair(tags, 1, 1, at: 3))
        }
        try run.expect(try positions(), equals: [3, 0], "removed and added again")
        try store.change { changes in
            changes.link(try store.pair(tags, 1, 1, at: 4, back: 4))
            changes.link(try store.pair(tags, 1, 1, isAddition: false))
        }
        try run.expect(try positions(), equals: [], "removed last")
    },
    ConformanceCase(
        "relationship.ordered.link-to-oneself", "In an ordered relationship that is its own inverse, each object has its own order."
    ) { run in
        let store = try Playlists.open(run, lists: 4)
        let similar = try store.relationship("Playlist", "similar")
        try store.change { changes in
            for (one, other, position) in [(1, 2, 3), (2, 1, 9), (1, 3, 2), (3, 1, 1), (2, 4, 5), (4, 2, 0), (1, 1, 1)]
                as [(Int64, Int64, Int64)]
            {
                changes.link(try store.pair(similar, one, other, at: position))
            }
        }
        let found = try store.read { try $0.related(similar, of: [1, 2, 3, 4]) }
        try run.expect((1...4).map { found[$0] }, equals: [[1, 3, 2], [4, 1], [1], [2]])
    },
    ConformanceCase(
        "relationship.ordered.snapshot-keeps-its-order",
        "A reader sees the order of its version despite moves; the writer sees its own."
    ) { run in
        guard run.target.capabilities.contains(.concurrentReaders) else { return }
        let store = try Playlists.open(run, lists: 1)
        try store.insert("Track", (0..<4).map { Playlists.track("t\($0)", 1, Int64($0)) })
        let (track, tracks) = (try store.entity("Track"), try store.relationship("Playlist", "tracks"))
        let extras = try store.relationship("Playlist", "extras")
        try store.change { changes in for id in 1...4 as ClosedRange<Int64> { changes.link(try store.pair(extras, 1, id, at: -id)) } }
        let before = try store.backend.beginRead()
        defer { before.end() }
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            try changes.place(track, 4, at: -1)
            changes.link(try store.pair(extras, 1, 1, at: -9))
            try transaction.apply(changes)
            try run.expect(try transaction.related(tracks, of: [1])[1], equals: [4, 1, 2, 3], "the writer")
            try run.expect(try transaction.related(extras, of: [1])[1], equals: [1, 4, 3, 2], "the writer's links")
            let outside = try store.read { [try $0.related(tracks, of: [1])[1], try $0.related(extras, of: [1])[1]] }
            try run.expect(outside, equals: [[1, 2, 3, 4], [4, 3, 2, 1]], "before the commit")
        }
        try run.expect(
            [try before.related(tracks, of: [1])[1], try before.related(extras, of: [1])[1]], equals: [[1, 2, 3, 4], [4, 3, 2, 1]],
            "after the commit")
        try run.expect(try store.read { try $0.related(tracks, of: [1])[1] }, equals: [4, 1, 2, 3], "a new reader")
    },
    ConformanceCase("relationship.ordered.failure-and-rollback", "A failing change set and a rollback leave every order unchanged.") {
        run in
        let store = try Playlists.open(run, lists: 1)
        try store.insert("Track", (0..<3).map { Playlists.track("t\($0)", 1, Int64($0)) })
        let (track, tracks) = (try store.entity("Track"), try store.relationship("Playlist", "tracks"))
        let extras = try store.relationship("Playlist", "extras")
        try store.change { changes in for id in 1...3 as ClosedRange<Int64> { changes.link(try store.pair(extras, 1, id, at: id)) } }
        func move(_ changes: ChangeSet) throws {
            try changes.place(track, 3, at: -5)
            changes.link(try store.pair(extras, 1, 3, at: -5))
            changes.link(try store.pair(extras, 1, 1, isAddition: false))
        }
        try run.expectError(.notFound) {
            try store.change { changes in
                try move(changes)
                changes.delete(track, rowID: 99)
            }
        }
        let writer = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        try move(changes)
        try writer.apply(changes)
        writer.rollback()
        try run.expect(
            try store.read { [try $0.related(tracks, of: [1])[1], try $0.related(extras, of: [1])[1]] }, equals: [[1, 2, 3], [1, 2, 3]])
    },
    ConformanceCase("relationship.ordered.conditions-do-not-mind", "Conditions over ordered and unordered relationships are the same.") {
        run in
        let store = try Playlists.open(run, lists: 3)
        try store.insert("Track", (0..<6 as Range<Int64>).map { Playlists.track("t\($0)", $0 % 2 + 1, -$0) })
        let (list, title) = (try store.entity("Playlist"), try store.field("Track", "title"))
        for name in ["tracks", "extras"] {
            let relationship = RelationshipReference(try store.relationship("Playlist", name), in: store.schema)
            if name == "extras" {
                try store.change { changes in
                    for id in 1...6 as ClosedRange<Int64> {
                        changes.link(try store.pair(relationship.relationship, (id - 1) % 2 + 1, id, at: -id))
                    }
                }
            }
            let any = QueryPredicate.related(relationship, .any, .compare(title, .equal, .text("t3")))
            try run.expect(try store.ids(FetchRequest(list, predicate: any)), equals: [2], name)
            let count = QueryPredicate.compare(.count(relationship), .equal, .constant(.integer(3), .int64))
            try run.expect(try store.ids(FetchRequest(list, predicate: count)), equals: [1, 2], name)
        }
    },
    ConformanceCase("relationship.ordered.many-moves", "The order is correct after each of many moves, insertions and removals.") { run in
        let store = try Playlists.open(run, lists: 1)
        try store.insert("Track", (0..<40).map { Playlists.track("t\($0)", 1, Int64($0)) })
        let (track, tracks) = (try store.entity("Track"), try store.relationship("Playlist", "tracks"))
        let extras = try store.relationship("Playlist", "extras")
        var keys: [Int64: Int64] = [:]
        var links: [Int64: Int64] = [:]
        for id in 1...40 as ClosedRange<Int64> { keys[id] = id - 1 }
        var random = SplitMix64(seed: 23)
        for round in 0..<40 {
            try store.change { changes in
                for _ in 0..<8 {
                    let (id, position) = (Int64(random.below(40) + 1), Int64(random.below(1000)) - 500)
                    if random.once(in: 4) { links[id] = nil } else { links[id] = position }
                    changes.link(try store.pair(extras, 1, id, isAddition: links[id] != nil, at: links[id]))
                }
                for id in Set((0..<8).map { _ in Int64(random.below(40) + 1) }).sorted() {
                    keys[id] = random.once(in: 4) ? nil : Int64(random.below(1000)) - 500
                    try changes.place(track, id, at: keys[id], in: keys[id] == nil ? .some(nil) : 1)
                }
            }
            func expected(_ positions: [Int64: Int64]) -> [Int64] {
                positions.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
            }
            try store.read { transaction in
                try run.expect(try transaction.related(tracks, of: [1])[1], equals: expected(keys), "round \(round)")
                try run.expect(try transaction.related(extras, of: [1])[1], equals: expected(links), "links of round \(round)")
            }
        }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
    },
    ConformanceCase(
        "reopen.ordered.lists", "Orders are unchanged after reopening, in records and in links, from both ends.", requires: [.persistence]
    ) { run in
        do {
            let store = try Playlists.open(run, lists: 2)
            try store.insert("Track", (0..<4).map { Playlists.track("t\($0)", 1, Int64(-$0)) })
            try store.insert("Tag", (0..<3).map { [.text("tag\($0)")] })
            let tags = try store.relationship("Playlist", "tags")
            try store.change { changes in
                for tag in 1...3 as ClosedRange<Int64> {
                    for list in 1...2 as ClosedRange<Int64> {
                        changes.link(try store.pair(tags, list, tag, at: tag * (3 - 2 * list), back: -list))
                    }
                }
            }
            try store.backend.close()
        }
        let store = try run.open(Playlists.schema)
        try store.read { transaction in
            try run.expect(try transaction.related(try store.relationship("Playlist", "tracks"), of: [1])[1], equals: [4, 3, 2, 1])
            let found = try transaction.related(try store.relationship("Playlist", "tags"), of: [1, 2])
            try run.expect([found[1], found[2]], equals: [[1, 2, 3], [3, 2, 1]])
            try run.expect(try transaction.related(try store.relationship("Tag", "lists"), of: [2])[2], equals: [2, 1])
        }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
    },
]

extension ChangeSet {
    /// Sets the position of a track, and its list if one is given.
    fileprivate func place(_ track: Entity, _ id: Int64, at position: Int64?, in list: Int64?? = nil) throws {
        var mask = FieldMask()
        mask.insert(3)
        if list != nil { mask.insert(1) }
        try update(track, rowID: id, mask: mask) { builder in
            if case .some(let list?) = list { builder.setInteger(1, list) }
            if let position { builder.setInteger(3, position) }
        }
    }
}

extension TestStore {
    /// Returns a pair of an ordered relationship with the position of its target and, if the other end is ordered too, of its source.
    fileprivate func pair(
        _ relationship: Relationship, _ source: Int64, _ target: Int64, isAddition: Bool = true, at position: Int64?, back: Int64? = nil
    ) throws -> ChangeSet.LinkChange {
        guard case .link(let table, let isReversed) = relationship.storage else { throw run.fail("\(relationship.name) has no link table") }
        return ChangeSet.LinkChange(
            table: table, source: isReversed ? target : source, target: isReversed ? source : target, isAddition: isAddition,
            targetPosition: isReversed ? back : position, sourcePosition: isReversed ? position : back)
    }
}
