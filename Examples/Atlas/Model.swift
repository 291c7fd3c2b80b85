import PolyStore

@Model
final class Continent {
    @Attribute(.unique) var code: String
    var name: String
    @Relationship(deleteRule: .deny, inverse: "continent") var countries: Set<Country>
}

@Model
final class Country {
    @Attribute(.unique) var iso: String
    @Attribute(.indexed) var name: String
    var capital: String?
    var areaKm2: Double = 0
    var population: Int = 0
    var languages: [String] = []
    @Relationship var continent: Continent?
    @Relationship(inverse: "neighbours") var neighbours: Set<Country>
    @Relationship(deleteRule: .cascade, inverse: "country") var cities: Set<City>
    @Relationship(deleteRule: .cascade, inverse: "country") var airports: Set<Airport>
}

@Model
final class City {
    @Attribute(.unique) var geonameID: Int
    @Attribute(.indexed) var name: String
    var latitude: Double
    var longitude: Double
    @Attribute(.indexed) var population: Int = 0
    var timeZone: String?
    var alternateNames: [String] = []
    /// A Boolean value that indicates whether the city has the name of its country's capital. New in the second version.
    var isCapital: Bool = false
    @Relationship(required: true) var country: Country?
}

@Model
final class Airport {
    /// ICAO's code, or the local one where there is none.
    @Attribute(.unique) var code: String
    @Attribute(.indexed) var iata: String?
    var name: String
    var town: String?
    @Attribute(.indexed) var elevationFeet: Double = 0
    var latitude: Double
    var longitude: Double
    @Relationship(required: true) var country: Country?
    #Search(\.name, \.town)

    var elevationMetres: Double { elevationFeet * 0.3048 }
}

let atlasSchema = Schema("Atlas 2", Continent.self, Country.self, City.self, Airport.self)

/// An atlas of the first version is migrated; no class of it is needed.
let atlasHistory = SchemaHistory(
    atlasSchema,
    mappings: [
        SchemaMapping(
            from: "Atlas 1", to: "Atlas 2",
            [
                .update("City") { old, new in
                    let capital = try old.object("country")?["capital"]
                    new["isCapital"] = .bool(capital != nil && capital == old["name"])
                }
            ])
    ])
