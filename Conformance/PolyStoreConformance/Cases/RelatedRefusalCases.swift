import PolyStoreBackend

/// Invalid conditions on related objects and invalid expressions: `invalidPredicate`, before anything is read.
let relatedRefusalCases: [ConformanceCase] = [
    refused("relationship-of-another-entity", "A relationship of another entity.") { store in
        let members = try store.reference("Team.members")
        return [
            .related(members, .any, .all), .related(try store.reference("Club.members"), .any, .all),
            .isNull(.related(members, try store.value("age"))),
            .compare(.count(members), .equal, .constant(.integer(0), .int64)),
            .isNull(.aggregate(.minimum, members, try store.value("age"))),
        ]
    },
    refused("relationship-changed", "A relationship that differs from that of the schema.") { store in
        let clubs = try store.store.relationship("Worker", "clubs")
        guard let back = clubs.reversed else { throw store.store.run.fail("no way back") }
        var wrong = [RelationshipReference(back, in: store.store.schema)]
        // An equal relationship of a separate schema.
        let foreign = try ResolvedSchema(Fixtures.company)
        if let friends = foreign.entity(named: "Person")?.relationship(named: "friends") {
            wrong.append(RelationshipReference(friends, in: foreign))
        }
        return wrong.map { .related($0, .any, .all) }
    },
    refused("one-of-many", "ONE over a to-many relationship.") { store in
        try ["friends", "clubs", "reports"].map { .related(try store.reference($0), .one, .all) }
    },
    refused("value-of-many", "A value over a to-many relationship without an aggregate.") { store in
        let age = try store.related("friends", store.value("age"))
        return [
            .isNull(age), .compare(try store.value("age"), .less, age),
            .isNull(.folded(try store.related("friends", store.value("name")), .caseInsensitive)),
            .compare(age, .equal, .constant(.integer(1), .int64)), .oneOf(age, [.integer(1)]), .oneOf(age, []),
        ]
    },
    refused("field-of-the-wrong-object", "A field of the object in place of one of a related object, and the reverse.") { store in
        [
            .related(try store.reference("team"), .one, .isNull(try store.field("score"))),
            .related(try store.reference("clubs"), .any, .isNull(try store.field("age"))),
            .isNull(.related(try store.reference("team"), try store.value("born"))),
            .isNull(FieldReference(index: 50, name: "far", type: .int64)),
            .compare(try store.count("clubs", where: .isNull(try store.field("level"))), .equal, .constant(.integer(0), .int64)),
        ]
    },
    refused("constant-of-another-type", "A constant of another type, also for a related object.") { store in
        [
            .related(try store.reference("team"), .one, .compare(try store.field("Team.title"), .equal, .integer(1))),
            .related(try store.reference("friends"), .any, .oneOf(try store.field("age"), [.text("x")])),
            .related(try store.reference("friends"), .all, .text(try store.field("age"), .contains, "x")),
            .oneOf(try store.count("friends"), [.text("1")]), .oneOf(try store.count("friends"), [.real(1)]),
            .compare(try store.related("team", store.value("Team.title")), .equal, .constant(.integer(3), .int64)),
        ]
    },
    refused("incomparable", "Two values that cannot be compared.") { store in
        [
            .compare(try store.value("name"), .less, try store.value("age")),
            .compare(try store.count("friends"), .equal, try store.value("name")),
            .compare(try store.value("born"), .equal, try store.value("score")),
            .compare(try store.value("born"), .less, try store.count("friends")),
            .compare(.folded(try store.value("name"), .caseInsensitive), .equal, try store.value("born")),
        ]
    },
    refused("sum-of-no-numbers", "A sum or an average of values that are not numbers.") { store in
        let friends = try store.reference("friends")
        return try [Aggregate.Function.sum, .average].flatMap { function in
            try ["name", "born"].map { .isNull(.aggregate(function, friends, try store.value($0))) }
        }
    },
    refused("text-operator-on-numbers", "A text operator on values that are not text.") { store in
        [TextOperator.contains, .beginsWith, .endsWith, .like, .matches].flatMap { operation -> [QueryPredicate] in
            let one = QueryExpression.constant(.text("1"), .string)
            guard let age = try? store.value("age"), let count = try? store.count("friends") else { return [.all] }
            return [.text(age, operation, one), .text(count, operation, one), .text(one, operation, age)]
        }
    },
    ConformanceCase("refusal.related.too-deep", "Nesting through relationships counts; past the limit it is rejected.") { run in
        let store = try Works.start.open(run)
        func nested(_ depth: Int) throws -> QueryPredicate {
            var predicate = try store.compare("age", .greater, .integer(20))
            while predicate.depth < depth {
                predicate = predicate.depth % 3 == 0 ? try store.any("friends", predicate) : try store.any("boss", .not(.not(predicate)))
            }
            return predicate
        }
        for depth in [10, 60, FetchRequest.maximumDepth - 2] { _ = try store.ids("Worker", nested(depth)) }
        let deep = try store.one("boss", nested(FetchRequest.maximumDepth))
        try run.expectError(.invalidPredicate, "fetch") { try store.ids("Worker", deep) }
        try run.expectError(.invalidPredicate, "count") { try store.store.read { try $0.count(try store.request("Worker", deep)) } }
        let count = QueryPredicate.compare(try store.count("friends", where: deep), .equal, .constant(.integer(0), .int64))
        try run.expectError(.invalidPredicate, "a count") { try store.ids("Worker", count) }
    },
    ConformanceCase("refusal.related.nesting-to-the-limit", "Nesting through relationships works up to the limit.") { run in
        let works = Works.start
        let store = try works.open(run)
        // Worker 7 is its own boss, so the path has any number of steps; the paths of all others end.
        for steps in [1, 5, 20, 60, 150] {
            var predicate = try store.compare("name", .equal, .text("Straße"))
            for _ in 0..<steps { predicate = try store.one("boss", predicate) }
            try run.expect(try store.ids("Worker", predicate), equals: [7], "\(steps) steps")
            var any = try store.compare("name", .equal, .text("Straße"))
            for _ in 0..<steps { any = try store.any("reports", any) }
            try run.expect(try store.ids("Worker", any), equals: [7], "\(steps) steps back")
        }
    },
]

/// Returns a case for conditions on workers that every kind of request rejects with the same code, alone and combined with others.
private func refused(
    _ name: String, _ statement: String, _ predicates: @escaping @Sendable (WorksStore) throws -> [QueryPredicate]
) -> ConformanceCase {
    ConformanceCase("refusal.related.\(name)", "\(statement) Throws invalidPredicate.") { run in
        let store = try Works.start.open(run)
        for predicate in try predicates(store) {
            let never = try store.compare("age", .equal, .integer(12_345))
            let candidates: [QueryPredicate] = [
                predicate, .not(predicate), .and([never, predicate]), .or([predicate, never]), try store.one("boss", predicate),
                try store.any("friends", .not(predicate)), try store.all("reports", .or([never, predicate])),
            ]
            for candidate in candidates {
                let request = try store.request("Worker", candidate)
                try store.store.read { transaction in
                    try run.expectError(.invalidPredicate, "fetch \(candidate)") { try transaction.ids(request) }
                    try run.expectError(.invalidPredicate, "count \(candidate)") { try transaction.count(request) }
                    try run.expectError(.invalidPredicate, "plan \(candidate)") { try transaction.plan(request) }
                    try run.expectError(.invalidPredicate, "explain \(candidate)") { try transaction.explain(request) }
                    try run.expectError(.invalidPredicate, "aggregate \(candidate)") {
                        try transaction.aggregate(AggregateRequest(request.entity, predicate: candidate, aggregates: [.count]))
                    }
                    var nothing = request
                    nothing.limit = 0
                    try run.expectError(.invalidPredicate, "limit 0, \(candidate)") { try transaction.ids(nothing) }
                }
            }
        }
    }
}
