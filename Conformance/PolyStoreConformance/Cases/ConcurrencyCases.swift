import PolyStoreBackend

/// Runs blocking work on a separate thread. A thread pool is unsuitable: readers that run until the writer has ended could occupy all of its threads, and the
/// writer would never begin.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        CaseThread.start { continuation.resume(with: Result { try body() }) }
    }
}

/// Concurrent readers and writers.
let concurrencyCases: [ConformanceCase] = [
    ConformanceCase(
        "concurrency.readers.see-one-version",
        "Readers concurrent with a writer each see one version: a sum that every commit preserves is always correct.",
        requires: [.concurrentReaders]
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<10).map { Fixtures.person("p\($0)", 100) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await onThread {
                    var state: UInt64 = 7
                    for _ in 0..<150 {
                        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        let from = Int64(state >> 33 % 10) + 1
                        let to = Int64(state >> 43 % 10) + 1
                        guard from != to else { continue }
                        try store.write(.relaxed) { transaction in
                            guard case .integer(let taken)? = try transaction.row(person, from)?[1],
                                case .integer(let given)? = try transaction.row(person, to)?[1]
                            else { throw run.fail("no value") }
                            let changes = ChangeSet(store.schema)
                            try changes.update(person, rowID: from, ["age": .integer(taken - 7)])
                            try changes.update(person, rowID: to, ["age": .integer(given + 7)])
                            try transaction.apply(changes)
                        }
                    }
                }
            }
            for _ in 0..<8 {
                group.addTask {
                    try await onThread {
                        var last: UInt64 = 0
                        for _ in 0..<150 {
                            try store.read { transaction in
                                let version = try transaction.version
                                try run.expect(version >= last, "version \(version) after \(last)")
                                last = version
                                let sum = try transaction.rows(FetchRequest(person)).reduce(Int64(0)) { sum, row in
                                    if case .integer(let age) = row[1] { sum + age } else { sum }
                                }
                                try run.expect(sum, equals: 1000, "the sum at version \(version)")
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    },
    ConformanceCase(
        "concurrency.readers.many-at-once", "Sixteen readers can be open and read concurrently.", requires: [.concurrentReaders]
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<100).map { Fixtures.person("p\($0)", Int64($0)) })
        let readers = try (0..<16).map { _ in try store.backend.beginRead() }
        defer { for reader in readers { reader.end() } }
        for reader in readers { try run.expect(try reader.ids(FetchRequest(person)).count, equals: 100) }
    },
    ConformanceCase("concurrency.writers.lose-nothing", "Writers on several threads lose no commits and assign no id twice.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let given = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for thread in 0..<8 {
                group.addTask {
                    try await onThread {
                        var inserted: [Int64] = []
                        for number in 0..<15 {
                            let id = try store.write(.relaxed) { transaction in
                                let id = try transaction.reserveIDs(person, count: 2)
                                let changes = ChangeSet(store.schema)
                                try changes.insert(person, rowID: id, Fixtures.person("t\(thread)n\(number)", Int64(thread)))
                                try transaction.apply(changes)
                                return id
                            }
                            inserted.append(id)
                        }
                        return inserted
                    }
                }
            }
            var all: [Int64] = []
            for try await ids in group { all += ids }
            return all
        }
        try run.expect(Set(given).count, equals: 120, "distinct ids")
        try run.expect(try store.ids(FetchRequest(person)), equals: given.sorted())
    },
    ConformanceCase(
        "concurrency.two-handles.see-each-other", "Two stores opened at one path share their commits.", requires: [.multiProcess]
    ) { run in
        let first = try run.open(Fixtures.company)
        let second = try run.open(Fixtures.company)
        try first.insert("Person", [Fixtures.person("a", 1)])
        try run.expect(try second.row("Person", 1)?[0], equals: .text("a"))
        try second.change { try $0.update(try second.entity("Person"), rowID: 1, ["age": .integer(2)]) }
        try run.expect(try first.row("Person", 1)?[1], equals: .integer(2))
        try run.expect(try first.read { try $0.version }, equals: try second.read { try $0.version })
        try run.expectError(.constraint) {
            try second.change { try $0.insert(try second.entity("Person"), rowID: 2, Fixtures.person("a", 1)) }
        }
    },
    ConformanceCase(
        "concurrency.reader.does-not-wait-for-the-writer",
        "A reader can begin and read on another thread during a write transaction, and does not see its changes.",
        requires: [.concurrentReaders]
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        let read: @Sendable () throws -> [[Value]] = { try store.read { try $0.rows(FetchRequest(person)) } }
        let before = try read()
        let transaction = try store.backend.beginWrite()
        defer { transaction.rollback() }
        for id in 3...5 as ClosedRange<Int64> {
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: id, Fixtures.person("p\(id)", id))
            try changes.update(person, rowID: 1, ["age": .integer(id)])
            try transaction.apply(changes)
            try run.expect(try OnThread(read).value(), equals: before, "beside an open write transaction")
        }
        _ = try transaction.commit(.relaxed)
        try run.expect(try OnThread(read).value().count, equals: 5, "after the commit")
    },
    ConformanceCase(
        "concurrency.writer.does-not-wait-for-readers",
        "A write transaction begins and commits on another thread while readers and cursors are open, which do not see it.",
        requires: [.concurrentReaders]
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<300).map { Fixtures.person("p\($0)", Int64($0)) })
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let cursor = try reader.fetch(FetchRequest(person))
        defer { cursor.close() }
        try run.expect(try cursor.next(), "the cursor finds nothing")
        for id in 1000...1003 as ClosedRange<Int64> {
            try OnThread {
                try store.change { changes in
                    try changes.insert(person, rowID: id, Fixtures.person("new \(id)", id))
                    changes.delete(person, rowID: id - 900)
                }
            }.value()
        }
        var count = 1
        while try cursor.next() { count += 1 }
        try run.expect(count, equals: 300, "the rows of the open cursor")
        try run.expect(try reader.ids(FetchRequest(person)), equals: Array(1...300), "the rows of the open reader")
        try run.expect(try store.ids(FetchRequest(person)).count, equals: 300, "the rows of a new reader")
    },
]
