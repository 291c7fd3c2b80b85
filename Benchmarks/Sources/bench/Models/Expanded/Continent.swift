// swift-format-ignore-file
// The expansion of Continent.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A continent of the atlas.
final class Continent {
    var code: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_code
        }
        set {
            _$willChange(0)
            _$stored_code = newValue
        }
    }
    var name: String {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_name
        }
        set {
            _$willChange(1)
            _$stored_name = newValue
        }
    }
    var countries: Set<Country> {
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

    private var _$stored_code: String

    private var _$stored_name: String

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_code = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_name = PolyStoreCore.ModelCoding._initial((String).self)
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_code = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_code = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_code, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 1)
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
        "Continent"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Continent", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "countries", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Continent.countries), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("continent", of: \Continent.countries), deleteRule: .deny, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Continent.self, [
            (\Continent.code, "code"),
            (\Continent.name, "name"),
            (\Continent.countries, "countries"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.relationship(\Continent.countries)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Country.continent)
        inverse0.check(Continent.self)
    }
}

extension Continent: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Continent: @unchecked Sendable {
}
