import PolyStoreBackend

/// Conditions on related objects that refer to the enclosing object.
let outerCases: [ConformanceCase] =
    conditions.map(\.asCase) + [
        ConformanceCase(
            "related.outer.in-write-transaction", "Conditions on enclosing objects include the pending changes of a write transaction."
        ) { run in
            let works = Works.start
            let store = try works.open(run)
            try store.store.write { transaction in
                let changes = ChangeSet(store.store.schema)
                let after = try works.changed(store, changes)
                try transaction.apply(changes)
                for condition in conditions {
                    let request = try store.request(condition.entity, try condition.predicate(store))
                    try run.expect(try transaction.ids(request), equals: condition.selected(after), condition.id)
                }
            }
        },
        ConformanceCase(
            "related.outer.with-fields-and-slices",
            "Conditions on enclosing objects work with partial fetches, with an order and with a slice."
        ) { run in
            let works = Works.start
            let store = try works.open(run)
            let name = try store.field("name")
            for condition in conditions where condition.entity == "Worker" {
                var request = try store.request("Worker", try condition.predicate(store))
                var fields = FieldMask()
                fields.insert(name.index)
                request.fields = fields
                request.sortKeys = [SortKey(.objectID, ascending: false)]
                let expected = Array(condition.selected(works).reversed())
                try run.expect(try store.store.ids(request), equals: expected, condition.id)
                (request.limit, request.offset) = (2, 1)
                try run.expect(try store.store.ids(request), equals: Array(expected.dropFirst().prefix(2)), "\(condition.id), cut")
                try run.expect(
                    try store.store.read { try $0.count(try store.request("Worker", try condition.predicate(store))) },
                    equals: expected.count)
            }
        },
        ConformanceCase("related.outer.without-object", "A value of an enclosing object is an error at the outermost level.") {
            run in
            let store = try Works.start.open(run)
            let age = try store.value("age")
            for levels in [1, 2, 0, -1] {
                try run.expectError(.invalidPredicate, "\(levels)") {
                    try store.ids("Worker", .compare(.outer(levels, age), .greater, .constant(.integer(1), .int64)))
                }
            }
            try run.expectError(.invalidPredicate, "one level too many") {
                try store.ids("Worker", try store.any("friends", .compare(age, .greater, .outer(2, age))))
            }
            try run.expectError(.invalidPredicate, "a field of another entity") {
                try store.ids("Worker", try store.any("friends", .compare(age, .greater, .outer(1, try store.value("Team.title")))))
            }
        },
    ]

private let conditions: [WorksCondition] = [
    WorksCondition("related.outer.any", "At least one friend is older than the object itself.") { store in
        try store.any("friends", .compare(try store.value("age"), .greater, .outer(1, try store.value("age"))))
    } _: { works, id in
        works[id].friends.contains { friend in
            guard let own = works[id].age, let other = works[friend].age else { return false }
            return other > own
        }
    },
    WorksCondition("related.outer.all", "Every member's age is less than the team's budget.", of: "Team") { store in
        try store.all("Team.members", .compare(try store.value("age"), .less, .outer(1, try store.value("Team.budget"))))
    } _: { works, id in
        works.members(team: id).allSatisfy { member in
            guard let own = works.teams[id]?.budget, let age = works[member].age else { return false }
            return age < own
        }
    },
    WorksCondition("related.outer.one", "The boss is younger; without a boss, or an age, it is unknown.") { store in
        try store.one("boss", .compare(try store.value("age"), .less, .outer(1, try store.value("age"))))
    } _: { works, id in
        guard let own = works[id].age, let boss = works.boss(id)?.age else { return nil }
        return boss < own
    },
    WorksCondition("related.outer.count", "At least one report is younger.") { store in
        let younger = QueryPredicate.compare(try store.value("age"), .less, .outer(1, try store.value("age")))
        return .compare(try store.count("reports", where: younger), .greaterOrEqual, .constant(.integer(1), .int64))
    } _: { works, id in
        works.reports(id).contains { report in
            guard let own = works[id].age, let other = works[report].age else { return false }
            return other < own
        }
    },
    WorksCondition("related.outer.two-levels", "A friend of a friend is the boss.") { store in
        let boss = try store.related("boss", .field(.objectID))
        return try store.any("friends", try store.any("friends", .compare(.field(.objectID), .equal, .outer(2, boss))))
    } _: { works, id in
        works[id].friends.contains { friend in works[friend].friends.contains { $0 == works[id].boss } }
    },
    WorksCondition("related.outer.related-value", "A friend is older than the boss of the object.") { store in
        let age = try store.value("age")
        return try store.any("friends", .compare(age, .greater, .outer(1, try store.related("boss", age))))
    } _: { works, id in
        works[id].friends.contains { friend in
            guard let own = works.boss(id)?.age, let other = works[friend].age else { return false }
            return other > own
        }
    },
    WorksCondition("related.outer.collection-of-the-outer", "A friend who is younger than more than one of the object's friends.") {
        store in
        let age = try store.value("age")
        // The count is evaluated for the enclosing object, so its values are one level further out.
        let older = try store.count("friends", where: .compare(age, .greater, .outer(2, age)))
        return try store.any("friends", .compare(.outer(1, older), .greaterOrEqual, .constant(.integer(1), .int64)))
    } _: { works, id in
        works[id].friends.contains { friend in
            works[id].friends.contains { other in
                guard let first = works[friend].age, let second = works[other].age else { return false }
                return second > first
            }
        }
    },
    WorksCondition("related.outer.aggregate", "The youngest of the reports older than the object is at least 30.") { store in
        let age = try store.value("age")
        let older = QueryPredicate.compare(age, .greater, .outer(1, age))
        let value = QueryExpression.conditional(older, age, .constant(.null, .int64)) ?? age
        return .compare(.aggregate(.minimum, try store.reference("reports"), value), .greaterOrEqual, .constant(.integer(30), .int64))
    } _: { works, id in
        let own = works[id].age
        let ages = works.reports(id).compactMap { works[$0].age }.filter { age in own.map { age > $0 } ?? false }
        return ages.min().map { $0 >= 30 }
    },
]
