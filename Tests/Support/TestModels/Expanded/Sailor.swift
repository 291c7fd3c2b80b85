// swift-format-ignore-file
// The expansion of Sailor.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A member of a crew, with a to-one relationship for each delete rule.
package final class Sailor {
    /// Required.
    package var crew: Crew? {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$target(of: 0, _$stored_crew)
        }
        set {
            _$willChange(0)
            _$stored_crew = _$retarget(0, from: _$stored_crew, to: newValue)
        }
    }
    /// Deleted with this one; without an inverse.
    package var next: Sailor? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$target(of: 1, _$stored_next)
        }
        set {
            _$willChange(1)
            _$stored_next = _$retarget(1, from: _$stored_next, to: newValue)
        }
    }
    /// One to one, with cascade on both sides.
    package var buddy: Sailor? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$target(of: 2, _$stored_buddy)
        }
        set {
            _$willChange(2)
            _$stored_buddy = _$retarget(2, from: _$stored_buddy, to: newValue)
        }
    }
    /// Denies the deletion of this one.
    package var ward: Sailor? {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$target(of: 3, _$stored_ward)
        }
        set {
            _$willChange(3)
            _$stored_ward = _$retarget(3, from: _$stored_ward, to: newValue)
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_crew: PolyStoreCore.ToOne

    private var _$stored_next: PolyStoreCore.ToOne

    private var _$stored_buddy: PolyStoreCore.ToOne

    private var _$stored_ward: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_crew = .none
        self._$stored_next = .none
        self._$stored_buddy = .none
        self._$stored_ward = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_crew = PolyStoreCore.ToOne(record, 0)
        self._$stored_next = PolyStoreCore.ToOne(record, 1)
        self._$stored_buddy = PolyStoreCore.ToOne(record, 2)
        self._$stored_ward = PolyStoreCore.ToOne(record, 3)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_crew = PolyStoreCore.ToOne(record, 0)
        self._$stored_next = PolyStoreCore.ToOne(record, 1)
        self._$stored_buddy = PolyStoreCore.ToOne(record, 2)
        self._$stored_ward = PolyStoreCore.ToOne(record, 3)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        self._$stored_crew.encode(into: &builder, 0)
        self._$stored_next.encode(into: &builder, 1)
        self._$stored_buddy.encode(into: &builder, 2)
        self._$stored_ward.encode(into: &builder, 3)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_crew
        case 1:
            self._$stored_next
        case 2:
            self._$stored_buddy
        case 3:
            self._$stored_ward
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_crew = target
        case 1:
            self._$stored_next = target
        case 2:
            self._$stored_buddy = target
        case 3:
            self._$stored_ward = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Sailor"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Sailor", originalName: nil,
        properties: [
            .relationship(PolyStoreBackend.RelationshipDescription(name: "crew", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Sailor.crew), isToMany: false, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("sailors", of: \Sailor.crew), deleteRule: .nullify, isRequired: true, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "next", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Sailor.next), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "buddy", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Sailor.buddy), isToMany: false, isOrdered: false, inverse: "buddy", deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "ward", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Sailor.ward), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .deny, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Sailor.self, [
            (\Sailor.crew, "crew"),
            (\Sailor.next, "next"),
            (\Sailor.buddy, "buddy"),
            (\Sailor.ward, "ward"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.relationship(\Sailor.crew)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Crew.sailors)
        inverse0.check(Sailor.self)
        PolyStoreCore.ModelCheck.relationship(\Sailor.next)
        PolyStoreCore.ModelCheck.relationship(\Sailor.buddy)
        let inverse2 = PolyStoreCore.ModelCheck.inverse(\Sailor.buddy)
        inverse2.check(Sailor.self)
        PolyStoreCore.ModelCheck.relationship(\Sailor.ward)
    }
}

extension Sailor: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Sailor: @unchecked Sendable {
}
