import PolyStoreBackend

/// The isolation and lifetime of transactions.
let transactionCases: [ConformanceCase] = [
    ConformanceCase("transaction.write.reads-its-own-writes", "A write transaction sees its own changes: record, fetch, count, related.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let friends = try store.relationship("Person", "friends")
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: 2, Fixtures.person("b", 2))
            try changes.update(person, rowID: 1, ["age": .integer(50)])
            changes.link(try store.pair(friends, 1, 2))
            try transaction.apply(changes)
            try run.expect(try transaction.row(person, 2)?[0], equals: .text("b"))
            try run.expect(try transaction.ids(try store.request("Person", "age", .greater, .integer(1))), equals: [1, 2])
            try run.expect(try transaction.count(FetchRequest(person)), equals: 2)
            try run.expect(try transaction.related(friends, of: [1])[1], equals: [2])
        }
    },
    ConformanceCase("transaction.write.is-invisible-until-commit", "Other transactions do not see uncommitted changes.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let transaction = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        try changes.insert(person, rowID: 1, Fixtures.person("a", 1))
        try transaction.apply(changes)
        try run.expect(try store.ids(FetchRequest(person)), equals: [], "before the commit")
        _ = try transaction.commit(.full)
        try run.expect(try store.ids(FetchRequest(person)), equals: [1], "after the commit")
    },
    ConformanceCase("transaction.write.rollback-undoes", "A rollback undoes all changes of the transaction.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        let version = try store.read { try $0.version }
        let transaction = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        try changes.insert(person, rowID: 2, Fixtures.person("b", 2))
        try changes.update(person, rowID: 1, ["email": .text("z")])
        try transaction.apply(changes)
        transaction.rollback()
        transaction.rollback()
        try run.expect(try store.ids(FetchRequest(person)), equals: [1])
        try run.expect(try store.row("Person", 1)?[0], equals: .text("a"))
        try run.expect(try store.read { try $0.version }, equals: version)
        // The value that was temporarily taken is free again.
        try store.change { try $0.insert(person, rowID: 3, Fixtures.person("b", 3)) }
    },
    ConformanceCase("transaction.write.dropped-undoes", "A write transaction that is released rolls back and unblocks the next one.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        do {
            let transaction = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: 1, Fixtures.person("a", 1))
            try transaction.apply(changes)
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: [])
        try store.insert("Person", [Fixtures.person("b", 2)])
        try run.expect(try store.row("Person", 1)?[0], equals: .text("b"))
    },
    ConformanceCase("transaction.version.grows", "Every commit returns a greater version, which new readers see.") { run in
        let store = try run.open(Fixtures.company)
        var last: UInt64 = 0
        for id in 1...5 as ClosedRange<Int64> {
            let transaction = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            try changes.insert(try store.entity("Person"), rowID: id, Fixtures.person("p\(id)", id))
            try transaction.apply(changes)
            let version = try transaction.commit(.full)
            try run.expect(version > last, "version \(version) after \(last)")
            try run.expect(try store.read { try $0.version }, equals: version)
            last = version
        }
    },
    ConformanceCase("transaction.snapshot.record-is-stable", "A reader continues to see the values at its beginning.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let version = try reader.version
        try store.change { changes in
            try changes.update(person, rowID: 1, ["age": .integer(100)])
            changes.delete(person, rowID: 2)
            try changes.insert(person, rowID: 3, Fixtures.person("c", 3))
        }
        try run.expect(try reader.row(person, 1)?[1], equals: .integer(1), "updated")
        try run.expect(try reader.row(person, 2)?[0], equals: .text("b"), "deleted")
        try run.expect(try reader.row(person, 3), equals: nil, "inserted")
        try run.expect(reader.version, equals: version)
    },
    ConformanceCase("transaction.snapshot.fetch-and-count-are-stable", "A reader's fetches and counts do not change.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<10).map { Fixtures.person("p\($0)", Int64($0)) })
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let request = try store.request("Person", "age", .greaterOrEqual, .integer(5))
        let before = try reader.ids(request)
        for id in 1...10 as ClosedRange<Int64> { try store.change { try $0.update(person, rowID: id, ["age": .integer(0)]) } }
        try run.expect(try reader.ids(request), equals: before)
        try run.expect(try reader.count(request), equals: before.count)
        try run.expect(try store.ids(request), equals: [], "a new reader")
    },
    ConformanceCase("transaction.snapshot.related-is-stable", "A reader's relationships do not change.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Department", [[.text("x")], [.text("y")]])
        try store.insert("Person", [Fixtures.person("a", 1, department: 1), Fixtures.person("b", 2, department: 1)])
        let people = try store.relationship("Department", "people")
        let friends = try store.relationship("Person", "friends")
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        try store.change { changes in
            try changes.update(person, rowID: 1, ["department": .integer(2)])
            changes.link(try store.pair(friends, 1, 2))
        }
        try run.expect(try reader.related(people, of: [1])[1], equals: [1, 2])
        try run.expect(try reader.related(friends, of: [1])[1], equals: [])
        try run.expect(try store.read { try $0.related(people, of: [1])[1] }, equals: [2])
    },
    ConformanceCase("transaction.snapshot.cursor-is-stable", "Commits do not affect an open cursor.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<100).map { Fixtures.person("p\($0)", Int64($0)) })
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let cursor = try reader.fetch(FetchRequest(person))
        var ids: [Int64] = []
        while try cursor.next() {
            ids.append(cursor.rowID)
            if ids.count == 10 { try store.change { changes in for id in 20...60 { changes.delete(person, rowID: Int64(id)) } } }
        }
        cursor.close()
        try run.expect(ids, equals: (1...100).map { Int64($0) })
    },
    ConformanceCase("transaction.snapshot.many-versions-at-once", "Readers of several versions each see their own version.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 0)])
        var readers: [any ReadTransaction] = []
        defer { for reader in readers { reader.end() } }
        for age in 1...8 as ClosedRange<Int64> {
            readers.append(try store.backend.beginRead())
            try store.change { try $0.update(person, rowID: 1, ["age": .integer(age)]) }
        }
        for (index, reader) in readers.enumerated() {
            try run.expect(try reader.row(person, 1)?[1], equals: .integer(Int64(index)), "reader \(index)")
        }
    },
    ConformanceCase(
        "transaction.snapshot.sees-what-was-committed-before", "A new reader sees every commit that was acknowledged before it began."
    ) { run in
        let store = try run.open(Fixtures.company)
        for id in 1...30 as ClosedRange<Int64> {
            try store.change { try $0.insert(try store.entity("Person"), rowID: id, Fixtures.person("p\(id)", id)) }
            try run.expect(try store.row("Person", id)?[1], equals: .integer(id))
        }
    },
    ConformanceCase("transaction.read.end-twice", "Ending a reader twice has no effect.") { run in
        let store = try run.open(Fixtures.company)
        let reader = try store.backend.beginRead()
        reader.end()
        reader.end()
        try store.insert("Person", [Fixtures.person("a", 1)])
    },
    ConformanceCase("transaction.cursors.several-at-once", "Cursors of one transaction are independent, also for the same request.") {
        run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.read { transaction in
            let request = FetchRequest(try store.entity("Person"))
            let first = try transaction.fetch(request)
            let second = try transaction.fetch(request)
            for id in 1...10 as ClosedRange<Int64> {
                try run.expect(try first.next() && first.rowID == id, "first cursor at \(id)")
                if id % 2 == 0 { try run.expect(try second.next() && second.rowID == id / 2, "second cursor at \(id / 2)") }
                _ = try transaction.record(try store.entity("Person"), rowID: 20)
            }
            first.close()
            try run.expect(try second.next() && second.rowID == 6, "second cursor after the first was closed")
            second.close()
            second.close()
        }
    },
    ConformanceCase("transaction.write.waits-for-its-turn", "A second write transaction waits until the first has ended.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 0)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onThread {
                        for _ in 0..<10 {
                            try store.write { transaction in
                                guard case .integer(let age)? = try transaction.row(person, 1)?[1] else { throw run.fail("no age") }
                                let changes = ChangeSet(store.schema)
                                try changes.update(person, rowID: 1, ["age": .integer(age + 1)])
                                try transaction.apply(changes)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try run.expect(try store.row("Person", 1)?[1], equals: .integer(40), "no update is lost")
    },
    ConformanceCase("transaction.durability.both-are-accepted", "Each commit can request either durability.") { run in
        let store = try run.open(Fixtures.company)
        for (index, durability) in [Durability.full, .relaxed, .full].enumerated() {
            try store.write(durability) { transaction in
                let changes = ChangeSet(store.schema)
                try changes.insert(try store.entity("Person"), rowID: Int64(index + 1), Fixtures.person("p\(index)", 1))
                try transaction.apply(changes)
            }
        }
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))), equals: [1, 2, 3])
    },
    ConformanceCase(
        "transaction.durability.relaxed-survives-reopening", "A relaxed commit is present after close and open.", requires: [.persistence]
    ) { run in
        var store = try run.open(Fixtures.company)
        try store.write(.relaxed) { transaction in
            let changes = ChangeSet(store.schema)
            try changes.insert(try store.entity("Person"), rowID: 1, Fixtures.person("a", 1))
            try transaction.apply(changes)
        }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(try store.row("Person", 1)?[0], equals: .text("a"))
    },
]
