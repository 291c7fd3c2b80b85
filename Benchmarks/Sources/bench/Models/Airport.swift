import PolyStoreBackend
import PolyStoreCore

/// An airport of the atlas.
final class Airport: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$code: String
    private var _$iata: String?
    private var _$name: String
    private var _$town: String?
    private var _$elevationFeet: Double
    private var _$latitude: Double
    private var _$longitude: Double
    private var _$country: ToOne

    init(_$state state: consuming ModelState) {
        _$code = ModelCoding.of(String.self).initial
        _$iata = nil
        _$name = ModelCoding.of(String.self).initial
        _$town = nil
        _$elevationFeet = 0
        _$latitude = ModelCoding.of(Double.self).initial
        _$longitude = ModelCoding.of(Double.self).initial
        _$country = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$code = try ModelCoding.of(String.self).decode(record, 0)
        _$iata = try ModelCoding.of(String?.self).decode(record, 1)
        _$name = try ModelCoding.of(String.self).decode(record, 2)
        _$town = try ModelCoding.of(String?.self).decode(record, 3)
        _$elevationFeet = try ModelCoding.of(Double.self).decode(record, 4)
        _$latitude = try ModelCoding.of(Double.self).decode(record, 5)
        _$longitude = try ModelCoding.of(Double.self).decode(record, 6)
        _$country = ToOne(record, 7)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$code = try ModelCoding.of(String.self).decode(record, 0)
        _$iata = try ModelCoding.of(String?.self).decode(record, 1)
        _$name = try ModelCoding.of(String.self).decode(record, 2)
        _$town = try ModelCoding.of(String?.self).decode(record, 3)
        _$elevationFeet = try ModelCoding.of(Double.self).decode(record, 4)
        _$latitude = try ModelCoding.of(Double.self).decode(record, 5)
        _$longitude = try ModelCoding.of(Double.self).decode(record, 6)
        _$country = ToOne(record, 7)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(_$code, into: &builder, 0)
        try ModelCoding.of(String?.self).encode(_$iata, into: &builder, 1)
        try ModelCoding.of(String.self).encode(_$name, into: &builder, 2)
        try ModelCoding.of(String?.self).encode(_$town, into: &builder, 3)
        try ModelCoding.of(Double.self).encode(_$elevationFeet, into: &builder, 4)
        try ModelCoding.of(Double.self).encode(_$latitude, into: &builder, 5)
        try ModelCoding.of(Double.self).encode(_$longitude, into: &builder, 6)
        _$country.encode(into: &builder, 7)
    }

    func _$toOne(_ relationship: Int) -> ToOne { _$country }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { _$country = target }

    var code: String {
        get {
            if _$state.isFault { _$fire(0) }
            return _$code
        }
        set {
            _$willChange(0)
            _$code = newValue
        }
    }
    var iata: String? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$iata
        }
        set {
            _$willChange(1)
            _$iata = newValue
        }
    }
    var name: String {
        get {
            if _$state.isFault { _$fire(2) }
            return _$name
        }
        set {
            _$willChange(2)
            _$name = newValue
        }
    }
    var town: String? {
        get {
            if _$state.isFault { _$fire(3) }
            return _$town
        }
        set {
            _$willChange(3)
            _$town = newValue
        }
    }
    var elevationFeet: Double {
        get {
            if _$state.isFault { _$fire(4) }
            return _$elevationFeet
        }
        set {
            _$willChange(4)
            _$elevationFeet = newValue
        }
    }
    var latitude: Double {
        get {
            if _$state.isFault { _$fire(5) }
            return _$latitude
        }
        set {
            _$willChange(5)
            _$latitude = newValue
        }
    }
    var longitude: Double {
        get {
            if _$state.isFault { _$fire(6) }
            return _$longitude
        }
        set {
            _$willChange(6)
            _$longitude = newValue
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

    static var _$entityName: String { "Airport" }
    static let _$entity = EntityDescription(
        name: "Airport",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String?.self).describe("iata", options: [.indexed], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String?.self).describe("town", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Double.self).describe("elevationFeet", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Double.self).describe("latitude", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Double.self).describe("longitude", options: [], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "country", destination: "Country", isToMany: false, isRequired: true)),
        ])
    static let _$properties = ModelProperties(
        Airport.self,
        [
            (\Airport.code, "code"),
            (\Airport.iata, "iata"),
            (\Airport.name, "name"),
            (\Airport.town, "town"),
            (\Airport.elevationFeet, "elevationFeet"),
            (\Airport.latitude, "latitude"),
            (\Airport.longitude, "longitude"),
            (\Airport.country, "country"),
        ])
}
