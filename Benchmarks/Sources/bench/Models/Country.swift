import PolyStoreBackend
import PolyStoreCore

/// A country of the atlas.
final class Country: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$iso: String
    private var _$name: String
    private var _$capital: String?
    private var _$areaKm2: Double
    private var _$population: Int
    private var _$languages: [String]
    private var _$continent: ToOne

    init(_$state state: consuming ModelState) {
        _$iso = ModelCoding.of(String.self).initial
        _$name = ModelCoding.of(String.self).initial
        _$capital = nil
        _$areaKm2 = 0
        _$population = 0
        _$languages = []
        _$continent = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$iso = try ModelCoding.of(String.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
        _$capital = try ModelCoding.of(String?.self).decode(record, 2)
        _$areaKm2 = try ModelCoding.of(Double.self).decode(record, 3)
        _$population = try ModelCoding.of(Int.self).decode(record, 4)
        _$languages = try ModelCoding.of([String].self).decode(record, 5)
        _$continent = ToOne(record, 6)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$iso = try ModelCoding.of(String.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
        _$capital = try ModelCoding.of(String?.self).decode(record, 2)
        _$areaKm2 = try ModelCoding.of(Double.self).decode(record, 3)
        _$population = try ModelCoding.of(Int.self).decode(record, 4)
        _$languages = try ModelCoding.of([String].self).decode(record, 5)
        _$continent = ToOne(record, 6)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(_$iso, into: &builder, 0)
        try ModelCoding.of(String.self).encode(_$name, into: &builder, 1)
        try ModelCoding.of(String?.self).encode(_$capital, into: &builder, 2)
        try ModelCoding.of(Double.self).encode(_$areaKm2, into: &builder, 3)
        try ModelCoding.of(Int.self).encode(_$population, into: &builder, 4)
        try ModelCoding.of([String].self).encode(_$languages, into: &builder, 5)
        _$continent.encode(into: &builder, 6)
    }

    func _$toOne(_ relationship: Int) -> ToOne { _$continent }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { _$continent = target }

    var iso: String {
        get {
            if _$state.isFault { _$fire(0) }
            return _$iso
        }
        set {
            _$willChange(0)
            _$iso = newValue
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
    var capital: String? {
        get {
            if _$state.isFault { _$fire(2) }
            return _$capital
        }
        set {
            _$willChange(2)
            _$capital = newValue
        }
    }
    var areaKm2: Double {
        get {
            if _$state.isFault { _$fire(3) }
            return _$areaKm2
        }
        set {
            _$willChange(3)
            _$areaKm2 = newValue
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
    var languages: [String] {
        get {
            if _$state.isFault { _$fire(5) }
            return _$languages
        }
        set {
            _$willChange(5)
            _$languages = newValue
        }
    }
    var continent: Continent? {
        get {
            if _$state.isFault { _$fire(6) }
            return _$target(of: 0, _$continent)
        }
        set {
            _$willChange(6)
            _$continent = _$retarget(0, from: _$continent, to: newValue)
        }
    }
    var neighbours: Set<Country> {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }
    var cities: Set<City> {
        get { _$members(of: 2) }
        set { _$setMembers(of: 2, to: newValue) }
        _modify { yield &self[_$members: 2] }
    }
    var airports: Set<Airport> {
        get { _$members(of: 3) }
        set { _$setMembers(of: 3, to: newValue) }
        _modify { yield &self[_$members: 3] }
    }

    static var _$entityName: String { "Country" }
    static let _$entity = EntityDescription(
        name: "Country",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("iso", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("name", options: [.indexed], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String?.self).describe("capital", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Double.self).describe("areaKm2", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Int.self).describe("population", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of([String].self).describe("languages", options: [], originalName: nil, default: [])),
            .relationship(RelationshipDescription(name: "continent", destination: "Continent", isToMany: false)),
            .relationship(RelationshipDescription(name: "neighbours", destination: "Country", isToMany: true, inverse: "neighbours")),
            .relationship(
                RelationshipDescription(name: "cities", destination: "City", isToMany: true, inverse: "country", deleteRule: .cascade)),
            .relationship(
                RelationshipDescription(name: "airports", destination: "Airport", isToMany: true, inverse: "country", deleteRule: .cascade)),
        ])
    static let _$properties = ModelProperties(
        Country.self,
        [
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
}
