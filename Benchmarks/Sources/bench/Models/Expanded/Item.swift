// swift-format-ignore-file
// The expansion of Item.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// An indexed number and the inverses of the relationships of ``Holder``.
final class Item {
    var number: Int {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_number
        }
        set {
            _$willChange(0)
            _$stored_number = newValue
        }
    }
    var holder: Holder? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 0, _$stored_holder)
        }
        set {
            _$willChange(1)
            _$stored_holder = _$retarget(0, from: _$stored_holder, to: newValue)
        }
    }
    var album: Holder? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$target(of: 1, _$stored_album)
        }
        set {
            _$willChange(2)
            _$stored_album = _$retarget(1, from: _$stored_album, to: newValue)
        }
    }
    var holders: Set<Holder> {
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

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_number: Int

    private var _$stored_holder: PolyStoreCore.ToOne

    private var _$stored_album: PolyStoreCore.ToOne

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_number = 0
        self._$stored_holder = .none
        self._$stored_album = .none
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_holder = PolyStoreCore.ToOne(record, 1)
        self._$stored_album = PolyStoreCore.ToOne(record, 2)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_holder = PolyStoreCore.ToOne(record, 1)
        self._$stored_album = PolyStoreCore.ToOne(record, 2)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_number, into: &builder, 0)
        self._$stored_holder.encode(into: &builder, 1)
        self._$stored_album.encode(into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_holder
        case 1:
            self._$stored_album
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_holder = target
        case 1:
            self._$stored_album = target
        default:
            break
        }
    }

    static var _$entityName: String {
        "Item"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Item", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("number", options: [.indexed], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "holder", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Item.holder), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "album", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Item.album), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "holders", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Item.holders), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Item.self, [
            (\Item.number, "number"),
            (\Item.holder, "holder"),
            (\Item.album, "album"),
            (\Item.holders, "holders"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.relationship(\Item.holder)
        PolyStoreCore.ModelCheck.relationship(\Item.album)
        PolyStoreCore.ModelCheck.relationship(\Item.holders)
    }
}

extension Item: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Item: @unchecked Sendable {
}
