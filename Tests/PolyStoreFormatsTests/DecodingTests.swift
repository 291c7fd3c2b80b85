import Foundation
import PolyStoreFormats
import Testing

@Suite struct DecodingTests {
    struct City: Codable, Equatable {
        enum Kind: String, Codable { case capital, town }
        struct Area: Codable, Equatable {
            var name: String
            var codes: [Int]
        }
        var id: Int32
        var name: String
        var population: UInt64?
        var isCapital: Bool
        var latitude: Double
        var budget: Decimal
        var founded: Date
        var site: URL?
        var kind: Kind
        var areas: [Area]
        var names: [String: String]
    }

    static let text = #"""
        {"id":7,"name":"Paris","population":null,"isCapital":true,"latitude":48.8566,"budget":10500000000.01,"founded":"0250-01-01","site":"https://paris.fr",
         "kind":"capital","areas":[{"name":"1er","codes":[75001]}],"names":{"it":"Parigi"},"more":[1,2]}
        """#

    @Test func recordsDecodeAsTypes() throws {
        let value = try JSONValue(parsing: Self.text)
        let city = try value.decode(City.self)
        #expect(city.id == 7 && city.population == nil && city.isCapital && city.kind == .capital)
        #expect(city.budget == Decimal(string: "10500000000.01"))
        #expect(city.areas == [City.Area(name: "1er", codes: [75001])])
        #expect(city.names == ["it": "Parigi"])
        #expect(city.site?.host == "paris.fr")
    }

    static let errors: [(String, String)] = [
        (#""areas":[{"name":"1er","codes":["x"]}]"#, "field areas[0].codes[0]: expected an integer"),
        (#""areas":[{"codes":[1]}]"#, "field areas[0].name: the field is missing"),
        (#""areas":{}"#, "field areas: expected an array"),
        (#""founded":"soon""#, "field founded: expected a date"),
        (#""id":3000000000"#, "field id: the number 3000000000 is out of the range of Int32"),
        (#""id":null"#, "field id: expected an integer, found null"),
        (#""id":"7""#, "field id: expected an integer, found the text"),
        (#""kind":"village""#, "field kind:"),
    ]

    @Test(arguments: errors) func errorsHaveThePathOfTheField(field: String, expected: String) throws {
        var object = try #require(try JSONValue(parsing: Self.text).object)
        let change = try #require(try JSONValue(parsing: "{\(field)}").object)
        for (key, value) in change { object[key] = value }
        let record = SourceRecord(fields: object, position: RecordPosition(source: "c", record: 3, line: 9, byteOffset: 0, byteCount: 0))
        let error = #expect(throws: RecordError.self) { try record.decode(City.self) }
        #expect(error?.description.hasPrefix("c, record 3 (line 9), " + expected) == true, "\(error as Any)")
    }

    @Test func rowsOfCSVDecodeFromText() throws {
        struct Row: Decodable, Equatable {
            var id: Int
            var ratio: Double
            var isOpen: Bool
            var day: Date
            var note: String?
            var tags: [String]
        }
        let text = "id,ratio,isOpen,day,note,tags\n007,0.5,yes,31.01.2024,,\"[\"\"a\"\"]\"\n"
        let reader = try RecordSource.text(text, format: .csv).makeReader()
        let record = try #require(try reader.next())
        let row = try record.decode(Row.self, dates: [.pattern("dd.MM.yyyy")])
        #expect(row == Row(id: 7, ratio: 0.5, isOpen: true, day: DateTests.date(2024, 1, 31), note: nil, tags: ["a"]))
    }
}
