import PolyStore

/// A city of the atlas, with an index by position.
@Model final class City {
    #Index<City>(\.latitude, \.longitude)

    @Attribute(.unique) var geonameID: Int
    @Attribute(.indexed) var name: String
    var latitude: Double
    var longitude: Double
    @Attribute(.indexed) var population: Int = 0
    var timeZone: String?
    var alternateNames: [String] = []
    @Relationship(required: true) var country: Country?
}
