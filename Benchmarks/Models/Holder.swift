import PolyStore

/// An object with to-many relationships of every kind.
@Model final class Holder {
    var name: String = ""
    @Relationship(inverse: "holder") var people: Set<Item>
    @Relationship(inverse: "album") var tracks: [Item]
    @Relationship(inverse: "holders") var tags: Set<Item>
    @Relationship var marks: Set<Item>
}
