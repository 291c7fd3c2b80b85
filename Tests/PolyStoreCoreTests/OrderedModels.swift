import PolyStoreBackend
import PolyStoreCore

/// An entity with ordered relationships of every kind.
final class Playlist: Model {
    var _$state: ModelState
    private var storedTitle: String
    private var storedWhole: ToOne

    init(_$state state: consuming ModelState) {
        storedTitle = ""
        storedWhole = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedWhole = ToOne(record, 1)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedWhole = ToOne(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedTitle, into: &builder, 0)
        storedWhole.encode(into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { relationship == 5 ? storedWhole : .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { if relationship == 5 { storedWhole = target } }

    var title: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedTitle
        }
        set {
            _$willChange(0)
            storedTitle = newValue
        }
    }
    var tracks: [Track] {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }
    /// Without an inverse.
    var extras: [Track] {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }
    /// Ordered on the other side too.
    var tags: [Tag] {
        get { _$members(of: 2) }
        set { _$setMembers(of: 2, to: newValue) }
        _modify { yield &self[_$members: 2] }
    }
    /// Its own inverse.
    var similar: [Playlist] {
        get { _$members(of: 3) }
        set { _$setMembers(of: 3, to: newValue) }
        _modify { yield &self[_$members: 3] }
    }
    /// The inverse of `whole`.
    var parts: [Playlist] {
        get { _$members(of: 4) }
        set { _$setMembers(of: 4, to: newValue) }
        _modify { yield &self[_$members: 4] }
    }
    var whole: Playlist? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$target(of: 5, storedWhole)
        }
        set {
            _$willChange(1)
            storedWhole = _$retarget(5, from: storedWhole, to: newValue)
        }
    }
    /// At most three.
    var picks: [Track] {
        get { _$members(of: 6) }
        set { _$setMembers(of: 6, to: newValue) }
        _modify { yield &self[_$members: 6] }
    }

    static var _$entityName: String { "Playlist" }
    static let _$entity = EntityDescription(
        name: "Playlist",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("title", options: [], originalName: nil, default: "")),
            .relationship(
                RelationshipDescription(name: "tracks", destination: "Track", isToMany: true, isOrdered: true, inverse: "playlist")),
            .relationship(RelationshipDescription(name: "extras", destination: "Track", isToMany: true, isOrdered: true)),
            .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, isOrdered: true, inverse: "lists")),
            .relationship(
                RelationshipDescription(name: "similar", destination: "Playlist", isToMany: true, isOrdered: true, inverse: "similar")),
            .relationship(
                RelationshipDescription(
                    name: "parts", destination: "Playlist", isToMany: true, isOrdered: true, inverse: "whole", deleteRule: .cascade)),
            .relationship(RelationshipDescription(name: "whole", destination: "Playlist", isToMany: false)),
            .relationship(RelationshipDescription(name: "picks", destination: "Track", isToMany: true, isOrdered: true, maxCount: 3)),
        ])
    static let _$properties = ModelProperties(
        Playlist.self,
        [
            (\Playlist.title, "title"), (\Playlist.tracks, "tracks"), (\Playlist.extras, "extras"), (\Playlist.tags, "tags"),
            (\Playlist.similar, "similar"), (\Playlist.parts, "parts"), (\Playlist.whole, "whole"), (\Playlist.picks, "picks"),
        ])
}

final class Track: Model {
    var _$state: ModelState
    private var storedTitle: String
    private var storedPlaylist: ToOne

    init(_$state state: consuming ModelState) {
        storedTitle = ""
        storedPlaylist = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedPlaylist = ToOne(record, 1)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedPlaylist = ToOne(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedTitle, into: &builder, 0)
        storedPlaylist.encode(into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { storedPlaylist }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { storedPlaylist = target }

    var title: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedTitle
        }
        set {
            _$willChange(0)
            storedTitle = newValue
        }
    }
    var playlist: Playlist? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$target(of: 0, storedPlaylist)
        }
        set {
            _$willChange(1)
            storedPlaylist = _$retarget(0, from: storedPlaylist, to: newValue)
        }
    }

    static var _$entityName: String { "Track" }
    static let _$entity = EntityDescription(
        name: "Track",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("title", options: [.indexed], originalName: nil, default: "")),
            .relationship(RelationshipDescription(name: "playlist", destination: "Playlist", isToMany: false)),
        ])
    static let _$properties = ModelProperties(Track.self, [(\Track.title, "title"), (\Track.playlist, "playlist")])
}

final class Tag: Model {
    var _$state: ModelState
    private var storedName: String

    init(_$state state: consuming ModelState) {
        storedName = ""
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        _$state = state
    }

    func _$load(_ record: RecordView) throws { storedName = try ModelCoding.of(String.self).decode(record, 0) }
    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedName, into: &builder, 0)
    }
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedName
        }
        set {
            _$willChange(0)
            storedName = newValue
        }
    }
    var lists: [Playlist] {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }

    static var _$entityName: String { "Tag" }
    static let _$entity = EntityDescription(
        name: "Tag",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(RelationshipDescription(name: "lists", destination: "Playlist", isToMany: true, isOrdered: true)),
        ])
    static let _$properties = ModelProperties(Tag.self, [(\Tag.name, "name"), (\Tag.lists, "lists")])
}
