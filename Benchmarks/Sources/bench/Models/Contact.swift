import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// The object that W16 and W17 import: the fields and indexes of ``Person``, with the number of the department as an attribute. The expansion of
///
///     @Model final class Contact {
///         var name: String = ""
///         @Attribute(.unique) var email: String
///         @Attribute(.indexed) var age: Int = 0
///         var score: Double = 0
///         var isActive: Bool = false
///         var createdAt: Date
///         var notes: String = ""
///         @Attribute(.indexed) var departmentNumber: Int = 0
///     }
final class Contact: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$name: String
    private var _$email: String
    private var _$age: Int
    private var _$score: Double
    private var _$isActive: Bool
    private var _$createdAt: Date
    private var _$notes: String
    private var _$departmentNumber: Int

    init(_$state state: consuming ModelState) {
        _$name = ""
        _$email = ModelCoding.of(String.self).initial
        _$age = 0
        _$score = 0
        _$isActive = false
        _$createdAt = ModelCoding.of(Date.self).initial
        _$notes = ""
        _$departmentNumber = 0
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$name = try ModelCoding.of(String.self).decode(record, 0)
        _$email = try ModelCoding.of(String.self).decode(record, 1)
        _$age = try ModelCoding.of(Int.self).decode(record, 2)
        _$score = try ModelCoding.of(Double.self).decode(record, 3)
        _$isActive = try ModelCoding.of(Bool.self).decode(record, 4)
        _$createdAt = try ModelCoding.of(Date.self).decode(record, 5)
        _$notes = try ModelCoding.of(String.self).decode(record, 6)
        _$departmentNumber = try ModelCoding.of(Int.self).decode(record, 7)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$name = try ModelCoding.of(String.self).decode(record, 0)
        _$email = try ModelCoding.of(String.self).decode(record, 1)
        _$age = try ModelCoding.of(Int.self).decode(record, 2)
        _$score = try ModelCoding.of(Double.self).decode(record, 3)
        _$isActive = try ModelCoding.of(Bool.self).decode(record, 4)
        _$createdAt = try ModelCoding.of(Date.self).decode(record, 5)
        _$notes = try ModelCoding.of(String.self).decode(record, 6)
        _$departmentNumber = try ModelCoding.of(Int.self).decode(record, 7)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(_$name, into: &builder, 0)
        try ModelCoding.of(String.self).encode(_$email, into: &builder, 1)
        try ModelCoding.of(Int.self).encode(_$age, into: &builder, 2)
        try ModelCoding.of(Double.self).encode(_$score, into: &builder, 3)
        try ModelCoding.of(Bool.self).encode(_$isActive, into: &builder, 4)
        try ModelCoding.of(Date.self).encode(_$createdAt, into: &builder, 5)
        try ModelCoding.of(String.self).encode(_$notes, into: &builder, 6)
        try ModelCoding.of(Int.self).encode(_$departmentNumber, into: &builder, 7)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return _$name
        }
        set {
            _$willChange(0)
            _$name = newValue
        }
    }
    var email: String {
        get {
            if _$state.isFault { _$fire(1) }
            return _$email
        }
        set {
            _$willChange(1)
            _$email = newValue
        }
    }
    var age: Int {
        get {
            if _$state.isFault { _$fire(2) }
            return _$age
        }
        set {
            _$willChange(2)
            _$age = newValue
        }
    }
    var score: Double {
        get {
            if _$state.isFault { _$fire(3) }
            return _$score
        }
        set {
            _$willChange(3)
            _$score = newValue
        }
    }
    var isActive: Bool {
        get {
            if _$state.isFault { _$fire(4) }
            return _$isActive
        }
        set {
            _$willChange(4)
            _$isActive = newValue
        }
    }
    var createdAt: Date {
        get {
            if _$state.isFault { _$fire(5) }
            return _$createdAt
        }
        set {
            _$willChange(5)
            _$createdAt = newValue
        }
    }
    var notes: String {
        get {
            if _$state.isFault { _$fire(6) }
            return _$notes
        }
        set {
            _$willChange(6)
            _$notes = newValue
        }
    }
    var departmentNumber: Int {
        get {
            if _$state.isFault { _$fire(7) }
            return _$departmentNumber
        }
        set {
            _$willChange(7)
            _$departmentNumber = newValue
        }
    }

    static var _$entityName: String { "Contact" }
    static let _$entity = EntityDescription(
        name: "Contact",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String.self).describe("email", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Int.self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Double.self).describe("score", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Bool.self).describe("isActive", options: [], originalName: nil, default: false)),
            .attribute(ModelCoding.of(Date.self).describe("createdAt", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("notes", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(Int.self).describe("departmentNumber", options: [.indexed], originalName: nil, default: 0)),
        ])
    static let _$properties = ModelProperties(
        Contact.self,
        [
            (\Contact.name, "name"),
            (\Contact.email, "email"),
            (\Contact.age, "age"),
            (\Contact.score, "score"),
            (\Contact.isActive, "isActive"),
            (\Contact.createdAt, "createdAt"),
            (\Contact.notes, "notes"),
            (\Contact.departmentNumber, "departmentNumber"),
        ])
}

extension Contact: PersonFields {
    var id: Int64 { _$state.rowID }
    var departmentID: Int64 { Int64(departmentNumber) }
}

extension Contact: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Contact, String> { \.email }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> String? { try source.require("email") }

    func update(from source: SourceRecord, in transaction: Transaction) throws {
        name = try source.require("name")
        age = try source.require("age")
        score = try source.require("score")
        isActive = try source.require("isActive")
        createdAt = try source.require("createdAt")
        notes = try source.require("notes")
        departmentNumber = try source.require("departmentNumber")
    }
}
