import PolyStoreBackend
import PolyStoreCore

/// The record of YCSB: a key and ten fields.
final class Entry: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$key: String
    private var _$field0: String
    private var _$field1: String
    private var _$field2: String
    private var _$field3: String
    private var _$field4: String
    private var _$field5: String
    private var _$field6: String
    private var _$field7: String
    private var _$field8: String
    private var _$field9: String

    init(_$state state: consuming ModelState) {
        _$key = ModelCoding.of(String.self).initial
        _$field0 = ""
        _$field1 = ""
        _$field2 = ""
        _$field3 = ""
        _$field4 = ""
        _$field5 = ""
        _$field6 = ""
        _$field7 = ""
        _$field8 = ""
        _$field9 = ""
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$key = try ModelCoding.of(String.self).decode(record, 0)
        _$field0 = try ModelCoding.of(String.self).decode(record, 1)
        _$field1 = try ModelCoding.of(String.self).decode(record, 2)
        _$field2 = try ModelCoding.of(String.self).decode(record, 3)
        _$field3 = try ModelCoding.of(String.self).decode(record, 4)
        _$field4 = try ModelCoding.of(String.self).decode(record, 5)
        _$field5 = try ModelCoding.of(String.self).decode(record, 6)
        _$field6 = try ModelCoding.of(String.self).decode(record, 7)
        _$field7 = try ModelCoding.of(String.self).decode(record, 8)
        _$field8 = try ModelCoding.of(String.self).decode(record, 9)
        _$field9 = try ModelCoding.of(String.self).decode(record, 10)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$key = try ModelCoding.of(String.self).decode(record, 0)
        _$field0 = try ModelCoding.of(String.self).decode(record, 1)
        _$field1 = try ModelCoding.of(String.self).decode(record, 2)
        _$field2 = try ModelCoding.of(String.self).decode(record, 3)
        _$field3 = try ModelCoding.of(String.self).decode(record, 4)
        _$field4 = try ModelCoding.of(String.self).decode(record, 5)
        _$field5 = try ModelCoding.of(String.self).decode(record, 6)
        _$field6 = try ModelCoding.of(String.self).decode(record, 7)
        _$field7 = try ModelCoding.of(String.self).decode(record, 8)
        _$field8 = try ModelCoding.of(String.self).decode(record, 9)
        _$field9 = try ModelCoding.of(String.self).decode(record, 10)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(_$key, into: &builder, 0)
        try ModelCoding.of(String.self).encode(_$field0, into: &builder, 1)
        try ModelCoding.of(String.self).encode(_$field1, into: &builder, 2)
        try ModelCoding.of(String.self).encode(_$field2, into: &builder, 3)
        try ModelCoding.of(String.self).encode(_$field3, into: &builder, 4)
        try ModelCoding.of(String.self).encode(_$field4, into: &builder, 5)
        try ModelCoding.of(String.self).encode(_$field5, into: &builder, 6)
        try ModelCoding.of(String.self).encode(_$field6, into: &builder, 7)
        try ModelCoding.of(String.self).encode(_$field7, into: &builder, 8)
        try ModelCoding.of(String.self).encode(_$field8, into: &builder, 9)
        try ModelCoding.of(String.self).encode(_$field9, into: &builder, 10)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var key: String {
        get {
            if _$state.isFault { _$fire(0) }
            return _$key
        }
        set {
            _$willChange(0)
            _$key = newValue
        }
    }
    var field0: String {
        get {
            if _$state.isFault { _$fire(1) }
            return _$field0
        }
        set {
            _$willChange(1)
            _$field0 = newValue
        }
    }
    var field1: String {
        get {
            if _$state.isFault { _$fire(2) }
            return _$field1
        }
        set {
            _$willChange(2)
            _$field1 = newValue
        }
    }
    var field2: String {
        get {
            if _$state.isFault { _$fire(3) }
            return _$field2
        }
        set {
            _$willChange(3)
            _$field2 = newValue
        }
    }
    var field3: String {
        get {
            if _$state.isFault { _$fire(4) }
            return _$field3
        }
        set {
            _$willChange(4)
            _$field3 = newValue
        }
    }
    var field4: String {
        get {
            if _$state.isFault { _$fire(5) }
            return _$field4
        }
        set {
            _$willChange(5)
            _$field4 = newValue
        }
    }
    var field5: String {
        get {
            if _$state.isFault { _$fire(6) }
            return _$field5
        }
        set {
            _$willChange(6)
            _$field5 = newValue
        }
    }
    var field6: String {
        get {
            if _$state.isFault { _$fire(7) }
            return _$field6
        }
        set {
            _$willChange(7)
            _$field6 = newValue
        }
    }
    var field7: String {
        get {
            if _$state.isFault { _$fire(8) }
            return _$field7
        }
        set {
            _$willChange(8)
            _$field7 = newValue
        }
    }
    var field8: String {
        get {
            if _$state.isFault { _$fire(9) }
            return _$field8
        }
        set {
            _$willChange(9)
            _$field8 = newValue
        }
    }
    var field9: String {
        get {
            if _$state.isFault { _$fire(10) }
            return _$field9
        }
        set {
            _$willChange(10)
            _$field9 = newValue
        }
    }

    static var _$entityName: String { "Entry" }
    static let _$entity = EntityDescription(
        name: "Entry",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("key", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("field0", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field1", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field2", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field3", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field4", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field5", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field6", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field7", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field8", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("field9", options: [], originalName: nil, default: "")),
        ])
    static let _$properties = ModelProperties(
        Entry.self,
        [
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
}
