// swift-format-ignore-file
// The expansion of Person.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A person of a company.
package final class Person {
    package var email: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_email
        }
        set {
            _$willChange(0)
            _$stored_email = newValue
        }
    }
    package var age: Int {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_age
        }
        set {
            _$willChange(1)
            _$stored_age = newValue
        }
    }
    package var nickname: String? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_nickname
        }
        set {
            _$willChange(2)
            _$stored_nickname = newValue
        }
    }
    package var department: Department? {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$target(of: 0, _$stored_department)
        }
        set {
            _$willChange(3)
            _$stored_department = _$retarget(0, from: _$stored_department, to: newValue)
        }
    }
    package var friends: Set<Person> {
        get {
            _$members(of: 1)
        }
        set {
            _$setMembers(of: 1, to: newValue)
        }
        _modify {
            yield &self[_$members: 1]
        }
    }
    package var spouse: Person? {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$target(of: 2, _$stored_spouse)
        }
        set {
            _$willChange(4)
            _$stored_spouse = _$retarget(2, from: _$stored_spouse, to: newValue)
        }
    }

    package var computed: String { "\(email) \(age)" }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_email: String

    private var _$stored_age: Int

    private var _$stored_nickname: String?

    private var _$stored_department: PolyStoreCore.ToOne

    private var _$stored_spouse: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_email = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_age = 0
        self._$stored_nickname = nil
        self._$stored_department = .none
        self._$stored_spouse = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_email = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
        self._$stored_nickname = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 2)
        self._$stored_department = PolyStoreCore.ToOne(record, 3)
        self._$stored_spouse = PolyStoreCore.ToOne(record, 4)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_email = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 1)
        self._$stored_nickname = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 2)
        self._$stored_department = PolyStoreCore.ToOne(record, 3)
        self._$stored_spouse = PolyStoreCore.ToOne(record, 4)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_email, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_age, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((String?).self).encode(self._$stored_nickname, into: &builder, 2)
        self._$stored_department.encode(into: &builder, 3)
        self._$stored_spouse.encode(into: &builder, 4)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_department
        case 2:
            self._$stored_spouse
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_department = target
        case 2:
            self._$stored_spouse = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Person"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Person", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("email", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((String?).self).describe("nickname", options: [], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "department", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Person.department), isToMany: false, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("people", of: \Person.department), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "friends", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Person.friends), isToMany: true, isOrdered: false, inverse: "friends", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "spouse", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Person.spouse), isToMany: false, isOrdered: false, inverse: "spouse", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Person.self, [
            (\Person.email, "email"),
            (\Person.age, "age"),
            (\Person.nickname, "nickname"),
            (\Person.department, "department"),
            (\Person.friends, "friends"),
            (\Person.spouse, "spouse"),
        ], unstored: {
            [(\Person.computed, "computed")]
        })

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute((String?).self)
        PolyStoreCore.ModelCheck.relationship(\Person.department)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Department.people)
        inverse0.check(Person.self)
        PolyStoreCore.ModelCheck.relationship(\Person.friends)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Person.friends)
        inverse1.check(Person.self)
        PolyStoreCore.ModelCheck.relationship(\Person.spouse)
        let inverse2 = PolyStoreCore.ModelCheck.inverse(\Person.spouse)
        inverse2.check(Person.self)
    }
}

extension Person: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Person: @unchecked Sendable {
}
