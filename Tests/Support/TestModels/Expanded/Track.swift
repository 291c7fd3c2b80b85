// swift-format-ignore-file
// The expansion of Track.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A track of a playlist.
package final class Track {
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
    package var playlist: Playlist? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 0, _$stored_playlist)
        }
        set {
            _$willChange(1)
            _$stored_playlist = _$retarget(0, from: _$stored_playlist, to: newValue)
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_title: String

    private var _$stored_playlist: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_title = ""
        self._$stored_playlist = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_playlist = PolyStoreCore.ToOne(record, 1)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_playlist = PolyStoreCore.ToOne(record, 1)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_title, into: &builder, 0)
        self._$stored_playlist.encode(into: &builder, 1)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_playlist
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_playlist = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Track"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Track", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("title", options: [.indexed], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "playlist", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Track.playlist), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Track.self, [
            (\Track.title, "title"),
            (\Track.playlist, "playlist"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Track.playlist)
    }
}

extension Track: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Track: @unchecked Sendable {
}
