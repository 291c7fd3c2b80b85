import PolyStoreBackend

/// Sort orders.
let orderCases: [ConformanceCase] =
    ascending.map { name, type, values in
        ConformanceCase("order.\(name).by-value", "Objects are ordered by \(name) in both directions, with null first.") { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(type, isIndexed: isIndexed), "indexed-\(isIndexed)")
                let shuffled = values.indices.sorted { ($0 * 5 % values.count, $1) < ($1 * 5 % values.count, $0) }
                // Two of each value, and two nulls, to create ties.
                let rows: [[Value]] = (shuffled + shuffled).map { [values[$0]] } + [[.null], [.null]]
                let ranks = (shuffled + shuffled) + [-1, -1]
                try store.insert("Thing", rows)
                let thing = try store.entity("Thing")
                let field = FieldReference(thing.fields[0])
                let ids = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map { Int64($0 + 1) }
                try run.expect(
                    try store.ids(FetchRequest(thing, sortKeys: [SortKey(field)])), equals: ids, "\(type) ascending, indexed \(isIndexed)")
                let falling = ranks.indices.sorted { (-ranks[$0], $0) < (-ranks[$1], $1) }.map { Int64($0 + 1) }
                try run.expect(
                    try store.ids(FetchRequest(thing, sortKeys: [SortKey(field, ascending: false)])), equals: falling,
                    "\(type) descending, indexed \(isIndexed)")
                for limit in [1, 3] {
                    try run.expect(
                        try store.ids(FetchRequest(thing, sortKeys: [SortKey(field, ascending: false)], limit: limit, offset: 1)),
                        equals: Array(falling.dropFirst().prefix(limit)), "\(type) limit \(limit)")
                }
            }
        }
    } + [
        ConformanceCase("order.none.is-by-id", "Without sort keys, objects are in ascending id order, whatever the condition.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            try store.change { changes in
                for id in [9, 3, 7, 1, 5] as [Int64] { try changes.insert(person, rowID: id, Fixtures.person("p\(10 - id)", 10 - id)) }
            }
            try run.expect(try store.ids(FetchRequest(person)), equals: [1, 3, 5, 7, 9])
            try run.expect(try store.ids(try store.request("Person", "age", .greater, .integer(2))), equals: [1, 3, 5, 7])
            try run.expect(try store.ids(try store.request("Person", "email", .greater, .text("p2"))), equals: [1, 3, 5, 7])
        },
        ConformanceCase("order.null.where-told", "Null is first or last as requested, in either direction.") { run in
            let store = try run.open(Fixtures.thing(.int64))
            try store.insert("Thing", [[.integer(2)], [.null], [.integer(1)], [.null]])
            let thing = try store.entity("Thing")
            let field = FieldReference(thing.fields[0])
            let expected: [(Bool, SortKey.NullPlacement, [Int64])] = [
                (true, .smallest, [2, 4, 3, 1]), (true, .first, [2, 4, 3, 1]), (true, .last, [3, 1, 2, 4]),
                (false, .smallest, [1, 3, 2, 4]),
                (false, .first, [2, 4, 1, 3]), (false, .last, [1, 3, 2, 4]),
            ]
            for (ascending, nulls, ids) in expected {
                let found = try store.ids(FetchRequest(thing, sortKeys: [SortKey(field, ascending: ascending, nulls: nulls)]))
                try run.expect(found, equals: ids, "ascending \(ascending), nulls \(nulls)")
            }
        },
        ConformanceCase("order.keys.several", "Later sort keys order the ties of earlier ones, each in its own direction.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            let rows: [(Int64, Double)] = [(1, 5), (2, 1), (1, 7), (2, 9), (1, 5), (3, 0)]
            try store.insert("Person", rows.enumerated().map { Fixtures.person("p\($0.offset)", $0.element.0, score: $0.element.1) })
            let age = FieldReference(person.fields[1])
            let score = FieldReference(person.fields[3])
            func ids(_ keys: SortKey...) throws -> [Int64] { try store.ids(FetchRequest(person, sortKeys: keys)) }
            try run.expect(try ids(SortKey(age), SortKey(score)), equals: [1, 5, 3, 2, 4, 6])
            try run.expect(try ids(SortKey(age), SortKey(score, ascending: false)), equals: [3, 1, 5, 4, 2, 6])
            try run.expect(try ids(SortKey(age, ascending: false), SortKey(score)), equals: [6, 2, 4, 1, 5, 3])
            try run.expect(try ids(SortKey(score), SortKey(age, ascending: false)), equals: [6, 2, 1, 5, 3, 4])
        },
        ConformanceCase("order.id.as-a-key", "The id can be a sort key, also descending.") { run in
            let store = try run.open(Fixtures.thing(.int64))
            try store.insert("Thing", [[.integer(1)], [.integer(1)], [.integer(0)]])
            let thing = try store.entity("Thing")
            try run.expect(try store.ids(FetchRequest(thing, sortKeys: [SortKey(.objectID, ascending: false)])), equals: [3, 2, 1])
            let keys = [SortKey(FieldReference(thing.fields[0])), SortKey(.objectID, ascending: false)]
            try run.expect(try store.ids(FetchRequest(thing, sortKeys: keys)), equals: [3, 2, 1])
        },
        ConformanceCase("order.after-updates", "An update moves an object to its new position in the order.") { run in
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            try store.insert("Person", (0..<10).map { Fixtures.person("p\($0)", Int64($0 * 10)) })
            try store.change { changes in
                try changes.update(person, rowID: 1, ["age": .integer(55)])
                try changes.update(person, rowID: 10, ["age": .integer(-1)])
            }
            let request = FetchRequest(person, sortKeys: [SortKey(FieldReference(person.fields[1]))])
            try run.expect(try store.ids(request), equals: [10, 2, 3, 4, 5, 6, 1, 7, 8, 9])
        },
    ]
