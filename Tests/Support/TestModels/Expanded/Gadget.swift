// swift-format-ignore-file
// The expansion of Gadget.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import Foundation
import PolyStoreBackend
import PolyStoreCore

/// An attribute of every kind, and a to-one relationship without an inverse.
package final class Gadget {
    package enum Kind: String, Codable, Sendable {
        case plain, fancy
    }

    package var label: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_label
        }
        set {
            _$willChange(0)
            _$stored_label = newValue
        }
    }
    package var kind: Kind {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_kind
        }
        set {
            _$willChange(1)
            _$stored_kind = newValue
        }
        _modify {
            _$willChange(1)
            yield &_$stored_kind
        }
    }
    package var level: Int8 {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$stored_level
        }
        set {
            _$willChange(2)
            _$stored_level = newValue
        }
    }
    package var serial: UInt64 {
        get {
            if _$state.isFault {
                _$fire(3)
            }
            return _$stored_serial
        }
        set {
            _$willChange(3)
            _$stored_serial = newValue
        }
    }
    package var weight: Double {
        get {
            if _$state.isFault {
                _$fire(4)
            }
            return _$stored_weight
        }
        set {
            _$willChange(4)
            _$stored_weight = newValue
        }
    }
    package var ratio: Float {
        get {
            if _$state.isFault {
                _$fire(5)
            }
            return _$stored_ratio
        }
        set {
            _$willChange(5)
            _$stored_ratio = newValue
        }
    }
    package var price: Decimal {
        get {
            if _$state.isFault {
                _$fire(6)
            }
            return _$stored_price
        }
        set {
            _$willChange(6)
            _$stored_price = newValue
        }
    }
    package var isOn: Bool {
        get {
            if _$state.isFault {
                _$fire(7)
            }
            return _$stored_isOn
        }
        set {
            _$willChange(7)
            _$stored_isOn = newValue
        }
    }
    package var made: Date? {
        get {
            if _$state.isFault {
                _$fire(8)
            }
            return _$stored_made
        }
        set {
            _$willChange(8)
            _$stored_made = newValue
        }
    }
    package var code: UUID? {
        get {
            if _$state.isFault {
                _$fire(9)
            }
            return _$stored_code
        }
        set {
            _$willChange(9)
            _$stored_code = newValue
        }
    }
    package var tags: [String] {
        get {
            if _$state.isFault {
                _$fire(10)
            }
            return _$stored_tags
        }
        set {
            _$willChange(10)
            _$stored_tags = newValue
        }
        _modify {
            _$willChange(10)
            yield &_$stored_tags
        }
    }
    package var bonus: Int? {
        get {
            if _$state.isFault {
                _$fire(11)
            }
            return _$stored_bonus
        }
        set {
            _$willChange(11)
            _$stored_bonus = newValue
        }
    }
    package var part: Gadget? {
        get {
            if _$state.isFault {
                _$fire(12)
            }
            return _$target(of: 0, _$stored_part)
        }
        set {
            _$willChange(12)
            _$stored_part = _$retarget(0, from: _$stored_part, to: newValue)
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_label: String

    private var _$stored_kind: Kind

    private var _$stored_level: Int8

    private var _$stored_serial: UInt64

    private var _$stored_weight: Double

    private var _$stored_ratio: Float

    private var _$stored_price: Decimal

    private var _$stored_isOn: Bool

    private var _$stored_made: Date?

    private var _$stored_code: UUID?

    private var _$stored_tags: [String]

    private var _$stored_bonus: Int?

    private var _$stored_part: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_label = ""
        self._$stored_kind = .plain
        self._$stored_level = 0
        self._$stored_serial = 0
        self._$stored_weight = 0
        self._$stored_ratio = 0
        self._$stored_price = 0
        self._$stored_isOn = false
        self._$stored_made = nil
        self._$stored_code = nil
        self._$stored_tags = []
        self._$stored_bonus = nil
        self._$stored_part = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_label = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_kind = try PolyStoreCore.ModelCoding.of((Kind).self).decode(record, 1)
        self._$stored_level = try PolyStoreCore.ModelCoding.of((Int8).self).decode(record, 2)
        self._$stored_serial = try PolyStoreCore.ModelCoding.of((UInt64).self).decode(record, 3)
        self._$stored_weight = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 4)
        self._$stored_ratio = try PolyStoreCore.ModelCoding.of((Float).self).decode(record, 5)
        self._$stored_price = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 6)
        self._$stored_isOn = try PolyStoreCore.ModelCoding.of((Bool).self).decode(record, 7)
        self._$stored_made = try PolyStoreCore.ModelCoding.of((Date?).self).decode(record, 8)
        self._$stored_code = try PolyStoreCore.ModelCoding.of((UUID?).self).decode(record, 9)
        self._$stored_tags = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 10)
        self._$stored_bonus = try PolyStoreCore.ModelCoding.of((Int?).self).decode(record, 11)
        self._$stored_part = PolyStoreCore.ToOne(record, 12)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_label = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$stored_kind = try PolyStoreCore.ModelCoding.of((Kind).self).decode(record, 1)
        self._$stored_level = try PolyStoreCore.ModelCoding.of((Int8).self).decode(record, 2)
        self._$stored_serial = try PolyStoreCore.ModelCoding.of((UInt64).self).decode(record, 3)
        self._$stored_weight = try PolyStoreCore.ModelCoding.of((Double).self).decode(record, 4)
        self._$stored_ratio = try PolyStoreCore.ModelCoding.of((Float).self).decode(record, 5)
        self._$stored_price = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 6)
        self._$stored_isOn = try PolyStoreCore.ModelCoding.of((Bool).self).decode(record, 7)
        self._$stored_made = try PolyStoreCore.ModelCoding.of((Date?).self).decode(record, 8)
        self._$stored_code = try PolyStoreCore.ModelCoding.of((UUID?).self).decode(record, 9)
        self._$stored_tags = try PolyStoreCore.ModelCoding.of(([String]).self).decode(record, 10)
        self._$stored_bonus = try PolyStoreCore.ModelCoding.of((Int?).self).decode(record, 11)
        self._$stored_part = PolyStoreCore.ToOne(record, 12)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_label, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Kind).self).encode(self._$stored_kind, into: &builder, 1)
        try PolyStoreCore.ModelCoding.of((Int8).self).encode(self._$stored_level, into: &builder, 2)
        try PolyStoreCore.ModelCoding.of((UInt64).self).encode(self._$stored_serial, into: &builder, 3)
        try PolyStoreCore.ModelCoding.of((Double).self).encode(self._$stored_weight, into: &builder, 4)
        try PolyStoreCore.ModelCoding.of((Float).self).encode(self._$stored_ratio, into: &builder, 5)
        try PolyStoreCore.ModelCoding.of((Decimal).self).encode(self._$stored_price, into: &builder, 6)
        try PolyStoreCore.ModelCoding.of((Bool).self).encode(self._$stored_isOn, into: &builder, 7)
        try PolyStoreCore.ModelCoding.of((Date?).self).encode(self._$stored_made, into: &builder, 8)
        try PolyStoreCore.ModelCoding.of((UUID?).self).encode(self._$stored_code, into: &builder, 9)
        try PolyStoreCore.ModelCoding.of(([String]).self).encode(self._$stored_tags, into: &builder, 10)
        try PolyStoreCore.ModelCoding.of((Int?).self).encode(self._$stored_bonus, into: &builder, 11)
        self._$stored_part.encode(into: &builder, 12)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_part
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_part = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Gadget"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Gadget", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("label", options: [], originalName: nil, default: "")),
            .attribute(PolyStoreCore.ModelCoding.of((Kind).self).describe("kind", options: [], originalName: nil, default: .plain)),
            .attribute(PolyStoreCore.ModelCoding.of((Int8).self).describe("level", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((UInt64).self).describe("serial", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Double).self).describe("weight", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Float).self).describe("ratio", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Decimal).self).describe("price", options: [], originalName: nil, default: 0)),
            .attribute(PolyStoreCore.ModelCoding.of((Bool).self).describe("isOn", options: [], originalName: nil, default: false)),
            .attribute(PolyStoreCore.ModelCoding.of((Date?).self).describe("made", options: [], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((UUID?).self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of(([String]).self).describe("tags", options: [], originalName: nil, default: [])),
            .attribute(PolyStoreCore.ModelCoding.of((Int?).self).describe("bonus", options: [], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "part", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Gadget.part), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Gadget.self, [
            (\Gadget.label, "label"),
            (\Gadget.kind, "kind"),
            (\Gadget.level, "level"),
            (\Gadget.serial, "serial"),
            (\Gadget.weight, "weight"),
            (\Gadget.ratio, "ratio"),
            (\Gadget.price, "price"),
            (\Gadget.isOn, "isOn"),
            (\Gadget.made, "made"),
            (\Gadget.code, "code"),
            (\Gadget.tags, "tags"),
            (\Gadget.bonus, "bonus"),
            (\Gadget.part, "part"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
        PolyStoreCore.ModelCheck.attribute((Kind).self)
        PolyStoreCore.ModelCheck.attribute((Int8).self)
        PolyStoreCore.ModelCheck.attribute((UInt64).self)
        PolyStoreCore.ModelCheck.attribute((Double).self)
        PolyStoreCore.ModelCheck.attribute((Float).self)
        PolyStoreCore.ModelCheck.attribute((Decimal).self)
        PolyStoreCore.ModelCheck.attribute((Bool).self)
        PolyStoreCore.ModelCheck.attribute((Date?).self)
        PolyStoreCore.ModelCheck.attribute((UUID?).self)
        PolyStoreCore.ModelCheck.attribute(([String]).self)
        PolyStoreCore.ModelCheck.attribute((Int?).self)
        PolyStoreCore.ModelCheck.relationship(\Gadget.part)
    }
}

extension Gadget: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Gadget: @unchecked Sendable {
}
