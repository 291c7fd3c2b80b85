import Foundation
import PolyStoreFormats
import Testing

@Suite struct DateTests {
    static func date(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: DateComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second))
            ?? .distantPast
    }

    static let berlin = DateFormats([.iso8601, .pattern("dd.MM.yyyy HH:mm")], timeZone: TimeZone(identifier: "Europe/Berlin") ?? .gmt)

    static let accepted: [(JSONValue, DateFormats, Date)] = [
        ("2024-01-31", .default, date(2024, 1, 31)),
        ("2024-02-29T10:20:30Z", .default, date(2024, 2, 29, 10, 20, 30)),
        ("2024-01-31t10:20:30z", .default, date(2024, 1, 31, 10, 20, 30)),
        ("2024-01-31 10:20", .default, date(2024, 1, 31, 10, 20)),
        ("2024-01-31T10:20:30.5Z", .default, date(2024, 1, 31, 10, 20, 30) + 0.5),
        ("2024-01-31T10:20:30,250+02:00", .default, date(2024, 1, 31, 8, 20, 30) + 0.25),
        ("2024-01-31T10:20:30-0730", .default, date(2024, 1, 31, 17, 50, 30)),
        ("2024-01-31T10:20:30+01", .default, date(2024, 1, 31, 9, 20, 30)),
        ("2016-12-31T23:59:60Z", .default, date(2017, 1, 1)),
        ("1969-12-31T23:59:59Z", .default, Date(timeIntervalSince1970: -1)),
        ("0001-01-01", .default, Date(timeIntervalSinceReferenceDate: -63_113_904_000)),
        ("+12345-06-07", .default, Date(timeIntervalSinceReferenceDate: 326_438_640_000)),
        ("2024-01-31T12:00:00", berlin, date(2024, 1, 31, 11)),
        ("2024-07-31T12:00:00", berlin, date(2024, 7, 31, 10)),
        ("31.07.2024 12:00", berlin, date(2024, 7, 31, 10)),
        ("2024-07-31T12:00:00Z", berlin, date(2024, 7, 31, 12)),
        (1_706_696_430, [.secondsSince1970], date(2024, 1, 31, 10, 20, 30)),
        (1_706_696_430.5, [.secondsSince1970], date(2024, 1, 31, 10, 20, 30) + 0.5),
        ("1706696430", [.iso8601, .secondsSince1970], date(2024, 1, 31, 10, 20, 30)),
        (1_706_696_430_500, [.millisecondsSince1970], date(2024, 1, 31, 10, 20, 30) + 0.5),
        ("31.01.2024", [.iso8601, .pattern("dd.MM.yyyy")], date(2024, 1, 31)),
        ("1/2/24", [.pattern("M/d/yy")], date(2024, 1, 2)),
        ("1/2/99", [.pattern("M/d/yy")], date(1999, 1, 2)),
        ("Wed, 31 Jan 2024 10:20:30 +0000", [.pattern("EEE, dd MMM yyyy HH:mm:ss Z")], date(2024, 1, 31, 10, 20, 30)),
        ("January 5, 2024 at 12:30 AM", [.pattern("MMMM d, yyyy 'at' h:mm a")], date(2024, 1, 5, 0, 30)),
        ("May 5, 2024 at 12:30 pm", [.pattern("MMMM d, yyyy 'at' h:mm a")], date(2024, 5, 5, 12, 30)),
        ("20240131102030", [.pattern("yyyyMMddHHmmss")], date(2024, 1, 31, 10, 20, 30)),
        ("20240131T102030.125Z", [.pattern("yyyyMMdd'T'HHmmss.SX")], date(2024, 1, 31, 10, 20, 30) + 0.125),
    ]

    @Test(arguments: accepted.indices) func datesAreRead(index: Int) throws {
        let (value, formats, expected) = Self.accepted[index]
        #expect(
            try (["d": value] as JSONObject).require("d", as: Date.self, options: ConversionOptions(dates: formats)) == expected, "\(value)"
        )
    }

    static let refused: [(JSONValue, DateFormats)] = [
        ("", .default), ("2024", .default), ("2024-02-30", .default), ("2023-02-29", .default), ("2024-13-01", .default),
        ("2024-00-01", .default),
        ("2024-01-31T", .default), ("2024-01-31T24:00", .default), ("2024-01-31T10:60", .default), ("2024-01-31T10:20:61", .default),
        ("2024-01-31T10:20:30.", .default), ("2024-01-31T10:20:30+", .default), ("2024-01-31T10:20:30+1", .default),
        ("2024-01-31T10:20:30X", .default),
        ("2024-01-31x10:20", .default), (" 2024-01-31", .default), ("2024-1-31", .default), (1_706_696_430, .default),
        ("31.1.2024", .default),
        ("31.13.2024", [.pattern("dd.MM.yyyy")]), ("31.12.2024 ", [.pattern("dd.MM.yyyy")]), ("13:00 pm", [.pattern("h:mm a")]), ("1", []),
        ("2024", [.pattern("Q")]), ("2024", [.pattern("yyyy'")]), (true, .default), ("٢٠٢٤-01-01", .default), ("99999999-01-01", .default),
    ]

    @Test(arguments: refused.indices) func textThatIsNoDateIsAnError(index: Int) {
        let (value, formats) = Self.refused[index]
        #expect(throws: RecordError.self, "\(value)") {
            try (["d": value] as JSONObject).require("d", as: Date.self, options: ConversionOptions(dates: formats))
        }
    }

    @Test func datesReadBackEqual() throws {
        var intervals: [Double] = [
            0, -0.0, 1e-20, -1e-20, 0.1, -0.1, -0.5, 789_012_345.123456, -63_114_076_800, 64_092_211_200, 1e12, -1e12, 253_402_300_799.999,
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            intervals.append(Double.random(in: -1e11...1e11, using: &generator))
            intervals.append(Double.random(in: -1e9...1e9, using: &generator).rounded() / 1000)
        }
        for interval in intervals {
            let date = Date(timeIntervalSinceReferenceDate: interval)
            let value = try date.sourceValue(options: .default)
            #expect(try Date(source: value, options: .default) == date, "\(interval): \(value)")
        }
        #expect(try Date(timeIntervalSinceReferenceDate: 0.25).sourceValue(options: .default) == "2001-01-01T00:00:00.25Z")
        #expect(try Date(timeIntervalSinceReferenceDate: -0.25).sourceValue(options: .default) == "2000-12-31T23:59:59.75Z")
        for interval in [Double.nan, .infinity, 1e30] {
            #expect(throws: RecordError.self) { try Date(timeIntervalSinceReferenceDate: interval).sourceValue(options: .default) }
        }
    }
}
