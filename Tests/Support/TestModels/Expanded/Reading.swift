// swift-format-ignore-file
// The expansion of Reading.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Attributes with equal values of different encodings, and with values that do not equal themselves.
package final class Reading {
    package var tags: Set<String> {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_tags
        }
        set {
            _$willChange(0)
            _$stored_tags = newValue
        }
        _modify {
            _$willChange(0)
            yield &_$stored_tags
        }
    }
    package var marks: Set<Set<Int>>? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_marks
        }
        set {
            _$willChange(1)
            _$stored_marks = newValue
        }
        _modify {
            _$willChange(1)
            yield &_$stored_marks
        }
    }
    package var value: Double {
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
    package var ratio: Float? {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_ratio
        }
        set {
            _$willChange(3)
            _$stored_ratio = newValue
        }
    }
    package var taken: Date {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$stored_taken
        }
        set {
            _$willChange(4)
            _$stored_taken = newValue
        }
    }
    /// Relative to the reference date.
    package var due: Date {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_due
        }
        set {
            _$willChange(5)
            _$stored_due = newValue
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_tags: Set<String>

    private var _$stored_marks: Set<Set<Int>>?

    private var _$stored_value: Double

    private var _$stored_ratio: Float?

    private var _$stored_taken: Date

    private var _$stored_due: Date

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_tags = []
        self._$stored_marks = nil
        self._$stored_value = 0
        self._$stored_ratio = nil
        self._$stored_taken = PolyStoreCore.ModelCoding._initial((Date).self)
        self._$stored_due = Date(timeIntervalSinceReferenceDate: 0)
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_tags = try PolyStoreCore.ModelCoding.of((Set<String>).self).decode(record, 0)
        self._$stored_marks = try PolyStoreCore.ModelCoding.of((Set<Set<Int>>?).self).decode(record, 1)
        self._$stored_value = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 2)
        self._$stored_ratio = try PolyStoreCore.ModelCoding.of((Float?).self).decode(record, 3)
        self._$stored_taken = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 4)
        self._$stored_due = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 5)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_tags = try PolyStoreCore.ModelCoding.of((Set<String>).self).decode(record, 0)
        self._$stored_marks = try PolyStoreCore.ModelCoding.of((Set<Set<Int>>?).self).decode(record, 1)
        self._$stored_value = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 2)
        self._$stored_ratio = try PolyStoreCore.ModelCoding.of((Float?).self).decode(record, 3)
        self._$stored_taken = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 4)
        self._$stored_due = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 5)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Set<String>).self).encode(self._$stored_tags, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Set<Set<Int>>?).self).encode(self._$stored_marks, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_value, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((Float?).self).encode(self._$stored_ratio, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((Date).self).encode(self._$stored_taken, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of((Date).self).encode(self._$stored_due, into: &builder, 5)
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
        "Reading"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Reading", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Set<String>).self).describe("tags", options: [], originalName: nil, default: [])),
            .attribute(PolyStoreCore.ModelCoding.of((Set<Set<Int>>?).self).describe("marks", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("value", options: [.indexed], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Float?).self).describe("ratio", options: [.range(...10.0)], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Date).self).describe("taken", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Date).self).describe("due", options: [.range(Date(timeIntervalSinceReferenceDate: 0)...)], originalName: nil, default: Date(timeIntervalSinceReferenceDate: 0))),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Reading.self, [
            (\Reading.tags, "tags"),
            (\Reading.marks, "marks"),
            (\Reading.value, "value"),
            (\Reading.ratio, "ratio"),
            (\Reading.taken, "taken"),
            (\Reading.due, "due"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Set<String>).self)
        PolyStoreCore.ModelCheck.attribute((Set<Set<Int>>?).self)
        PolyStoreCore.ModelCheck.attribute((Double).self)
        PolyStoreCore.ModelCheck.attribute((Float?).self)
        PolyStoreCore.ModelCheck.required((Date).self)
        PolyStoreCore.ModelCheck.attribute((Date).self)
    }
}

extension Reading: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Reading: @unchecked Sendable {
}
