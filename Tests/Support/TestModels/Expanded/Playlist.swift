// swift-format-ignore-file
// The expansion of Playlist.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// An entity with ordered relationships of every kind.
package final class Playlist {
    package var title: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_title
        }
        set {
            _$willChange(0)
            _$stored_title = newValue
        }
    }
    package var tracks: [Track] {
        get {
            _$members(of: 0)
        }
        set {
            _$setMembers(of: 0, to: newValue)
        }
        _modify {
            yield &self[_$members: 0]
        }
    }
    /// Without an inverse.
    package var extras: [Track] {
        get {
            _$members(of: 1)
        }
        set {
            _$setMembers(of: 1, to: newValue)
        }
        _modify {
            yield &self[_$members: 1]
        }
    }
    /// Ordered on the other side too.
    package var tags: [MusicTag] {
        get {
            _$members(of: 2)
        }
        set {
            _$setMembers(of: 2, to: newValue)
        }
        _modify {
            yield &self[_$members: 2]
        }
    }
    /// Its own inverse.
    package var similar: [Playlist] {
        get {
            _$members(of: 3)
        }
        set {
            _$setMembers(of: 3, to: newValue)
        }
        _modify {
            yield &self[_$members: 3]
        }
    }
    /// The inverse of `whole`.
    package var parts: [Playlist] {
        get {
            _$members(of: 4)
        }
        set {
            _$setMembers(of: 4, to: newValue)
        }
        _modify {
            yield &self[_$members: 4]
        }
    }
    package var whole: Playlist? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 5, _$stored_whole)
        }
        set {
            _$willChange(1)
            _$stored_whole = _$retarget(5, from: _$stored_whole, to: newValue)
        }
    }
    /// At most three.
    package var picks: [Track] {
        get {
            _$members(of: 6)
        }
        set {
            _$setMembers(of: 6, to: newValue)
        }
        _modify {
            yield &self[_$members: 6]
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_title: String

    private var _$stored_whole: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_title = ""
        self._$stored_whole = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_whole = PolyStoreCore.ToOne(record, 1)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_whole = PolyStoreCore.ToOne(record, 1)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_title, into: &builder, 0)
        self._$stored_whole.encode(into: &builder, 1)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 5:
            self._$stored_whole
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 5:
            self._$stored_whole = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Playlist"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Playlist", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("title", options: [], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "tracks", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.tracks), isToMany: true, isOrdered: true, inverse: PolyStoreCore.ModelCoding.inverse("playlist", of: \Playlist.tracks), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "extras", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.extras), isToMany: true, isOrdered: true, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "tags", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.tags), isToMany: true, isOrdered: true, inverse: PolyStoreCore.ModelCoding.inverse("lists", of: \Playlist.tags), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "similar", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.similar), isToMany: true, isOrdered: true, inverse: "similar", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "parts", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.parts), isToMany: true, isOrdered: true, inverse: "whole", deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "whole", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.whole), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "picks", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Playlist.picks), isToMany: true, isOrdered: true, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: 3)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Playlist.self, [
            (\Playlist.title, "title"),
            (\Playlist.tracks, "tracks"),
            (\Playlist.extras, "extras"),
            (\Playlist.tags, "tags"),
            (\Playlist.similar, "similar"),
            (\Playlist.parts, "parts"),
            (\Playlist.whole, "whole"),
            (\Playlist.picks, "picks"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Playlist.tracks)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Track.playlist)
        inverse0.check(Playlist.self)
        PolyStoreCore.ModelCheck.relationship(\Playlist.extras)
        PolyStoreCore.ModelCheck.relationship(\Playlist.tags)
        let inverse2 = PolyStoreCore.ModelCheck.inverse(\MusicTag.lists)
        inverse2.check(Playlist.self)
        PolyStoreCore.ModelCheck.relationship(\Playlist.similar)
        let inverse3 = PolyStoreCore.ModelCheck.inverse(\Playlist.similar)
        inverse3.check(Playlist.self)
        PolyStoreCore.ModelCheck.relationship(\Playlist.parts)
        let inverse4 = PolyStoreCore.ModelCheck.inverse(\Playlist.whole)
        inverse4.check(Playlist.self)
        PolyStoreCore.ModelCheck.relationship(\Playlist.whole)
        PolyStoreCore.ModelCheck.relationship(\Playlist.picks)
    }
}

extension Playlist: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Playlist: @unchecked Sendable {
}
