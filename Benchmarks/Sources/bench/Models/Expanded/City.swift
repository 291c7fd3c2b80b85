// swift-format-ignore-file
// The expansion of City.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A city of the atlas, with an index by position.
final class City {
    var geonameID: Int {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_geonameID
        }
        set {
            _$willChange(0)
            _$stored_geonameID = newValue
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
    var latitude: Double {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_latitude
        }
        set {
            _$willChange(2)
            _$stored_latitude = newValue
        }
    }
    var longitude: Double {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_longitude
        }
        set {
            _$willChange(3)
            _$stored_longitude = newValue
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
    var timeZone: String? {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_timeZone
        }
        set {
            _$willChange(5)
            _$stored_timeZone = newValue
        }
    }
    var alternateNames: [String] {
        get {
            if _$state.isFault {
                _$fire(6)
            }
            return _$stored_alternateNames
        }
        set {
            _$willChange(6)
            _$stored_alternateNames = newValue
        }
        _modify {
            _$willChange(6)
            yield &_$stored_alternateNames
        }
    }
    var country: Country? {
        get {
            if _$state.isFault {
                _$fire(7)
            }
            return _$target(of: 0, _$stored_country)
        }
        set {
            _$willChange(7)
            _$stored_country = _$retarget(0, from: _$stored_country, to: newValue)
        }
    }

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_geonameID: Int

    private var _$stored_name: String

    private var _$stored_latitude: Double

    private var _$stored_longitude: Double

    private var _$stored_population: Int

    private var _$stored_timeZone: String?

    private var _$stored_alternateNames: [String]

    private var _$stored_country: PolyStoreCore.ToOne

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_geonameID = PolyStoreCore.ModelCoding._initial((Int).self)
        self._$stored_name = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_latitude = PolyStoreCore.ModelCoding._initial((Double).self)
        self._$stored_longitude = PolyStoreCore.ModelCoding._initial((Double).self)
        self._$stored_population = 0
        self._$stored_timeZone = nil
        self._$stored_alternateNames = []
        self._$stored_country = .none
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_geonameID = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_latitude = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 2)
        self._$stored_longitude = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_population = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 4)
        self._$stored_timeZone = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 5)
        self._$stored_alternateNames = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 6)
        self._$stored_country = PolyStoreCore.ToOne(record, 7)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_geonameID = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 1)
        self._$stored_latitude = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 2)
        self._$stored_longitude = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 3)
        self._$stored_population = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 4)
        self._$stored_timeZone = try PolyStoreCore.ModelCoding.of((String?).self).decode(record, 5)
        self._$stored_alternateNames = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 6)
        self._$stored_country = PolyStoreCore.ToOne(record, 7)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_geonameID, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_latitude, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_longitude, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_population, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of((String?).self).encode(self._$stored_timeZone, into: &builder, 5)
        try PolyStoreCore.ModelCoding.of(([String]).self).encode(self._$stored_alternateNames, into: &builder, 6)
        self._$stored_country.encode(into: &builder, 7)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_country
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_country = target
        default:
            break
        }
    }

    static var _$entityName: String {
        "City"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "City", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("geonameID", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [.indexed], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("latitude", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("longitude", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("population", options: [.indexed], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((String?).self).describe("timeZone", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of(([String]).self).describe("alternateNames", options: [], originalName: nil, default: [])),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "country", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\City.country), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: true, minCount: 0, maxCount: nil)),
        ],
        indexes: [
            PolyStoreBackend.IndexDescription(fields: ["latitude", "longitude"], isUnique: false),
        ])

    static let _$properties = PolyStoreCore.ModelProperties(City.self, [
            (\City.geonameID, "geonameID"),
            (\City.name, "name"),
            (\City.latitude, "latitude"),
            (\City.longitude, "longitude"),
            (\City.population, "population"),
            (\City.timeZone, "timeZone"),
            (\City.alternateNames, "alternateNames"),
            (\City.country, "country"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((Int).self)
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.required((Double).self)
        PolyStoreCore.ModelCheck.required((Double).self)
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.attribute((String?).self)
        PolyStoreCore.ModelCheck.attribute(([String]).self)
        PolyStoreCore.ModelCheck.relationship(\City.country)
    }
}

extension City: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension City: @unchecked Sendable {
}
