import PolyStoreBackend

/// The anomalies that serializable isolation rules out, each provoked: Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions" (2000), names
/// them G1a, G1b, G2; Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995), the others.
let isolationCases: [ConformanceCase] = [
    ConformanceCase(
        "isolation.dirty-read.aborted", "What a transaction applied and rolled back is in no answer of anybody, then or later (G1a)."
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
        "isolation.dirty-read.failed-change-set", "What a change set did before it failed is in no answer, in the transaction or outside."
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
        "Of a transaction that changes a value twice others see the first value never, and the second after its commit (G1b)."
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
        "A reader sees the version of the moment it began, also where it asks for the first time later."
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
        "isolation.read-skew.two-entities", "A reader that has seen one object never sees another as a later commit has left it."
    ) { run in
        let accounts = try Accounts(run)
        // Each way to the second object, after the first has been read and both were changed.
        for way in 0..<accounts.ways {
            let reader = try accounts.store.backend.beginRead()
            defer { reader.end() }
            let first = try accounts.balance(reader, 1)
            let total = try accounts.total(reader)
            try accounts.store.write { try accounts.change($0, [1: first - 10, 2: total - (first - 10) - 300]) }
            try accounts.store.write { try accounts.touchBranch($0) }
            try run.expect(first + (try accounts.others(reader, way)), equals: total, "way \(way)")
        }
    },
    ConformanceCase(
        "isolation.phantom.every-answer",
        "While objects enter and leave what a predicate selects, a reader's rows, counts, aggregates, groups and conditions on related objects stay."
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
        try run.expect(try accounts.answers() != before, "a new reader sees nothing of it")
    },
    ConformanceCase(
        "isolation.own-writes.every-answer",
        "A write transaction's aggregates, groups, orders, limits and conditions on related objects count what it has applied, and a failed change set leaves them."
    ) { run in
        let accounts = try Accounts(run)
        let expected = try run.open(Accounts.schema, "other")
        // The same state, reached by one commit in a store of its own.
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
        "isolation.lost-update.two-handles", "Of read-modify-write transactions over two opens of one place none is lost.",
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
        "Of two writers that each empty their own account only if the other one's is full, one does (G2-item)."
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
        "isolation.write-skew.predicate", "Of writers that each insert only where nothing matches, one does (G2)."
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

/// Runs a body for each of some things at once, each on a thread.
func together<Part: Sendable>(_ parts: [Part], _ body: @escaping @Sendable (Part, Int) throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, part) in parts.enumerated() { group.addTask { try await onThread { try body(part, number) } } }
        try await group.waitForAll()
    }
}

/// Six accounts with 100 each, in two branches, and every way to ask for them.
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
        for (id, value) in balances.sorted(by: { $0.key < $1.key }) { try changes.update(account, id: id, ["balance": .integer(value)]) }
        for (id, value) in inserting.sorted(by: { $0.key < $1.key }) {
            try changes.insert(account, id: id, [.integer(value), .null, .integer(id % 2 + 1)])
        }
        for id in deleting { changes.delete(account, id: id) }
        try writer.apply(changes)
    }

    func touchBranch(_ writer: any WriteTransaction) throws {
        let changes = ChangeSet(store.schema)
        try changes.update(branch, id: 1, ["visits": .integer(1)])
        try changes.update(account, id: 4, ["branch": .integer(1)])
        try writer.apply(changes)
    }

    func balance(_ reader: any ReadTransaction, _ id: Int64) throws -> Int64 {
        guard case .integer(let value)? = try reader.row(account, id)?[0] else { throw store.run.fail("there is no account \(id)") }
        return value
    }

    func request(_ comparison: ComparisonOperator, _ value: Int64) -> FetchRequest {
        FetchRequest(account, predicate: .compare(balance, comparison, .integer(value)))
    }

    /// The sum of all balances.
    func total(_ reader: any ReadTransaction) throws -> Int64 {
        guard case .integer(let sum)? = try reader.aggregate(AggregateRequest(account, aggregates: [.sum(balance)])).first?.values.first
        else {
            throw store.run.fail("there is no sum")
        }
        return sum
    }

    var ways: Int { 5 }

    /// The sum of all but the first account, in different ways.
    func others(_ reader: any ReadTransaction, _ way: Int) throws -> Int64 {
        let notFirst = QueryPredicate.compare(.objectID, .greater, .integer(1))
        func sum(_ rows: [[Value]]) -> Int64 { rows.reduce(0) { if case .integer(let value) = $1[0] { $0 + value } else { $0 } } }
        switch way {
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

    /// What a transaction says to every kind of question.
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
