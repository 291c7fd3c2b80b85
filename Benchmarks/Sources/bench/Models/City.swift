import PolyStoreBackend
import PolyStoreCore

/// A city of the atlas, with an index by position.
final class City: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$geonameID: Int
    private var _$name: String
    private var _$latitude: Double
    private var _$longitude: Double
    private var _$population: Int
    private var _$timeZone: String?
    private var _$alternateNames: [String]
    private var _$country: ToOne

    init(_$state state: consuming ModelState) {
        _$geonameID = ModelCoding.of(Int.self).initial
        _$name = ModelCoding.of(String.self).initial
        _$latitude = ModelCoding.of(Double.self).initial
        _$longitude = ModelCoding.of(Double.self).initial
        _$population = 0
        _$timeZone = nil
        _$alternateNames = []
        _$country = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$geonameID = try ModelCoding.of(Int.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
        _$latitude = try ModelCoding.of(Double.self).decode(record, 2)
        _$longitude = try ModelCoding.of(Double.self).decode(record, 3)
        _$population = try ModelCoding.of(Int.self).decode(record, 4)
        _$timeZone = try ModelCoding.of(String?.self).decode(record, 5)
        _$alternateNames = try ModelCoding.of([String].self).decode(record, 6)
        _$country = ToOne(record, 7)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$geonameID = try ModelCoding.of(Int.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
        _$latitude = try ModelCoding.of(Double.self).decode(record, 2)
        _$longitude = try ModelCoding.of(Double.self).decode(record, 3)
        _$population = try ModelCoding.of(Int.self).decode(record, 4)
        _$timeZone = try ModelCoding.of(String?.self).decode(record, 5)
        _$alternateNames = try ModelCoding.of([String].self).decode(record, 6)
        _$country = ToOne(record, 7)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Int.self).encode(_$geonameID, into: &builder, 0)
        try ModelCoding.of(String.self).encode(_$name, into: &builder, 1)
        try ModelCoding.of(Double.self).encode(_$latitude, into: &builder, 2)
        try ModelCoding.of(Double.self).encode(_$longitude, into: &builder, 3)
        try ModelCoding.of(Int.self).encode(_$population, into: &builder, 4)
        try ModelCoding.of(String?.self).encode(_$timeZone, into: &builder, 5)
        try ModelCoding.of([String].self).encode(_$alternateNames, into: &builder, 6)
        _$country.encode(into: &builder, 7)
    }

    func _$toOne(_ relationship: Int) -> ToOne { _$country }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { _$country = target }

    var geonameID: Int {
        get {
            if _$state.isFault { _$fire(0) }
            return _$geonameID
        }
        set {
            _$willChange(0)
            _$geonameID = newValue
        }
    }
    var name: String {
        get {
            if _$state.isFault { _$fire(1) }
            return _$name
        }
        set {
            _$willChange(1)
            _$name = newValue
        }
    }
    var latitude: Double {
        get {
            if _$state.isFault { _$fire(2) }
            return _$latitude
        }
        set {
            _$willChange(2)
            _$latitude = newValue
        }
    }
    var longitude: Double {
        get {
            if _$state.isFault { _$fire(3) }
            return _$longitude
        }
        set {
            _$willChange(3)
            _$longitude = newValue
        }
    }
    var population: Int {
        get {
            if _$state.isFault { _$fire(4) }
            return _$population
        }
        set {
            _$willChange(4)
            _$population = newValue
        }
    }
    var timeZone: String? {
        get {
            if _$state.isFault { _$fire(5) }
            return _$timeZone
        }
        set {
            _$willChange(5)
            _$timeZone = newValue
        }
    }
    var alternateNames: [String] {
        get {
            if _$state.isFault { _$fire(6) }
            return _$alternateNames
        }
        set {
            _$willChange(6)
            _$alternateNames = newValue
        }
    }
    var country: Country? {
        get {
            if _$state.isFault { _$fire(7) }
            return _$target(of: 0, _$country)
        }
        set {
            _$willChange(7)
            _$country = _$retarget(0, from: _$country, to: newValue)
        }
    }

    static var _$entityName: String { "City" }
    static let _$entity = EntityDescription(
        name: "City",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("geonameID", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("name", options: [.indexed], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Double.self).describe("latitude", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Double.self).describe("longitude", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Int.self).describe("population", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(String?.self).describe("timeZone", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of([String].self).describe("alternateNames", options: [], originalName: nil, default: [])),
            .relationship(RelationshipDescription(name: "country", destination: "Country", isToMany: false, isRequired: true)),
        ],
        indexes: [IndexDescription(fields: ["latitude", "longitude"])])
    static let _$properties = ModelProperties(
        City.self,
        [
            (\City.geonameID, "geonameID"),
            (\City.name, "name"),
            (\City.latitude, "latitude"),
            (\City.longitude, "longitude"),
            (\City.population, "population"),
            (\City.timeZone, "timeZone"),
            (\City.alternateNames, "alternateNames"),
            (\City.country, "country"),
        ])
}
