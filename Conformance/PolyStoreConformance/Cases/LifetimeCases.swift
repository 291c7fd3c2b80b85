import PolyStoreBackend

/// The beginning and the end of stores and transactions.
let lifetimeCases: [ConformanceCase] = [
    ConformanceCase("lifetime.close.under-a-reader", "An open reader of a closed store returns correct results or throws closed.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        let reader = try store.backend.beginRead()
        try store.backend.close()
        try rightOrClosed(run, "record") { try run.expect(try reader.row(person, 3)?[0], equals: .text("p2")) }
        try rightOrClosed(run, "fetch") { try run.expect(try reader.ids(FetchRequest(person)).count, equals: 20) }
        try rightOrClosed(run, "count") { try run.expect(try reader.count(FetchRequest(person)), equals: 20) }
        reader.end()
        reader.end()
    },
    ConformanceCase(
        "lifetime.close.under-a-walk", "An open cursor of a closed store returns correct rows or throws closed, and has no other effects."
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        let reader = try store.backend.beginRead()
        let cursor = try reader.fetch(FetchRequest(try store.entity("Person")))
        try run.expect(try cursor.next() && cursor.rowID == 1, "the first row")
        try store.backend.close()
        try rightOrClosed(run, "walk") {
            var next: Int64 = 2
            while try cursor.next() {
                try run.expect(cursor.rowID, equals: next)
                next += 1
            }
            try run.expect(next, equals: 21)
        }
        cursor.close()
        reader.end()
    },
    ConformanceCase(
        "lifetime.close.under-a-writer",
        "A commit after closing the store is either present after reopening, or has thrown closed and is not."
    ) { run in
        let store = try run.open(Fixtures.company)
        let transaction = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        try changes.insert(try store.entity("Person"), rowID: 1, Fixtures.person("a", 1))
        try transaction.apply(changes)
        try store.backend.close()
        var isCommitted = true
        do { _ = try transaction.commit(.full) } catch let error as StoreError {
            try run.expect(error.code, equals: .closed)
            isCommitted = false
            transaction.rollback()
        }
        guard run.target.capabilities.contains(.persistence) else { return }
        try run.expect(try run.open(Fixtures.company).row("Person", 1) != nil, equals: isCommitted)
    },
    ConformanceCase("lifetime.transaction.dropped-reader", "A reader that is released without end blocks nothing.") { run in
        let store = try run.open(Fixtures.company)
        for round in 1...30 as ClosedRange<Int64> {
            let reader = try store.backend.beginRead()
            _ = try reader.count(FetchRequest(try store.entity("Person")))
            try store.change { try $0.insert(try store.entity("Person"), rowID: round, Fixtures.person("p\(round)", round)) }
        }
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))).count, equals: 30)
        try store.backend.close()
    },
    ConformanceCase(
        "lifetime.transaction.ended-is-closed", "Calls on an ended write transaction throw closed and have no effect."
    ) {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        for ending in ["commit", "rollback", "end"] {
            let transaction = try store.backend.beginWrite()
            switch ending {
            case "commit": _ = try transaction.commit(.relaxed)
            case "rollback": transaction.rollback()
            default: transaction.end()
            }
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: 1, Fixtures.person("a", 1))
            try run.expectError(.closed, "apply after \(ending)") { try transaction.apply(changes) }
            try run.expectError(.closed, "reserveIDs after \(ending)") { try transaction.reserveIDs(person, count: 1) }
            try run.expectError(.closed, "commit after \(ending)") { try transaction.commit(.full) }
            try run.expectError(.closed, "record after \(ending)") { try transaction.record(person, rowID: 1) }
            transaction.rollback()
            transaction.end()
        }
        try run.expect(try store.row("Person", 1), equals: nil)
    },
    ConformanceCase("lifetime.reader.ended-is-closed", "Calls on an ended reader throw closed.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        let reader = try store.backend.beginRead()
        reader.end()
        try run.expectError(.closed, "record") { try reader.record(person, rowID: 1) }
        try run.expectError(.closed, "fetch") { try reader.ids(FetchRequest(person)) }
        try run.expectError(.closed, "count") { try reader.count(FetchRequest(person)) }
        try run.expectError(.closed, "related") { try reader.related(try store.relationship("Person", "friends"), of: [1]) }
    },
    ConformanceCase("lifetime.version.grows-without-changes", "An empty commit increments the version.") { run in
        let store = try run.open(Fixtures.company)
        var last: UInt64 = 0
        for round in 0..<3 {
            let version = try store.backend.beginWrite().commit(.relaxed)
            try run.expect(version > last, "round \(round): version \(version) after \(last)")
            last = version
        }
        try run.expect(try store.read { try $0.version }, equals: last)
    },
    ConformanceCase("lifetime.writer.sees-the-last-commit", "A write transaction begins with everything committed before it.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 0)])
        for round in 0..<20 as Range<Int64> {
            try store.write { transaction in
                try run.expect(try transaction.row(person, 1)?[1], equals: .integer(round))
                let changes = ChangeSet(store.schema)
                try changes.update(person, rowID: 1, ["age": .integer(round + 1)])
                try transaction.apply(changes)
            }
        }
    },
]

/// Accepts a correct result or `closed`. A store may keep what running transactions need, but must not return wrong results.
private func rightOrClosed(_ run: ConformanceRun, _ what: String, _ body: () throws -> Void) throws {
    do { try body() } catch let error as StoreError { try run.expect(error.code, equals: .closed, what) }
}
