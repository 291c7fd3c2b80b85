// swift-format-ignore-file
// The expansion of Tally.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A named number: a shared counter, the row of one writer, or a sum.
package final class Tally {
    package var name: String {
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
    package var group: Int {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_group
        }
        set {
            _$willChange(1)
            _$stored_group = newValue
        }
    }
    package var value: Int {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_value
        }
        set {
            _$willChange(2)
            _$stored_value = newValue
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    private var _$stored_group: Int

    private var _$stored_value: Int

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$stored_group = 0
        self._$stored_value = 0
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_group = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
        self._$stored_value = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 2)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_group = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
        self._$stored_value = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 2)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_group, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_value, into: &builder, 2)
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
        "Tally"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Tally", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [.unique], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("group", options: [.indexed], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("value", options: [], originalName: nil, default: 0)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Tally.self, [
            (\Tally.name, "name"),
            (\Tally.group, "group"),
            (\Tally.value, "value"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
    }
}

extension Tally: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Tally: @unchecked Sendable {
}
