// swift-format-ignore-file
// The expansion of Department.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import Foundation
import PolyStoreBackend
import PolyStoreCore

/// A department of a company. Its entity has a name of its own.
package final class Department {
    package var title: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_title
        }
        set {
            _$willChange(0)
            _$stored_title = newValue
        }
    }
    package var budget: Decimal {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_budget
        }
        set {
            _$willChange(1)
            _$stored_budget = newValue
        }
    }
    package var people: Set<Person> {
        get {
            _$members(of: 0)
        }
        set {
            _$setMembers(of: 0, to: newValue)
        }
        _modify {
            yield &self[_$members: 0]
        }
    }
    package var projects: Set<Project> {
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
    /// Without an inverse.
    package var tags: Set<Project> {
        get {
            _$members(of: 2)
        }
        set {
            _$setMembers(of: 2, to: newValue)
        }
        _modify {
            yield &self[_$members: 2]
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_title: String

    private var _$stored_budget: Decimal

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_title = ""
        self._$stored_budget = 0
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_budget = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 1)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_title = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_budget = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 1)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_title, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Decimal).self).encode(self._$stored_budget, into: &builder, 1)
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
        "Dept"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Dept", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("title", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((Decimal).self).describe("budget", options: [.indexed], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "people", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Department.people), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .deny, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "projects", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Department.projects), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("owner", of: \Department.projects), deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "tags", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Department.tags), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Department.self, [
            (\Department.title, "title"),
            (\Department.budget, "budget"),
            (\Department.people, "people"),
            (\Department.projects, "projects"),
            (\Department.tags, "tags"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((Decimal).self)
        PolyStoreCore.ModelCheck.relationship(\Department.people)
        PolyStoreCore.ModelCheck.relationship(\Department.projects)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Project.owner)
        inverse1.check(Department.self)
        PolyStoreCore.ModelCheck.relationship(\Department.tags)
    }
}

extension Department: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Department: @unchecked Sendable {
}
