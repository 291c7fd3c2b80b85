import PolyStore

/// An entity with ordered relationships of every kind.
@Model package final class Playlist {
    package var title: String = ""
    @Relationship(inverse: "playlist") package var tracks: [Track]
    /// Without an inverse.
    @Relationship package var extras: [Track]
    /// Ordered on the other side too.
    @Relationship(inverse: "lists") package var tags: [MusicTag]
    /// Its own inverse.
    @Relationship(inverse: "similar") package var similar: [Playlist]
    /// The inverse of `whole`.
    @Relationship(deleteRule: .cascade, inverse: "whole") package var parts: [Playlist]
    @Relationship package var whole: Playlist?
    /// At most three.
    @Relationship(max: 3) package var picks: [Track]
}
