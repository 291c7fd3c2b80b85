import PolyStoreBackend
import PolyStoreQuery
import Synchronization

/// Time limits and cancellations. The cases read as the object layer does: a backend that does not store interruptions is interrupted between the rows that it returns.
let interruptionCases: [ConformanceCase] = [
    ConformanceCase(
        "interruption.before.every-request",
        "A request for many objects throws timedOut if its time limit has ended before, and cancelled if it was cancelled before."
    ) { run in
        let store = try crowd(run, 20)
        try store.read { transaction in
            for (interruption, code, name) in ended() {
                let reader = transaction.interruptible(by: interruption)
                for (form, request) in try forms(store) {
                    try run.expectError(code, "\(name): \(form)") { try request(reader) }
                }
                let members = try store.relationship("Department", "people")
                try run.expectError(code, "\(name): members of two objects") { _ = try reader.related(members, of: [1, 2]) }
            }
        }
    },
    ConformanceCase(
        "interruption.object.is-read",
        "Requests for one object, which properties send, are not interrupted: its record, and the members of one of its relationships."
    ) { run in
        let store = try crowd(run, 20)
        let (person, members) = (try store.entity("Person"), try store.relationship("Department", "people"))
        try store.read { transaction in
            for (interruption, _, name) in ended() {
                let reader = transaction.interruptible(by: interruption)
                // More often than a check is due.
                for _ in 0..<3000 { try run.expect(try reader.record(person, rowID: 3) != nil, "\(name): a record") }
                for _ in 0..<300 { try run.expect(try reader.related(members, of: [2])[2].count, equals: 10, "\(name): members") }
            }
        }
    },
    ConformanceCase(
        "interruption.during.within-10000-rows",
        "A request asks whether it was interrupted before it has examined 10,000 further rows or entries of an index, and ends if it was."
    ) { run in
        let count = 30_000
        let store = try crowd(run, count)
        // A server's client cancels its statement instead.
        if store.backend.capabilities.waitsForServer { return }
        try store.read { transaction in
            for (form, request) in try forms(store) {
                let counter = CheckCounter()
                let observed = Interruption { _ in counter.add() }
                let reader = transaction.interruptible(by: observed)
                // Other backends are checked between rows, and these requests return few.
                guard transaction.interruption === observed else { continue }
                try request(reader)
                try run.expect(counter.count > count / 10_000, "\(form): \(counter.count) checks in \(count) rows")
                counter.reset()
                let cancelled = Interruption { if counter.add() == 3 { $0.cancel() } }
                try run.expectError(.cancelled, form) { try request(transaction.interruptible(by: cancelled)) }
            }
            let interruption = Interruption()
            let cursor = try transaction.interruptible(by: interruption).fetch(FetchRequest(try store.entity("Person")))
            defer { cursor.close() }
            for _ in 0..<500 { try run.expect(try cursor.next(), "the cursor ends early") }
            interruption.cancel()
            var further = 0
            try run.expectError(.cancelled, "a cursor") { while try cursor.next() { further += 1 } }
            try run.expect(further < 10_000, "\(further) rows after the cancellation")
        }
    },
    ConformanceCase(
        "interruption.snapshot.goes-on", "A snapshot shows the same version after an interrupted request, and its other cursors continue."
    ) { run in
        let store = try crowd(run, 50)
        let person = try store.entity("Person")
        try store.read { reader in
            let version = try reader.version
            let cursor = try reader.fetch(FetchRequest(person))
            defer { cursor.close() }
            for _ in 0..<10 { try run.expect(try cursor.next(), "the cursor ends early") }
            for (interruption, code, name) in ended() {
                for (form, request) in try forms(store) {
                    try run.expectError(code, "\(name): \(form)") { try request(reader.interruptible(by: interruption)) }
                }
            }
            reader.interruption = nil
            var left = 0
            while try cursor.next() { left += 1 }
            try run.expect(left, equals: 40, "rows of the other cursor")
            try run.expect(try reader.ids(FetchRequest(person)).count, equals: 50, "a later request")
            try run.expect(reader.version, equals: version, "the version")
            for (_, request) in try forms(store) { try request(reader) }
        }
        // The next transactions may use the same connection.
        try run.expect(try store.ids(FetchRequest(person)).count, equals: 50, "the next reader")
    },
    ConformanceCase(
        "interruption.writer.keeps-changes",
        "A write transaction keeps its changes after an interrupted request. Interrupted work does not prevent change sets, row ids and the commit."
    ) { run in
        let store = try crowd(run, 50)
        let person = try store.entity("Person")
        func changes(_ number: Int64) throws -> ChangeSet {
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: number, Fixtures.person("new\(number)", number))
            try changes.update(person, rowID: 1, ["nickname": .text("changed \(number)")])
            return changes
        }
        for (round, (interruption, code, name)) in ended().enumerated() {
            let before = try store.ids(FetchRequest(person)).count
            let writer = try store.backend.beginWrite()
            let first = Int64(1000 + 10 * round)
            try writer.apply(try changes(first))
            for (form, request) in try forms(store) {
                try run.expectError(code, "\(name): \(form)") { try request(writer.interruptible(by: interruption)) }
            }
            try run.expect(try writer.row(person, first) != nil, "\(name): the first change is lost")
            try writer.apply(try changes(first + 1))
            // More often than a check is due.
            for _ in 0..<2000 { _ = try writer.reserveIDs(person, count: 1) }
            _ = try writer.commit(.relaxed)
            try run.expect(try store.ids(FetchRequest(person)).count, equals: before + 2, "\(name): the objects")
            try run.expect(try store.row("Person", 1)?[2], equals: .text("changed \(first + 1)"), "\(name): the update")
            // The next writer may use the same connection.
            let next = try store.backend.beginWrite()
            try run.expect(try next.ids(FetchRequest(person)).count, equals: before + 2, "\(name): the next writer")
            _ = next.interruptible(by: interruption)
            next.rollback()
        }
        try store.change { changes in changes.delete(person, rowID: 1) }
        try run.expect(try store.row("Person", 1), equals: nil, "a later commit")
    },
]

/// Opens a store with people in two departments.
private func crowd(_ run: ConformanceRun, _ count: Int) throws -> TestStore {
    let store = try run.open(Fixtures.company)
    try store.insert("Department", [[.text("one")], [.text("two")]])
    try store.insert(
        "Person",
        (0..<count).map { Fixtures.person("p\($0)", Int64($0), nickname: "n\($0 % 7)", score: Double($0), department: Int64($0 % 2 + 1)) })
    return store
}

/// Work that was interrupted before it began, with the code of its error.
private func ended() -> [(interruption: Interruption, code: StoreError.Code, name: String)] {
    let cancelled = Interruption()
    cancelled.cancel()
    let inner = Interruption(timeLimit: .seconds(3600), within: cancelled)
    return [
        (cancelled, .cancelled, "cancelled"), (Interruption(timeLimit: .zero), .timedOut, "no time"),
        (Interruption(timeLimit: .seconds(-1)), .timedOut, "less than no time"), (inner, .cancelled, "within cancelled work"),
        (Interruption(timeLimit: .seconds(3600), within: Interruption(timeLimit: .zero)), .timedOut, "within ended work"),
    ]
}

/// Requests that examine every person, by an index or without one. None of them returns many.
private func forms(_ store: TestStore) throws -> [(name: String, request: (any ReadTransaction) throws -> Void)] {
    let person = try store.entity("Person")
    let (age, score) = (try store.field("Person", "age"), try store.field("Person", "score"))
    let (nickname, department) = (try store.field("Person", "nickname"), try store.field("Person", "department"))
    let none = QueryPredicate.compare(score, .equal, .real(-1))
    let any = QueryPredicate.compare(age, .greaterOrEqual, .integer(0))
    let fetches: [(String, FetchRequest)] = [
        ("a scan", FetchRequest(person, predicate: none)),
        ("a scan of texts", FetchRequest(person, predicate: .text(nickname, .contains, "none"))),
        ("an index and a condition", FetchRequest(person, predicate: .and([any, none]))),
        ("an index, backwards", FetchRequest(person, predicate: .and([any, none]), sortKeys: [SortKey(age, ascending: false)])),
        ("a sort", FetchRequest(person, sortKeys: [SortKey(score, ascending: false)], limit: 1)),
        ("an offset", FetchRequest(person, predicate: any, sortKeys: [SortKey(age)], limit: 1, offset: 29_990)),
    ]
    var forms: [(String, (any ReadTransaction) throws -> Void)] = fetches.map { name, request in (name, { _ = try $0.ids(request) }) }
    for (name, predicate) in [("a count", none), ("a count by an index", any), ("a count of both", .and([any, none]))] {
        forms.append((name, { _ = try $0.count(FetchRequest(person, predicate: predicate)) }))
    }
    for (name, request) in [
        ("a sum", AggregateRequest(person, groupBy: [], aggregates: [.of(.sum, .field(score))])),
        ("groups", AggregateRequest(person, groupBy: [department], aggregates: [.count, .of(.average, .field(score))])),
        ("groups with a condition", AggregateRequest(person, predicate: none, groupBy: [nickname], aggregates: [.count])),
    ] { forms.append((name, { _ = try $0.aggregate(request) })) }
    return forms
}

/// Counts the checks of a request.
private final class CheckCounter: Sendable {
    private let checks = Atomic(0)
    var count: Int { checks.load(ordering: .relaxed) }
    @discardableResult
    func add() -> Int { checks.add(1, ordering: .relaxed).newValue }
    func reset() { checks.store(0, ordering: .relaxed) }
}
