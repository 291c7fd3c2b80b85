import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Attributes with equal values of different encodings, and with values that do not equal themselves.
final class Reading: Model {
    var _$state: ModelState
    private var storedTags: Set<String> = []
    private var storedMarks: Set<Set<Int>>? = nil
    private var storedValue: Double = 0
    private var storedRatio: Float? = nil
    private var storedTaken: Date = Date(timeIntervalSinceReferenceDate: 0)
    private var storedDue: Date = Date(timeIntervalSinceReferenceDate: 0)

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws {
        storedTags = try ModelCoding.of(Set<String>.self).decode(record, 0)
        storedMarks = try ModelCoding.of(Set<Set<Int>>?.self).decode(record, 1)
        storedValue = try ModelCoding.of(Double.self).decode(record, 2)
        storedRatio = try ModelCoding.of(Float?.self).decode(record, 3)
        storedTaken = try ModelCoding.of(Date.self).decode(record, 4)
        storedDue = try ModelCoding.of(Date.self).decode(record, 5)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Set<String>.self).encode(storedTags, into: &builder, 0)
        try ModelCoding.of(Set<Set<Int>>?.self).encode(storedMarks, into: &builder, 1)
        try ModelCoding.of(Double.self).encode(storedValue, into: &builder, 2)
        try ModelCoding.of(Float?.self).encode(storedRatio, into: &builder, 3)
        try ModelCoding.of(Date.self).encode(storedTaken, into: &builder, 4)
        try ModelCoding.of(Date.self).encode(storedDue, into: &builder, 5)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    private func read<V>(_ field: Int, _ path: KeyPath<Reading, V>) -> V {
        if _$state.isFault { _$fire(field) }
        return self[keyPath: path]
    }

    var tags: Set<String> {
        get { read(0, \.storedTags) }
        set {
            _$willChange(0)
            storedTags = newValue
        }
    }
    var marks: Set<Set<Int>>? {
        get { read(1, \.storedMarks) }
        set {
            _$willChange(1)
            storedMarks = newValue
        }
    }
    var value: Double {
        get { read(2, \.storedValue) }
        set {
            _$willChange(2)
            storedValue = newValue
        }
    }
    var ratio: Float? {
        get { read(3, \.storedRatio) }
        set {
            _$willChange(3)
            storedRatio = newValue
        }
    }
    var taken: Date {
        get { read(4, \.storedTaken) }
        set {
            _$willChange(4)
            storedTaken = newValue
        }
    }
    /// Relative to the reference date.
    var due: Date {
        get { read(5, \.storedDue) }
        set {
            _$willChange(5)
            storedDue = newValue
        }
    }

    static var _$entityName: String { "Reading" }
    static let _$entity = EntityDescription(
        name: "Reading",
        properties: [
            .attribute(ModelCoding.of(Set<String>.self).describe("tags", options: [], originalName: nil, default: [])),
            .attribute(ModelCoding.of(Set<Set<Int>>?.self).describe("marks", options: [], originalName: nil, default: .some(nil))),
            .attribute(ModelCoding.of(Double.self).describe("value", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Float?.self).describe("ratio", options: [.range(...10.0)], originalName: nil, default: .some(nil))),
            .attribute(ModelCoding.of(Date.self).describe("taken", options: [], originalName: nil, default: nil)),
            .attribute(
                ModelCoding.of(Date.self).describe(
                    "due", options: [.range(Date(timeIntervalSinceReferenceDate: 0)...)], originalName: nil,
                    default: Date(timeIntervalSinceReferenceDate: 0))),
        ])
    static let _$properties = ModelProperties(
        Reading.self,
        [
            (\Reading.tags, "tags"), (\Reading.marks, "marks"), (\Reading.value, "value"), (\Reading.ratio, "ratio"),
            (\Reading.taken, "taken"), (\Reading.due, "due"),
        ])
}
