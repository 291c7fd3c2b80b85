// swift-format-ignore-file
// The expansion of Entry.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// The record of YCSB: a key and ten fields.
final class Entry {
    var key: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_key
        }
        set {
            _$willChange(0)
            _$stored_key = newValue
        }
    }
    var field0: String {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_field0
        }
        set {
            _$willChange(1)
            _$stored_field0 = newValue
        }
    }
    var field1: String {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_field1
        }
        set {
            _$willChange(2)
            _$stored_field1 = newValue
        }
    }
    var field2: String {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_field2
        }
        set {
            _$willChange(3)
            _$stored_field2 = newValue
        }
    }
    var field3: String {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$stored_field3
        }
        set {
            _$willChange(4)
            _$stored_field3 = newValue
        }
    }
    var field4: String {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_field4
        }
        set {
            _$willChange(5)
            _$stored_field4 = newValue
        }
    }
    var field5: String {
        get {
            if _$state.isFault {
                _$fire(6)
            }
            return _$stored_field5
        }
        set {
            _$willChange(6)
            _$stored_field5 = newValue
        }
    }
    var field6: String {
        get {
            if _$state.isFault {
                _$fire(7)
            }
            return _$stored_field6
        }
        set {
            _$willChange(7)
            _$stored_field6 = newValue
        }
    }
    var field7: String {
        get {
            if _$state.isFault {
                _$fire(8)
            }
            return _$stored_field7
        }
        set {
            _$willChange(8)
            _$stored_field7 = newValue
        }
    }
    var field8: String {
        get {
            if _$state.isFault {
                _$fire(9)
            }
            return _$stored_field8
        }
        set {
            _$willChange(9)
            _$stored_field8 = newValue
        }
    }
    var field9: String {
        get {
            if _$state.isFault {
                _$fire(10)
            }
            return _$stored_field9
        }
        set {
            _$willChange(10)
            _$stored_field9 = newValue
        }
    }

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_key: String

    private var _$stored_field0: String

    private var _$stored_field1: String

    private var _$stored_field2: String

    private var _$stored_field3: String

    private var _$stored_field4: String

    private var _$stored_field5: String

    private var _$stored_field6: String

    private var _$stored_field7: String

    private var _$stored_field8: String

    private var _$stored_field9: String

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_key = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_field0 = ""
        self._$stored_field1 = ""
        self._$stored_field2 = ""
        self._$stored_field3 = ""
        self._$stored_field4 = ""
        self._$stored_field5 = ""
        self._$stored_field6 = ""
        self._$stored_field7 = ""
        self._$stored_field8 = ""
        self._$stored_field9 = ""
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_key = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_field0 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_field1 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 2)
        self._$stored_field2 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 3)
        self._$stored_field3 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 4)
        self._$stored_field4 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 5)
        self._$stored_field5 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 6)
        self._$stored_field6 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 7)
        self._$stored_field7 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 8)
        self._$stored_field8 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 9)
        self._$stored_field9 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 10)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_key = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_field0 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_field1 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 2)
        self._$stored_field2 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 3)
        self._$stored_field3 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 4)
        self._$stored_field4 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 5)
        self._$stored_field5 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 6)
        self._$stored_field6 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 7)
        self._$stored_field7 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 8)
        self._$stored_field8 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 9)
        self._$stored_field9 = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 10)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_key, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field0, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field1, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field2, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field3, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field4, into: &builder, 5)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field5, into: &builder, 6)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field6, into: &builder, 7)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field7, into: &builder, 8)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field8, into: &builder, 9)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_field9, into: &builder, 10)
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
        "Entry"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Entry", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("key", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field0", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field1", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field2", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field3", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field4", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field5", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field6", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field7", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field8", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("field9", options: [], originalName: nil, default: "")),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Entry.self, [
            (\Entry.key, "key"),
            (\Entry.field0, "field0"),
            (\Entry.field1, "field1"),
            (\Entry.field2, "field2"),
            (\Entry.field3, "field3"),
            (\Entry.field4, "field4"),
            (\Entry.field5, "field5"),
            (\Entry.field6, "field6"),
            (\Entry.field7, "field7"),
            (\Entry.field8, "field8"),
            (\Entry.field9, "field9"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
    }
}

extension Entry: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Entry: @unchecked Sendable {
}
