import PolyStoreBackend
import PolyStoreCore

/// An object with to-many relationships of every kind: the expansion of
///
///     @Model final class Holder {
///         var name: String = ""
///         @Relationship(inverse: \Item.holder) var people: Set<Item>
///         @Relationship(inverse: \Item.album) var tracks: [Item]
///         @Relationship(inverse: \Item.holders) var tags: Set<Item>
///         @Relationship var marks: Set<Item>
///     }
final class Holder: Model {
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
    var people: Set<Item> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }
    var tracks: [Item] {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }
    var tags: Set<Item> {
        get { _$members(of: 2) }
        set { _$setMembers(of: 2, to: newValue) }
        _modify { yield &self[_$members: 2] }
    }
    var marks: Set<Item> {
        get { _$members(of: 3) }
        set { _$setMembers(of: 3, to: newValue) }
        _modify { yield &self[_$members: 3] }
    }

    static var _$entityName: String { "Holder" }
    static let _$entity = EntityDescription(
        name: "Holder",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(RelationshipDescription(name: "people", destination: "Item", isToMany: true, inverse: "holder")),
            .relationship(RelationshipDescription(name: "tracks", destination: "Item", isToMany: true, isOrdered: true, inverse: "album")),
            .relationship(RelationshipDescription(name: "tags", destination: "Item", isToMany: true, inverse: "holders")),
            .relationship(RelationshipDescription(name: "marks", destination: "Item", isToMany: true)),
        ])
    static let _$properties = ModelProperties(
        Holder.self,
        [
            (\Holder.name, "name"), (\Holder.people, "people"), (\Holder.tracks, "tracks"), (\Holder.tags, "tags"),
            (\Holder.marks, "marks"),
        ])
}
