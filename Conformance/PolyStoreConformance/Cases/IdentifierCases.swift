import PolyStoreBackend

/// Ids of every size, and their reservation.
let identifierCases: [ConformanceCase] = [
    ConformanceCase("id.gaps.are-no-matter", "Ids with gaps of any size keep their order and are found in every way.") {
        run in
        try check(run, [1, 2, 3, 100, 101, 255, 256, 257, 65_535, 65_536, 1 << 31 - 1, 1 << 31, 1 << 32, 1 << 53, 1 << 62, .max - 1, .max])
    },
    ConformanceCase("id.negative.are-ids-too", "Negative ids and 0 are valid, and precede the positive ones.") { run in
        try check(run, [-1 << 53, -65_537, -256, -255, -2, -1, 0, 1, 255, 256])
    },
    ConformanceCase("id.extremes.of-int64", "The minimum and maximum Int64 are valid ids.") { run in
        try check(run, [.min, .min + 1, -1, 0, 1, .max - 1, .max])
    },
    ConformanceCase("id.extremes.in-relationships", "Relationships and links work with any id at either end.") { run in
        let store = try run.open(Fixtures.company)
        let ids: [Int64] = [.min, -5, 0, 7, .max]
        try store.change { changes in
            for (index, id) in ids.enumerated() {
                try changes.insert(try store.entity("Department"), rowID: id, [.text("d\(id)")])
                try changes.insert(
                    try store.entity("Person"), rowID: id, Fixtures.person("p\(id)", 1, department: ids[ids.count - 1 - index]))
            }
            for id in ids { changes.link(try store.pair(try store.relationship("Person", "friends"), 0, id)) }
        }
        try store.read { transaction in
            let people = try transaction.related(try store.relationship("Department", "people"), of: ids)
            for (index, id) in ids.enumerated() { try run.expect(people[id], equals: [ids[ids.count - 1 - index]], "department \(id)") }
            try run.expect(try transaction.related(try store.relationship("Person", "friends"), of: [0])[0], equals: ids)
            try run.expect(try transaction.ids(try store.request("Person", "department", .equal, .integer(.min))), equals: [.max])
        }
    },
    ConformanceCase("id.reserve.many", "A million ids can be reserved in one call; blocks of different entities are independent.") { run in
        let store = try run.open(Fixtures.company)
        let (person, club) = (try store.entity("Person"), try store.entity("Club"))
        try store.write { transaction in
            try run.expect(try transaction.reserveIDs(person, count: 1_000_000), equals: 1)
            try run.expect(try transaction.reserveIDs(club, count: 3), equals: 1)
            try run.expect(try transaction.reserveIDs(person, count: 1), equals: 1_000_001)
            var next: Int64 = 4
            for count in 1...200 {
                try run.expect(try transaction.reserveIDs(club, count: count), equals: next, "block of \(count)")
                next += Int64(count)
            }
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: 1_000_000, Fixtures.person("last", 1))
            try transaction.apply(changes)
        }
        try store.write { transaction in
            try run.expect(try transaction.reserveIDs(person, count: 2), equals: 1_000_002)
            try run.expect(try transaction.reserveIDs(club, count: 1), equals: 20_104)
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: [1_000_000], "reserving creates no objects")
    },
    ConformanceCase("id.reserve.never-twice", "After commits, failures and rollbacks no committed id is assigned again.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        var given: Set<Int64> = []
        for round in 0..<30 {
            let transaction = try store.backend.beginWrite()
            let first = try transaction.reserveIDs(person, count: round % 4 + 1)
            let ids = (0...Int64(round % 4)).map { first + $0 }
            try run.expect(given.isDisjoint(with: ids), "round \(round): \(ids)")
            let changes = ChangeSet(store.schema)
            for id in ids { try changes.insert(person, rowID: id, Fixtures.person("r\(round)n\(id)", 1)) }
            try transaction.apply(changes)
            if round % 3 == 1 {
                let bad = ChangeSet(store.schema)
                bad.delete(person, rowID: -1)
                try run.expectError(.notFound) { try transaction.apply(bad) }
            }
            if round % 3 == 2 {
                transaction.rollback()
            } else {
                _ = try transaction.commit(.relaxed)
                given.formUnion(ids)
            }
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: given.sorted())
    },
    ConformanceCase(
        "id.deleted.may-come-back", "The id of a deleted object can be reused explicitly for a new object, which inherits no data."
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1, nickname: "old", score: 1), Fixtures.person("b", 2)])
        for round in 0..<3 as Range<Int64> {
            try store.change { $0.delete(person, rowID: 1) }
            try run.expect(try store.row("Person", 1), equals: nil)
            try store.change { try $0.insert(person, rowID: 1, Fixtures.person("a\(round)", 10 + round)) }
            try run.expect(try store.row("Person", 1), equals: Fixtures.person("a\(round)", 10 + round))
            try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("a"))), equals: [])
            try run.expect(try store.ids(try store.request("Person", "age", .greater, .integer(9))), equals: [1])
        }
    },
    ConformanceCase("id.entities.have-their-own", "Objects of different entities with the same id are independent.") {
        run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.insert("Club", [[.text("chess")]])
        try store.insert("Department", [[.text("x")]])
        try store.change { try $0.update(try store.entity("Club"), rowID: 1, ["name": .text("golf")]) }
        try store.change { $0.delete(try store.entity("Department"), rowID: 1) }
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 1))
        try run.expect(try store.row("Club", 1), equals: [.text("golf")])
        try run.expect(try store.row("Department", 1), equals: nil)
    },
]

/// Inserts objects with the given ascending ids in another order, and looks them up in every way.
private func check(_ run: ConformanceRun, _ ids: [Int64]) throws {
    let store = try run.open(Fixtures.thing(.int64))
    let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
    let shuffled = ids.indices.sorted { ($0 * 5 % 7, $0) < ($1 * 5 % 7, $1) }.map { ids[$0] }
    try store.change { changes in for id in shuffled { try changes.insert(thing, rowID: id, [.integer(id)]) } }
    func find(_ predicate: QueryPredicate, _ keys: [SortKey] = []) throws -> [Int64] {
        try store.ids(FetchRequest(thing, predicate: predicate, sortKeys: keys))
    }
    try run.expect(try find(.all), equals: ids)
    try run.expect(try find(.all, [SortKey(.objectID, ascending: false)]), equals: ids.reversed())
    try run.expect(try find(.all, [SortKey(field, ascending: false)]), equals: ids.reversed())
    for (index, id) in ids.enumerated() {
        try run.expect(try store.row("Thing", id), equals: [.integer(id)], "\(id)")
        try run.expect(try find(.compare(.objectID, .equal, .integer(id))), equals: [id])
        try run.expect(try find(.compare(.objectID, .greaterOrEqual, .integer(id))), equals: Array(ids[index...]), ">= \(id)")
        try run.expect(try find(.compare(.objectID, .less, .integer(id))), equals: Array(ids[..<index]), "< \(id)")
        try run.expect(try find(.compare(.objectID, .greater, .integer(id))), equals: Array(ids[(index + 1)...]), "> \(id)")
    }
    try run.expect(
        try find(.oneOf(.objectID, [.integer(ids[0]), .integer(ids[ids.count - 1]), .integer(5)])), equals: [ids[0], ids[ids.count - 1]])
    try run.expect(try find(.compare(field, .equal, .objectID)), equals: ids, "the value and the id")
    let between = ids.indices.filter { $0 % 2 == 1 }
    try store.change { changes in
        for index in ids.indices {
            if index % 2 == 1 {
                try changes.update(thing, rowID: ids[index], ["value": .null])
            } else {
                changes.delete(thing, rowID: ids[index])
            }
        }
    }
    try run.expect(try find(.isNull(field)), equals: between.map { ids[$0] }, "after updates and deletions")
    try run.expect(try store.row("Thing", ids[0]), equals: nil)
}
