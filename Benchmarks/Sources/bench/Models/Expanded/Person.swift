// swift-format-ignore-file
// The expansion of Person.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import Foundation
import PolyStoreBackend
import PolyStoreCore

/// The person of the data set.
final class Person {
    var name: String {
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
    var email: String {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_email
        }
        set {
            _$willChange(1)
            _$stored_email = newValue
        }
    }
    var age: Int {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_age
        }
        set {
            _$willChange(2)
            _$stored_age = newValue
        }
    }
    var score: Double {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_score
        }
        set {
            _$willChange(3)
            _$stored_score = newValue
        }
    }
    var isActive: Bool {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$stored_isActive
        }
        set {
            _$willChange(4)
            _$stored_isActive = newValue
        }
    }
    var createdAt: Date {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_createdAt
        }
        set {
            _$willChange(5)
            _$stored_createdAt = newValue
        }
    }
    var notes: String {
        get {
            if _$state.isFault {
                _$fire(6)
            }
            return _$stored_notes
        }
        set {
            _$willChange(6)
            _$stored_notes = newValue
        }
    }
    var department: Department? {
        get {
            if _$state.isFault {
                _$fire(7)
            }
            return _$target(of: 0, _$stored_department)
        }
        set {
            _$willChange(7)
            _$stored_department = _$retarget(0, from: _$stored_department, to: newValue)
        }
    }

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    private var _$stored_email: String

    private var _$stored_age: Int

    private var _$stored_score: Double

    private var _$stored_isActive: Bool

    private var _$stored_createdAt: Date

    private var _$stored_notes: String

    private var _$stored_department: PolyStoreCore.ToOne

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$stored_email = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_age = 0
        self._$stored_score = 0
        self._$stored_isActive = false
        self._$stored_createdAt = PolyStoreCore.ModelCoding._initial((Date).self)
        self._$stored_notes = ""
        self._$stored_department = .none
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_email = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 2)
        self._$stored_score = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_isActive = try PolyStoreCore.ModelCoding.of((Bool).self).decode(record, 4)
        self._$stored_createdAt = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 5)
        self._$stored_notes = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 6)
        self._$stored_department = PolyStoreCore.ToOne(record, 7)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_email = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 2)
        self._$stored_score = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_isActive = try PolyStoreCore.ModelCoding.of((Bool).self).decode(record, 4)
        self._$stored_createdAt = try PolyStoreCore.ModelCoding.of((Date).self).decode(record, 5)
        self._$stored_notes = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 6)
        self._$stored_department = PolyStoreCore.ToOne(record, 7)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_email, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_age, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_score, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((Bool).self).encode(self._$stored_isActive, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of((Date).self).encode(self._$stored_createdAt, into: &builder, 5)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_notes, into: &builder, 6)
        self._$stored_department.encode(into: &builder, 7)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_department
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_department = target
        default:
            break
        }
    }

    static var _$entityName: String {
        "Person"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Person", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("email", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("score", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Bool).self).describe("isActive", options: [], originalName: nil, default: false)),
            .attribute(PolyStoreCore.ModelCoding.of((Date).self).describe("createdAt", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("notes", options: [], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "department", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Person.department), isToMany: false, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("people", of: \Person.department), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Person.self, [
            (\Person.name, "name"),
            (\Person.email, "email"),
            (\Person.age, "age"),
            (\Person.score, "score"),
            (\Person.isActive, "isActive"),
            (\Person.createdAt, "createdAt"),
            (\Person.notes, "notes"),
            (\Person.department, "department"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute((Double).self)
        PolyStoreCore.ModelCheck.attribute((Bool).self)
        PolyStoreCore.ModelCheck.required((Date).self)
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Person.department)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Department.people)
        inverse0.check(Person.self)
    }
}

extension Person: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Person: @unchecked Sendable {
}
