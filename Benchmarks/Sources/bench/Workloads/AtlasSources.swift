import Foundation

/// The contents of the atlas's files.
struct AtlasSources {
    struct Continent: Decodable {
        var code: String
        var name: String
    }
    struct Country: Decodable {
        var name: String
        var iso: String
        var continentcode: String
        var capital: String
        var areakm2: Double
        var population: Int
        var languages: [String]
        var neighbours: [String]
    }
    struct City: Decodable {
        var geonameid: Int
        var name: String
        var latitude: Double
        var longitude: Double
        var countrycode: String
        var population: Int
        var timezone: String
        var alternatenames: [String]
    }
    struct Airport {
        var code: String
        var iata: String
        var name: String
        var town: String
        var country: String
        var elevation: Double
        var latitude: Double
        var longitude: Double
    }

    let continents: [Continent]
    let countries: [Country]
    let cities: [City]
    let airports: [Airport]

    /// - Parameter folder: `Examples/Atlas/Data`.
    init(folder: String) throws {
        func file(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) }
        let decoder = JSONDecoder()
        continents = try decoder.decode([Continent].self, from: file("continents.json"))
        countries = try decoder.decode([Country].self, from: file("countries.json"))
        cities = try decoder.decode([City].self, from: file("cities.json"))
        airports = Self.lines(try file("airports.csv")).dropFirst().compactMap { row in
            guard row.count > 8, let elevation = Double(row[6]), let latitude = Double(row[7]), let longitude = Double(row[8]) else {
                return nil
            }
            return Airport(
                code: row[0], iata: row[1], name: row[2], town: row[3], country: row[5], elevation: elevation, latitude: latitude,
                longitude: longitude)
        }
    }

    /// Reads rows of comma-separated values, quoted or not.
    private static func lines(_ data: Data) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var last: UInt8 = 0
        func end() -> String {
            defer { field.removeAll(keepingCapacity: true) }
            return String(decoding: field, as: UTF8.self)
        }
        for byte in data {
            switch byte {
            case UInt8(ascii: "\""):
                // Two quotes inside a quoted value represent one.
                if !isQuoted, last == byte { field.append(byte) }
                isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: row.append(end())
            case UInt8(ascii: "\n") where !isQuoted:
                row.append(end())
                rows.append(row)
                row = []
            case UInt8(ascii: "\r") where !isQuoted: break
            default: field.append(byte)
            }
            last = byte
        }
        return rows
    }
}
