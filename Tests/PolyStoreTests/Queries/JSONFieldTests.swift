import Foundation
import PolyStore
import TestSupport
import Testing

struct Position: Codable, Equatable, Sendable {
    var lat = 0.0
    var note: String?
}

/// Every kind of property, among them one without sample values, a class of its own, and optional ones.
struct Site: Codable, Equatable, Sendable {
    enum Kind: String, Codable, Sendable { case home, office }
    enum Level: Int, Codable, Sendable {
        case low = 1
        case high
    }

    var city = ""
    var zip: String?
    var kind = Kind.home
    var level = Level.low
    var floor = 0
    var small: UInt8 = 7
    var large = UInt64.max
    var area = 0.0
    var ratio: Float = 0.1
    var isOpen = false
    var since = Date(timeIntervalSinceReferenceDate: 0)
    var token = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
    var link = URL(string: "https://example.org/a")!
    var data = Data([1, 2, 3])
    var price: Decimal = 0
    var position = Position()
    var other: Position?
    var tags: [String] = []
    var numbers: Set<Int>?
    var title: String { "\(city) \(floor)" }
}

/// A type whose keys have other names than its properties.
struct Renamed: Codable, Sendable {
    var city = ""
    var left = 1
    var right = 2
    var plain = "p"

    enum CodingKeys: String, CodingKey {
        case city = "town"
        case left = "right"
        case right = "left"
        case plain
    }
}

/// A type with a coding of its own, whose property has another value than the JSON.
struct Inverted: Codable, Sendable {
    var amount = 0
    enum CodingKeys: String, CodingKey { case amount }
    init() {}
    init(from decoder: any Decoder) throws {
        amount = try -decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .amount)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(-amount, forKey: .amount)
    }
}

@Model
final class Writer {
    var name: String = ""
    var site: Site = Site()
    var home: Site?
    var tags: [String] = []
    var scores: Set<Int>?
    var days: [Date] = []
    var levels: [Site.Level] = []
    var marks: [String: Int] = [:]
    var renamed: Renamed = Renamed()
    var inverted: Inverted = Inverted()
    @Relationship(inverse: "writers") var house: House?
}

@Model
final class House {
    var title: String = ""
    var place: Position?
    @Relationship var writers: Set<Writer>
}

/// Conditions, orders and selections on fields of Codable values, in every dialect, on each backend.
@Suite struct JSONFieldTests {
    private struct World {
        let stack: DataStack
        private let folder: Folder

        /// Ann, Bob, Cid and Dan: Ann and Bob are in a house with a place, Cid in one without. Dan has no home.
        init(_ backend: Backend) throws {
            folder = try Folder()
            stack = try DataStack(Schema("Writers", Writer.self, House.self))
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction in
                let houses = try ["Blue", "Red"].map { title in try transaction.create(Into<House>()) { $0.title = title } }
                houses[0].place = Position(lat: 1.5, note: "hill")
                for (index, name) in ["Ann", "Bob", "Cid", "Dan"].enumerated() {
                    try transaction.create(Into<Writer>()) { JSONFieldTests.fill($0, index, name, houses) }
                }
            }
        }

        /// Returns the initials of the selected writers, in the order of their names.
        func initials(_ condition: Where<Writer>) throws -> String {
            try stack.readAndWait {
                try $0.fetchAll(From<Writer>(), condition, OrderBy(.ascending(\.name))).map { String($0.name.prefix(1)) }.joined()
            }
        }

        func initials(_ chain: FetchChain<Writer>) throws -> String {
            try stack.readAndWait { try $0.fetchAll(chain).map { String($0.name.prefix(1)) }.joined() }
        }
    }

    private static func fill(_ writer: Writer, _ index: Int, _ name: String, _ houses: [House]) {
        var site = Site()
        site.city = ["Kyiv", "Lviv", "kyiv", "a\u{0}b"][index]
        site.zip = [nil, "1", "2", nil][index]
        site.kind = index == 1 ? .office : .home
        site.level = index > 1 ? .high : .low
        site.floor = [3, -1, 20, 9_007_199_254_740_993][index]
        site.area = [1, 2.5, -0.0, 1e20][index]
        site.isOpen = index % 2 == 0
        site.since = Date(timeIntervalSinceReferenceDate: Double(index) * 86_400 * 400)
        site.price = [1, Decimal(string: "1.5")!, -2, Decimal(string: "12345678901234567890.123")!][index]
        site.position.lat = Double(index)
        site.other = index == 2 ? Position(lat: 5, note: "o") : nil
        site.tags = [["a", "b"], [], ["b"], ["\"é\\"]][index]
        site.numbers = [nil, [1, 2], [3], []][index]
        writer.name = name
        writer.site = site
        writer.home = index == 3 ? nil : site
        writer.tags = site.tags
        writer.scores = site.numbers
        writer.days = [site.since]
        writer.levels = [site.level]
        writer.marks = ["x": index]
        writer.renamed.city = site.city
        writer.house = index == 3 ? nil : houses[index / 2]
    }

    @Test(arguments: Backend.forObjectLayer)
    func columnsNameProperties(_ backend: Backend) throws {
        let world = try World(backend)
        func check(_ name: String, _ expected: String, @ConditionBuilder _ condition: (Columns<Writer>) -> ColumnCondition) throws {
            #expect(try world.initials(Where(columns: condition)) == expected, "\(name)")
        }
        try check("text", "A") { $0.site.city == "Kyiv" }
        try check("text, !=", "BCD") { $0.site.city != "Kyiv" }
        try check("text, optional struct", "A") { $0.home.city == "Kyiv" }
        try check("text, optional struct, !=", "BC") { $0.home.city != "Kyiv" }
        try check("nul", "D") { $0.site.city == "a\u{0}b" }
        try check("order of texts", "ABC") { $0.home.city >= "Kyiv" }
        try check("options", "AC") { $0.site.city.equals("KYIV", options: .caseInsensitive) }
        try check("contains", "ABC") { $0.site.city.contains("iv") }
        try check("begins", "B") { $0.site.city.beginsWith("L") }
        try check("like", "AC") { $0.site.city.like("?yiv") }
        try check("optional text", "B") { $0.site.zip == "1" }
        try check("null", "AD") { $0.site.zip == nil }
        try check("null of a null struct", "AD") { $0.home.zip == nil }
        try check("not null", "BC") { $0.home.zip != nil }
        try check("integer", "AC") { $0.site.floor > 0 && $0.site.floor < 100 }
        try check("large integer", "D") { $0.site.floor == 9_007_199_254_740_993 }
        try check("large integer, other", "") { $0.site.floor == 9_007_199_254_740_992 }
        try check("unsigned", "ABCD") { $0.site.large == UInt64.max }
        try check("unsigned order", "ABCD") { $0.site.large > 1 }
        try check("small", "ABCD") { $0.site.small == 7 }
        try check("range", "A") { $0.site.floor.isIn(0...10) }
        try check("list", "AB") { $0.site.floor.isIn([3, -1]) }
        try check("real", "BD") { $0.site.area > 2 }
        try check("zero", "C") { $0.site.area == 0 }
        try check("float", "ABCD") { $0.site.ratio == 0.1 }
        try check("Boolean", "AC") { $0.site.isOpen }
        try check("not Boolean", "BD") { !$0.site.isOpen }
        try check("Boolean of an optional struct", "AC") { $0.home.isOpen == true }
        try check("date", "CD") { $0.site.since > Date(timeIntervalSinceReferenceDate: 86_400 * 500) }
        try check("part of a date", "A") { $0.site.since.year == 2001 }
        try check("uuid", "ABCD") { $0.site.token == UUID(uuidString: "00000000-0000-0000-0000-000000000001")! }
        try check("url", "ABCD") { $0.site.link == URL(string: "https://example.org/a")! }
        try check("data", "ABCD") { $0.site.data == Data([1, 2, 3]) }
        try check("decimal", "B") { $0.site.price == Decimal(string: "1.5")! }
        try check("decimal order", "ABD") { $0.site.price > 0 }
        try check("enum", "B") { $0.site.kind == .office }
        try check("enum of integers", "CD") { $0.site.level >= .high }
        try check("cases", "B") { $0.site.kind.isIn([.office]) }
        try check("nested", "CD") { $0.site.position.lat > 1.5 }
        try check("nested optional", "C") { $0.site.other.lat == 5 }
        try check("nested null", "ABD") { $0.site.other == nil }
        try check("nested, twice optional", "C") { $0.home.other.note == "o" }
        try check("two columns", "ABC") { $0.site.city == ($0.home.city ?? "none") }
        try check("computed", "B") { $0.site.floor + 2 == 1 }
        try check("length", "D") { $0.site.city.length == 3 }
        try check("elements", "AC") { $0.tags.contains("b") }
        try check("elements, not", "BD") { !$0.tags.contains("b") }
        try check("elements of a field", "AC") { $0.site.tags.contains("b") }
        try check("elements of an optional struct", "A") { $0.home.tags.contains("a") }
        try check("elements with escapes", "D") { $0.tags.contains("\"é\\") }
        try check("elements of an optional set", "B") { $0.scores.contains(2) }
        try check("elements, unknown", "CD") { !$0.scores.contains(2) }
        try check("elements of a nested set", "C") { $0.home.numbers.contains(3) }
        try check("dates", "B") { $0.days.contains(Date(timeIntervalSinceReferenceDate: 86_400 * 400)) }
        try check("cases of an enum", "CD") { $0.levels.contains(.high) }
        try check("by key", "A") { $0.site.field("city", as: String.self) == "Kyiv" }
        try check("by key, renamed", "A") { $0.renamed.field("town", as: String.self) == "Kyiv" }
        try check("by key, nested", "CD") { $0.site.field("position", as: Position.self).lat > 1.5 }
        try check("a dictionary", "C") { $0.marks.field("x", as: Int.self) == 2 }
        try check("a missing key", "ABCD") { $0.marks.field("y", as: Int.self) == nil }
        try check("another kind", "ABCD") { $0.site.field("city", as: Int.self) == nil }
        try check("a key that is not renamed", "ABCD") { $0.renamed.plain == "p" }
        try check("over a relationship", "AB") { $0.house.place.note == "hill" }
        try check("over a relationship, null", "CD") { $0.house.place.lat == nil }
        try check("any", "AB") { $0.house.writers.any { $0.site.city == "Kyiv" } }
        try check("any with the outer object", "AB") { writer in
            writer.house.writers.any { $0.site.city != writer.site.city && $0.site.floor < 5 && writer.site.floor < 5 }
        }
        try check("or", "ABD") { $0.site.city == "Kyiv" || $0.site.city == "Lviv" || $0.home == nil }
    }

    @Test(arguments: Backend.forObjectLayer)
    func ordersSelectionsAndGroups(_ backend: Backend) throws {
        let world = try World(backend)
        #expect(try world.initials(From<Writer>().orderBy { $0.site.floor }) == "BACD")
        #expect(try world.initials(From<Writer>().orderBy { $0.home.city.descending }) == "CBAD")
        #expect(try world.initials(From<Writer>().orderBy { ($0.site.isOpen, $0.site.since.descending) }) == "DBCA")
        #expect(try world.initials(From<Writer>().orderBy(.descending(\.site.position.lat))) == "DCBA")
        #expect(try world.initials(From<Writer>().orderBy(.ascending("CAST(site.area, 'NSNumber')"))) == "CABD")
        try world.stack.readAndWait { context throws in
            let rows = try context.queryRows(From<Writer>().orderBy { $0.name }.select { ($0.site.city, $0.home.zip, $0.site.floor) })
            #expect(rows.map(\.0) == ["Kyiv", "Lviv", "kyiv", "a\u{0}b"])
            #expect(rows.map(\.1) == [nil, "1", "2", nil])
            #expect(rows.map(\.2) == [3, -1, 20, 9_007_199_254_740_993])
            let sums = try context.queryRows(
                From<Writer>().select { ($0.site.isOpen, $0.site.area.sum, $0.objectID.count) }.groupBy { $0.site.isOpen }.orderBy {
                    $0.site.isOpen
                })
            #expect(sums.map(\.1) == [1e20, 1])
            #expect(sums.map(\.2) == [2, 2])
            let cities = try context.queryAttributes(From<Writer>(), Select(.attribute(\Writer.site.city)), OrderBy(.ascending(\.name)))
            #expect(cities == [["site.city": "Kyiv"], ["site.city": "Lviv"], ["site.city": "kyiv"], ["site.city": "a\u{0}b"]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func keyPathsNameProperties(_ backend: Backend) throws {
        let world = try World(backend)
        let conditions: [(String, Where<Writer>, String)] = [
            ("text", \.site.city == "Kyiv", "A"), ("optional struct", \.home?.city == "Kyiv", "A"), ("order", \.site.floor > 3, "CD"),
            ("null", \.home?.zip == nil, "AD"), ("nested", \.site.position.lat >= 2, "CD"),
            ("nested optional", \.home?.other?.note == "o", "C"),
            ("enum", \.site.kind == .office, "B"), ("list", [3, 20] ~= \.site.floor, "AC"), ("range", 0...10 ~= \.site.floor, "A"),
            ("text operator", .contains(\.site.city, "iv"), "ABC"), ("Boolean", \.site.isOpen == true, "AC"),
            ("uuid", \.site.token != UUID(), "ABCD"), ("decimal", \.site.price < 0, "C"),
            ("combined", \.site.city == "Kyiv" && \.site.floor == 3, "A"),
            ("over a relationship", \.house?.place?.note == "hill", "AB"), ("related", .one(\.house, \.place?.lat == 1.5), "AB"),
        ]
        for (name, condition, expected) in conditions { #expect(try world.initials(condition) == expected, "\(name)") }
    }

    @Test(arguments: Backend.forObjectLayer)
    func namesAndFormatStringsNameKeys(_ backend: Backend) throws {
        let world = try World(backend)
        let formats: [(String, [any QueryArgument], String)] = [
            ("site.city == 'Kyiv'", [], "A"), ("home.city != %@", ["Kyiv"], "BC"), ("'Kyiv' == site.city", [], "A"),
            ("home.zip == NULL", [], "AD"),
            ("home.zip != NULL", [], "BC"), ("site.floor > 0 AND site.floor < 100", [], "AC"), ("site.floor == 9007199254740993", [], "D"),
            ("site.floor == 9007199254740992", [], ""), ("site.area > 2", [], "BD"), ("site.area > 2.5", [], "D"),
            ("site.area IN {1, 2.5}", [], "AB"),
            ("site.area BETWEEN {0, 3}", [], "ABC"), ("site.isOpen == YES", [], "AC"), ("NOT site.isOpen == TRUE", [], "BD"),
            ("site.since > %@", [Date(timeIntervalSinceReferenceDate: 86_400 * 500)], "CD"), ("site.kind IN {'office', 'none'}", [], "B"),
            ("site.position.lat > 1", [], "CD"), ("home.other.note LIKE '?'", [], "C"), ("site.city BEGINSWITH[c] 'k'", [], "AC"),
            ("site.city CONTAINS 'iv'", [], "ABC"), ("NOT site.city CONTAINS 'iv'", [], "D"), ("site.city MATCHES '[KL].*'", [], "AB"),
            ("site.city ==[c] 'KYIV'", [], "AC"), ("site.city == home.city", [], ""),
            ("CAST(site.city, 'NSString') == CAST(home.city, 'NSString')", [], "ABC"),
            ("tags CONTAINS 'b'", [], "AC"), ("'b' IN tags", [], "AC"), ("NOT 'b' IN tags", [], "BD"), ("site.tags CONTAINS 'a'", [], "A"),
            ("%@ IN site.tags", ["b"], "AC"), ("NOT site.tags CONTAINS 'b'", [], "BD"), ("scores CONTAINS 2", [], "B"),
            ("NOT scores CONTAINS 2", [], "CD"),
            ("CAST(tags, 'NSString') CONTAINS 'b'", [], "AC"), ("length(site.city) == 3", [], "D"), ("year(site.since) == 2001", [], "A"),
            ("site.floor + 2 == 1", [], "B"), ("uppercase(site.city) == 'KYIV'", [], "AC"), ("house.place.note == 'hill'", [], "AB"),
            ("house.place.lat == NULL", [], "CD"), ("ANY house.writers.site.city == 'Kyiv'", [], "AB"),
            ("SUBQUERY(house.writers, $w, $w.site.floor < 0).@count == 1", [], "AB"), ("house.writers.@avg.site.floor == 1", [], "AB"),
            ("marks.x == 2", [], "C"), ("renamed.town == 'Kyiv'", [], "A"), ("site.missing == NULL", [], "ABCD"),
            ("site.city == 1", [], ""),
            ("TERNARY(site.floor > 3, site.city, 'x') == 'x'", [], "AB"), ("-1 IN {site.floor, 7}", [], "B"),
        ]
        for (format, arguments, expected) in formats {
            let found = Result { try world.initials(Where(format: format, arguments: arguments)) }
            if format == "site.city == home.city" {
                #expect(throws: StoreError.self) { try found.get() }
            } else {
                #expect((try? found.get()) == expected, "\(format): \(found)")
            }
        }
        #expect(try world.initials(%"site.city" == "Kyiv") == "A")
        #expect(try world.initials(Where(["site.floor": 0...10, "site.kind": Site.Kind.home.rawValue])) == "A")
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesAreSelected(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            func names() throws -> [String] {
                try transaction.fetchAll(From<Writer>().where { $0.site.city == "Kyiv" || $0.tags.contains("new") }.orderBy { $0.name })
                    .map(\.name)
            }
            #expect(try names() == ["Ann"])
            let bob = try #require(try transaction.fetchOne(From<Writer>(), Where(\.name == "Bob")))
            bob.site.city = "Kyiv"
            let eve = try transaction.create(Into<Writer>())
            (eve.name, eve.tags) = ("Eve", ["new"])
            #expect(try names() == ["Ann", "Bob", "Eve"])
            let ann = try #require(try transaction.fetchOne(From<Writer>(), Where(\.site.city == "Kyiv"), OrderBy(.ascending(\.name))))
            ann.site.city = "Odesa"
            #expect(try names() == ["Bob", "Eve"])
        }
        #expect(try world.initials(\.site.city == "Kyiv") == "B")
    }

    @Test(arguments: Backend.forObjectLayer)
    func foundationPredicatesNameProperties(_ backend: Backend) throws {
        let world = try World(backend)
        #expect(try world.initials(Where(#Predicate { $0.site.city == "Kyiv" })) == "A")
        #expect(try world.initials(Where(#Predicate { $0.home?.city == "Kyiv" })) == "A")
        #expect(try world.initials(Where(#Predicate { $0.site.floor > 3 && $0.site.position.lat < 3 })) == "C")
        #expect(try world.initials(Where(#Predicate { $0.tags.contains("b") })) == "AC")
        #expect(try world.initials(Where(#Predicate { $0.site.zip == nil })) == "AD")
    }

    @Test func refusalsNameThePropertyAndTheWayOut() throws {
        let world = try World(.memory)
        func message(_ make: () -> Where<Writer>) -> String {
            do { return "no error: \(try world.initials(make()))" } catch { return "\(error)" }
        }
        let refused: [(String, Where<Writer>, [String])] = [
            ("renamed", Where { $0.renamed.city == "Kyiv" }, ["Renamed.city", "\"city\"", "\"town\"", ".field(\"key\""]),
            ("exchanged", Where { $0.renamed.left == 1 }, ["Renamed.left", ".field(\"key\""]),
            ("another value", Where { $0.inverted.amount == 1 }, ["Inverted.amount"]),
            ("computed", Where { $0.site.title == "x" }, ["Site", "computed", ".field("]),
            ("of an array", Where { $0.tags.count == 1 }, ["Array<String>", "computed"]),
            ("of a text", Where { $0.name.count == 1 }, ["String is stored as a single value"]),
            ("of a text in JSON", Where { $0.site.city.count == 1 }, ["String is stored as a single value"]),
            ("a key path, renamed", \.renamed.city == "Kyiv", ["Renamed.city", "\"town\""]),
            ("a key path, computed", \.site.title == "x", ["Site", "computed"]),
            ("a key path into a text", \.site.city.count == 1, ["String", "computed"]),
            (
                "an order without a type", Where("TERNARY(name == 'x', site.city, home.city) == 'x'"),
                ["site.city", "CAST(site.city, 'NSString')"]
            ),
            ("mixed list", Where("site.city IN {1, 'a'}"), ["different types"]),
            ("options on an array", Where("tags CONTAINS[c] 'a'"), ["CAST(tags, 'NSString')"]),
            ("an element that is not a constant", Where("tags CONTAINS name"), ["constant"]),
        ]
        for (name, condition, parts) in refused {
            let message = message { condition }
            for part in parts { #expect(message.contains(part), "\(name): \(message)") }
        }
    }
}
