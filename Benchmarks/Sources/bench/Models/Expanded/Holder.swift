// swift-format-ignore-file
// The expansion of Holder.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// An object with to-many relationships of every kind.
final class Holder {
    var name: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_name
        }
        set {
            _$willChange(0)
            _$stored_name = newValue
        }
    }
    var people: Set<Item> {
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
    var tracks: [Item] {
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
    var tags: Set<Item> {
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
    var marks: Set<Item> {
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

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        default:
            break
        }
    }

    static var _$entityName: String {
        "Holder"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Holder", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "people", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Holder.people), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("holder", of: \Holder.people), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "tracks", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Holder.tracks), isToMany: true, isOrdered: true, inverse: PolyStoreCore.ModelCoding.inverse("album", of: \Holder.tracks), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "tags", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Holder.tags), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("holders", of: \Holder.tags), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "marks", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Holder.marks), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Holder.self, [
            (\Holder.name, "name"),
            (\Holder.people, "people"),
            (\Holder.tracks, "tracks"),
            (\Holder.tags, "tags"),
            (\Holder.marks, "marks"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Holder.people)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Item.holder)
        inverse0.check(Holder.self)
        PolyStoreCore.ModelCheck.relationship(\Holder.tracks)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Item.album)
        inverse1.check(Holder.self)
        PolyStoreCore.ModelCheck.relationship(\Holder.tags)
        let inverse2 = PolyStoreCore.ModelCheck.inverse(\Item.holders)
        inverse2.check(Holder.self)
        PolyStoreCore.ModelCheck.relationship(\Holder.marks)
    }
}

extension Holder: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Holder: @unchecked Sendable {
}
