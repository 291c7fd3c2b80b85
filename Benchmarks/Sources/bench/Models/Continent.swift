import PolyStoreBackend
import PolyStoreCore

/// A continent of the atlas. All models here are written as the macro expands them.
final class Continent: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$code: String
    private var _$name: String

    init(_$state state: consuming ModelState) {
        _$code = ModelCoding.of(String.self).initial
        _$name = ModelCoding.of(String.self).initial
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$code = try ModelCoding.of(String.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$code = try ModelCoding.of(String.self).decode(record, 0)
        _$name = try ModelCoding.of(String.self).decode(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(_$code, into: &builder, 0)
        try ModelCoding.of(String.self).encode(_$name, into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

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
    var countries: Set<Country> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }

    static var _$entityName: String { "Continent" }
    static let _$entity = EntityDescription(
        name: "Continent",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: nil)),
            .relationship(
                RelationshipDescription(name: "countries", destination: "Country", isToMany: true, inverse: "continent", deleteRule: .deny)),
        ])
    static let _$properties = ModelProperties(
        Continent.self,
        [
            (\Continent.code, "code"),
            (\Continent.name, "name"),
            (\Continent.countries, "countries"),
        ])
}
