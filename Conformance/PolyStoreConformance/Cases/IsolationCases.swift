import PolyStoreBackend

/// Provokes each anomaly that serializable isolation excludes. G1a, G1b and G2 are defined by Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions"
/// (2000), the others by Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995).
let isolationCases: [ConformanceCase] = [
    ConformanceCase(
        "isolation.dirty-read.aborted", "Changes that are applied and rolled back are never in the result of another transaction (G1a)."
    ) { run in
        let accounts = try Accounts(run)
        let before = try accounts.answers()
        let writer = try accounts.store.backend.beginWrite()
        try accounts.change(writer, [1: 900], inserting: [7: 5], deleting: [2])
        let during = try accounts.store.backend.beginRead()
        defer { during.end() }
        try run.expect(try accounts.answers(during), equals: before, "before the rollback")
        writer.rollback()
        try run.expect(try accounts.answers(during), equals: before, "after the rollback")
        try run.expect(try accounts.answers(), equals: before, "a new reader")
        let next = try accounts.store.backend.beginWrite()
        defer { next.rollback() }
        try run.expect(try accounts.answers(next), equals: before, "the next writer")
    },
    ConformanceCase(
        "isolation.dirty-read.failed-change-set", "Changes of a failed change set are in no result, inside or outside its transaction."
    ) { run in
        let accounts = try Accounts(run)
        let before = try accounts.answers()
        try accounts.store.write { writer in
            try run.expectError(.notFound) { try accounts.change(writer, [1: 900], inserting: [7: 5], deleting: [99]) }
            try run.expect(try accounts.answers(writer), equals: before, "within")
            try run.expect(try accounts.answers(), equals: before, "outside")
        }
        try run.expect(try accounts.answers(), equals: before, "after the commit")
    },
    ConformanceCase(
        "isolation.dirty-read.intermediate",
        "If a transaction changes a value twice, others never see the first value, and see the second after the commit (G1b)."
    ) { run in
        let accounts = try Accounts(run)
        let before = try accounts.answers()
        let writer = try accounts.store.backend.beginWrite()
        var readers: [any ReadTransaction] = []
        defer { for reader in readers { reader.end() } }
        for value in [500, 600, 700] as [Int64] {
            try accounts.change(writer, [1: value, 2: -value])
            readers.append(try accounts.store.backend.beginRead())
            try run.expect(try accounts.answers(readers[readers.count - 1]), equals: before, "while it is \(value)")
        }
        let after = try accounts.answers(writer)
        _ = try writer.commit(.full)
        for reader in readers { try run.expect(try accounts.answers(reader), equals: before, "an earlier reader, after the commit") }
        try run.expect(try accounts.answers(), equals: after, "a new reader")
    },
    ConformanceCase(
        "isolation.snapshot.from-its-beginning",
        "A reader sees the version at its beginning, even if its first read is later."
    ) { run in
        let accounts = try Accounts(run)
        let before = try accounts.answers()
        let reader = try accounts.store.backend.beginRead()
        defer { reader.end() }
        try accounts.store.write { try accounts.change($0, [1: 1], inserting: [7: 5], deleting: [2]) }
        try run.expect(try accounts.answers(reader), equals: before)
        try accounts.store.write { try accounts.change($0, [3: 1]) }
        try run.expect(try accounts.answers(reader), equals: before, "asked again")
    },
    ConformanceCase(
        "isolation.read-skew.two-entities", "A reader that has read one object never sees another object from a later commit."
    ) { run in
        let accounts = try Accounts(run)
        // Every access path to the second object, after the first has been read and both were changed.
        for method in 0..<accounts.methods {
            let reader = try accounts.store.backend.beginRead()
            defer { reader.end() }
            let first = try accounts.balance(reader, 1)
            let total = try accounts.total(reader)
            try accounts.store.write { try accounts.change($0, [1: first - 10, 2: total - (first - 10) - 300]) }
            try accounts.store.write { try accounts.touchBranch($0) }
            try run.expect(first + (try accounts.others(reader, method)), equals: total, "way \(method)")
        }
    },
    ConformanceCase(
        "isolation.phantom.every-answer",
        "A reader's results do not change while commits add objects to and remove them from a predicate's selection."
    ) { run in
        let accounts = try Accounts(run)
        let reader = try accounts.store.backend.beginRead()
        defer { reader.end() }
        let before = try accounts.answers(reader)
        for round in 0..<12 as Range<Int64> {
            try accounts.store.write { writer in
                try accounts.change(
                    writer, [3: round % 2 == 0 ? 0 : 1000], inserting: [10 + round: round * 50], deleting: round == 5 ? [4, 5] : [])
            }
            try run.expect(try accounts.answers(reader), equals: before, "round \(round)")
        }
        try run.expect(try accounts.answers() != before, "a new reader does not see it")
    },
    ConformanceCase(
        "isolation.own-writes.every-answer",
        "All queries of a write transaction include its pending changes, and a failed change set does not affect them."
    ) { run in
        let accounts = try Accounts(run)
        let expected = try run.open(Accounts.schema, "other")
        // The same state, created by one commit in a separate store.
        let other = try Accounts(run, expected)
        try expected.write { try other.change($0, [1: 5, 3: 800], inserting: [7: 70], deleting: [2]) }
        let wanted = try other.answers()
        try accounts.store.write { writer in
            try accounts.change(writer, [1: 900, 3: 800])
            _ = try accounts.answers(writer)
            try accounts.change(writer, [1: 5], inserting: [7: 70], deleting: [2])
            try run.expect(try accounts.answers(writer), equals: wanted, "within")
            try run.expectError(.constraint) { try accounts.change(writer, [3: 1], inserting: [7: 1]) }
            try run.expect(try accounts.answers(writer), equals: wanted, "after a change set that failed")
        }
        try run.expect(try accounts.answers(), equals: wanted, "after the commit")
    },
    ConformanceCase(
        "isolation.lost-update.two-handles", "No update is lost by read-modify-write transactions of two stores opened at one path.",
        requires: [.multiProcess]
    ) { run in
        let first = try Accounts(run)
        let second = try Accounts(run, run.open(Accounts.schema), isEmpty: false)
        try await together([first, first, second, second]) { accounts, _ in
            for _ in 0..<10 { try accounts.store.write(.relaxed) { try accounts.change($0, [1: accounts.balance($0, 1) + 1]) } }
        }
        try run.expect(try first.store.read { try first.balance($0, 1) }, equals: 140)
        try run.expect(try second.store.read { try second.balance($0, 1) }, equals: 140)
    },
    ConformanceCase(
        "isolation.write-skew.two-objects",
        "Of two writers that each empty their own account only if the other is full, exactly one does (G2-item)."
    ) { run in
        let accounts = try Accounts(run)
        for round in 0..<10 {
            try accounts.store.write(.relaxed) { try accounts.change($0, [1: 100, 2: 100]) }
            try await together([1, 2] as [Int64]) { mine, _ in
                try accounts.store.write(.relaxed) { writer in
                    let other = try accounts.balance(writer, 3 - mine)
                    if other == 100 { try accounts.change(writer, [mine: 0]) }
                }
            }
            let left = try accounts.store.read { try accounts.balance($0, 1) + accounts.balance($0, 2) }
            try run.expect(left, equals: 100, "round \(round)")
        }
    },
    ConformanceCase(
        "isolation.write-skew.predicate", "Of several writers that each insert only if nothing matches, exactly one does (G2)."
    ) { run in
        let accounts = try Accounts(run)
        for round in 0..<10 as Range<Int64> {
            let value = 5000 + round
            try await together([1, 2, 3] as [Int64]) { writer, _ in
                try accounts.store.write(.relaxed) { transaction in
                    guard try transaction.count(accounts.request(.equal, value)) == 0 else { return }
                    try accounts.change(transaction, [:], inserting: [100 + round * 3 + writer: value])
                }
            }
            try run.expect(try accounts.store.read { try $0.count(accounts.request(.equal, value)) }, equals: 1, "round \(round)")
        }
    },
]

/// Runs a closure for each element concurrently, each on its own thread.
func together<Part: Sendable>(_ parts: [Part], _ body: @escaping @Sendable (Part, Int) throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, part) in parts.enumerated() { group.addTask { try await onThread { try body(part, number) } } }
        try await group.waitForAll()
    }
}

/// Six accounts with 100 each, in two branches, and every way to query them.
private struct Accounts: Sendable {
    static let schema = SchemaDescription(
        name: "Bank",
        entities: [
            EntityDescription(
                name: "Account",
                properties: [
                    .attribute(AttributeDescription(name: "balance", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "note", type: .string, isOptional: true)),
                    .relationship(RelationshipDescription(name: "branch", destination: "Branch", isToMany: false, inverse: "accounts")),
                ]),
            EntityDescription(
                name: "Branch",
                properties: [
                    .attribute(AttributeDescription(name: "visits", type: .int64)),
                    .relationship(RelationshipDescription(name: "accounts", destination: "Account", isToMany: true)),
                ]),
        ])

    let store: TestStore
    let account: Entity
    let branch: Entity
    let balance: FieldReference

    init(_ run: ConformanceRun) throws { try self.init(run, run.open(Self.schema)) }

    init(_ run: ConformanceRun, _ store: TestStore, isEmpty: Bool = true) throws {
        self.store = store
        account = try store.entity("Account")
        branch = try store.entity("Branch")
        balance = try store.field("Account", "balance")
        guard isEmpty else { return }
        try store.insert("Branch", [[.integer(0)], [.integer(0)]])
        try store.insert("Account", (0..<6).map { [.integer(100), .text("n"), .integer($0 % 2 + 1)] })
    }

    func change(
        _ writer: any WriteTransaction, _ balances: [Int64: Int64], inserting: [Int64: Int64] = [:], deleting: [Int64] = []
    ) throws {
        let changes = ChangeSet(store.schema)
        for (id, value) in balances.sorted(by: { $0.key < $1.key }) { try changes.update(account, rowID: id, ["balance": .integer(value)]) }
        for (id, value) in inserting.sorted(by: { $0.key < $1.key }) {
            try changes.insert(account, rowID: id, [.integer(value), .null, .integer(id % 2 + 1)])
        }
        for id in deleting { changes.delete(account, rowID: id) }
        try writer.apply(changes)
    }

    func touchBranch(_ writer: any WriteTransaction) throws {
        let changes = ChangeSet(store.schema)
        try changes.update(branch, rowID: 1, ["visits": .integer(1)])
        try changes.update(account, rowID: 4, ["branch": .integer(1)])
        try writer.apply(changes)
    }

    func balance(_ reader: any ReadTransaction, _ id: Int64) throws -> Int64 {
        guard case .integer(let value)? = try reader.row(account, id)?[0] else { throw store.run.fail("the account \(id) does not exist") }
        return value
    }

    func request(_ comparison: ComparisonOperator, _ value: Int64) -> FetchRequest {
        FetchRequest(account, predicate: .compare(balance, comparison, .integer(value)))
    }

    /// Returns the sum of all balances.
    func total(_ reader: any ReadTransaction) throws -> Int64 {
        guard case .integer(let sum)? = try reader.aggregate(AggregateRequest(account, aggregates: [.sum(balance)])).first?.values.first
        else {
            throw store.run.fail("the sum is missing")
        }
        return sum
    }

    var methods: Int { 5 }

    /// Returns the sum of all accounts except the first, computed in different ways.
    func others(_ reader: any ReadTransaction, _ method: Int) throws -> Int64 {
        let notFirst = QueryPredicate.compare(.objectID, .greater, .integer(1))
        func sum(_ rows: [[Value]]) -> Int64 { rows.reduce(0) { if case .integer(let value) = $1[0] { $0 + value } else { $0 } } }
        switch method {
        case 0: return try (2...6).reduce(0) { try $0 + balance(reader, $1) }
        case 1: return sum(try reader.rows(FetchRequest(account, predicate: notFirst)))
        case 2: return sum(try reader.rows(FetchRequest(account, predicate: notFirst, sortKeys: [SortKey(balance)])))
        case 3: return try total(reader) - balance(reader, 1)
        default:
            let accounts = try store.relationship("Branch", "accounts")
            let related = try reader.related(accounts, of: [1, 2])
            return try (related[1] + related[2]).filter { $0 != 1 }.reduce(0) { try $0 + balance(reader, $1) }
        }
    }

    func answers() throws -> [[[Value]]] { try store.read(answers) }

    /// Returns the results of every kind of query in a transaction.
    func answers(_ reader: any ReadTransaction) throws -> [[[Value]]] {
        let rich = request(.greaterOrEqual, 100)
        let accounts = try store.relationship("Branch", "accounts")
        let ofRich = QueryPredicate.related(RelationshipReference(accounts, in: store.schema), .any, rich.predicate)
        let related = try reader.related(accounts, of: [1, 2])
        return [
            try reader.rows(FetchRequest(account)), try reader.rows(rich),
            try reader.rows(FetchRequest(account, sortKeys: [SortKey(balance, ascending: false)], limit: 3, offset: 1)),
            [[.integer(Int64(try reader.count(rich))), .integer(try total(reader))]],
            try reader.aggregate(AggregateRequest(account, groupBy: [balance], aggregates: [.count, .maximum(.objectID)])).map {
                $0.group + $0.values
            },
            try reader.ids(FetchRequest(branch, predicate: ofRich)).map { [.integer($0)] },
            [related[1].map { .integer($0) }, related[2].map { .integer($0) }],
            try (1...8).map { try reader.row(account, $0) ?? [] },
        ]
    }
}
