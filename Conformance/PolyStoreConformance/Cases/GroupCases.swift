import PolyStoreBackend

/// Grouped aggregates.
let groupCases: [ConformanceCase] =
    groupings.map { grouping in
        ConformanceCase(
            "group.\(grouping.name).by-value", "Objects with equal values of \(grouping.name) form a group; groups ascend, null first."
        ) { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(grouping.type, isIndexed: isIndexed), "indexed-\(isIndexed)")
                // Each value as often as its index, interleaved, from the greatest on.
                var rows: [[Value]] = []
                for rotation in 0..<grouping.values.count {
                    for (position, value) in grouping.values.enumerated().reversed() where position >= rotation { rows.append([value]) }
                }
                try store.insert("Thing", rows)
                let field = try store.field("Thing", "value")
                let request = AggregateRequest(try store.entity("Thing"), groupBy: [field], aggregates: [.count, .count(field)])
                let expected = grouping.values.enumerated().map { position, value in
                    AggregateRow(group: [value], values: [.integer(Int64(position + 1)), .integer(value.isNull ? 0 : Int64(position + 1))])
                }
                try run.expect(try store.read { try $0.aggregate(request) }, equals: expected, "indexed \(isIndexed)")
            }
        }
    } + [
        ConformanceCase("group.empty.has-no-rows", "Without objects, the result has no groups.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            let age = try store.field("Person", "age")
            for groups in [[age], [try store.field("Person", "email"), age], [.objectID]] {
                let request = AggregateRequest(person, groupBy: groups, aggregates: [.count, .sum(age)])
                try run.expect(try store.read { try $0.aggregate(request) }, equals: [], "an empty store")
            }
            try store.insert("Person", [Fixtures.person("a", 1)])
            let none = AggregateRequest(person, predicate: .compare(age, .greater, .integer(5)), groupBy: [age], aggregates: [.count])
            try run.expect(try store.read { try $0.aggregate(none) }, equals: [], "nothing selected")
        },
        ConformanceCase("group.id.one-for-each", "Grouped by id, every object is a group.") { run in
            let store = try sales(run)
            let amount = try store.field("Sale", "amount")
            let request = AggregateRequest(
                try store.entity("Sale"), groupBy: [.objectID], aggregates: [.count, .sum(amount), .average(amount)])
            let rows = try store.read { try $0.aggregate(request) }
            try run.expect(rows.map(\.group), equals: (1...12).map { [.integer(Int64($0))] })
            for (index, row) in rows.enumerated() {
                let amount = index % 6 == 5 ? nil : Int64(index)
                try run.expect(
                    row.values, equals: [.integer(1), .integer(amount ?? 0), amount.map { .real(Double($0)) } ?? .null],
                    "object \(index + 1)")
            }
        },
        ConformanceCase(
            "group.two-fields.nest",
            "Two fields group by pairs of values, ordered by the first, then by the second; null is a value."
        ) {
            run in
            let store = try sales(run)
            let (region, isPaid) = (try store.field("Sale", "region"), try store.field("Sale", "isPaid"))
            let amount = try store.field("Sale", "amount")
            let entity = try store.entity("Sale")
            for (fields, name) in [([region, isPaid], "region, isPaid"), ([isPaid, region], "isPaid, region")] {
                let rows = try store.read {
                    try $0.aggregate(AggregateRequest(entity, groupBy: fields, aggregates: [.count, .sum(amount)]))
                }
                try run.expect(rows, equals: try folded(store, fields, amount), name)
            }
            // Every sale separately.
            let all = try store.read { try $0.aggregate(AggregateRequest(entity, groupBy: [region, .objectID], aggregates: [.count])) }
            try run.expect(all.count, equals: 12)
            try run.expect(all.first?.group, equals: [.null, .integer(4)])
        },
        ConformanceCase("group.three-fields.and-a-predicate", "Groups cover the selected objects, by any number of fields.") {
            run in
            let store = try sales(run)
            let fields = [try store.field("Sale", "day"), try store.field("Sale", "isPaid"), try store.field("Sale", "region")]
            let amount = try store.field("Sale", "amount")
            for predicate in [QueryPredicate.compare(amount, .less, .integer(7)), .isNull(amount), .not(.isNull(fields[2]))] {
                let request = AggregateRequest(
                    try store.entity("Sale"), predicate: predicate, groupBy: fields, aggregates: [.count, .sum(amount)])
                try run.expect(
                    try store.read { try $0.aggregate(request) }, equals: try folded(store, fields, amount, predicate), "\(predicate)")
            }
        },
        ConformanceCase("group.to-one.by-target", "Objects can be grouped by the target of a to-one relationship.") { run in
            let store = try run.open(Fixtures.company)
            try store.insert("Department", [[.text("x")], [.text("y")], [.text("z")]])
            let departments: [Int64?] = [1, 3, 1, nil, 1, 3, 1, nil, 1]
            var people: [[Value]] = []
            for (index, department) in departments.enumerated() {
                people.append(Fixtures.person("p\(index)", Int64(index), department: department))
            }
            try store.insert("Person", people)
            let age = try store.field("Person", "age")
            let request = AggregateRequest(
                try store.entity("Person"), groupBy: [try store.field("Person", "department")], aggregates: [.count, .sum(age)])
            try run.expect(
                try store.read { try $0.aggregate(request) },
                equals: [
                    AggregateRow(group: [.null], values: [.integer(2), .integer(10)]),
                    AggregateRow(group: [.integer(1)], values: [.integer(5), .integer(20)]),
                    AggregateRow(group: [.integer(3)], values: [.integer(2), .integer(6)]),
                ])
        },
        ConformanceCase(
            "group.many.two-thousand", "Thousands of groups of small, large, negative and null values are distinct and in order."
        ) { run in
            let store = try run.open(Fixtures.thing(.int64))
            var keys: [Int64] = [.min, .max, 1023, 1024]
            for number in -1000..<1000 as Range<Int64> { keys.append(number * 7 % 1000 + (number % 3) * 100_000) }
            try store.insert("Thing", (keys + keys).map { [.integer($0)] } + [[.null]])
            let field = try store.field("Thing", "value")
            let rows = try store.read {
                try $0.aggregate(AggregateRequest(try store.entity("Thing"), groupBy: [field], aggregates: [.count]))
            }
            let counts = Dictionary((keys + keys).map { ($0, Int64(1)) }, uniquingKeysWith: +)
            let expected =
                [AggregateRow(group: [.null], values: [.integer(1)])]
                + counts.sorted { $0.key < $1.key }.map { AggregateRow(group: [.integer($0.key)], values: [.integer($0.value)]) }
            try run.expect(rows == expected, "\(rows.count) groups, \(expected.count) expected, or another order")
        },
        ConformanceCase(
            "group.sum.is-of-each-group", "A sum must fit within each group; one that overflows is an error."
        ) { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            let (age, nickname) = (try store.field("Person", "age"), try store.field("Person", "nickname"))
            try store.insert("Person", ["a", "b", "c"].map { Fixtures.person($0, .max, nickname: $0) })
            let request = AggregateRequest(person, groupBy: [nickname], aggregates: [.sum(age)])
            try run.expect(
                try store.read { try $0.aggregate(request).map { $0.values } }, equals: Array(repeating: [.integer(.max)], count: 3))
            try store.change { try $0.insert(person, rowID: 4, Fixtures.person("d", 1, nickname: "b")) }
            try run.expectError(.invalidValue) { try store.read { try $0.aggregate(request) } }
        },
        ConformanceCase("group.none.asked-for", "Groups without aggregates are the distinct values of the fields.") { run in
            let store = try sales(run)
            let request = AggregateRequest(try store.entity("Sale"), groupBy: [try store.field("Sale", "region")], aggregates: [])
            try run.expect(
                try store.read { try $0.aggregate(request) },
                equals: [.null, .text(""), .text("east"), .text("west")].map { AggregateRow(group: [$0], values: []) })
        },
    ]

/// Values of a type in ascending order.
private let groupings: [(name: String, type: AttributeType, values: [Value])] = [
    ("text", .string, [.null, .text(""), .text("A"), .text("a"), .text("a\u{0}"), .text("e\u{301}"), .text("\u{e9}"), .text("🦊")]),
    ("bool", .bool, [.null, .integer(0), .integer(1)]),
    ("date", .date, [.null, .real(-1e9), .real(0), .real(0.125), .real(7e8)]),
    ("int64", .int64, [.null, .integer(.min), .integer(-1), .integer(0), .integer(1023), .integer(1024), .integer(.max)]),
    ("uint64", .uint64, [.null, .integer(0), .integer(1), .integer(.max), .integer(.min), .integer(-1)]),
    ("double", .double, [.null, .real(.nan), .real(-.infinity), .real(-1), .real(0), .real(.leastNonzeroMagnitude), .real(.infinity)]),
    ("data", .data, [.null, .blob([]), .blob([0]), .blob([0, 0]), .blob([1]), .blob([255])]),
    ("uuid", .uuid, [.null, .blob(Array(repeating: 0, count: 16)), .blob(Array(repeating: 200, count: 16))]),
]

/// Twelve sales: of regions "east", "west", "" and none, on three days.
private func sales(_ run: ConformanceRun) throws -> TestStore {
    func optional(_ name: String, _ type: AttributeType, isIndexed: Bool = false) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true, isIndexed: isIndexed))
    }
    let schema = SchemaDescription(
        name: "Sales",
        entities: [
            EntityDescription(
                name: "Sale",
                properties: [
                    optional("region", .string, isIndexed: true), optional("isPaid", .bool), optional("day", .date, isIndexed: true),
                    optional("amount", .int64),
                ])
        ])
    let store = try run.open(schema)
    let regions: [Value] = [.text("west"), .text("east"), .text(""), .null]
    var rows: [[Value]] = []
    for index in 0..<12 {
        let isPaid: Value = index % 5 == 4 ? .null : .integer(Int64(index % 2))
        let amount: Value = index % 6 == 5 ? .null : .integer(Int64(index))
        rows.append([regions[index % 4], isPaid, .real(Double(index / 4) * 86_400), amount])
    }
    try store.insert("Sale", rows)
    return store
}

/// Returns the count and sum by group, computed from the rows of a fetch.
private func folded(
    _ store: TestStore, _ fields: [FieldReference], _ amount: FieldReference, _ predicate: QueryPredicate = .all
) throws -> [AggregateRow] {
    var groups: [[Value]: (count: Int64, sum: Int64)] = [:]
    for row in try store.read({ try $0.rows(FetchRequest(try store.entity("Sale"), predicate: predicate)) }) {
        let key = fields.map { row[$0.index] }
        let value: Int64 = if case .integer(let value) = row[amount.index] { value } else { 0 }
        groups[key] = ((groups[key]?.count ?? 0) + 1, (groups[key]?.sum ?? 0) + value)
    }
    let keys = groups.keys.sorted { left, right in
        for (first, second) in zip(left, right) where first != second { return first.order(to: second, unsigned: false) < 0 }
        return false
    }
    return keys.map { key in
        AggregateRow(group: key, values: [.integer(groups[key]?.count ?? 0), .integer(groups[key]?.sum ?? 0)])
    }
}
