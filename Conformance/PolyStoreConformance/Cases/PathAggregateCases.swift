import PolyStoreBackend

/// Counts and other aggregates of the objects at the end of a path, such as `team.members.@count`, and the rows of related objects that they examine.
let pathAggregateCases: [ConformanceCase] =
    conditions.map(\.asCase) + [
        ConformanceCase(
            "plan.related.examined-rows-are-counted",
            "Explaining counts the rows of related objects that a condition or an order examines, apart from those of the entity."
        ) { run in
            let crowd = try Crowd(run)
            let store = crowd.store
            try store.store.read { transaction in
                for request in [
                    try crowd.request("Worker"), try crowd.request("Worker", where: store.compare("age", .greater, .integer(7))),
                ] {
                    let plan = try transaction.explain(request)
                    try run.expect(plan.relatedRowsExamined, equals: nil, "no related objects: \(plan)")
                    try run.expect(plan.allRowsExamined, equals: plan.rowsExamined, "\(plan)")
                }
                for (request, least) in try crowd.requests() {
                    try run.expect(try transaction.plan(request).relatedRowsExamined, equals: nil, "not executed")
                    let plan = try transaction.explain(request)
                    guard let related = plan.relatedRowsExamined else { throw run.fail("no number in \(plan)") }
                    try run.expect(related >= least, "fewer than \(least) rows: \(plan)")
                    try run.expect(plan.allRowsExamined, equals: (plan.rowsExamined ?? 0) + related, "\(plan)")
                    try run.expect(plan.description.contains("related rows: \(related) examined"), "\(plan)")
                    var none = request
                    none.limit = 0
                    try run.expect(try transaction.explain(none).relatedRowsExamined, equals: 0, "limit 0: \(plan)")
                }
            }
        },
        ConformanceCase(
            "plan.related.examined-once-for-each-destination",
            "An aggregate over a path is computed once for each destination, not once for each row that leads to it."
        ) { run in
            let crowd = try Crowd(run)
            try crowd.store.store.read { transaction in
                for (request, most) in try crowd.pathRequests() {
                    let plan = try transaction.explain(request)
                    guard let related = plan.relatedRowsExamined else { throw run.fail("no number in \(plan)") }
                    try run.expect(related <= most, "more than \(most) rows: \(plan)")
                }
            }
        },
        ConformanceCase(
            "plan.related.examined-inside-a-write",
            "The rows of related objects are counted in a write transaction, with its pending changes."
        ) { run in
            let crowd = try Crowd(run)
            let store = crowd.store
            var request = try crowd.request("Worker")
            request.sortKeys = [SortKey(try store.related("team", store.count("Team.members")))]
            let before = try store.store.read { try $0.explain(request).relatedRowsExamined ?? -1 }
            try store.store.write { transaction in
                let changes = ChangeSet(store.store.schema)
                let team = try store.store.entity("Team")
                try changes.insert(team, rowID: 99, [.text("new"), .null])
                for id in 1...50 as ClosedRange<Int64> {
                    try changes.update(try store.store.entity("Worker"), rowID: id, ["team": .integer(99)])
                }
                try transaction.apply(changes)
                try run.expect(try transaction.explain(request).relatedRowsExamined ?? -1 > before, "another team")
            }
        },
    ]

private func than(_ number: Int64) -> QueryExpression { .constant(.integer(number), .int64) }

private let conditions: [WorksCondition] = [
    WorksCondition("related.path.count", "The team has more than two members; unknown without a team.") { store in
        .compare(try store.related("team", store.count("Team.members")), .greater, than(2))
    } _: { works, id in
        works[id].team.map { works.members(team: $0).count > 2 }
    },
    WorksCondition("related.path.count-in-two-steps", "The team of the boss has more than two members.") { store in
        .compare(try store.related("boss", store.related("team", store.count("Team.members"))), .greater, than(2))
    } _: { works, id in
        works[id].boss.flatMap { works[$0].team }.map { works.members(team: $0).count > 2 }
    },
    WorksCondition("related.path.count-with-a-condition", "Exactly one member of the team is older than 26.") { store in
        let older = try store.compare("age", .greater, .integer(26))
        return .compare(try store.related("team", store.count("Team.members", where: older)), .equal, than(1))
    } _: { works, id in
        works[id].team.map { works.members(team: $0).filter { works[$0].age ?? 0 > 26 }.count == 1 }
    },
    WorksCondition("related.path.count-and-own-value", "The number of the team's members is greater than the own age.") { store in
        .compare(try store.related("team", store.count("Team.members")), .greater, try store.value("age"))
    } _: { works, id in
        guard let team = works[id].team, let age = works[id].age else { return nil }
        return Int64(works.members(team: team).count) > age
    },
    WorksCondition("related.path.count-by-own-value", "A member of the team is older than the object itself.") { store in
        let age = try store.value("age")
        let older = QueryPredicate.compare(age, .greater, .outer(2, age))
        return .compare(
            .arithmetic(.add, try store.related("team", store.count("Team.members", where: older)), than(0)) ?? age, .greater, than(0))
    } _: { works, id in
        works[id].team.map { team in
            works.members(team: team).contains { member in
                guard let own = works[id].age, let other = works[member].age else { return false }
                return other > own
            }
        }
    },
    WorksCondition("related.path.maximum", "The oldest member of the team is older than 35; unknown without ages.") { store in
        let oldest = QueryExpression.aggregate(.maximum, try store.reference("Team.members"), try store.value("age"))
        return .compare(try store.related("team", oldest), .greater, than(35))
    } _: { works, id in
        works[id].team.flatMap { works.members(team: $0).compactMap { works[$0].age }.max() }.map { $0 > 35 }
    },
    WorksCondition("related.path.any-member", "A member of the team is older than 35.") { store in
        try store.one("team", store.any("Team.members", store.compare("age", .greater, .integer(35))))
    } _: { works, id in
        works[id].team.map { works.members(team: $0).contains { works[$0].age ?? 0 > 35 } }
    },
    WorksCondition("related.path.any-count", "At least one club has more than three members.") { store in
        try store.any("clubs", .compare(store.count("Club.members"), .greater, than(3)))
    } _: { works, id in
        works[id].clubs.contains { works.members(club: $0).count > 3 }
    },
    WorksCondition("related.path.all-counts", "Every club has more than three members.") { store in
        try store.all("clubs", .compare(store.count("Club.members"), .greater, than(3)))
    } _: { works, id in
        works[id].clubs.allSatisfy { works.members(club: $0).count > 3 }
    },
    WorksCondition("related.path.count-of-counts", "One club has more than three members.") { store in
        let large = QueryPredicate.compare(try store.count("Club.members"), .greater, than(3))
        return .compare(.arithmetic(.add, try store.count("clubs", where: large), than(0)) ?? than(0), .equal, than(1))
    } _: { works, id in
        works[id].clubs.filter { works.members(club: $0).count > 3 }.count == 1
    },
    WorksCondition("related.path.sum-of-counts", "The clubs have more than five members, counted in each club.") { store in
        .compare(.aggregate(.sum, try store.reference("clubs"), try store.count("Club.members")), .greater, than(5))
    } _: { works, id in
        works[id].clubs.map { works.members(club: $0).count }.reduce(0, +) > 5
    },
]

/// 300 workers in 3 teams, each in 2 of 3 clubs, and 10 without a team.
private struct Crowd {
    let store: WorksStore

    init(_ run: ConformanceRun) throws {
        var works = Works(workers: [:], teams: [:], clubs: [:])
        for id in 1...3 as ClosedRange<Int64> {
            works.teams[id] = Works.Team(title: "t\(id)", budget: id)
            works.clubs[id] = Works.Club(name: "c\(id)")
        }
        for id in 1...310 as ClosedRange<Int64> {
            works.workers[id] = Works.Worker(
                name: "n\(id)", age: id, team: id > 300 ? nil : id % 3 + 1, clubs: [id % 3 + 1, (id + 1) % 3 + 1])
        }
        store = try works.open(run)
    }

    func request(_ entity: String, where predicate: QueryPredicate = .all, by key: QueryExpression? = nil) throws -> FetchRequest {
        var request = try store.request(entity, predicate)
        if let key { request.sortKeys = [SortKey(key)] }
        return request
    }

    /// Returns requests that refer to related objects, each with the least number of rows that answers it.
    func requests() throws -> [(FetchRequest, least: Int)] {
        let members = try store.reference("Team.members")
        let sum = QueryExpression.aggregate(.sum, members, try store.value("age"))
        let old = try store.compare("age", .greater, .integer(0))
        return [
            (try request("Worker", by: store.related("team", store.value("Team.title"))), 3),
            (try request("Worker", where: store.one("team", store.compare("Team.title", .equal, .text("t1")))), 1),
            (try request("Worker", where: .not(store.one("team", store.compare("Team.title", .equal, .text("t1"))))), 3),
            (try request("Team", where: store.any("Team.members", store.compare("age", .equal, .integer(7)))), 1),
            (try request("Team", where: store.all("Team.members", old)), 300),
            (try request("Team", where: .compare(sum, .greater, than(5))), 300),
            (try request("Team", by: sum), 300),
            (try request("Worker", by: store.related("team", sum)), 300),
            (try request("Worker", where: store.any("clubs", store.compare("Club.name", .notEqual, .text("c1")))), 3),
            (try request("Team", where: .compare(store.count("Team.members", where: old), .greater, than(5)), by: sum), 300),
        ]
    }

    /// Returns requests with aggregates over a path, each with a number of rows that is at least twice as high as it needs, and far below that of an evaluation for
    /// each row.
    func pathRequests() throws -> [(FetchRequest, most: Int)] {
        let age = try store.value("age")
        let sum = try store.related("team", .aggregate(.sum, store.reference("Team.members"), age))
        let count = try store.related("team", store.count("Team.members"))
        let large = QueryPredicate.compare(try store.count("Club.members"), .greater, than(5))
        let many = QueryPredicate.compare(count, .greater, than(5))
        let old = try store.count("Team.members", where: store.compare("age", .greater, .integer(0)))
        let few = 1_300
        return [
            (try request("Worker", by: count), few), (try request("Worker", by: sum), few),
            (try request("Worker", by: store.related("team", old)), few),
            (try request("Worker", where: many), few), (try request("Worker", where: .not(many)), few),
            (try request("Worker", where: .or([.isNull(try store.field("team")), .not(many)])), few),
            (try request("Worker", where: .compare(sum, .greater, than(5))), few),
            (try request("Worker", where: .not(.compare(sum, .greater, than(5)))), few),
            (try request("Worker", where: .compare(count, .greater, age)), few),
            (try request("Worker", where: .compare(age, .less, sum)), few),
            (try request("Worker", where: store.any("clubs", large)), 2_600),
            (try request("Worker", by: store.count("clubs", where: large)), 2_600),
            (try request("Worker", by: .aggregate(.sum, store.reference("clubs"), store.count("Club.members"))), 2_600),
        ]
    }
}
