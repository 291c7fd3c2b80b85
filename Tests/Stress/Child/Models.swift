import PolyStoreBackend
import PolyStoreCore

// Models as @Model expands them. The program is also built with sanitizers, for which building the macros would take minutes.

/// A named number: a shared counter, the row of one writer, or a sum.
final class Tally: Model {
    var _$state: ModelState
    private var storedName: String = ""
    private var storedGroup: Int = 0
    private var storedValue: Int = 0

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        storedGroup = try ModelCoding.of(Int.self).decode(record, 1)
        storedValue = try ModelCoding.of(Int.self).decode(record, 2)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedName, into: &builder, 0)
        try ModelCoding.of(Int.self).encode(storedGroup, into: &builder, 1)
        try ModelCoding.of(Int.self).encode(storedValue, into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedName
        }
        set {
            _$willChange(0)
            storedName = newValue
        }
    }
    var group: Int {
        get {
            if _$state.isFault { _$fire(1) }
            return storedGroup
        }
        set {
            _$willChange(1)
            storedGroup = newValue
        }
    }
    var value: Int {
        get {
            if _$state.isFault { _$fire(2) }
            return storedValue
        }
        set {
            _$willChange(2)
            storedValue = newValue
        }
    }

    static var _$entityName: String { "Tally" }
    static let _$entity = EntityDescription(
        name: "Tally",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [.unique], originalName: nil, default: "")),
            .attribute(ModelCoding.of(Int.self).describe("group", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Int.self).describe("value", options: [], originalName: nil, default: 0)),
        ])
    static let _$properties = ModelProperties(
        Tally.self,
        [
            (\Tally.name, "name"), (\Tally.group, "group"), (\Tally.value, "value"),
        ])
}

/// A record of one operation.
final class Entry: Model {
    var _$state: ModelState
    private var storedOperation: Int = 0
    private var storedDelta: Int = 0

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws {
        storedOperation = try ModelCoding.of(Int.self).decode(record, 0)
        storedDelta = try ModelCoding.of(Int.self).decode(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Int.self).encode(storedOperation, into: &builder, 0)
        try ModelCoding.of(Int.self).encode(storedDelta, into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var operation: Int {
        get {
            if _$state.isFault { _$fire(0) }
            return storedOperation
        }
        set {
            _$willChange(0)
            storedOperation = newValue
        }
    }
    var delta: Int {
        get {
            if _$state.isFault { _$fire(1) }
            return storedDelta
        }
        set {
            _$willChange(1)
            storedDelta = newValue
        }
    }

    static var _$entityName: String { "Entry" }
    static let _$entity = EntityDescription(
        name: "Entry",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("operation", options: [.unique], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Int.self).describe("delta", options: [], originalName: nil, default: 0)),
        ])
    static let _$properties = ModelProperties(
        Entry.self,
        [
            (\Entry.operation, "operation"), (\Entry.delta, "delta"),
        ])
}
