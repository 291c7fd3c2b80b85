import PolyStoreBackend
import PolyStoreCore

/// The expansion of `@Model` for an indexed number and the inverses of the relationships of `Holder`.
final class Item: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var _$number: Int
    private var _$holder: ToOne
    private var _$album: ToOne

    init(_$state state: consuming ModelState) {
        _$number = 0
        _$holder = .none
        _$album = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$number = try ModelCoding.of(Int.self).decode(record, 0)
        _$holder = ToOne(record, 1)
        _$album = ToOne(record, 2)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        _$number = try ModelCoding.of(Int.self).decode(record, 0)
        _$holder = ToOne(record, 1)
        _$album = ToOne(record, 2)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Int.self).encode(_$number, into: &builder, 0)
        _$holder.encode(into: &builder, 1)
        _$album.encode(into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> ToOne { relationship == 0 ? _$holder : relationship == 1 ? _$album : .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {
        switch relationship {
        case 0: _$holder = target
        case 1: _$album = target
        default: break
        }
    }

    var number: Int {
        get {
            if _$state.isFault { _$fire(0) }
            return _$number
        }
        set {
            _$willChange(0)
            _$number = newValue
        }
    }
    var holder: Holder? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$target(of: 0, _$holder)
        }
        set {
            _$willChange(1)
            _$holder = _$retarget(0, from: _$holder, to: newValue)
        }
    }
    var album: Holder? {
        get {
            if _$state.isFault { _$fire(2) }
            return _$target(of: 1, _$album)
        }
        set {
            _$willChange(2)
            _$album = _$retarget(1, from: _$album, to: newValue)
        }
    }
    var holders: Set<Holder> {
        get { _$members(of: 2) }
        set { _$setMembers(of: 2, to: newValue) }
        _modify { yield &self[_$members: 2] }
    }

    static var _$entityName: String { "Item" }
    static let _$entity = EntityDescription(
        name: "Item",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("number", options: [.indexed], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "holder", destination: "Holder", isToMany: false)),
            .relationship(RelationshipDescription(name: "album", destination: "Holder", isToMany: false)),
            .relationship(RelationshipDescription(name: "holders", destination: "Holder", isToMany: true)),
        ])
    static let _$properties = ModelProperties(
        Item.self, [(\Item.number, "number"), (\Item.holder, "holder"), (\Item.album, "album"), (\Item.holders, "holders")])
}
