import PolyStore
import PolyStoreMemory
import Testing

@Model
final class Album {
    var title: String = ""
    @Relationship(deleteRule: .cascade, inverse: "album") var songs: [Song]
    @Relationship(inverse: "albums") var labels: [Label]
    @Relationship(max: 2) var singles: [Song]
}

@Model
final class Song {
    var title: String = ""
    @Relationship var album: Album?
}

@Model
final class Label {
    var name: String = ""
    @Relationship var albums: Set<Album>
}

/// `[Other]` in the macro.
@Suite struct OrderedMacroTests {
    @Test func listsKeepTheirOrder() throws {
        let stack = try DataStack(Schema("Albums", Album.self, Song.self, Label.self))
        try stack.addStore(.inMemory())
        let id = try stack.performAndWait { transaction in
            let album = try transaction.create(Into<Album>())
            let songs = try (0..<4).map { number in
                let song = try transaction.create(Into<Song>())
                song.title = "s\(number)"
                return song
            }
            album.songs = [songs[2], songs[0]]
            album.songs.append(songs[3])
            songs[1].album = album
            album.singles = [songs[3], songs[2]]
            let labels = try (0..<2).map { _ in try transaction.create(Into<Label>()) }
            (labels[0].name, labels[1].name) = ("a", "b")
            album.labels = labels.reversed()
            #expect(labels[1].albums == [album])
            return album.objectID
        }
        try stack.performAndWait { transaction in
            let album = try transaction.edit(id)
            #expect(album.songs.map(\.title) == ["s2", "s0", "s3", "s1"])
            album.songs.swapAt(0, 3)
        }
        try stack.readAndWait { context in
            let album = try #require(try context.fetchExisting(id))
            #expect(album.songs.map(\.title) == ["s1", "s0", "s3", "s2"])
            #expect(album.labels.map(\.name) == ["b", "a"])
            #expect(album.singles.map(\.title) == ["s3", "s2"])
            #expect(try context.fetchCount(From<Album>(), Where.any(\.songs, \.title == "s3")) == 1)
            #expect(try context.fetchCount(From<Album>(), Where(\.songs.count == 4)) == 1)
            #expect(try context.fetchCount(From<Album>(), Where("ANY songs.title == 's9'")) == 0)
        }
        try stack.performAndWait { try $0.delete(id) }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Song>()) } == 0)
    }

    @Test func theDescriptionNamesOrderedRelationships() {
        let ordered = Album._$entity.properties.compactMap { property in
            if case .relationship(let relationship) = property { relationship.isOrdered } else { nil }
        }
        #expect(ordered == [true, true, true])
        guard case .relationship(let albums)? = Label._$entity.properties.last else {
            Issue.record("no relationship")
            return
        }
        #expect(!albums.isOrdered)
    }
}
