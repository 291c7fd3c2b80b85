import PolyStore

/// A country of the atlas.
@Model final class Country {
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
