// swift-format-ignore-file
// The expansion of Country.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A country of the atlas.
final class Country {
    var iso: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_iso
        }
        set {
            _$willChange(0)
            _$stored_iso = newValue
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
    var capital: String? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_capital
        }
        set {
            _$willChange(2)
            _$stored_capital = newValue
        }
    }
    var areaKm2: Double {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_areaKm2
        }
        set {
            _$willChange(3)
            _$stored_areaKm2 = newValue
        }
    }
    var population: Int {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$stored_population
        }
        set {
            _$willChange(4)
            _$stored_population = newValue
        }
    }
    var languages: [String] {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_languages
        }
        set {
            _$willChange(5)
            _$stored_languages = newValue
        }
        _modify {
            _$willChange(5)
            yield &_$stored_languages
        }
    }
    var continent: Continent? {
        get {
            if _$state.isFault {
                _$fire(6)
            }
            return _$target(of: 0, _$stored_continent)
        }
        set {
            _$willChange(6)
            _$stored_continent = _$retarget(0, from: _$stored_continent, to: newValue)
        }
    }
    var neighbours: Set<Country> {
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
    var cities: Set<City> {
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
    var airports: Set<Airport> {
        get {
            _$members(of: 3)
        }
        set {
            _$setMembers(of: 3, to: newValue)
        }
        _modify {
            yield &self[_$members: 3]
        }
    }

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_iso: String

    private var _$stored_name: String

    private var _$stored_capital: String?

    private var _$stored_areaKm2: Double

    private var _$stored_population: Int

    private var _$stored_languages: [String]

    private var _$stored_continent: PolyStoreCore.ToOne

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_iso = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_name = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_capital = nil
        self._$stored_areaKm2 = 0
        self._$stored_population = 0
        self._$stored_languages = []
        self._$stored_continent = .none
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_iso = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_capital = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 2)
        self._$stored_areaKm2 = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_population = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 4)
        self._$stored_languages = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 5)
        self._$stored_continent = PolyStoreCore.ToOne(record, 6)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_iso = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_capital = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 2)
        self._$stored_areaKm2 = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_population = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 4)
        self._$stored_languages = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 5)
        self._$stored_continent = PolyStoreCore.ToOne(record, 6)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_iso, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((String?).self).encode(self._$stored_capital, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_areaKm2, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_population, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of(([String]).self).encode(self._$stored_languages, into: &builder, 5)
        self._$stored_continent.encode(into: &builder, 6)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_continent
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_continent = target
        default:
            break
        }
    }

    static var _$entityName: String {
        "Country"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Country", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("iso", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [.indexed], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String?).self).describe("capital", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("areaKm2", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("population", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of(([String]).self).describe("languages", options: [], originalName: nil, default: [])),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "continent", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Country.continent), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "neighbours", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Country.neighbours), isToMany: true, isOrdered: false, inverse: "neighbours", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "cities", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Country.cities), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("country", of: \Country.cities), deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "airports", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Country.airports), isToMany: true, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("country", of: \Country.airports), deleteRule: .cascade, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Country.self, [
            (\Country.iso, "iso"),
            (\Country.name, "name"),
            (\Country.capital, "capital"),
            (\Country.areaKm2, "areaKm2"),
            (\Country.population, "population"),
            (\Country.languages, "languages"),
            (\Country.continent, "continent"),
            (\Country.neighbours, "neighbours"),
            (\Country.cities, "cities"),
            (\Country.airports, "airports"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.attribute((String?).self)
        PolyStoreCore.ModelCheck.attribute((Double).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute(([String]).self)
        PolyStoreCore.ModelCheck.relationship(\Country.continent)
        PolyStoreCore.ModelCheck.relationship(\Country.neighbours)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Country.neighbours)
        inverse1.check(Country.self)
        PolyStoreCore.ModelCheck.relationship(\Country.cities)
        let inverse2 = PolyStoreCore.ModelCheck.inverse(\City.country)
        inverse2.check(Country.self)
        PolyStoreCore.ModelCheck.relationship(\Country.airports)
        let inverse3 = PolyStoreCore.ModelCheck.inverse(\Airport.country)
        inverse3.check(Country.self)
    }
}

extension Country: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Country: @unchecked Sendable {
}
