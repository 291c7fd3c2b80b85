import PolyStoreBackend

/// Conditions on related objects, for every kind of relationship storage.
let relatedConditions: [WorksCondition] = oneConditions + anyConditions + allConditions + noneConditions + countConditions

private func less(_ left: Int64?, _ right: Int64) -> Bool? { left.map { $0 < right } }
private func greater(_ left: Int64?, _ right: Int64) -> Bool? { left.map { $0 > right } }

// MARK: ONE

private let oneConditions: [WorksCondition] = [
    WorksCondition(
        "related.one.foreign-key", "A condition on the target of a to-one relationship.",
        { try $0.one("team", $0.compare("Team.title", .equal, .text("red"))) }, { $0.team($1).map { $0.title == "red" } }),
    WorksCondition(
        "related.one.indexed-range", "A range of an indexed attribute of the related object.",
        { try $0.one("team", $0.compare("Team.budget", .greater, .integer(49))) }, { $0.team($1).flatMap { greater($0.budget, 49) } }),
    WorksCondition(
        "related.one.unknown-inside", "A condition that is unknown for the related object is unknown.",
        { try $0.one("team", $0.compare("Team.budget", .notEqual, .integer(100))) }, { $0.team($1)?.budget.map { $0 != 100 } }),
    WorksCondition(
        "related.one.there-is-one", "Without a condition: true if there is an object, and unknown otherwise.",
        { try $0.one("boss", .all) }, { $0.boss($1) == nil ? nil : true }),
    WorksCondition(
        "related.one.never", "A condition that is never true is false with an object, and unknown without.", { try $0.one("boss", .none) },
        { $0.boss($1) == nil ? nil : false }),
    WorksCondition(
        "related.one.is-null-inside", "A null check of the related object is known if it exists.",
        { try $0.one("team", .isNull($0.field("Team.budget"))) }, { $0.team($1).map { $0.budget == nil } }),
    WorksCondition(
        "related.one.value-is-null", "A value over a to-one relationship is null without an object.",
        { .isNull(try $0.related("team", $0.value("Team.budget"))) }, { $0.team($1)?.budget == nil }),
    WorksCondition(
        "related.one.self-reference", "A relationship from an entity to itself: the attribute is the other object's.",
        { try $0.one("boss", $0.compare("age", .less, .integer(30))) }, { $0.boss($1).flatMap { less($0.age, 30) } }),
    WorksCondition(
        "related.one.itself", "An object that is related to itself is evaluated like any other.",
        { try $0.one("boss", $0.one("boss", $0.compare("name", .equal, .text("Straße")))) },
        { works, id in works[id].boss.flatMap { works.boss($0) }.flatMap { $0.name.map { $0 == "Straße" } } }),
    WorksCondition(
        "related.one.one-to-one", "Foreign keys at both ends.", { try $0.one("spouse", $0.compare("age", .equal, .integer(30))) },
        { $0.spouse($1).flatMap { $0.age.map { $0 == 30 } } }),
    WorksCondition(
        "related.one.two-steps", "Over two to-one relationships.",
        { try $0.one("boss", $0.one("team", $0.compare("Team.title", .equal, .text("red")))) },
        { works, id in works[id].boss.flatMap { works.team($0) }.map { $0.title == "red" } }),
    WorksCondition(
        "related.one.three-steps", "Over three to-one relationships.",
        { try $0.one("boss", $0.one("boss", $0.one("team", $0.compare("Team.title", .equal, .text("red"))))) },
        { works, id in works[id].boss.flatMap { works[$0].boss }.flatMap { works.team($0) }.map { $0.title == "red" } }),
    WorksCondition(
        "related.one.then-many", "Over a to-one relationship, then any of many.",
        { try $0.one("team", $0.any("Team.members", $0.compare("age", .equal, .integer(40)))) },
        { works, id in works[id].team.map { works.members(team: $0).contains { works[$0].age == 40 } } }),
    WorksCondition(
        "related.one.id", "The id of the related object.", { try $0.one("boss", $0.compare("id", .lessOrEqual, .integer(2))) },
        { $0[$1].boss.map { $0 <= 2 } }),
    WorksCondition(
        "related.one.list", "A list of values.",
        { try $0.one("team", .oneOf($0.field("Team.title"), [.text("red"), .text("blue"), .null])) },
        { $0.team($1).map { ["red", "blue"].contains($0.title) } }),
    WorksCondition(
        "related.one.text", "A text operator.", { try $0.one("team", .text($0.field("Team.title"), .endsWith, "e")) },
        { $0.team($1).map { $0.title.hasSuffix("e") } }),
    WorksCondition(
        "related.one.not-inside", "NOT within the condition keeps unknown results unknown.",
        { try $0.one("boss", .not($0.compare("age", .greater, .integer(25)))) }, { $0.boss($1).flatMap { greater($0.age, 25) }.map { !$0 } }
    ),
    WorksCondition(
        "related.one.and-or-inside", "AND and OR within the condition, with unknown parts.",
        {
            try $0.one(
                "boss",
                .or([.and([$0.compare("age", .less, .integer(30)), $0.compare("level", .greater, .integer(5))]), .isNull($0.field("age"))]))
        },
        { works, id in
            guard let boss = works.boss(id) else { return nil }
            let (young, high) = (less(boss.age, 30), boss.level.map { $0 > 5 })
            if boss.age == nil { return true }
            return young == false || high == false ? false : (young == nil || high == nil ? nil : true)
        }),
    WorksCondition(
        "related.one.beside-others", "Combined with conditions on the object itself.",
        {
            .or([
                .and([try $0.one("team", $0.compare("Team.title", .equal, .text("red"))), try $0.compare("age", .less, .integer(30))]),
                try $0.compare("id", .equal, .integer(10)),
            ])
        },
        { works, id in
            if id == 10 { return true }
            let (red, young) = (works.team(id).map { $0.title == "red" }, less(works[id].age, 30))
            return red == false || young == false ? false : (red == nil || young == nil ? nil : true)
        }),
]

// MARK: ANY

private let anyConditions: [WorksCondition] = [
    WorksCondition(
        "related.any.inverse", "Any of the objects whose foreign key refers to this one.", of: "Team",
        { try $0.any("Team.members", $0.compare("age", .equal, .integer(25))) },
        { works, id in works.members(team: id).contains { works[$0].age == 25 } }),
    WorksCondition(
        "related.any.link", "Any of the objects of a link.", { try $0.any("clubs", $0.compare("Club.name", .equal, .text("chess"))) },
        { works, id in works[id].clubs.contains(1) }),
    WorksCondition(
        "related.any.reversed-link", "Any of the objects at the other end of a link.", of: "Club",
        { try $0.any("Club.members", $0.compare("age", .less, .integer(26))) },
        { works, id in works.members(club: id).contains { works[$0].age.map { $0 < 26 } ?? false } }),
    WorksCondition(
        "related.any.one-way-link", "Any of the objects of a link without an inverse.", of: "Team",
        { try $0.any("Team.tags", $0.compare("Club.rating", .greaterOrEqual, .real(1))) },
        { works, id in (works.teams[id]?.tags ?? []).contains { works.clubs[$0]?.rating.map { $0 >= 1 } ?? false } }),
    WorksCondition(
        "related.any.symmetric-link", "Any friend, whichever side the link was added from.",
        { try $0.any("friends", $0.compare("age", .equal, .integer(30))) },
        { works, id in works[id].friends.contains { works[$0].age == 30 } }),
    WorksCondition(
        "related.any.self-reference", "Any of the objects of the same entity that refer to this one.",
        { try $0.any("reports", $0.compare("age", .greater, .integer(24))) },
        { works, id in works.reports(id).contains { works[$0].age ?? 0 > 24 } }),
    WorksCondition(
        "related.any.foreign-key", "ANY of a to-one relationship: false without an object.",
        { try $0.any("boss", $0.compare("age", .less, .integer(30))) }, { $0.boss($1).flatMap { less($0.age, 30) } ?? false }),
    WorksCondition(
        "related.any.there-are-some", "Without a condition: whether there is any object.", { try $0.any("clubs", .all) },
        { !$0[$1].clubs.isEmpty }),
    WorksCondition(
        "related.any.never", "A condition that is never true is true for no object.", { try $0.any("friends", .none) }, { _, _ in false }),
    WorksCondition(
        "related.any.unknown-is-not-true", "A condition that is unknown for every object makes ANY false, not unknown.",
        { try $0.any("clubs", $0.compare("Club.rating", .notEqual, .real(1))) },
        { works, id in works[id].clubs.contains { works.clubs[$0]?.rating.map { $0 != 1 } ?? false } }),
    WorksCondition(
        "related.any.is-null-inside", "Any without a value.", of: "Team", { try $0.any("Team.members", .isNull($0.field("age"))) },
        { works, id in works.members(team: id).contains { works[$0].age == nil } }),
    WorksCondition(
        "related.any.not-inside", "NOT within the condition.", of: "Team",
        { try $0.any("Team.members", .not($0.compare("age", .equal, .integer(25)))) },
        { works, id in works.members(team: id).contains { works[$0].age.map { $0 != 25 } ?? false } }),
    WorksCondition(
        "related.any.two-steps", "Any of any: over two to-many relationships.", of: "Team",
        { try $0.any("Team.members", $0.any("clubs", $0.compare("Club.name", .equal, .text("judo")))) },
        { works, id in works.members(team: id).contains { works[$0].clubs.contains(3) } }),
    WorksCondition(
        "related.any.three-steps", "Over three to-many relationships, back to the first entity.", of: "Club",
        { try $0.any("Club.members", $0.any("friends", $0.any("clubs", $0.compare("Club.name", .equal, .text("judo"))))) },
        { works, id in works.members(club: id).contains { works[$0].friends.contains { works[$0].clubs.contains(3) } } }),
    WorksCondition(
        "related.any.then-one", "Any of many, then over a to-one relationship.",
        { try $0.any("reports", $0.one("team", $0.compare("Team.title", .equal, .text("green")))) },
        { works, id in works.reports(id).contains { works.team($0)?.title == "green" } }),
    WorksCondition(
        "related.any.then-all", "Any of the objects, then all of theirs.",
        { try $0.any("friends", $0.all("clubs", $0.compare("Club.name", .equal, .text("judo")))) },
        { works, id in works[id].friends.contains { works[$0].clubs.allSatisfy { $0 == 3 } } }),
    WorksCondition(
        "related.any.both-conditions-of-one", "Conditions within one ANY apply to one object; two ANYs can apply to two.", of: "Team",
        {
            let (young, first) = (try $0.compare("age", .equal, .integer(25)), try $0.compare("name", .equal, .text("Ada")))
            return .and([
                try $0.any("Team.members", young), try $0.any("Team.members", first),
                .not(try $0.any("Team.members", .and([young, first]))),
            ])
        },
        { works, id in
            let members = works.members(team: id).map { works[$0] }
            return members.contains { $0.age == 25 } && members.contains { $0.name == "Ada" }
                && !members.contains { $0.age == 25 && $0.name == "Ada" }
        }),
    WorksCondition(
        "related.any.beside-others", "Combined with conditions on the object itself and other ANYs.",
        {
            .or([
                .and([try $0.any("clubs", $0.compare("Club.name", .equal, .text("judo"))), try $0.any("friends", .all)]),
                .and([try $0.compare("age", .equal, .integer(0)), .not(try $0.any("reports", .isNull($0.field("age"))))]),
            ])
        },
        { works, id in
            let (judo, isZero) = (works[id].clubs.contains(3) && !works[id].friends.isEmpty, works[id].age.map { $0 == 0 })
            let leads = !works.reports(id).contains { works[$0].age == nil }
            if judo { return true }
            return leads ? isZero : false
        }),
]

// MARK: ALL

private let allConditions: [WorksCondition] = [
    WorksCondition(
        "related.all.inverse", "Each of the objects whose foreign key refers to this one.", of: "Team",
        { try $0.all("Team.members", $0.compare("age", .greater, .integer(24))) },
        { works, id in works.members(team: id).allSatisfy { works[$0].age ?? 0 > 24 } }),
    WorksCondition(
        "related.all.link", "Each of the objects of a link.", { try $0.all("clubs", $0.compare("Club.name", .notEqual, .text("golf"))) },
        { works, id in works[id].clubs.allSatisfy { $0 != 2 } }),
    WorksCondition(
        "related.all.reversed-link", "Each of the objects at the other end of a link.", of: "Club",
        { try $0.all("Club.members", $0.compare("level", .lessOrEqual, .integer(5))) },
        { works, id in works.members(club: id).allSatisfy { works[$0].level.map { $0 <= 5 } ?? false } }),
    WorksCondition(
        "related.all.one-way-link", "Each of the objects of a link without an inverse.", of: "Team",
        { try $0.all("Team.tags", .isNull($0.field("Club.rating"))) },
        { works, id in (works.teams[id]?.tags ?? []).allSatisfy { works.clubs[$0]?.rating == nil } }),
    WorksCondition(
        "related.all.symmetric-link", "Each friend.", { try $0.all("friends", $0.compare("age", .greater, .integer(20))) },
        { works, id in works[id].friends.allSatisfy { works[$0].age ?? 0 > 20 } }),
    WorksCondition(
        "related.all.self-reference", "Each of the objects of the same entity that refer to this one.",
        { try $0.all("reports", $0.compare("level", .greater, .integer(5))) },
        { works, id in works.reports(id).allSatisfy { works[$0].level ?? 0 > 5 } }),
    WorksCondition(
        "related.all.foreign-key", "ALL of a to-one relationship: true without an object.",
        { try $0.all("boss", $0.compare("age", .less, .integer(30))) },
        { works, id in works.boss(id).map { $0.age.map { $0 < 30 } ?? false } ?? true }),
    WorksCondition(
        "related.all.of-none", "Without objects ALL is true, even for a false condition.", { try $0.all("clubs", .none) },
        { $0[$1].clubs.isEmpty }),
    WorksCondition(
        "related.all.always", "A condition that is always true is true for all objects.", { try $0.all("friends", .all) }, { _, _ in true }),
    WorksCondition(
        "related.all.unknown-is-not-true", "One unknown object makes ALL false, not unknown.",
        { try $0.all("clubs", $0.compare("Club.rating", .greater, .real(0))) },
        { works, id in works[id].clubs.allSatisfy { works.clubs[$0]?.rating ?? -1 > 0 } }),
    WorksCondition(
        "related.all.not-inside", "NOT within the condition.", of: "Team",
        { try $0.all("Team.members", .not($0.compare("age", .equal, .integer(25)))) },
        { works, id in works.members(team: id).allSatisfy { works[$0].age.map { $0 != 25 } ?? false } }),
    WorksCondition(
        "related.all.two-steps", "All of all.", of: "Team",
        { try $0.all("Team.members", $0.all("clubs", $0.compare("Club.name", .notEqual, .text("judo")))) },
        { works, id in works.members(team: id).allSatisfy { !works[$0].clubs.contains(3) } }),
    WorksCondition(
        "related.all.three-steps", "All, then any, then one.", of: "Club",
        { try $0.all("Club.members", $0.any("friends", $0.one("team", $0.compare("Team.title", .equal, .text("red"))))) },
        { works, id in works.members(club: id).allSatisfy { works[$0].friends.contains { works.team($0)?.title == "red" } } }),
    WorksCondition(
        "related.all.and-any", "ALL and ANY together exclude objects without related ones.", of: "Team",
        {
            let grown = try $0.compare("age", .greater, .integer(24))
            return .and([try $0.all("Team.members", grown), try $0.any("Team.members", grown)])
        },
        { works, id in
            let members = works.members(team: id)
            return !members.isEmpty && members.allSatisfy { works[$0].age ?? 0 > 24 }
        }),
]

// MARK: NONE

private let noneConditions: [WorksCondition] = [
    WorksCondition(
        "related.none.inverse", "NOT around ANY: none of the objects whose foreign key refers to this one.", of: "Team",
        { .not(try $0.any("Team.members", $0.compare("age", .equal, .integer(25)))) },
        { works, id in !works.members(team: id).contains { works[$0].age == 25 } }),
    WorksCondition(
        "related.none.link", "None of the objects of a link; true without objects.",
        { .not(try $0.any("clubs", $0.compare("Club.name", .equal, .text("chess")))) }, { works, id in !works[id].clubs.contains(1) }),
    WorksCondition(
        "related.none.reversed-link", "None of the objects at the other end of a link.", of: "Club",
        { .not(try $0.any("Club.members", $0.compare("age", .greater, .integer(26)))) },
        { works, id in !works.members(club: id).contains { works[$0].age ?? 0 > 26 } }),
    WorksCondition(
        "related.none.symmetric-link", "No friend.", { .not(try $0.any("friends", .isNull($0.field("age")))) },
        { works, id in !works[id].friends.contains { works[$0].age == nil } }),
    WorksCondition(
        "related.none.self-reference", "No object that refers to this one.", { .not(try $0.any("reports", .all)) },
        { $0.reports($1).isEmpty }),
    WorksCondition(
        "related.none.unknown-is-not-true", "Objects for which the condition is unknown are ignored.",
        { .not(try $0.any("friends", $0.compare("age", .less, .integer(100)))) },
        { works, id in !works[id].friends.contains { works[$0].age ?? 1000 < 100 } }),
    WorksCondition(
        "related.none.nested", "None of the objects, with none of theirs.",
        { .not(try $0.any("friends", .not($0.any("clubs", $0.compare("Club.name", .equal, .text("judo")))))) },
        { works, id in !works[id].friends.contains { !works[$0].clubs.contains(3) } }),
]

// MARK: Counts

private let countConditions: [WorksCondition] = [
    counted("related.count.inverse", "The number of referring objects.", "Team", "Team.members", .greaterOrEqual, 2) {
        $0.members(team: $1).count >= 2
    },
    counted("related.count.link", "The number of objects of a link.", "Worker", "clubs", .equal, 2) { $0[$1].clubs.count == 2 },
    counted("related.count.reversed-link", "The number of objects at the other end.", "Club", "Club.members", .less, 3) {
        $0.members(club: $1).count < 3
    },
    counted("related.count.symmetric-link", "The number of friends, including the object itself.", "Worker", "friends", .notEqual, 1) {
        $0[$1].friends.count != 1
    },
    counted("related.count.of-none", "Without objects it is 0, never null.", "Worker", "reports", .equal, 0) { $0.reports($1).isEmpty },
    counted("related.count.to-one", "The count of a to-one relationship is 0 or 1.", "Worker", "boss", .equal, 1) { $0.boss($1) != nil },
    counted("related.count.never-so-many", "A number that is never reached.", "Worker", "clubs", .greater, .max) { _, _ in false },
    counted("related.count.at-least-less-than-none", "A number that is always reached.", "Worker", "clubs", .greater, -1) { _, _ in true },
    WorksCondition(
        "related.count.with-a-condition", "The number of objects that satisfy a condition; unknown is ignored.",
        { .compare(try $0.count("friends", where: $0.compare("age", .greater, .integer(20))), .equal, .constant(.integer(1), .int64)) },
        { works, id in works[id].friends.count { works[$0].age ?? 0 > 20 } == 1 }),
    WorksCondition(
        "related.count.nested", "A count within the condition of a count.", of: "Team",
        {
            let busy = QueryPredicate.compare(try $0.count("clubs"), .greaterOrEqual, .constant(.integer(1), .int64))
            return .compare(try $0.count("Team.members", where: busy), .greater, .constant(.integer(1), .int64))
        },
        { works, id in works.members(team: id).count { !works[$0].clubs.isEmpty } > 1 }),
    WorksCondition(
        "related.count.against-a-field", "Against an attribute.", { .compare(try $0.count("friends"), .less, try $0.value("level")) },
        { works, id in works[id].level.map { UInt64(works[id].friends.count) < $0 } }),
    WorksCondition(
        "related.count.against-a-count", "Against another count.", { .compare(try $0.count("friends"), .equal, try $0.count("clubs")) },
        { works, id in works[id].friends.count == works[id].clubs.count }),
    WorksCondition(
        "related.count.over-a-step", "The count of a related object; unknown if there is none.",
        { .compare(try $0.related("team", $0.count("Team.members")), .greater, .constant(.integer(2), .int64)) },
        { works, id in works[id].team.map { works.members(team: $0).count > 2 } }),
    WorksCondition(
        "related.count.against-a-real", "Against a real.", { .compare(try $0.count("friends"), .greater, .constant(.real(1.5), .double)) },
        { works, id in works[id].friends.count > 1 }),
]

private func counted(
    _ id: String, _ statement: String, _ entity: String, _ path: String, _ comparison: ComparisonOperator, _ number: Int64,
    _ holds: @escaping @Sendable (Works, Int64) -> Bool
) -> WorksCondition {
    WorksCondition(
        id, statement, of: entity, { .compare(try $0.count(path), comparison, .constant(.integer(number), .int64)) }, { holds($0, $1) })
}
