import PolyStore

/// A continent of the atlas.
@Model final class Continent {
    @Attribute(.unique) var code: String
    var name: String
    @Relationship(deleteRule: .deny, inverse: "continent") var countries: Set<Country>
}
