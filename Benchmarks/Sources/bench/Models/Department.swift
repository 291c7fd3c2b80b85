import PolyStoreBackend
import PolyStoreCore

/// The expansion of `@Model` for a name and `@Relationship var people: Set<Person>`.
final class Department: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$name: String

    init(_$state state: consuming ModelState) {
        _$name = ""
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$name = try ModelCoding.of(String.self).decode(record, 0)
        _$state = state
    }

    func _$load(_ record: RecordView) throws { _$name = try ModelCoding.of(String.self).decode(record, 0) }
    func _$encode(into builder: inout RecordBuilder) throws { try ModelCoding.of(String.self).encode(_$name, into: &builder, 0) }
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return _$name
        }
        set {
            _$willChange(0)
            _$name = newValue
        }
    }
    var people: Set<Person> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }

    static var _$entityName: String { "Department" }
    static let _$entity = EntityDescription(
        name: "Department",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
        ])
    static let _$properties = ModelProperties(Department.self, [(\Department.name, "name"), (\Department.people, "people")])
}
