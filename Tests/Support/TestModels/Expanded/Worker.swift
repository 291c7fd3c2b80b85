// swift-format-ignore-file
// The expansion of Worker.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A leaf of the hierarchy, two levels below the root.
package final class Worker: Human {
    /// Required.
    package var badge: String {
        get {
            if _$state.isFault {
                _$fire(Worker._$firstIndexes.field + 0)
            }
            return _$stored_badge
        }
        set {
            _$willChange(Worker._$firstIndexes.field + 0)
            _$stored_badge = newValue
        }
    }
    package var boss: Worker? {
        get {
            if _$state.isFault {
                _$fire(Worker._$firstIndexes.field + 1)
            }
            return _$target(of: Worker._$firstIndexes.relationship + 0, _$stored_boss)
        }
        set {
            _$willChange(Worker._$firstIndexes.field + 1)
            _$stored_boss = _$retarget(Worker._$firstIndexes.relationship + 0, from: _$stored_boss, to: newValue)
        }
    }
    /// At most two.
    package var reports: Set<Worker> {
        get {
            _$members(of: Worker._$firstIndexes.relationship + 1)
        }
        set {
            _$setMembers(of: Worker._$firstIndexes.relationship + 1, to: newValue)
        }
        _modify {
            yield &self[_$members: Worker._$firstIndexes.relationship + 1]
        }
    }

    package override func validate() throws { if badge == "none" { throw ValidationError("is no badge", attribute: "badge") } }

    private var _$stored_badge: String

    private var _$stored_boss: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_badge = PolyStoreCore.ModelCoding._initial((String).self)
        self._$stored_boss = .none
        super.init(_$state: state)
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        let base = Worker._$firstIndexes.field
        self._$stored_badge = try PolyStoreCore.ModelCoding.of((String).self).decode(record, base + 0)
        self._$stored_boss = PolyStoreCore.ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override package func _$load(_ record: PolyStoreCore._RecordView) throws {
        try super._$load(record)
        let base = Worker._$firstIndexes.field
        self._$stored_badge = try PolyStoreCore.ModelCoding.of((String).self).decode(record, base + 0)
        self._$stored_boss = PolyStoreCore.ToOne(record, base + 1)
    }

    override package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Worker._$firstIndexes.field
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_badge, into: &builder, base + 0)
        self._$stored_boss.encode(into: &builder, base + 1)
    }

    override package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship - Worker._$firstIndexes.relationship {
        case 0:
            self._$stored_boss
        default:
            super._$toOne(relationship)
        }
    }

    override package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship - Worker._$firstIndexes.relationship {
        case 0:
            self._$stored_boss = target
        default:
            super._$setToOne(relationship, target)
        }
    }

    override package static var _$entityName: String {
        "Worker"
    }

    private static let _$ownEntity = PolyStoreBackend.EntityDescription(
        name: "Worker", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("badge", options: [], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "boss", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Worker.boss), isToMany: false, isOrdered: false, inverse: "reports", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "reports", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Worker.reports), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: 2)),
        ],
        indexes: [
        ])

    override package static var _$entity: PolyStoreBackend.EntityDescription {
        _$ownEntity
    }

    private static let _$ownProperties = PolyStoreCore.ModelProperties(Worker.self, _$paths_Worker(Worker.self))

    override package static var _$properties: PolyStoreCore.ModelProperties {
        _$ownProperties
    }

    package static func _$paths_Worker<Root: Worker>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
        let inherited: [(PartialKeyPath<Root>, String)] = Human._$paths_Human(root)
            return inherited + [
                (\Root.badge, "badge"),
                (\Root.boss, "boss"),
                (\Root.reports, "reports"),
            ]
    }

    private static let _$firstIndexes = Worker._$hierarchy?.firstIndexes(of: Worker.self) ?? PolyStoreCore.ModelFirstIndexes()

    override package static var _$inheritance: PolyStoreCore.ModelInheritance {
        PolyStoreCore.ModelInheritance(isAbstract: false, superentity: Human.self, subentities: [])
    }

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.relationship(\Worker.boss)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Worker.reports)
        inverse0.check(Worker.self)
        PolyStoreCore.ModelCheck.relationship(\Worker.reports)
    }
}
