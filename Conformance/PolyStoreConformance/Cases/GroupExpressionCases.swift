import PolyStoreBackend
import PolyStoreQuery

/// Groups by expressions, and aggregates of expressions.
let groupExpressionCases: [ConformanceCase] = [
    ConformanceCase("aggregate.expression.arithmetic", "Aggregates accept expressions; null results are ignored.") {
        run in
        let firm = try Firm(run)
        // score is null for every third object.
        guard let twice = QueryExpression.arithmetic(.multiply, .field(firm.age), .constant(.integer(2), .int64)),
            let sum = QueryExpression.arithmetic(.add, .field(firm.age), .field(firm.score))
        else { throw run.fail("the arithmetic is invalid") }
        try firm.expect(
            [], [.of(.sum, twice), .of(.maximum, twice), .of(.median, twice), .of(.count, sum), .of(.average, sum), .count],
            [AggregateRow(group: [], values: [.integer(90), .integer(18), .real(9), .integer(6), .real(4.5 * 1.5), .integer(10)])])
    },
    ConformanceCase("aggregate.expression.over-a-path", "Aggregates accept attributes of related objects.") { run in
        let firm = try Firm(run)
        let title = QueryExpression.related(firm.department, .field(firm.title))
        try firm.expect(
            [], [.of(.minimum, title), .of(.maximum, title), .of(.count, title), .of(.countDistinct, title)],
            [AggregateRow(group: [], values: [.text("x"), .text("y"), .integer(8), .integer(2)])])
    },
    ConformanceCase(
        "aggregate.expression.of-relationships", "Aggregates accept counts and averages of related objects."
    ) { run in
        let firm = try Firm(run)
        let ages = QueryExpression.aggregate(.average, firm.friends, .field(firm.age))
        try firm.expect(
            [], [.of(.sum, .count(firm.friends)), .of(.maximum, .count(firm.friends)), .of(.average, ages), .of(.count, ages)],
            // 0 and 1, 1 and 2 are friends: averages of 1, 1, 1.
            [AggregateRow(group: [], values: [.integer(4), .integer(2), .real(1), .integer(3)])])
    },
    ConformanceCase(
        "aggregate.expression.over-members",
        "An aggregate over a to-many relationship covers all targets, each as often as it is related."
    ) { run in
        let firm = try Firm(run)
        let ages = QueryExpression.aggregate(.sum, firm.friends, .field(firm.age))
        let friends: [Aggregate] = [
            .overMembers(.count, .count(firm.friends)), .overMembers(.sum, ages), .overMembers(.average, ages),
            .overMembers(.countDistinct, ages), .overMembers(.maximum, ages), .overMembers(.median, ages),
            .overMembers(.standardDeviation, ages),
        ]
        try firm.expect(
            [], friends + [.count],
            // 1, 0 and 2, 1.
            [
                AggregateRow(
                    group: [],
                    values: [.integer(4), .integer(4), .real(1), .integer(3), .integer(2), .real(1), .real(0.5.squareRoot()), .integer(10)])
            ])
        // Groups without related objects have the results of an empty set.
        try firm.expect(
            [.field(firm.age)], [friends[0], friends[1], friends[2]],
            (0..<10 as Range<Int64>).map { age in
                let members: Int64 = age > 2 ? 0 : (age == 1 ? 2 : 1)
                let average: Value = members > 0 ? .real(1) : .null
                return AggregateRow(group: [.integer(age)], values: [.integer(members), .integer(members), average])
            })
    },
    ConformanceCase("group.expression.by-a-path", "Objects can be grouped by an attribute of a related object, or null.") {
        run in
        let firm = try Firm(run)
        let title = QueryExpression.related(firm.department, .field(firm.title))
        try firm.expect(
            [title], [.count, .sum(firm.age)],
            [
                AggregateRow(group: [.null], values: [.integer(2), .integer(13)]),
                AggregateRow(group: [.text("x")], values: [.integer(4), .integer(12)]),
                AggregateRow(group: [.text("y")], values: [.integer(4), .integer(20)]),
            ])
        try firm.expect(
            [title, .field(firm.department.foreignKey ?? firm.age)], [.count],
            [
                AggregateRow(group: [.null, .null], values: [.integer(2)]),
                AggregateRow(group: [.text("x"), .integer(1)], values: [.integer(2)]),
                AggregateRow(group: [.text("x"), .integer(3)], values: [.integer(2)]),
                AggregateRow(group: [.text("y"), .integer(2)], values: [.integer(4)]),
            ])
    },
    ConformanceCase("group.expression.by-a-count", "Objects can be grouped by related counts and by arithmetic expressions.") { run in
        let firm = try Firm(run)
        try firm.expect(
            [.count(firm.friends)], [.count],
            [
                AggregateRow(group: [.integer(0)], values: [.integer(7)]), AggregateRow(group: [.integer(1)], values: [.integer(2)]),
                AggregateRow(group: [.integer(2)], values: [.integer(1)]),
            ])
        guard let decade = QueryExpression.arithmetic(.divide, .field(firm.age), .constant(.integer(4), .int64)) else {
            throw run.fail("the division is missing")
        }
        try firm.expect(
            [decade], [.minimum(firm.age), .maximum(firm.age)],
            [(0, 0, 3), (1, 4, 7), (2, 8, 9)].map { AggregateRow(group: [.integer($0.0)], values: [.integer($0.1), .integer($0.2)]) })
    },
    ConformanceCase("group.expression.having", "A condition on groups and their aggregates selects groups.") { run in
        let firm = try Firm(run)
        for title in [QueryExpression.related(firm.department, .field(firm.title)), .field(firm.nickname)] {
            var request = AggregateRequest(firm.person, groupBy: [title], aggregates: [.count, .average(firm.age)])
            let all = try firm.groups(request)
            let columns = try request.columns().fields.map { FieldReference($0) }
            let (count, average) = (columns[1], columns[2])
            request.having = .and([.compare(count, .greater, .integer(2)), .compare(average, .less, .real(4))])
            let wanted = all.filter { row in
                if case .integer(let count) = row.values[0], case .real(let average) = row.values[1] {
                    count > 2 && average < 4
                } else {
                    false
                }
            }
            try run.expect(try firm.groups(request), equals: wanted, "\(title)")
            request.having = .isNull(columns[0])
            try run.expect(try firm.groups(request), equals: all.filter { $0.group[0].isNull }, "\(title), null")
            request.having = .none
            try run.expect(try firm.groups(request), equals: [], "\(title), none")
        }
    },
    ConformanceCase(
        "group.expression.order-and-slice", "Groups are in the requested order, ties in ascending order, before limit and offset apply."
    ) {
        run in
        let firm = try Firm(run)
        let title = QueryExpression.related(firm.department, .field(firm.title))
        for key in [title, .field(firm.nickname)] {
            var request = AggregateRequest(firm.person, groupBy: [key], aggregates: [.count, .sum(firm.age)])
            let all = try firm.groups(request)
            request.sortKeys = [SortKey(FieldReference(try request.columns().fields[1]), ascending: false)]
            func count(_ row: AggregateRow) -> Int64 { if case .integer(let count) = row.values[0] { count } else { 0 } }
            let sorted = all.enumerated().sorted { (count($1.element), $0.offset) < (count($0.element), $1.offset) }.map(\.element)
            try run.expect(try firm.groups(request), equals: sorted, "\(key)")
            (request.offset, request.limit) = (1, 1)
            try run.expect(try firm.groups(request), equals: Array(sorted.dropFirst().prefix(1)), "\(key), cut")
            (request.offset, request.limit) = (0, 0)
            try run.expect(try firm.groups(request), equals: [], "\(key), none")
            (request.offset, request.limit, request.sortKeys) = (99, nil, [])
            try run.expect(try firm.groups(request), equals: [], "\(key), beyond")
        }
    },
    ConformanceCase("group.expression.write.sees-what-was-applied", "Groups in a write transaction include its pending changes.") { run in
        let firm = try Firm(run)
        let title = QueryExpression.related(firm.department, .field(firm.title))
        let request = AggregateRequest(firm.person, groupBy: [title], aggregates: [.overMembers(.count, .count(firm.friends)), .count])
        let before = try firm.groups(request)
        let transaction = try firm.store.backend.beginWrite()
        let changes = ChangeSet(firm.store.schema)
        try changes.update(try firm.store.entity("Department"), rowID: 2, ["title": .text("x")])
        changes.delete(firm.person, rowID: 9)
        try transaction.apply(changes)
        try run.expect(
            try transaction.aggregate(request),
            equals: [
                AggregateRow(group: [.null], values: [.integer(0), .integer(1)]),
                AggregateRow(group: [.text("x")], values: [.integer(4), .integer(8)]),
            ])
        transaction.rollback()
        try run.expect(try firm.groups(request), equals: before, "after the rollback")
    },
    ConformanceCase(
        "group.expression.refused", "Unknown fields, sums of text, invalid conditions and negative limits are rejected."
    ) {
        run in
        let firm = try Firm(run)
        let stranger = FieldReference(index: 77, name: "far", type: .int64)
        let title = QueryExpression.related(firm.department, .field(firm.title))
        var requests = [
            AggregateRequest(firm.person, groupBy: [.field(stranger)], aggregates: [.count]),
            AggregateRequest(firm.person, groupBy: [title], aggregates: [.of(.sum, title)]),
            AggregateRequest(firm.person, aggregates: [.overMembers(.average, .aggregate(.count, firm.friends, .field(firm.nickname)))]),
            AggregateRequest(firm.person, aggregates: [.of(.sum, .related(firm.friends, .field(firm.age)))]),
        ]
        for change: (inout AggregateRequest) throws -> Void in [
            { $0.having = .compare(stranger, .equal, .integer(1)) }, { $0.sortKeys = [SortKey(stranger)] }, { $0.limit = -1 },
            { $0.offset = -1 }, { $0.predicate = .compare(stranger, .equal, .integer(1)) },
            { $0.having = .compare(FieldReference(try $0.columns().fields[0]), .equal, .text("x")) },
        ] {
            var request = AggregateRequest(firm.person, aggregates: [.count])
            try change(&request)
            requests.append(request)
        }
        for (index, request) in requests.enumerated() {
            try run.expectError(.invalidPredicate, "request \(index)") { try firm.groups(request) }
        }
        let computed = AggregateRequest(firm.person, aggregates: [.of(.count, title)])
        try run.expect(
            try firm.groups(computed), equals: [AggregateRow(group: [], values: [.integer(8)])], "what a backend need not know")
    },
]

/// Ten people of ages 0 to 9, in three departments named x, y and x; two have none. The first is a friend of the second, and the second of the third.
private struct Firm {
    let run: ConformanceRun
    let store: TestStore
    let person: Entity
    let age: FieldReference
    let score: FieldReference
    let nickname: FieldReference
    let title: FieldReference
    let department: RelationshipReference
    let friends: RelationshipReference

    init(_ run: ConformanceRun) throws {
        self.run = run
        store = try run.open(Fixtures.company)
        person = try store.entity("Person")
        (age, score, nickname) = (
            try store.field("Person", "age"), try store.field("Person", "score"), try store.field("Person", "nickname")
        )
        title = try store.field("Department", "title")
        let friends = try store.relationship("Person", "friends")
        department = RelationshipReference(try store.relationship("Person", "department"), in: store.schema)
        self.friends = RelationshipReference(friends, in: store.schema)
        try store.insert("Department", [[.text("x")], [.text("y")], [.text("x")]])
        // Departments 1, 2, 3, 2, 1, none, 3, 2, none, 2.
        let departments: [Int64?] = [1, 2, 3, 2, 1, nil, 3, 2, nil, 2]
        try store.insert(
            "Person",
            departments.enumerated().map { index, department in
                Fixtures.person(
                    "p\(index)", Int64(index), nickname: index % 2 == 0 ? nil : "n\(index % 3)",
                    score: index % 3 == 0 ? nil : Double(index) / 2,
                    department: department)
            })
        try store.change { changes in
            for (one, other) in [(1, 2), (2, 1), (2, 3), (3, 2)] as [(Int64, Int64)] { changes.link(try store.pair(friends, one, other)) }
        }
    }

    func groups(_ request: AggregateRequest) throws -> [AggregateRow] { try store.read { try $0.aggregate(request) } }

    func expect(_ groupBy: [QueryExpression], _ aggregates: [Aggregate], _ expected: [AggregateRow]) throws {
        var request = AggregateRequest(person, groupBy: groupBy, aggregates: aggregates)
        try run.expect(try groups(request), equals: expected)
        request.ignoresIndexes = true
        try run.expect(try groups(request), equals: expected, "without indexes")
    }
}
