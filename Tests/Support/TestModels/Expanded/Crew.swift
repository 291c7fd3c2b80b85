// swift-format-ignore-file
// The expansion of Crew.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// Has one or two sailors.
package final class Crew {
    package var sailors: Set<Sailor> {
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

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
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
        "Crew"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Crew", originalName: nil,
        properties: [
            .relationship(PolyStoreBackend.RelationshipDescription(name: "sailors", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Crew.sailors), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 1, maxCount: 2)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Crew.self, [
            (\Crew.sailors, "sailors"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.relationship(\Crew.sailors)
    }
}

extension Crew: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Crew: @unchecked Sendable {
}
