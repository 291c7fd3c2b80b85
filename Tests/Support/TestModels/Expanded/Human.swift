// swift-format-ignore-file
// The expansion of Human.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A concrete class between the root of the hierarchy and a leaf.
package class Human: Party {
    package var age: Int {
        get {
            if _$state.isFault {
                _$fire(Human._$firstIndexes.field + 0)
            }
            return _$stored_age
        }
        set {
            _$willChange(Human._$firstIndexes.field + 0)
            _$stored_age = newValue
        }
    }
    package var employer: Firm? {
        get {
            if _$state.isFault {
                _$fire(Human._$firstIndexes.field + 1)
            }
            return _$target(of: Human._$firstIndexes.relationship + 0, _$stored_employer)
        }
        set {
            _$willChange(Human._$firstIndexes.field + 1)
            _$stored_employer = _$retarget(Human._$firstIndexes.relationship + 0, from: _$stored_employer, to: newValue)
        }
    }

    private var _$stored_age: Int

    private var _$stored_employer: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_age = 0
        self._$stored_employer = .none
        super.init(_$state: state)
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        let base = Human._$firstIndexes.field
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
        self._$stored_employer = PolyStoreCore.ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override package func _$load(_ record: PolyStoreCore._RecordView) throws {
        try super._$load(record)
        let base = Human._$firstIndexes.field
        self._$stored_age = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
        self._$stored_employer = PolyStoreCore.ToOne(record, base + 1)
    }

    override package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Human._$firstIndexes.field
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_age, into: &builder, base + 0)
        self._$stored_employer.encode(into: &builder, base + 1)
    }

    override package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship - Human._$firstIndexes.relationship {
        case 0:
            self._$stored_employer
        default:
            super._$toOne(relationship)
        }
    }

    override package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship - Human._$firstIndexes.relationship {
        case 0:
            self._$stored_employer = target
        default:
            super._$setToOne(relationship, target)
        }
    }

    override package class var _$entityName: String {
        "Human"
    }

    private static let _$ownEntity = PolyStoreBackend.EntityDescription(
        name: "Human", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "employer", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Human.employer), isToMany: false, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("staff", of: \Human.employer), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    override package class var _$entity: PolyStoreBackend.EntityDescription {
        _$ownEntity
    }

    private static let _$ownProperties = PolyStoreCore.ModelProperties(Human.self, _$paths_Human(Human.self))

    override package class var _$properties: PolyStoreCore.ModelProperties {
        _$ownProperties
    }

    package static func _$paths_Human<Root: Human>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
        let inherited: [(PartialKeyPath<Root>, String)] = Party._$paths_Party(root)
            return inherited + [
                (\Root.age, "age"),
                (\Root.employer, "employer"),
            ]
    }

    private static let _$firstIndexes = Human._$hierarchy?.firstIndexes(of: Human.self) ?? PolyStoreCore.ModelFirstIndexes()

    override package class var _$inheritance: PolyStoreCore.ModelInheritance {
        var subentities: [any PolyStoreCore.Model.Type] = []
    subentities.append(PolyStoreCore.ModelCheck.Superclass<Human>.lists(Worker.self))
        return PolyStoreCore.ModelInheritance(isAbstract: false, superentity: Party.self, subentities: subentities)
    }

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((Int).self)
        PolyStoreCore.ModelCheck.relationship(\Human.employer)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Firm.staff)
        inverse0.check(Human.self)
    }
}
