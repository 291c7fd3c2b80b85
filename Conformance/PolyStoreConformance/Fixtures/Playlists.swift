import PolyStoreBackend
import SeededRandom

/// Playlist(title) with ordered tracks, extras, tags and similar lists; Track(title, playlist, length); Tag(name) with ordered lists.
enum Playlists {
    static let schema = SchemaDescription(
        name: "Playlists",
        entities: [
            EntityDescription(
                name: "Playlist",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(
                        RelationshipDescription(name: "tracks", destination: "Track", isToMany: true, isOrdered: true, inverse: "playlist")),
                    .relationship(RelationshipDescription(name: "extras", destination: "Track", isToMany: true, isOrdered: true)),
                    .relationship(
                        RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, isOrdered: true, inverse: "lists")),
                    .relationship(
                        RelationshipDescription(
                            name: "similar", destination: "Playlist", isToMany: true, isOrdered: true, inverse: "similar")),
                ]),
            EntityDescription(
                name: "Track",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(RelationshipDescription(name: "playlist", destination: "Playlist", isToMany: false)),
                    .attribute(AttributeDescription(name: "length", type: .double)),
                ]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(RelationshipDescription(name: "lists", destination: "Playlist", isToMany: true, isOrdered: true)),
                ]),
        ])

    static func open(_ run: ConformanceRun, lists: Int) throws -> TestStore {
        let store = try run.open(schema)
        try store.insert("Playlist", (0..<lists).map { [.text("list \($0)")] })
        return store
    }

    /// A row of Track.
    static func track(_ title: String, _ playlist: Int64?, _ position: Int64?) -> [Value] {
        [.text(title), playlist.map { .integer($0) } ?? .null, .real(1), position.map { .integer($0) } ?? .null]
    }
}
