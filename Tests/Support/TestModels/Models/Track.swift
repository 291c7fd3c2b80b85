import PolyStore

/// A track of a playlist.
@Model package final class Track {
    @Attribute(.indexed) package var title: String = ""
    @Relationship package var playlist: Playlist?
}
