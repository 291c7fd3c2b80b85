import PolyStore

/// A tag of playlists. Swift Testing declares a type `Tag`.
@Model(entity: "Tag") package final class MusicTag {
    package var name: String = ""
    @Relationship package var lists: [Playlist]
}
