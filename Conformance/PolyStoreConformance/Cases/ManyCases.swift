import PolyStoreBackend

/// Faults that show only after many rows, change sets or commits.
let manyCases: [ConformanceCase] = [
    ConformanceCase("query.limit.above-100", "Limits above 100 return as many rows as there are, up to the limit.") { run in
        let (store, person) = try crowd(run, 1001)
        let age = FieldReference(person.fields[1])
        let requests = [
            FetchRequest(person), FetchRequest(person, sortKeys: [SortKey(age, ascending: false)]),
            FetchRequest(person, predicate: .compare(age, .less, .integer(900))),
            FetchRequest(person, predicate: .compare(age, .less, .integer(900)), sortKeys: [SortKey(FieldReference(person.fields[2]))]),
        ]
        for var request in requests {
            let whole = try store.ids(request)
            for limit in [99, 100, 101, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1001, 1002] {
                for offset in [0, 3] {
                    (request.limit, request.offset) = (limit, offset)
                    let expected = Array(whole.dropFirst(offset).prefix(limit))
                    try run.expect(try store.ids(request), equals: expected, "limit \(limit) offset \(offset) of \(request.predicate)")
                    try run.expect(
                        try store.read { try $0.count(request) }, equals: expected.count, "count, limit \(limit) offset \(offset)")
                }
            }
        }
    },
    ConformanceCase(
        "query.record.finds-every-object", "Each of 2,560 objects is found by its row id and by the value of a unique attribute."
    ) { run in
        let (store, person) = try crowd(run, 2560)
        let email = FieldReference(person.fields[0])
        try store.read { transaction in
            for id in 1...2560 as ClosedRange<Int64> {
                try run.expect(try transaction.row(person, id)?[1], equals: .integer(id - 1), "object \(id)")
                let request = FetchRequest(person, predicate: .compare(email, .equal, .text("p\(id - 1)")))
                try run.expect(try transaction.ids(request), equals: [id], "the object with the value of object \(id)")
            }
            for id in [0, -1, 2561, 4096, .max] as [Int64] { try run.expect(try transaction.row(person, id), equals: nil, "object \(id)") }
        }
    },
    ConformanceCase("writing.apply.thousands", "Each of 1,100 change sets is applied, in transactions of 110.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        for first in stride(from: 1, through: 1100, by: 110) {
            try store.write(.relaxed) { transaction in
                for number in first..<first + 110 {
                    let changes = ChangeSet(store.schema)
                    try changes.insert(person, rowID: Int64(number), Fixtures.person("p\(number)", Int64(number)))
                    try transaction.apply(changes)
                }
            }
        }
        try expectAll(run, store, 1100)
    },
    ConformanceCase("writing.commit.thousands", "Each of 1,100 commits is kept, and each increments the version.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let first = try store.read { try $0.version }
        for number in 1...1100 as ClosedRange<Int64> {
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: number, Fixtures.person("p\(number)", number))
            try store.write(.relaxed) { try $0.apply(changes) }
        }
        try expectAll(run, store, 1100)
        try run.expect(try store.read { try $0.version } >= first + 1100, "the version has not grown with each commit")
    },
    ConformanceCase(
        "lifetime.version.grows-with-an-empty-change-set",
        "A commit of an empty change set, or after a failed change set, increments the version."
    ) { run in
        let store = try run.open(Fixtures.company)
        var last = try store.read { try $0.version }
        for round in 0..<6 {
            let transaction = try store.backend.beginWrite()
            if round % 2 == 0 {
                try transaction.apply(ChangeSet(store.schema))
            } else {
                let failing = ChangeSet(store.schema)
                failing.delete(try store.entity("Person"), rowID: 99)
                try run.expectError(.notFound) { try transaction.apply(failing) }
            }
            let version = try transaction.commit(.relaxed)
            try run.expect(version > last, "round \(round): version \(version) after \(last)")
            try run.expect(try store.read { try $0.version }, equals: version, "the version of a new reader, round \(round)")
            last = version
        }
        guard run.target.capabilities.contains(.persistence) else { return }
        try store.backend.close()
        try run.expect(try run.open(Fixtures.company).read { try $0.version }, equals: last, "the version after reopening")
    },
    ConformanceCase(
        "refusal.count.invalid-order", "Counting rejects an order on an unknown field and a negative slice, as a fetch does."
    ) { run in
        let (store, person) = try crowd(run, 5)
        let stranger = FieldReference(index: 4000, name: "farther", type: .string)
        let requests = [
            FetchRequest(person, sortKeys: [SortKey(stranger)]), FetchRequest(person, sortKeys: [SortKey(stranger)], limit: 0),
            FetchRequest(person, predicate: .compare(.objectID, .less, .integer(3)), sortKeys: [SortKey(stranger)]),
            FetchRequest(person, limit: -1), FetchRequest(person, offset: -1),
        ]
        for request in requests {
            try run.expectError(.invalidPredicate, "count") { try store.read { try $0.count(request) } }
            try run.expectError(.invalidPredicate, "count in a write transaction") { try store.write { try $0.count(request) } }
        }
    },
    ConformanceCase(
        "log.reading.many-at-once", "A read returns as many log entries as there are, up to its limit, however many they are.",
        requires: [.changeLog]
    ) { run in
        let store = try run.open(Fixtures.company)
        let entries = (0..<1200).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        try store.append(Array(entries.prefix(700)))
        try store.append(Array(entries.dropFirst(700)))
        try store.read { reader in
            for limit in [49, 50, 51, 99, 100, 101, 255, 256, 257, 999, 1000, 1001, 1200, 5000, .max] {
                let found = try reader.logEntries(after: 0, limit: limit).map(\.bytes)
                try run.expect(found.count, equals: min(limit, 1200), "entries with limit \(limit)")
                try run.expect(found == Array(entries.prefix(limit)), "other entries with limit \(limit)")
            }
            let all = try reader.logEntries(after: 0, limit: .max)
            let later = try reader.logEntries(after: all[99].position, limit: 1000)
            try run.expect(later == Array(all[100..<1100]), "entries after the 100th")
        }
    },
]

private func crowd(_ run: ConformanceRun, _ count: Int) throws -> (TestStore, Entity) {
    let store = try run.open(Fixtures.company)
    try store.insert("Person", (0..<count).map { Fixtures.person("p\($0)", Int64($0), nickname: "n\($0 % 7)") })
    return (store, try store.entity("Person"))
}

/// Checks that the people 1, 2, … are in the store, with the age that equals their row id.
private func expectAll(_ run: ConformanceRun, _ store: TestStore, _ count: Int) throws {
    let person = try store.entity("Person")
    let ages = try store.read { try $0.rows(FetchRequest(person)) }.map { $0[1] }
    let missing = Set((1...count).map { Value.integer(Int64($0)) }).subtracting(ages)
    try run.expect(missing.isEmpty, "\(missing.count) objects are missing, among them \(missing.prefix(3).map(\.literal))")
    try run.expect(ages.count, equals: count)
}
