import PolyStoreBackend

/// Cursors and readers beside a writer that changes the rows that they read.
let snapshotCases: [ConformanceCase] =
    cursorCases.map { cursorCase in
        ConformanceCase("snapshot.cursor.\(cursorCase.name)", cursorCase.statement) { run in
            let (store, item) = try ItemCatalog.open(run, items: 60)
            let request = try cursorCase.request(store)
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            let expected = try reader.rows(request)
            try run.expect(expected.count > 8, "the case has too few rows")
            let cursor = try reader.fetch(request)
            var found: [[Value]] = []
            while try cursor.next() {
                found.append(item.fields.map { cursor.record.value($0) })
                // Changes, deletes and inserts rows after, at and before the cursor's position.
                let step = found.count
                guard step <= 8 else { continue }
                try store.change { changes in
                    for id in 1...60 as ClosedRange<Int64> where id % 8 == Int64(step % 8) {
                        if id % 3 == 0 {
                            changes.delete(item, rowID: id)
                        } else {
                            try changes.update(
                                item, rowID: id,
                                [
                                    "price": .integer(-id), "title": .null, "sku": .text("gone\(id)"), "slot": .integer(0),
                                    "note": .text("x"),
                                ])
                        }
                    }
                    try changes.insert(item, rowID: Int64(100 + step), ItemCatalog.row(100 + step))
                }
            }
            cursor.close()
            try run.expect(found, equals: expected)
            try run.expect(try reader.rows(request), equals: expected, "asked again")
            try run.expect(try store.ids(FetchRequest(item)).count, equals: 60 - 20 + 8, "a new reader")
        }
    } + [
        ConformanceCase(
            "snapshot.readers.every-answer-of-its-version",
            "Readers of several versions each have consistent results: rows, counts, links, aggregates, plans."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 40)
            let price = try store.field("Item", "price")
            let items = try store.relationship("Maker", "items")
            func answers(_ reader: any ReadTransaction) throws -> [[[Value]]] {
                let request = FetchRequest(
                    item, predicate: .compare(price, .less, .integer(30)), sortKeys: [SortKey(price, ascending: false)])
                let groups = try reader.aggregate(AggregateRequest(item, groupBy: [price], aggregates: [.count]))
                let related = try reader.related(items, of: [1, 2, 3])
                return [
                    try reader.rows(request), groups.map { $0.group + $0.values }, (1...3).map { related[$0].map { .integer($0) } },
                    [[.integer(Int64(try reader.count(request))), .integer(Int64(try reader.explain(request).rowsReturned ?? -1))]],
                    try (1...6).map { try reader.row(item, $0) ?? [] },
                ]
            }
            var readers: [(any ReadTransaction, [[[Value]]])] = []
            defer { for (reader, _) in readers { reader.end() } }
            for round in 1...6 as ClosedRange<Int64> {
                let reader = try store.backend.beginRead()
                readers.append((reader, try answers(reader)))
                try store.change { changes in
                    changes.delete(item, rowID: round)
                    for id in 10...20 as ClosedRange<Int64> {
                        try changes.update(item, rowID: id, ["price": .integer(id + round), "maker": .integer(round % 3 + 1)])
                    }
                    try changes.insert(item, rowID: 1000 + round, ItemCatalog.row(Int(1000 + round)))
                }
            }
            for (number, (reader, expected)) in readers.enumerated().reversed() {
                let found = try answers(reader)
                for (part, (now, then)) in zip(found, expected).enumerated() {
                    try run.expect(now, equals: then, "reader \(number), part \(part)")
                }
            }
            try run.expect(Set(readers.map { try $0.0.version }).count, equals: 6, "versions")
        },
        ConformanceCase(
            "snapshot.cursors.of-several-versions-in-turns", "Alternating cursors of readers of several versions are independent."
        ) { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            try store.insert("Person", (0..<30).map { Fixtures.person("p\($0)", 0) })
            var cursorCases: [(any ReadTransaction, RecordCursor)] = []
            defer { for (reader, _) in cursorCases { reader.end() } }
            for version in 1...5 as ClosedRange<Int64> {
                let reader = try store.backend.beginRead()
                cursorCases.append((reader, try reader.fetch(FetchRequest(person))))
                try store.change { changes in
                    for id in 1...30 as ClosedRange<Int64> { try changes.update(person, rowID: id, ["age": .integer(version)]) }
                }
            }
            for id in 1...30 as ClosedRange<Int64> {
                for (number, (_, cursor)) in cursorCases.enumerated() {
                    try run.expect(try cursor.next() && cursor.rowID == id, "walk \(number) at \(id)")
                    try run.expect(cursor.record.value(person.fields[1]), equals: .integer(Int64(number)), "walk \(number) at \(id)")
                }
            }
            for (_, cursor) in cursorCases { try run.expect(!(try cursor.next()), "the end") }
        },
        ConformanceCase(
            "snapshot.reader.begun-beside-a-writer",
            "A reader that began during a write transaction does not see its changes after the commit."
        ) {
            run in
            let (store, item) = try ItemCatalog.open(run, items: 10)
            let before = try store.read { try $0.rows(FetchRequest(item)) }
            let writer = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            for id in 1...10 as ClosedRange<Int64> { try changes.update(item, rowID: id, ["price": .integer(1000)]) }
            try writer.apply(changes)
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            try run.expect(try reader.rows(FetchRequest(item)), equals: before, "before the commit")
            _ = try writer.commit(.full)
            try run.expect(try reader.rows(FetchRequest(item)), equals: before, "after the commit")
            try run.expect(try reader.ids(try store.request("Item", "price", .equal, .integer(1000))), equals: [])
            try run.expect(try store.ids(try store.request("Item", "price", .equal, .integer(1000))).count, equals: 10, "a new reader")
        },
        ConformanceCase(
            "snapshot.reader.across-many-commits", "A reader that stays open for hundreds of commits sees its version and blocks nothing."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 20)
            let before = try store.read { try $0.rows(FetchRequest(item)) }
            let reader = try store.backend.beginRead()
            for round in 1...200 as ClosedRange<Int64> {
                try store.write(.relaxed) { transaction in
                    let changes = ChangeSet(store.schema)
                    try changes.update(
                        item, rowID: round % 20 + 1, ["price": .integer(round), "note": .text(String(repeating: "n", count: Int(round)))])
                    try transaction.apply(changes)
                }
            }
            try run.expect(try reader.rows(FetchRequest(item)), equals: before)
            reader.end()
            try run.expect(try store.ids(try store.request("Item", "price", .equal, .integer(200))), equals: [1])
        },
        ConformanceCase(
            "snapshot.freshness.not-before-a-commit", "A snapshot that must show a commit shows it, whatever time it may be behind."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 3)
            for round in 1...3 as ClosedRange<Int64> {
                let writer = try store.backend.beginWrite()
                let changes = ChangeSet(store.schema)
                try changes.update(item, rowID: 1, ["price": .integer(1000 + round)])
                try writer.apply(changes)
                let version = try writer.commit(.relaxed)
                for staleness in [nil, .zero, .seconds(3600)] as [Duration?] {
                    let reader = try store.backend.beginRead(ReadFreshness(maximumStaleness: staleness, notBefore: version))
                    defer { reader.end() }
                    try run.expect(try reader.ids(try store.request("Item", "price", .equal, .integer(1000 + round))), equals: [1])
                    try run.expect(try reader.version >= version, "the version is not that of the commit or a later one")
                }
            }
        },
        ConformanceCase(
            "snapshot.version.does-not-depend-on-reads", "The version of a snapshot is the same before and after its reads."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 3)
            let (asked, unasked) = (try store.backend.beginRead(), try store.backend.beginRead())
            defer { for reader in [asked, unasked] { reader.end() } }
            let version = try asked.version
            try store.change { try $0.update(item, rowID: 1, ["price": .integer(1000)]) }
            for reader in [asked, unasked] {
                for _ in 0..<2 {
                    _ = try reader.record(item, rowID: 1)
                    _ = try reader.ids(FetchRequest(item))
                    try run.expect(try reader.version, equals: version)
                }
            }
        },
        ConformanceCase(
            "snapshot.sessions.idle-ones-are-limited",
            "A backend that keeps sessions for later snapshots keeps no more than it states, and counts those in use."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 3)
            guard let before = store.backend.readSessions else { return }
            for round in 1...2 {
                let readers = try (0..<100).map { _ in try store.backend.beginRead() }
                for reader in readers { try run.expect(try reader.ids(FetchRequest(item)), equals: [1, 2, 3]) }
                let during = store.backend.readSessions
                for reader in readers { reader.end() }
                // The end of a snapshot on a server is not waited for.
                while store.backend.capabilities.waitsForServer, let now = store.backend.readSessions, now.active != before.active {
                    Deadline.pause(milliseconds: 1)
                }
                guard let during, let after = store.backend.readSessions else { throw run.fail("the sessions are not reported any more") }
                try run.expect(after.idle <= after.maximumIdle, "round \(round): \(after) after 100 snapshots")
                try run.expect(after.active, equals: before.active, "active sessions after round \(round)")
                try run.expect(during.active, equals: before.active + 100, "active sessions in round \(round)")
            }
        },
        ConformanceCase(
            "snapshot.write.cursors-within",
            "Cursors of a write transaction are independent, and an open one does not prevent writes."
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: 30)
            let price = try store.field("Item", "price")
            let byPrice = FetchRequest(item, sortKeys: [SortKey(price, ascending: false)])
            try store.write { transaction in
                let (first, second) = (try transaction.fetch(FetchRequest(item)), try transaction.fetch(byPrice))
                for id in 1...30 as ClosedRange<Int64> {
                    try run.expect(try first.next() && first.rowID == id, "by id, at \(id)")
                    try run.expect(try second.next() && second.rowID == 31 - id, "by price, at \(id)")
                }
                first.close()
                second.close()
                // Cursors that stay open and unused while changes are applied.
                let open = [try transaction.fetch(FetchRequest(item)), try transaction.fetch(byPrice)]
                for cursor in open { _ = try cursor.next() }
                let changes = ChangeSet(store.schema)
                for id in 1...10 as ClosedRange<Int64> { try changes.update(item, rowID: id, ["price": .integer(100 - id)]) }
                changes.delete(item, rowID: 30)
                try transaction.apply(changes)
                try run.expect(try transaction.ids(byPrice).prefix(3), equals: [1, 2, 3])
                let bad = ChangeSet(store.schema)
                bad.delete(item, rowID: 30)
                try run.expectError(.notFound) { try transaction.apply(bad) }
                for cursor in open { cursor.close() }
                try run.expect(try transaction.count(FetchRequest(item)), equals: 29)
            }
            try run.expect(try store.ids(byPrice).prefix(2), equals: [1, 2])
        },
    ]

private struct CursorCase: Sendable {
    let name: String
    let statement: String
    let request: @Sendable (TestStore) throws -> FetchRequest
}

private let cursorCases: [CursorCase] = [
    CursorCase(name: "by-id", statement: "A cursor in id order stays on its version while all rows change.") {
        FetchRequest(try $0.entity("Item"))
    },
    CursorCase(name: "in-the-order-of-an-index", statement: "A cursor in index order stays on its version while the index changes.") {
        FetchRequest(try $0.entity("Item"), sortKeys: [SortKey(try $0.field("Item", "price"))])
    },
    CursorCase(name: "over-a-range-of-an-index", statement: "A cursor over an index range stays on its version while rows leave the range.")
    {
        let price = try $0.field("Item", "price")
        return FetchRequest(
            try $0.entity("Item"), predicate: .and([.compare(price, .greater, .integer(5)), .compare(price, .less, .integer(50))]),
            sortKeys: [SortKey(price, ascending: false)])
    },
    CursorCase(name: "over-a-compound-index", statement: "A cursor over a compound index stays on its version while its entries move.") {
        FetchRequest(
            try $0.entity("Item"), predicate: .text(try $0.field("Item", "shelf"), .beginsWith, "shelf"),
            sortKeys: [SortKey(try $0.field("Item", "shelf")), SortKey(try $0.field("Item", "slot"), ascending: false)])
    },
    CursorCase(name: "with-a-remainder", statement: "A cursor with a residual predicate stays on its version.") {
        let listed: [Value] = (0..<900).map { .text("sku\($0)") }
        return FetchRequest(
            try $0.entity("Item"),
            predicate: .and([.oneOf(try $0.field("Item", "sku"), listed), .not(.isNull(try $0.field("Item", "title")))]))
    },
    CursorCase(name: "without-an-index", statement: "A cursor sorted by an unindexed field stays on its version.") {
        FetchRequest(try $0.entity("Item"), sortKeys: [SortKey(try $0.field("Item", "note"), ascending: false)], limit: 50, offset: 3)
    },
]
