import PolyStore

/// An airport of the atlas.
@Model final class Airport {
    @Attribute(.unique) var code: String
    @Attribute(.indexed) var iata: String?
    var name: String
    var town: String?
    @Attribute(.indexed) var elevationFeet: Double = 0
    var latitude: Double
    var longitude: Double
    @Relationship(required: true) var country: Country?
}
