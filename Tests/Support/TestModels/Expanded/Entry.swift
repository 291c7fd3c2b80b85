// swift-format-ignore-file
// The expansion of Entry.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A record of one operation.
package final class Entry {
    package var operation: Int {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_operation
        }
        set {
            _$willChange(0)
            _$stored_operation = newValue
        }
    }
    package var delta: Int {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_delta
        }
        set {
            _$willChange(1)
            _$stored_delta = newValue
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_operation: Int

    private var _$stored_delta: Int

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_operation = 0
        self._$stored_delta = 0
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_operation = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_delta = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_operation = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_delta = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_operation, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_delta, into: &builder, 1)
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
        "Entry"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Entry", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("operation", options: [.unique], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("delta", options: [], originalName: nil, default: 0)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Entry.self, [
            (\Entry.operation, "operation"),
            (\Entry.delta, "delta"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
    }
}

extension Entry: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Entry: @unchecked Sendable {
}
