import Foundation
import SwiftCSV

// The files as they are.

struct ContinentSource: Decodable, Sendable {
    var code: String
    var name: String
}

struct CountrySource: Decodable, Sendable {
    var name: String
    var iso: String
    var continentcode: String
    var capital: String
    var areakm2: Double
    var population: Int
    var languages: [String]
    var neighbours: [String]
}

struct CitySource: Decodable, Sendable {
    var geonameid: Int
    var name: String
    var latitude: Double
    var longitude: Double
    var countrycode: String
    var population: Int
    var timezone: String
    var alternatenames: [String]
}

struct AirportSource: Sendable {
    var code: String
    var iata: String
    var name: String
    var city: String
    var country: String
    var elevation: Double
    var latitude: Double
    var longitude: Double
}

/// A line of a source that is not what it must be.
struct SourceError: Error, CustomStringConvertible {
    var description: String
}

struct Sources: Sendable {
    var continents: [ContinentSource]
    var countries: [CountrySource]
    var cities: [CitySource]
    var airports: [AirportSource]

    init() throws {
        continents = try Self.json("continents")
        countries = try Self.json("countries")
        cities = try Self.json("cities")
        airports = try Self.airports()
    }

    private static func url(_ name: String, _ kind: String) throws -> URL {
        guard let url = Bundle.module.url(forResource: name, withExtension: kind, subdirectory: "Data") else {
            throw SourceError(description: "The file Data/\(name).\(kind) is missing beside the program.")
        }
        return url
    }

    private static func json<T: Decodable>(_ name: String) throws -> [T] {
        try JSONDecoder().decode([T].self, from: Data(contentsOf: url(name, "json")))
    }

    private static func airports() throws -> [AirportSource] {
        let file = try EnumeratedCSV(url: url("airports", "csv"), delimiter: .comma, encoding: .utf8, loadColumns: false)
        let header = Dictionary(uniqueKeysWithValues: file.header.enumerated().map { ($0.element, $0.offset) })
        func column(_ name: String) throws -> Int {
            guard let index = header[name] else { throw SourceError(description: "airports.csv has no column \(name).") }
            return index
        }
        let (icao, iata, name, city) = (try column("icao"), try column("iata"), try column("name"), try column("city"))
        let (country, elevation) = (try column("country"), try column("elevation"))
        let (latitude, longitude) = (try column("lat"), try column("lon"))
        return try file.rows.enumerated().map { line, row in
            func number(_ column: Int) throws -> Double {
                guard row.indices.contains(column), let value = Double(row[column]) else {
                    throw SourceError(description: "airports.csv, line \(line + 2): \(file.header[column]) is no number.")
                }
                return value
            }
            return AirportSource(
                code: row[icao], iata: row[iata], name: row[name], city: row[city], country: row[country], elevation: try number(elevation),
                latitude: try number(latitude), longitude: try number(longitude))
        }
    }
}
