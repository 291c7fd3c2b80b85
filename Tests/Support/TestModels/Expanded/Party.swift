// swift-format-ignore-file
// The expansion of Party.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// The abstract root of a hierarchy: ``Human`` and ``Firm`` inherit from it, ``Worker`` inherits from ``Human``.
package class Party {
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
    /// Unique in the hierarchy.
    package var code: String? {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_code
        }
        set {
            _$willChange(1)
            _$stored_code = newValue
        }
    }
    /// Without an inverse.
    package var sponsor: Party? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$target(of: 0, _$stored_sponsor)
        }
        set {
            _$willChange(2)
            _$stored_sponsor = _$retarget(0, from: _$stored_sponsor, to: newValue)
        }
    }
    package var visits: Set<Visit> {
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

    @exclusivity(unchecked) package final var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    private var _$stored_code: String?

    private var _$stored_sponsor: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = ""
        self._$stored_code = nil
        self._$stored_sponsor = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_code = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 1)
        self._$stored_sponsor = PolyStoreCore.ToOne(record, 2)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_code = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 1)
        self._$stored_sponsor = PolyStoreCore.ToOne(record, 2)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String?).self).encode(self._$stored_code, into: &builder, 1)
        self._$stored_sponsor.encode(into: &builder, 2)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_sponsor
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_sponsor = target
        default:
            break
        }
    }

    package class var _$entityName: String {
        "Party"
    }

    private static let _$ownEntity = PolyStoreBackend.EntityDescription(
        name: "Party", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [.indexed], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((String?).self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "sponsor", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Party.sponsor), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "visits", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Party.visits), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("party", of: \Party.visits), deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package class var _$entity: PolyStoreBackend.EntityDescription {
        _$ownEntity
    }

    private static let _$ownProperties = PolyStoreCore.ModelProperties(Party.self, _$paths_Party(Party.self))

    package class var _$properties: PolyStoreCore.ModelProperties {
        _$ownProperties
    }

    package static func _$paths_Party<Root: Party>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
        [
            (\Root.name, "name"),
            (\Root.code, "code"),
            (\Root.sponsor, "sponsor"),
            (\Root.visits, "visits"),
        ]
    }

    package class func _$storedName(_ property: String) -> String {
        switch property {
        default:
            property
        }
    }

    package static let _$hierarchy: PolyStoreCore.ModelHierarchy? = PolyStoreCore.ModelHierarchy(Party.self)

    package class var _$inheritance: PolyStoreCore.ModelInheritance {
        var subentities: [any PolyStoreCore.Model.Type] = []
    subentities.append(PolyStoreCore.ModelCheck.Superclass<Party>.lists(Human.self))
    subentities.append(PolyStoreCore.ModelCheck.Superclass<Party>.lists(Firm.self))
        return PolyStoreCore.ModelInheritance(isAbstract: true, superentity: nil, subentities: subentities)
    }

    package func validate() throws {
    }

    package func validateForDelete() throws {
    }

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((String?).self)
        PolyStoreCore.ModelCheck.relationship(\Party.sponsor)
        PolyStoreCore.ModelCheck.relationship(\Party.visits)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Visit.party)
        inverse1.check(Party.self)
    }
}

extension Party: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Party: @unchecked Sendable {
}
