// swift-format-ignore-file
// The expansion of Firm.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A leaf of the hierarchy, one level below the root.
package final class Firm: Party {
    package var revenue: Int {
        get {
            if _$state.isFault {
                _$fire(Firm._$firstIndexes.field + 0)
            }
            return _$stored_revenue
        }
        set {
            _$willChange(Firm._$firstIndexes.field + 0)
            _$stored_revenue = newValue
        }
    }
    /// A company with staff cannot be deleted.
    package var staff: Set<Human> {
        get {
            _$members(of: Firm._$firstIndexes.relationship + 0)
        }
        set {
            _$setMembers(of: Firm._$firstIndexes.relationship + 0, to: newValue)
        }
        _modify {
            yield &self[_$members: Firm._$firstIndexes.relationship + 0]
        }
    }
    /// Required.
    package var director: Human? {
        get {
            if _$state.isFault {
                _$fire(Firm._$firstIndexes.field + 1)
            }
            return _$target(of: Firm._$firstIndexes.relationship + 1, _$stored_director)
        }
        set {
            _$willChange(Firm._$firstIndexes.field + 1)
            _$stored_director = _$retarget(Firm._$firstIndexes.relationship + 1, from: _$stored_director, to: newValue)
        }
    }

    private var _$stored_revenue: Int

    private var _$stored_director: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_revenue = 0
        self._$stored_director = .none
        super.init(_$state: state)
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        let base = Firm._$firstIndexes.field
        self._$stored_revenue = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
        self._$stored_director = PolyStoreCore.ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override package func _$load(_ record: PolyStoreCore._RecordView) throws {
        try super._$load(record)
        let base = Firm._$firstIndexes.field
        self._$stored_revenue = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
        self._$stored_director = PolyStoreCore.ToOne(record, base + 1)
    }

    override package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Firm._$firstIndexes.field
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_revenue, into: &builder, base + 0)
        self._$stored_director.encode(into: &builder, base + 1)
    }

    override package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship - Firm._$firstIndexes.relationship {
        case 1:
            self._$stored_director
        default:
            super._$toOne(relationship)
        }
    }

    override package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship - Firm._$firstIndexes.relationship {
        case 1:
            self._$stored_director = target
        default:
            super._$setToOne(relationship, target)
        }
    }

    override package static var _$entityName: String {
        "Firm"
    }

    private static let _$ownEntity = PolyStoreBackend.EntityDescription(
        name: "Firm", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("revenue", options: [.indexed], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "staff", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Firm.staff), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .deny, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "director", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Firm.director), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: true, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    override package static var _$entity: PolyStoreBackend.EntityDescription {
        _$ownEntity
    }

    private static let _$ownProperties = PolyStoreCore.ModelProperties(Firm.self, _$paths_Firm(Firm.self))

    override package static var _$properties: PolyStoreCore.ModelProperties {
        _$ownProperties
    }

    package static func _$paths_Firm<Root: Firm>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
        let inherited: [(PartialKeyPath<Root>, String)] = Party._$paths_Party(root)
            return inherited + [
                (\Root.revenue, "revenue"),
                (\Root.staff, "staff"),
                (\Root.director, "director"),
            ]
    }

    private static let _$firstIndexes = Firm._$hierarchy?.firstIndexes(of: Firm.self) ?? PolyStoreCore.ModelFirstIndexes()

    override package static var _$inheritance: PolyStoreCore.ModelInheritance {
        PolyStoreCore.ModelInheritance(isAbstract: false, superentity: Party.self, subentities: [])
    }

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.relationship(\Firm.staff)
        PolyStoreCore.ModelCheck.relationship(\Firm.director)
    }
}
