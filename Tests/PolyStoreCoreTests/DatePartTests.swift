import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Parts of dates in format strings, on each backend.
@Suite struct DatePartTests {
    /// Gadgets that were made at these times, and one without a time.
    private static func gadgets(_ backend: Backend) throws -> Gadgets {
        let gadgets = try Gadgets(backend)
        // 2024-02-29 22:30, 2024-12-30 12:00, 2023-07-01 00:00 and 2000-12-31 23:59:59.5 in UTC.
        let times = ["leap": 730_938_600, "end": 757_252_800, "summer": 709_862_400, "old": -0.5, "none": nil]
        try gadgets.stack.performAndWait { transaction throws in
            for (label, time) in times.sorted(by: { $0.key < $1.key }) {
                let gadget = try transaction.create(Into<Gadget>())
                (gadget.label, gadget.made) = (label, time.map { Date(timeIntervalSinceReferenceDate: $0) })
            }
        }
        return gadgets
    }

    private static func labels(_ context: Context, _ condition: Where<Gadget>) throws -> [String] {
        try context.fetchAll(From<Gadget>(), condition, OrderBy(.ascending(\.label))).map(\.label)
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsUseParts(_ backend: Backend) throws {
        try Self.gadgets(backend).stack.readAndWait { context throws in
            let cases: [(String, [any QueryArgument], [String])] = [
                ("year(made) == 2024", [], ["end", "leap"]), ("NOT year(made) == 2024", [], ["old", "summer"]),
                ("month(made) IN {2, 7}", [], ["leap", "summer"]), ("quarter(made) BETWEEN {2, 3}", [], ["summer"]),
                ("week(made) == 1", [], ["end"]), ("weekday(made) > 5", [], ["old", "summer"]), ("day(made) == 29", [], ["leap"]),
                ("hour(made) >= 22", [], ["leap", "old"]), ("minute(made) == 59", [], ["old"]),
                ("day(made, '+02:00') == 1", [], ["leap", "old", "summer"]), ("day(made, 'Europe/Berlin') == 1", [], ["old", "summer"]),
                ("hour(made, %@) == 2", ["Europe/Berlin"], ["summer"]), ("hour(made, 'Europe/Berlin') == %d", [23], ["leap"]),
                ("2024 > year(made)", [], ["old", "summer"]), ("year(made) == NULL", [], ["none"]),
                ("year(made) != nil", [], ["end", "leap", "old", "summer"]),
                ("year(made) == year(%@)", [Date(timeIntervalSinceReferenceDate: 730_938_600)], ["end", "leap"]),
                ("year(made + 1) == 2001", [], ["old"]),
                ("modulus(year(made), 4) == 0", [], ["end", "leap", "old"]), ("year(part.made) == 2024", [], []),
                ("year(made) < year(now())", [], ["end", "leap", "old", "summer"]), ("TERNARY(month(made) == 2, 1, 0) == 1", [], ["leap"]),
            ]
            for (format, arguments, expected) in cases {
                #expect(try Self.labels(context, Where(format: format, arguments: arguments)) == expected, "\(format)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func groupsSelectionsAndOrdersUseParts(_ backend: Backend) throws {
        try Self.gadgets(backend).stack.readAndWait { context throws in
            let years = try context.queryAttributes(From<Gadget>(), Select("year(made)", .count), GroupBy("year(made)"))
            #expect(
                years == [
                    ["count": 1], ["year(made)": 2000, "count": 1], ["year(made)": 2023, "count": 1], ["year(made)": 2024, "count": 2],
                ])
            let days = try context.queryAttributes(
                From<Gadget>(), Select(SelectTerm("day(made, 'Europe/Berlin')", as: "day"), .count("made", as: "gadgets")),
                Where("made != nil"), GroupBy("day(made, 'Europe/Berlin')"), Having("gadgets > 1"))
            #expect(days == [["day": 1, "gadgets": 2]])
            let latest = try context.queryAttributes(
                From<Gadget>(), Select("label", "hour(made)"), OrderBy(.descending("hour(made)")), Tweak { $0.limit = 2 })
            #expect(latest == [["label": "old", "hour(made)": 23], ["label": "leap", "hour(made)": 22]])
            let ordered = try context.fetchAll(
                From<Gadget>(), OrderBy(.ascending("month(made, 'Europe/Berlin')", nulls: .last), .descending("year(made)")))
            #expect(ordered.map(\.label) == ["old", "leap", "summer", "end", "none"])
            #expect(try context.queryValue(From<Gadget>(), Select<Int>("max(year(made))")) == 2024)
        }
    }

    @Test func wrongZonesAndValuesAreRefusedWithTheirPlace() throws {
        try Self.gadgets(.memory).stack.readAndWait { context throws in
            func message(_ format: String) -> String {
                do {
                    _ = try Self.labels(context, Where(format))
                    return "no error"
                } catch {
                    return (error as? StoreError)?.message ?? "\(error)"
                }
            }
            let forms =
                "UTC, an offset of at most 18 hours such as \"+05:30\" or \"-08\", and the name of a zone of the tz database such as \"Europe/Berlin\""
            #expect(
                message("hour(made, 'Europe/Berln') == 1").hasPrefix("\"Europe/Berln\" is not a time zone. Accepted are \(forms). (at 1:1)")
            )
            #expect(message("hour(made, '+18:01') == 1").hasPrefix("\"+18:01\" is not a time zone."))
            #expect(message("1 == hour(made, '') OR TRUEPREDICATE").hasPrefix("\"\" is not a time zone."))
            #expect(message("year(label) == 1").hasPrefix("year takes a date, not string."))
            #expect(message("year(part) == 1").hasPrefix("year takes a date, not an object of Gadget."))
            #expect(message("year(2024) == 1").hasPrefix("year takes a date, not int64."))
            #expect(message("year(made) == 'x'").contains("cannot be compared"))
            #expect(throws: StoreError.self) { try context.fetchAll(From<Gadget>(), OrderBy(.ascending("year(nothing)"))) }
            #expect(throws: StoreError.self) { try context.queryAttributes(From<Gadget>(), Select("hour(made, 'x')")) }
        }
    }
}
