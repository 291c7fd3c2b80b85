// swift-format-ignore-file
// The expansion of Project.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A project of a department.
package final class Project {
    package var name: String {
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
    package var owner: Department? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 0, _$stored_owner)
        }
        set {
            _$willChange(1)
            _$stored_owner = _$retarget(0, from: _$stored_owner, to: newValue)
        }
    }
    /// Without an inverse.
    package var parent: Project? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$target(of: 1, _$stored_parent)
        }
        set {
            _$willChange(2)
            _$stored_parent = _$retarget(1, from: _$stored_parent, to: newValue)
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    private var _$stored_owner: PolyStoreCore.ToOne

    private var _$stored_parent: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$stored_owner = .none
        self._$stored_parent = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_owner = PolyStoreCore.ToOne(record, 1)
        self._$stored_parent = PolyStoreCore.ToOne(record, 2)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_owner = PolyStoreCore.ToOne(record, 1)
        self._$stored_parent = PolyStoreCore.ToOne(record, 2)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
        self._$stored_owner.encode(into: &builder, 1)
        self._$stored_parent.encode(into: &builder, 2)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_owner
        case 1:
            self._$stored_parent
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_owner = target
        case 1:
            self._$stored_parent = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Project"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Project", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "owner", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Project.owner), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: true, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "parent", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Project.parent), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Project.self, [
            (\Project.name, "name"),
            (\Project.owner, "owner"),
            (\Project.parent, "parent"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.relationship(\Project.owner)
        PolyStoreCore.ModelCheck.relationship(\Project.parent)
    }
}

extension Project: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Project: @unchecked Sendable {
}
