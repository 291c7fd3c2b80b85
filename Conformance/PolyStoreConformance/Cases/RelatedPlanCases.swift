import PolyStoreBackend

/// Plans of conditions on related objects, and of orders by expressions.
let relatedPlanCases: [ConformanceCase] = [
    ConformanceCase("plan.related.returns-what-a-fetch-does", "Explaining returns as many rows as a fetch and examines at least those.") {
        run in
        let store = try Works.start.open(run)
        try store.store.read { transaction in
            for request in try requests(store) {
                let plan = try transaction.explain(request)
                try run.expect(plan.rowsReturned, equals: try transaction.ids(request).count, "\(plan) for \(request.predicate)")
                try run.expect(plan.rowsExamined ?? -1 >= plan.rowsReturned ?? 0, "\(plan) for \(request.predicate)")
            }
        }
    },
    ConformanceCase("plan.related.accounts-for-everything", "Condition, order and slice are either pushed down or residual.") { run in
        let store = try Works.start.open(run)
        try store.store.read { transaction in
            for request in try requests(store) where request.predicate != .all && request.predicate != .none {
                let plan = try transaction.plan(request)
                let description = (plan.pushedDown + plan.residual).joined(separator: "\n")
                try run.expect(description.contains("filter "), "no filter in \(plan) for \(request.predicate)")
            }
        }
    },
    ConformanceCase("plan.related.is-deterministic", "A repeated plan is equal, as text and as JSON.") { run in
        let store = try Works.start.open(run)
        func plans() throws -> [String] {
            try store.store.read { transaction in
                try requests(store).flatMap { [try transaction.plan($0).json, try transaction.explain($0).description] }
            }
        }
        let first = try plans()
        _ = try store.ids("Worker", store.one("boss", store.compare("age", .equal, .integer(77))))
        try run.expect(try plans(), equals: first)
    },
    ConformanceCase("plan.related.access-holds-no-constants", "The access path contains no constants of conditions on related objects.") {
        run in
        let store = try Works.start.open(run)
        let secret = try store.compare("Team.title", .equal, .text("s3cr3t"))
        let number = try store.compare("age", .greater, .integer(77_123))
        let predicates: [(String, QueryPredicate)] = [
            ("Worker", try store.one("team", secret)), ("Worker", .not(try store.one("team", secret))),
            ("Team", try store.any("Team.members", number)),
            ("Worker", try store.any("friends", number)), ("Worker", try store.all("friends", number)),
            ("Worker", .compare(try store.count("friends", where: number), .less, .constant(.integer(77_123), .int64))),
            ("Worker", .text(.folded(try store.value("name"), .caseInsensitive), .like, .constant(.text("*s3cr3t?"), .string))),
            ("Worker", .compare(try store.value("level"), .greater, .constant(.real(77_123.5), .double))),
        ]
        try store.store.read { transaction in
            for (entity, predicate) in predicates {
                for ignoresIndexes in [false, true] {
                    var request = try store.request(entity, predicate)
                    request.ignoresIndexes = ignoresIndexes
                    let plan = try transaction.plan(request)
                    for access in plan.accesses {
                        let description = "\(access) \(access.condition ?? "")"
                        try run.expect(!description.contains("s3cr3t") && !description.contains("77123"), description)
                    }
                    try run.expect(!plan.engine.joined().contains("s3cr3t") && !plan.engine.joined().contains("77123"), "\(plan.engine)")
                }
            }
        }
    },
    ConformanceCase(
        "plan.related.order-by-expression-remains", "An order by an expression is not attributed to the backend, nor is its slice."
    ) { run in
        let store = try Works.start.open(run)
        var request = try store.request("Worker", store.compare("age", .greater, .integer(0)))
        request.sortKeys = [SortKey(try store.related("team", store.value("Team.title")))]
        (request.limit, request.offset) = (2, 1)
        try store.store.read { transaction in
            for plan in [try transaction.plan(request), try transaction.explain(request)] {
                let (pushed, rest) = (plan.pushedDown.joined(separator: "; "), plan.residual.joined(separator: "; "))
                try run.expect(!pushed.contains("team.title") && !pushed.contains("limit") && !pushed.contains("offset"), "\(plan)")
                try run.expect(rest.contains("sort by team.title, objectID") && rest.contains("slice limit 2 offset 1"), "\(plan)")
            }
            let plan = try transaction.explain(request)
            try run.expect(plan.rowsReturned, equals: 2)
            try run.expect(plan.rowsExamined ?? 0 >= 6, "every row that is selected is examined: \(plan)")
        }
    },
    ConformanceCase("plan.related.ignored-indexes-are-not-named", "Without indexes no index is named, and the rows are the same.") {
        run in
        let store = try Works.start.open(run)
        try store.store.read { transaction in
            for var request in try requests(store) {
                let returned = try transaction.explain(request).rowsReturned
                request.ignoresIndexes = true
                let plan = try transaction.explain(request)
                try run.expect(plan.rowsReturned, equals: returned, "\(request.predicate)")
                for access in plan.accesses {
                    try run.expect(access.index == nil && access.path != .search, "\(access) for \(request.predicate)")
                }
            }
        }
    },
    ConformanceCase("plan.related.inside-a-write", "Explaining in a write transaction includes its pending changes.") { run in
        let works = Works.start
        let store = try works.open(run)
        try store.store.write { transaction in
            let changes = ChangeSet(store.store.schema)
            let after = try works.changed(store, changes)
            try transaction.apply(changes)
            for condition in relatedConditions {
                let plan = try transaction.explain(try store.request(condition.entity, condition.predicate(store)))
                try run.expect(plan.rowsReturned, equals: condition.selected(after).count, "\(condition.id): \(plan)")
            }
        }
    },
    served("one", "An indexed attribute of the object that a to-one relationship leads to", "Worker") {
        try $0.one("team", $0.compare("Team.title", .equal, .text("t7")))
    },
    served("one-two-steps", "An indexed attribute two steps away", "Worker") {
        try $0.one("boss", $0.one("team", $0.compare("Team.title", .equal, .text("t7"))))
    },
    served("any-inverse", "An indexed attribute of any object that leads here", "Team") {
        try $0.any("Team.members", $0.compare("age", .equal, .integer(17)))
    },
    served("any-link", "An indexed attribute of any object of a link", "Worker") {
        try $0.any("clubs", $0.compare("Club.name", .equal, .text("c7")))
    },
    served("any-reversed-link", "An indexed attribute of any object at the other end of a link", "Club") {
        try $0.any("Club.members", $0.compare("age", .equal, .integer(17)))
    },
    served("any-to-one", "ANY of a to-one relationship", "Worker") { try $0.any("team", $0.compare("Team.title", .equal, .text("t7"))) },
    served("one-prefix", "A prefix of an indexed text of another object", "Worker") {
        try $0.one("team", .text($0.field("Team.title"), .beginsWith, "t39"))
    },
    served("one-and-more", "With further conditions on the object itself", "Worker") {
        .and([try $0.one("team", $0.compare("Team.title", .equal, .text("t7"))), .not(.isNull(try $0.field("name")))])
    },
]

/// Returns a case for a condition on an indexed attribute of related objects, which must not cause a full scan.
private func served(
    _ name: String, _ statement: String, _ entity: String, _ predicate: @escaping @Sendable (WorksStore) throws -> QueryPredicate
) -> ConformanceCase {
    ConformanceCase(
        "plan.related.index-\(name)", "\(statement) finds the rows without a full scan.", requires: [.plannedIndexes]
    ) { run in
        var works = Works(workers: [:], teams: [:], clubs: [:])
        for id in 1...80 as ClosedRange<Int64> {
            works.teams[id] = Works.Team(title: "t\(id)", budget: id)
            works.clubs[id] = Works.Club(name: "c\(id)")
        }
        for id in 1...640 as ClosedRange<Int64> {
            works.workers[id] = Works.Worker(name: "n\(id)", age: id, team: id % 80 + 1, boss: id / 4 + 1, clubs: [id % 80 + 1])
        }
        let store = try works.open(run)
        let request = try store.request(entity, predicate(store))
        try store.store.read { transaction in
            let plan = try transaction.explain(request)
            try run.expect(!plan.isScan, "\(plan)")
            try run.expect(plan.rowsExamined ?? .max < works.ids(entity).count / 2, "\(plan)")
            try run.expect(plan.rowsReturned, equals: try transaction.ids(request).count, "\(plan)")
        }
        // The condition does not cause a full scan after a change either.
        try store.store.write { transaction in
            let changes = ChangeSet(store.store.schema)
            try changes.update(try store.store.entity("Worker"), rowID: 640, ["age": .integer(641)])
            try transaction.apply(changes)
            try run.expect(!(try transaction.explain(request).isScan), "inside a write transaction")
        }
    }
}

/// Returns requests with every condition on related objects, with orders by fields and by expressions, complete and in slices.
private func requests(_ store: WorksStore) throws -> [FetchRequest] {
    var requests: [FetchRequest] = []
    for (number, condition) in relatedConditions.enumerated() {
        var request = try store.request(condition.entity, condition.predicate(store))
        requests.append(request)
        (request.limit, request.offset) = [(2, 0), (3, 1), (nil, 2)][number % 3]
        requests.append(request)
        guard condition.entity == "Worker" else { continue }
        request.sortKeys = [SortKey(try store.field("age"), ascending: number % 2 == 0)]
        requests.append(request)
        request.sortKeys = [SortKey(try store.related("team", store.value("Team.title"))), SortKey(try store.field("age"))]
        requests.append(request)
        (request.limit, request.offset) = (nil, 0)
        requests.append(request)
    }
    return requests
}
