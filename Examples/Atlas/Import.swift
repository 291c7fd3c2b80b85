import Foundation
import PolyStore

// Maps the fields of the files to properties. Objects are identified by their unique ids, so a second import updates them.

extension Continent: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Continent, String> { \.code }
    static let importMapping: RecordMapping<Continent> = RecordMapping(uniqueID: "code").attribute(\.name)
}

extension Country: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Country, String> { \.iso }
    static let importMapping: RecordMapping<Country> = RecordMapping(uniqueID: "iso")
        .attribute(\.name)
        .transformed(\.capital) { (name: String) in name.isEmpty ? nil : name }
        .attribute(\.areaKm2, from: "areakm2")
        .attribute(\.population)
        .attribute(\.languages)
        .relationship(\.continent, from: "continentcode")
        .relationship(\.neighbours)
}

extension City: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<City, Int> { \.geonameID }
    static let importMapping: RecordMapping<City> = RecordMapping(uniqueID: "geonameid")
        .attribute(\.name)
        .attribute(\.latitude)
        .attribute(\.longitude)
        .attribute(\.population)
        .attribute(\.timeZone, from: "timezone")
        .attribute(\.alternateNames, from: "alternatenames")
        .relationship(\.country, from: "countrycode")
}

extension Airport: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Airport, String> { \.code }
    static let importMapping: RecordMapping<Airport> = RecordMapping(uniqueID: "icao")
        .transformed(\.iata) { (code: String?) in code?.isEmpty ?? true ? nil : code }
        .attribute(\.name)
        .transformed(\.town, from: "city") { (name: String?) in name?.isEmpty ?? true ? nil : name }
        .attribute(\.elevationFeet, from: "elevation")
        .attribute(\.latitude, from: "lat")
        .attribute(\.longitude, from: "lon")
        .relationship(\.country)
}

/// A file of the atlas.
func source(_ name: String) throws -> RecordSource {
    let url = Bundle.module.bundleURL.appending(path: "Data/\(name)")
    guard FileManager.default.fileExists(atPath: url.path) else {
        throw StoreError(.io, "The file Data/\(name) is missing beside the program.", location: url.path)
    }
    return .file(url)
}
