import PolyStoreBackend

/// Parts of dates: their values, and where they can be used.
let datePartCases: [ConformanceCase] =
    moments.map { moment in
        ConformanceCase("expression.date-part.\(moment.id)", "Every part of \(moment.seconds) s after 2001 in \(moment.zone).") { run in
            let store = try run.open(Fixtures.thing(.date))
            try store.insert("Thing", [[.real(moment.seconds)], [.null], [.real(.nan)], [.real(.infinity)]])
            guard let zone = QueryTimeZone(moment.zone) else { throw run.fail("\(moment.zone) is not accepted") }
            let (thing, date) = (try store.entity("Thing"), QueryExpression.field(try store.field("Thing", "value")))
            var parts: [QueryExpression] = []
            for (part, number) in zip(DatePart.allCases, moment.parts) {
                guard let value = QueryExpression.datePart(part, of: date, in: zone) else { throw run.fail("the type of \(part)") }
                parts.append(value)
                func ids(_ predicate: QueryPredicate) throws -> [Int64] { try store.ids(FetchRequest(thing, predicate: predicate)) }
                func constant(_ number: Int64) -> QueryExpression { .constant(.integer(number), .int64) }
                try run.expect(try ids(.compare(value, .equal, constant(number))), equals: [1], "\(value) is \(number)")
                try run.expect(try ids(.compare(value, .notEqual, constant(number))), equals: [], "\(value) is not \(number)")
                try run.expect(try ids(.compare(value, .greater, constant(number - 1))), equals: [1], "\(value) is above \(number - 1)")
                try run.expect(try ids(.isNull(value)), equals: [2, 3, 4], "\(value) is null")
            }
            let rows = try store.read { try $0.aggregate(AggregateRequest(thing, groupBy: parts, aggregates: [.count])) }
            let expected = [
                AggregateRow(group: parts.map { _ in .null }, values: [.integer(3)]),
                AggregateRow(group: moment.parts.map { .integer($0) }, values: [.integer(1)]),
            ]
            try run.expect(rows, equals: expected)
        }
    } + [
        ConformanceCase(
            "expression.date-part.of-no-date", "Parts are null for NaN, infinities and dates beyond 2^53 seconds, in every zone."
        ) {
            run in
            let store = try run.open(Fixtures.thing(.date))
            let dates: [Double] = [
                .nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0x1.0000000000001p53,
                -0x1.0000000000001p53,
                0x1p63, -0x1p63, 0x1p64, 1e300,
            ]
            try store.insert("Thing", [[.null]] + dates.map { [.real($0)] } + [[.real(0)]])
            let all = Array(1...Int64(dates.count + 1))
            for zone in ["UTC", "+18:00", "-18:00", "Europe/Berlin"] {
                for part in DatePart.allCases {
                    let value = try part.of("value", store, zone)
                    try run.expect(try store.ids(.isNull(value)), equals: all, "\(value)")
                    // A comparison with null is unknown, and so is its negation.
                    let condition = QueryPredicate.compare(value, .less, .constant(.integer(-1), .int64))
                    try run.expect(try store.ids(condition), equals: [], "\(condition)")
                    try run.expect(try store.ids(.not(condition)), equals: [Int64(dates.count + 2)], "not \(condition)")
                }
            }
        },
        ConformanceCase(
            "expression.date-part.comparisons", "Parts are compared as integers, by every operator, with constants and with each other."
        ) {
            run in
            let store = try openMonths(run)
            let month = try DatePart.month.of("value", store)
            for comparison in ComparisonOperator.allCases {
                for number in [-1, 0, 1, 6, 7, 12, 13] as [Int64] {
                    let expected = (1...12 as ClosedRange<Int64>).filter { comparison.holds($0, number) }
                    let constant = QueryExpression.constant(.integer(number), .int64)
                    try run.expect(
                        try store.ids(.compare(month, comparison, constant)), equals: expected, "month \(comparison.rawValue) \(number)")
                    try run.expect(
                        try store.ids(.compare(constant, comparison.mirrored, month)), equals: expected,
                        "\(number), mirrored \(comparison.rawValue)")
                    try run.expect(
                        try store.ids(.not(.compare(month, comparison, constant))), equals: (1...12).filter { !expected.contains($0) },
                        "NOT month \(comparison.rawValue) \(number)")
                }
            }
            try run.expect(try store.ids(.compare(month, .greater, .constant(.real(6.5), .double))), equals: Array(7...12), "a real")
            try run.expect(
                try store.ids(.compare(month, .less, .constant(.integer(-1), .uint64))), equals: Array(1...12), "the greatest UInt64")
            try run.expect(try store.ids(.compare(month, .equal, .constant(.null, .int64))), equals: [], "null")
            // Each date is the day of the month with the number of the month.
            let day = try DatePart.day.of("value", store)
            try run.expect(try store.ids(.compare(month, .equal, day)), equals: Array(1...12))
            try run.expect(try store.ids(.compare(month, .notEqual, day)), equals: [])
            let quarter = try DatePart.quarter.of("value", store)
            try run.expect(try store.ids(.compare(month, .equal, quarter)), equals: [1])
        },
        ConformanceCase("expression.date-part.one-of", "A part can be one of a list; a null in the list selects nothing.") { run in
            let store = try openMonths(run)
            let month = try DatePart.month.of("value", store)
            let lists: [[Value]] = [
                [], [.null], [.integer(1)], [.integer(12), .null, .integer(3), .integer(3)], [.integer(0), .integer(13)],
                (0..<600).map { .integer($0) },
            ]
            for list in lists {
                let expected = (1...12 as ClosedRange<Int64>).filter { list.contains(.integer($0)) }
                try run.expect(try store.ids(.oneOf(month, list)), equals: expected, "\(list.count) values")
                let others = (1...12 as ClosedRange<Int64>).filter { !expected.contains($0) }
                try run.expect(try store.ids(.not(.oneOf(month, list))), equals: others, "not of \(list.count) values")
            }
        },
        ConformanceCase("expression.date-part.with-other-conditions", "Parts can be combined with conditions that indexes serve.") { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(.date, isIndexed: isIndexed), "indexed \(isIndexed)")
                try store.insert("Thing", hours(100))
                let (hour, date) = (try DatePart.hour.of("value", store, "+02:30"), try store.field("Thing", "value"))
                let early = QueryPredicate.compare(hour, .less, .constant(.integer(4), .int64))
                let late = QueryPredicate.compare(date, .greaterOrEqual, .real(36_000))
                // An id is the number of the hour plus 1.
                func isEarly(_ id: Int64) -> Bool { ((id - 1) * 60 + 150) / 60 % 24 < 4 }
                func isLate(_ id: Int64) -> Bool { id > 10 }
                let ids = Array(1...100 as ClosedRange<Int64>)
                try run.expect(try store.ids(.and([early, late])), equals: ids.filter { isEarly($0) && isLate($0) }, "and")
                try run.expect(try store.ids(.or([early, late])), equals: ids.filter { isEarly($0) || isLate($0) }, "or")
                try run.expect(try store.ids(.and([.not(early), late])), equals: ids.filter { !isEarly($0) && isLate($0) }, "not")
                var request = FetchRequest(try store.entity("Thing"), predicate: .and([late, early]))
                request.sortKeys = [SortKey(date, ascending: false)]
                (request.limit, request.offset) = (3, 2)
                let expected = Array(ids.filter { isEarly($0) && isLate($0) }.reversed().dropFirst(2).prefix(3))
                try run.expect(try store.ids(request), equals: expected, "slice")
                try run.expect(try store.read { try $0.count(request) }, equals: 3, "count")
                (request.onlyIDs, request.ignoresIndexes) = (true, true)
                try run.expect(try store.ids(request), equals: expected, "without indexes")
            }
        },
        ConformanceCase("expression.date-part.order", "Objects can be ordered by parts, in both directions, with null first or last.") {
            run in
            for zone in ["UTC", "-05:00", "Europe/Berlin"] {
                let store = try run.open(Fixtures.thing(.date), String(zone.prefix(3)))
                // 2001-01-01 was a Monday; each date is at noon, so that no zone changes the day.
                let days: [Double?] = [6, 2, nil, 9, 0, 13]
                try store.insert("Thing", days.map { [$0.map { .real($0 * 86_400 + 43_200) } ?? .null] })
                let weekday = try DatePart.weekday.of("value", store, zone)
                for (ascending, nulls, expected) in [
                    (true, SortKey.NullPlacement.first, [3, 5, 2, 4, 1, 6]), (true, .last, [5, 2, 4, 1, 6, 3]),
                    (false, .last, [1, 6, 2, 4, 5, 3]),
                    (false, .first, [3, 1, 6, 2, 4, 5]),
                ] as [(Bool, SortKey.NullPlacement, [Int64])] {
                    var request = FetchRequest(try store.entity("Thing"))
                    request.sortKeys = [SortKey(weekday, ascending: ascending, nulls: nulls)]
                    try run.expect(try store.ids(request), equals: expected, "\(zone), ascending \(ascending), nulls \(nulls)")
                    (request.limit, request.offset) = (2, 1)
                    try run.expect(try store.ids(request), equals: Array(expected[1...2]), "a slice")
                }
            }
        },
        ConformanceCase("group.expression.by-date-parts", "Objects can be grouped by parts of a date, in any zone; null is a group.") {
            run in
            let store = try run.open(Fixtures.thing(.date))
            try store.insert("Thing", [[.null]] + hours(50))
            for (zone, shift) in [("UTC", 0), ("+05:30", 5), ("-00:30", -1), ("Asia/Kathmandu", 5)] as [(String, Int64)] {
                let (day, hour) = (try DatePart.day.of("value", store, zone), try DatePart.hour.of("value", store, zone))
                var counts: [Int64: Int64] = [:]
                for id in 0..<50 as Range<Int64> { counts[((id + shift + 240) / 24 + 21) % 31 + 1, default: 0] += 1 }
                let expected =
                    [AggregateRow(group: [.null], values: [.integer(1), .null])]
                    + counts.sorted { $0.key < $1.key }.map { day, count in
                        // The hours of a day: from its first to its last.
                        let hours = (0..<50 as Range<Int64>).filter { (($0 + shift + 240) / 24 + 21) % 31 + 1 == day }.map {
                            ($0 + shift + 240) % 24
                        }
                        return AggregateRow(group: [.integer(day)], values: [.integer(count), .integer(hours.max() ?? 0)])
                    }
                let request = AggregateRequest(try store.entity("Thing"), groupBy: [day], aggregates: [.count, .of(.maximum, hour)])
                try run.expect(try store.read { try $0.aggregate(request) }, equals: expected, zone)
            }
        },
        ConformanceCase("aggregate.expression.of-date-parts", "Aggregates accept parts of dates; null parts are ignored.") { run in
            let store = try openMonths(run, others: [.null, .real(.nan)])
            let (month, quarter) = (try DatePart.month.of("value", store), try DatePart.quarter.of("value", store))
            let request = AggregateRequest(
                try store.entity("Thing"),
                aggregates: [
                    .of(.sum, month), .of(.average, month), .of(.minimum, month), .of(.maximum, month), .of(.count, month), .count,
                    .of(.countDistinct, quarter),
                ])
            let values: [Value] = [.integer(78), .real(6.5), .integer(1), .integer(12), .integer(12), .integer(14), .integer(4)]
            try run.expect(try store.read { try $0.aggregate(request) }, equals: [AggregateRow(group: [], values: values)])
        },
        ConformanceCase(
            "expression.date-part.of-computed-dates", "Parts of a date moved by a number of seconds, and calculations with parts."
        ) { run in
            let store = try openMonths(run)
            let date = QueryExpression.field(try store.field("Thing", "value"))
            guard let later = QueryExpression.arithmetic(.add, date, .constant(.integer(31 * 86_400), .int64)),
                let month = QueryExpression.datePart(.month, of: later),
                let next = QueryExpression.arithmetic(.add, try DatePart.month.of("value", store), .constant(.integer(1), .int64))
            else { throw run.fail("types") }
            // 31 days after the 1st of January, the 2nd of February …; the 12th of December leads to January.
            try run.expect(try store.ids(.compare(month, .equal, next)), equals: Array(1...11))
            try run.expect(try store.ids(.compare(month, .equal, .constant(.integer(1), .int64))), equals: [12])
        },
        ConformanceCase(
            "expression.date-part.of-related-objects", "Parts of dates of related objects, over relationships to one and to many."
        ) { run in
            let store = try run.open(visits)
            // Three visits of the first guest at 8:00, 9:30 and without a time; one of the second at 23:00; one without a guest.
            try store.insert("Guest", [[.real(0)], [.real(-1)], [.null]])
            let times: [(Double?, Int64?)] = [(8 * 3600, 1), (9.5 * 3600, 1), (nil, 1), (23 * 3600, 2), (12 * 3600, nil), (1, 3)]
            try store.insert("Visit", times.map { [$0.map { .real($0) } ?? .null, $1.map { .integer($0) } ?? .null] })
            let (guest, visit) = (try store.entity("Guest"), try store.entity("Visit"))
            let host = RelationshipReference(try store.relationship("Visit", "guest"), in: store.schema)
            let many = RelationshipReference(try store.relationship("Guest", "visits"), in: store.schema)
            let (born, time) = (
                QueryExpression.field(try store.field("Guest", "born")), QueryExpression.field(try store.field("Visit", "time"))
            )
            func integer(_ number: Int64) -> QueryExpression { .constant(.integer(number), .int64) }
            func ids(_ entity: Entity, _ predicate: QueryPredicate) throws -> [Int64] {
                try store.ids(FetchRequest(entity, predicate: predicate))
            }
            for zone in ["UTC", "Etc/UTC"] {
                guard let zone = QueryTimeZone(zone), let year = QueryExpression.datePart(.year, of: .related(host, born), in: zone),
                    let hour = QueryExpression.datePart(.hour, of: time, in: zone)
                else { throw run.fail("types") }
                try run.expect(try ids(visit, .compare(year, .equal, integer(2001))), equals: [1, 2, 3])
                try run.expect(try ids(visit, .not(.compare(year, .equal, integer(2001)))), equals: [4])
                try run.expect(try ids(visit, .oneOf(year, [.integer(2000), .integer(1999)])), equals: [4])
                try run.expect(try ids(visit, .isNull(year)), equals: [5, 6])
                try run.expect(try ids(guest, .related(many, .any, .compare(hour, .greater, integer(8)))), equals: [1, 2])
                try run.expect(try ids(guest, .related(many, .all, .compare(hour, .less, integer(9)))), equals: [3])
                let count = QueryExpression.count(many, where: .compare(hour, .less, integer(10)))
                try run.expect(try ids(guest, .compare(count, .equal, integer(2))), equals: [1], "counted")
                let latest = QueryExpression.aggregate(.maximum, many, hour)
                try run.expect(try ids(guest, .compare(latest, .greaterOrEqual, integer(9))), equals: [1, 2], "the greatest")
                // Compared with the enclosing object.
                guard let own = QueryExpression.datePart(.hour, of: born, in: zone) else { throw run.fail("types") }
                try run.expect(
                    try ids(guest, .related(many, .any, .compare(hour, .equal, .outer(1, own)))), equals: [2], "of the outer object")
            }
        },
        ConformanceCase("expression.date-part.types", "Only dates have parts, which are integers.") { run in
            for type in AttributeType.allCases {
                for part in DatePart.allCases {
                    let value = QueryExpression.datePart(part, of: .constant(.null, type))
                    try run.expect(value?.type, equals: type == .date ? .int64 : nil, "\(part) of \(type)")
                }
            }
        },
        ConformanceCase("expression.date-part.zones", "A zone is UTC, an offset of at most 18 hours, or a name of the tz database.") {
            run in
            let accepted =
                [
                    ("UTC", "UTC", 0), ("GMT", "UTC", 0), ("Z", "UTC", 0), ("+00:00", "UTC", 0), ("-00", "UTC", 0),
                    ("+05:30", "+05:30", 19_800),
                    ("+5:30", nil, nil), ("-03", "-03:00", -10_800), ("+18", "+18:00", 64_800), ("-18:00:00", "-18:00", -64_800),
                    ("+18:00:01", nil, nil), ("-19", nil, nil), ("+01:00:30", "+01:00:30", 3630), ("+01:60", nil, nil),
                    ("+01:00:60", nil, nil),
                    ("+0100", nil, nil), ("+", nil, nil), ("", nil, nil), ("+01:", nil, nil), ("+01:00:00:00", nil, nil), ("+٠١", nil, nil),
                    ("Europe/Berlin", "Europe/Berlin", nil), ("Europe/Atlantis", nil, nil), ("Europe", nil, nil), ("GMT+2", nil, nil),
                    ("../Europe/Berlin", nil, nil), ("Europe/Berlin\u{0}", nil, nil), ("Etc/GMT+5", "Etc/GMT+5", nil), (" UTC", nil, nil),
                ] as [(String, String?, Int?)]
            for (text, identifier, offset) in accepted {
                let zone = QueryTimeZone(text)
                try run.expect(zone?.identifier, equals: identifier, text)
                try run.expect(zone?.offset, equals: offset, text)
            }
            try run.expect(QueryTimeZone(secondsFromUTC: 64_801) == nil, "18 hours and a second")
            try run.expect(QueryTimeZone(secondsFromUTC: .min) == nil, "the least integer")
            try run.expect(QueryTimeZone(secondsFromUTC: -19_800)?.identifier, equals: "-05:30")
        },
        ConformanceCase("refusal.expression.part-of-no-date", "A part of a value that is not a date of the entity is refused.") { run in
            let store = try run.open(visits)
            let wrong = FieldReference(index: 0, name: "time", type: .date)
            guard let year = QueryExpression.datePart(.year, of: .field(wrong)) else { throw run.fail("types") }
            // The field has another index in Thing, or another type.
            let other = try run.open(Fixtures.thing(.int64), "other")
            try run.expectError(.invalidPredicate, "a field of another entity") { try other.ids(.isNull(year)) }
            let many = RelationshipReference(try store.relationship("Guest", "visits"), in: store.schema)
            guard let ofMany = QueryExpression.datePart(.year, of: .related(many, .field(try store.field("Visit", "time")))) else {
                throw run.fail("types")
            }
            try run.expectError(.invalidPredicate, "a path to many objects") {
                try store.ids(FetchRequest(try store.entity("Guest"), predicate: .compare(ofMany, .equal, .constant(.integer(1), .int64))))
            }
        },
    ]

/// A date, the text of a time zone, and the parts of the date in it, in the order of `DatePart.allCases`.
private struct Moment: Sendable {
    let id: String
    let seconds: Double
    let zone: String
    let parts: [Int64]

    init(_ id: String, _ seconds: Double, _ zone: String, _ parts: [Int64]) {
        (self.id, self.seconds, self.zone, self.parts) = (id, seconds, zone, parts)
    }
}

/// Guest(born) ⇄ Visit(time, guest).
private let visits = SchemaDescription(
    name: "Visits",
    entities: [
        EntityDescription(
            name: "Guest",
            properties: [
                .attribute(AttributeDescription(name: "born", type: .date, isOptional: true)),
                .relationship(RelationshipDescription(name: "visits", destination: "Visit", isToMany: true)),
            ]),
        EntityDescription(
            name: "Visit",
            properties: [
                .attribute(AttributeDescription(name: "time", type: .date, isOptional: true)),
                .relationship(RelationshipDescription(name: "guest", destination: "Guest", isToMany: false, inverse: "visits")),
            ]),
    ])

/// Opens a store with the 1st of January 2001, the 2nd of February, and so on, followed by other values.
private func openMonths(_ run: ConformanceRun, others: [Value] = []) throws -> TestStore {
    let store = try run.open(Fixtures.thing(.date))
    let days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    try store.insert("Thing", days.enumerated().map { [.real(Double($1 + $0) * 86_400)] } + others.map { [$0] })
    return store
}

/// Returns rows with dates, one hour apart.
private func hours(_ count: Int) -> [[Value]] { (0..<count).map { [.real(Double($0) * 3600)] } }

extension DatePart {
    /// Returns the part of an attribute of Thing.
    fileprivate func of(_ name: String, _ store: TestStore, _ zone: String = "UTC") throws -> QueryExpression {
        guard let zone = QueryTimeZone(zone),
            let value = QueryExpression.datePart(self, of: .field(try store.field("Thing", name)), in: zone)
        else { throw StoreError(.invalidPredicate, "\(self) of \(name) in \(zone)") }
        return value
    }
}

private let moments: [Moment] = [
    Moment("epoch", 0, "UTC", [2001, 1, 1, 1, 1, 1, 0, 0]),
    Moment("unix-epoch", -978_307_200, "UTC", [1970, 1, 1, 1, 1, 4, 0, 0]),
    Moment("last-second-of-a-year", -1, "UTC", [2000, 4, 12, 52, 31, 7, 23, 59]),
    Moment("last-instant-of-a-year", -0.25, "UTC", [2000, 4, 12, 52, 31, 7, 23, 59]),
    Moment("smallest-negative", -.leastNonzeroMagnitude, "UTC", [2000, 4, 12, 52, 31, 7, 23, 59]),
    Moment("fraction-of-a-minute", 737_646_299.999, "UTC", [2024, 2, 5, 20, 17, 5, 13, 44]),
    Moment("leap-day", 730_902_600, "UTC", [2024, 1, 2, 9, 29, 4, 12, 30]),
    Moment("leap-day-of-2000", -26_524_800, "UTC", [2000, 1, 2, 9, 29, 2, 0, 0]),
    Moment("no-leap-day-in-1900", -3_182_198_400, "UTC", [1900, 1, 3, 9, 1, 4, 0, 0]),
    Moment("no-leap-day-in-2100", 3_129_235_200, "UTC", [2100, 1, 3, 9, 1, 1, 0, 0]),
    Moment("last-day-of-a-leap-year", 757_317_600, "UTC", [2024, 4, 12, 1, 31, 2, 6, 0]),
    Moment("week-53", 631_065_600, "UTC", [2020, 4, 12, 53, 31, 4, 0, 0]),
    Moment("week-53-in-january", 631_411_140, "UTC", [2021, 1, 1, 53, 3, 7, 23, 59]),
    Moment("week-53-of-a-leap-year", -252_547_200, "UTC", [1992, 4, 12, 53, 31, 4, 0, 0]),
    Moment("week-53-of-a-year-that-begins-on-thursday", 283_910_400, "UTC", [2009, 4, 12, 53, 31, 4, 0, 0]),
    Moment("week-1-in-december", 757_209_600, "UTC", [2024, 4, 12, 1, 30, 1, 0, 0]),
    Moment("week-52-in-january", 662_688_000, "UTC", [2022, 1, 1, 52, 1, 6, 0, 0]),
    Moment("week-52-on-a-sunday", 694_224_000, "UTC", [2023, 1, 1, 52, 1, 7, 0, 0]),
    Moment("week-1-of-january", 694_310_400, "UTC", [2023, 1, 1, 1, 2, 1, 0, 0]),
    Moment("sunday-at-the-end-of-a-quarter", 741_484_740, "UTC", [2024, 2, 6, 26, 30, 7, 23, 59]),
    Moment("monday-at-the-beginning-of-a-quarter", 741_484_800, "UTC", [2024, 3, 7, 27, 1, 1, 0, 0]),
    Moment("year-1", -63_113_904_000, "UTC", [1, 1, 1, 1, 1, 1, 0, 0]),
    Moment("year-0", -63_140_425_200, "UTC", [0, 1, 2, 9, 29, 2, 1, 0]),
    Moment("year-before-0", -63_145_526_401, "UTC", [-1, 4, 12, 52, 31, 5, 23, 59]),
    Moment("long-before-0", -211_845_067_200, "UTC", [-4713, 4, 11, 48, 24, 1, 12, 0]),
    Moment("julian-dates-do-not-exist", -13_198_032_000, "UTC", [1582, 4, 10, 40, 10, 7, 0, 0]),
    Moment("year-9999", 252_423_993_599, "UTC", [9999, 4, 12, 52, 31, 5, 23, 59]),
    Moment("year-10000", 252_423_993_600, "UTC", [10_000, 1, 1, 52, 1, 6, 0, 0]),
    Moment("greatest", 0x1p53, "UTC", [285_428_782, 4, 11, 45, 12, 5, 7, 36]),
    Moment("least", -0x1p53, "UTC", [-285_424_781, 1, 2, 8, 20, 3, 16, 23]),
    Moment("offset-with-minutes", 730_925_100, "+05:30", [2024, 1, 3, 9, 1, 5, 0, 15]),
    Moment("offset-to-the-year-before", 725_764_500, "-03:30", [2023, 4, 12, 52, 31, 7, 21, 45]),
    Moment("greatest-offset", 631_087_200, "+18:00", [2021, 1, 1, 53, 1, 5, 0, 0]),
    Moment("least-offset", 631_216_740, "-18:00", [2020, 4, 12, 53, 31, 4, 23, 59]),
    Moment("offset-with-seconds", -1_925_075_760, "-00:44:30", [1939, 4, 12, 52, 31, 7, 23, 59]),
    Moment("offset-without-minutes", 757_378_800, "+01", [2025, 1, 1, 1, 1, 3, 0, 0]),
    Moment("offset-of-a-fraction", -0.25, "+00:00:01", [2001, 1, 1, 1, 1, 1, 0, 0]),
    Moment("offset-of-the-smallest-negative", -.leastNonzeroMagnitude, "+01:00", [2001, 1, 1, 1, 1, 1, 0, 59]),
    Moment("offset-of-the-greatest", 0x1p53, "+18:00", [285_428_782, 4, 11, 45, 13, 6, 1, 36]),
    Moment("offset-of-the-least", -0x1p53, "-18:00", [-285_424_781, 1, 2, 8, 19, 2, 22, 23]),
    Moment("zone-in-winter", 728_436_600, "Europe/Berlin", [2024, 1, 2, 5, 1, 4, 0, 30]),
    Moment("zone-in-summer", 741_479_400, "Europe/Berlin", [2024, 3, 7, 27, 1, 1, 0, 30]),
    Moment("zone-after-the-change", 733_539_600, "Europe/Berlin", [2024, 1, 3, 13, 31, 7, 3, 0]),
    Moment("zone-before-the-change", 733_539_599.5, "Europe/Berlin", [2024, 1, 3, 13, 31, 7, 1, 59]),
    Moment("zone-with-minutes", 757_361_700, "Asia/Kathmandu", [2025, 1, 1, 1, 1, 3, 0, 0]),
    Moment("zone-to-the-year-before", 757_400_340, "America/New_York", [2024, 4, 12, 1, 31, 2, 23, 59]),
    Moment("zone-before-its-rules", -3_502_828_800, "Europe/Berlin", [1890, 1, 1, 1, 1, 3, 0, 53]),
    Moment("zone-in-the-south", 725_805_900, "Pacific/Chatham", [2024, 1, 1, 1, 2, 2, 2, 30]),
    Moment("zone-long-after", 568_766_656_800, "Europe/Berlin", [20_024, 3, 7, 27, 1, 1, 12, 0]),
    Moment("zone-long-before", -126_243_705_600, "America/New_York", [-2000, 2, 6, 26, 30, 5, 19, 3]),
]
