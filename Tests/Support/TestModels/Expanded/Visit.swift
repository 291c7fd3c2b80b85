// swift-format-ignore-file
// The expansion of Visit.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// Outside the hierarchy, with a relationship to it.
package final class Visit {
    package var day: Int {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_day
        }
        set {
            _$willChange(0)
            _$stored_day = newValue
        }
    }
    package var party: Party? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 0, _$stored_party)
        }
        set {
            _$willChange(1)
            _$stored_party = _$retarget(0, from: _$stored_party, to: newValue)
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_day: Int

    private var _$stored_party: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_day = 0
        self._$stored_party = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_day = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_party = PolyStoreCore.ToOne(record, 1)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_day = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_party = PolyStoreCore.ToOne(record, 1)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_day, into: &builder, 0)
        self._$stored_party.encode(into: &builder, 1)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_party
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_party = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Visit"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Visit", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("day", options: [], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "party", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Visit.party), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Visit.self, [
            (\Visit.day, "day"),
            (\Visit.party, "party"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.relationship(\Visit.party)
    }
}

extension Visit: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Visit: @unchecked Sendable {
}
