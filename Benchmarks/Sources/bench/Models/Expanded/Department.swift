// swift-format-ignore-file
// The expansion of Department.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// The department of the data set.
final class Department {
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
    var people: Set<Person> {
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

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
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
        "Department"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Department", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "people", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Department.people), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Department.self, [
            (\Department.name, "name"),
            (\Department.people, "people"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Department.people)
    }
}

extension Department: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Department: @unchecked Sendable {
}
