// swift-format-ignore-file
// The expansion of Plain.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// An entity with a single integer attribute.
package final class Plain {
    package var number: Int {
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

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_number: Int

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_number = 0
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_number, into: &builder, 0)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Plain"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Plain", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("number", options: [], originalName: nil, default: 0)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Plain.self, [
            (\Plain.number, "number"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
    }
}

extension Plain: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Plain: @unchecked Sendable {
}
